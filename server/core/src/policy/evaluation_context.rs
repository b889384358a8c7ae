//! When and under which circumstances something is decided: what conditions on groups may ask about.

use chrono::{DateTime, Utc};
use toolgate_api::calls::CallContext;

use crate::principal::{Principal, PrincipalKind, PrincipalRef};

/// How busy a project is on this server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Admitted calls that have not ended.
    pub calls_in_flight: u32,
    /// Calls that were admitted within the last minute.
    pub calls_per_minute: u32,
}

/// The circumstances of one request (tool group specification, section 11.1). It borrows, so making one costs nothing;
/// projects without conditions never look at it.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationContext<'a> {
    /// The time of the decision.
    pub at: DateTime<Utc>,
    /// How busy the project is.
    pub load: Load,
    /// Where the request comes from, in the caller's own terms; `None` counts as a context with nothing in it.
    pub context: Option<&'a CallContext>,
    /// Who asks: the kind and the id. `None` in questions without a principal.
    pub principal: Option<(PrincipalKind, &'a str)>,
}

impl<'a> EvaluationContext<'a> {
    /// A time, an idle project, no context and no principal.
    #[must_use]
    pub const fn at(at: DateTime<Utc>) -> Self {
        Self {
            at,
            load: Load {
                calls_in_flight: 0,
                calls_per_minute: 0,
            },
            context: None,
            principal: None,
        }
    }

    /// With this load.
    #[must_use]
    pub const fn load(mut self, load: Load) -> Self {
        self.load = load;
        self
    }

    /// With this context.
    #[must_use]
    pub const fn context(mut self, context: Option<&'a CallContext>) -> Self {
        self.context = context;
        self
    }

    /// Asked by this principal.
    #[must_use]
    pub fn by(mut self, principal: &'a Principal) -> Self {
        self.principal = Some((principal.kind, &principal.id));
        self
    }

    /// Asked by the principal that this names.
    #[must_use]
    pub fn by_ref(mut self, principal: &'a PrincipalRef) -> Self {
        self.principal = Some((principal.kind, &principal.id));
        self
    }
}
