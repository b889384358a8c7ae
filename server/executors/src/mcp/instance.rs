//! Whose calls a connection serves.

use std::fmt;

use toolgate_api::mcp_servers::{McpInstance, McpServerDefinition};
use toolgate_core::ids::SessionId;
use toolgate_core::principal::PrincipalRef;

use crate::invocation::Invocation;

/// Whose calls a connection or process serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Instance {
    /// Those of all callers. Lists go over it too, of every server.
    #[default]
    Shared,
    /// Those of one session.
    Session(SessionId),
    /// Those that one principal makes without a session.
    Principal(PrincipalRef),
}

impl Instance {
    /// That of a call.
    pub(super) fn of(server: &McpServerDefinition, call: &Invocation) -> Self {
        match (server.instance, &call.session, &call.caller) {
            (McpInstance::Session, Some(session), _) => Self::Session(SessionId(session.id)),
            (McpInstance::Session, None, Some(caller)) => Self::Principal(caller.clone()),
            _ => Self::Shared,
        }
    }

    /// Whether it serves all callers.
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Self::Shared)
    }

    /// What lines of its log begin with. Readers of definitions see the log, and not who calls.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Shared => String::new(),
            Self::Session(id) => format!("[session {}] ", id.0),
            Self::Principal(_) => "[no session] ".to_owned(),
        }
    }
}

/// Tells the instances of a server apart.
impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => Ok(()),
            Self::Session(id) => write!(f, "session:{}", id.0),
            Self::Principal(principal) => write!(f, "principal:{principal}"),
        }
    }
}
