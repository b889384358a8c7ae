//! The screens, one folder per family. Each exports its pages and what the frame needs of it.

pub(crate) mod connect;
pub(crate) mod keys;
pub(crate) mod projects;
pub(crate) mod sign_in;
pub(crate) mod tools;
pub(crate) mod upload;
