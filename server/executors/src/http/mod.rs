//! Guarded HTTP.

pub(crate) mod address;
pub(crate) mod answer;
mod body;
mod client;
mod credential;
mod error;
mod events;
mod exact;
pub(crate) mod fetch;
pub(crate) mod files;
pub(crate) mod headers;
mod links;
pub(crate) mod message;
pub(crate) mod oauth;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod redirect;
mod result;
pub(crate) mod retry;
pub(crate) mod send;
mod short;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod template;
pub(crate) mod text;
