//! The screens, one folder per subject. Each exports its pages and what the frame needs of it.

pub(crate) mod alerts;
pub(crate) mod authorize;
pub(crate) mod bus_programs;
pub(crate) mod connect;
pub(crate) mod connections;
pub(crate) mod groups;
pub(crate) mod guides;
pub(crate) mod health;
pub(crate) mod imports;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod mcp_servers;
pub(crate) mod overview;
pub(crate) mod permissions;
pub(crate) mod policy_tests;
pub(crate) mod projects;
pub(crate) mod records;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod simulator;
pub(crate) mod states;
pub(crate) mod tools;
pub(crate) mod upload;
pub(crate) mod users;
