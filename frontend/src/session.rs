//! Who is signed in. The credential itself is a cookie that scripts cannot read; here is only what the server tells.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::auth::{Me, Role};

use crate::api::{ApiError, Ask, Body};
use crate::browser;
use crate::routes;

/// What is known about the person at the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SessionState {
    /// The server was asked and has not answered yet.
    Unknown,
    /// Signed in.
    SignedIn(Me),
    /// Not signed in; the page is about to be left.
    Leaving,
    /// The server could not say.
    Failed(ApiError),
}

/// What a page or an action takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Membership.
    Use,
    /// Reading whole definitions.
    Read,
    /// Changing definitions.
    Edit,
    /// Reading the record, and who holds what.
    Audit,
    /// Managing everything else.
    Own,
}

impl Need {
    fn is_met_by(self, role: Role) -> bool {
        match role {
            Role::Owner => true,
            Role::Editor => matches!(self, Self::Use | Self::Read | Self::Edit),
            Role::Auditor => matches!(self, Self::Use | Self::Read | Self::Audit),
            Role::Viewer => matches!(self, Self::Use | Self::Read),
            Role::Agent => matches!(self, Self::Use),
        }
    }
}

/// The session, shared by all pages through the context.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    state: RwSignal<SessionState>,
}

impl Session {
    /// Asks the server and shares the answer with everything below the caller.
    pub(crate) fn provide() -> Self {
        let session = Self {
            state: RwSignal::new(SessionState::Unknown),
        };
        provide_context(session);
        session.refresh();
        session
    }

    /// The session of the surrounding application.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// What is known, reactively.
    pub(crate) fn state(self) -> SessionState {
        self.state.get()
    }

    /// Who is signed in, reactively.
    pub(crate) fn me(self) -> Option<Me> {
        self.state.with(|state| match state {
            SessionState::SignedIn(me) => Some(me.clone()),
            _ => None,
        })
    }

    /// The role in a project, reactively. A system administrator is an owner everywhere.
    pub(crate) fn role(self, project: &str) -> Option<Role> {
        let me = self.me()?;
        let member = me
            .projects
            .iter()
            .find(|membership| membership.project_id == project);
        match member {
            Some(membership) => Some(membership.role),
            None => me.system_admin.then_some(Role::Owner),
        }
    }

    /// Whether the role in a project permits something, reactively. The server decides; this only spares people what it
    /// would refuse.
    pub(crate) fn may(self, project: &str, need: Need) -> bool {
        self.role(project).is_some_and(|role| need.is_met_by(role))
    }

    /// Asks the server again.
    pub(crate) fn refresh(self) {
        self.state.set(SessionState::Unknown);
        spawn_local(async move {
            match Ask::get("/auth/me").send().await.and_then(|answer| answer.read()) {
                Ok(me) => self.state.set(SessionState::SignedIn(me)),
                Err(error) if error.is_unauthenticated() => self.ended(),
                Err(error) => self.state.set(SessionState::Failed(error)),
            }
        });
    }

    /// Looks at an error of any request: when the session has ended, goes to the sign-in page.
    pub(crate) fn observe(self, error: &ApiError) {
        if error.is_unauthenticated() {
            self.ended();
        }
    }

    /// Signs out and leaves for the sign-in page, which drops everything this page holds in memory, and drafts
    /// with it.
    pub(crate) async fn sign_out(self) -> Result<(), ApiError> {
        match Ask::post("/auth/logout", Body::None).send().await {
            Err(error) if !error.is_unauthenticated() => Err(error),
            _ => {
                self.state.set(SessionState::Leaving);
                if let Some(store) = browser::tab_storage() {
                    // A blocked store holds nothing.
                    let _ = store.clear();
                }
                browser::leave_to(routes::SIGN_IN);
                Ok(())
            }
        }
    }

    fn ended(self) {
        let before = self.state.get_untracked();
        if before == SessionState::Leaving {
            return;
        }
        self.state.set(SessionState::Leaving);
        let location = window().location();
        let here = location.pathname().unwrap_or_default() + &location.search().unwrap_or_default();
        browser::leave_to(&routes::sign_in_returning_to(
            &here,
            matches!(before, SessionState::SignedIn(_)),
        ));
    }
}
