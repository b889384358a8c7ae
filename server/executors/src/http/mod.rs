//! Guarded HTTP.

pub(crate) mod answer;
mod body;
mod credential;
mod error;
mod exact;
pub(crate) mod fetch;
pub(crate) mod headers;
pub(crate) mod message;
pub(crate) mod oauth;
pub(crate) mod plan;
mod redirect;
pub(crate) mod retry;
pub(crate) mod send;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod template;
pub(crate) mod text;
