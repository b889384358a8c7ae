//! Who is signed in. The credential itself is a cookie that scripts cannot read; here is only what the server says.

use leptos::prelude::*;
use leptos::task::spawn_local;
pub(crate) use toolgate_api::auth::ProjectPermission as Permission;
use toolgate_api::auth::{Me, Membership};

use crate::api::{ApiError, Ask, Body, in_project};
use crate::browser;
use crate::held_groups::holds;
use crate::routes::{self, Need, Page, PageKind};

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
        self.with_me(Me::clone)
    }

    fn with_me<T>(self, read: impl FnOnce(&Me) -> T) -> Option<T> {
        self.state.with(|state| match state {
            SessionState::SignedIn(me) => Some(read(me)),
            _ => None,
        })
    }

    /// What is held in a project, reactively.
    pub(crate) fn membership(self, project: &str) -> Option<Membership> {
        self.with_me(|me| {
            let mut all = me.projects.iter();
            all.find(|membership| membership.project_id == project).cloned()
        })?
    }

    /// Whether the server permits something in a project, reactively, as it said when it was asked who is signed in. The
    /// server decides again at every request; this only spares people what it would refuse.
    pub(crate) fn may(self, project: &str, permission: Permission) -> bool {
        match self.membership(project) {
            Some(membership) => membership.permissions.contains(&permission),
            // A project that was made after the server was asked.
            None => self.is_system_admin(),
        }
    }

    /// Whether a group may be granted to others in a project, reactively: no one grants more than they hold but a system
    /// administrator.
    pub(crate) fn may_grant(self, project: &str, group: &str) -> bool {
        self.is_system_admin()
            || self.membership(project).is_some_and(|membership| {
                membership.permissions.contains(&Permission::ManageAccess) && holds(&membership.groups, group)
            })
    }

    /// Where a project's settings are, reactively; empty for those who may not read them.
    pub(crate) fn settings_path(self, project: &str) -> String {
        if self.may(project, Permission::ReadDefinitions) {
            in_project(project, &["settings"])
        } else {
            String::new()
        }
    }

    /// Whether every project and the server itself may be managed, reactively.
    pub(crate) fn is_system_admin(self) -> bool {
        self.with_me(|me| me.system_admin).unwrap_or_default()
    }

    /// Whether the server lets a page be read, reactively. Of a project that is not known it says so itself.
    pub(crate) fn may_open(self, page: &Page) -> bool {
        match (
            page.kind().need(),
            page.project().and_then(|project| self.membership(project)),
        ) {
            (Need::Anyone, _) | (Need::In(_), None) => true,
            (Need::In(permission), Some(membership)) => membership.permissions.contains(&permission),
            (Need::SystemAdmin, _) => self.is_system_admin(),
        }
    }

    /// Whether a page is offered, reactively: in a project, or in none for a page of the server.
    pub(crate) fn may_see(self, project: &str, kind: PageKind) -> bool {
        match kind.need() {
            Need::Anyone => true,
            Need::In(permission) => self.may(project, permission),
            Need::SystemAdmin => self.is_system_admin(),
        }
    }

    /// The same for the page that a link leads to, reactively.
    pub(crate) fn may_follow(self, href: &str) -> bool {
        let path = href.split('?').next().unwrap_or_default();
        Page::parse(path).is_none_or(|page| self.may_open(&page))
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
        let way = untrack(|| self.me()).and_then(|me| me.sign_in_way);
        match Ask::post("/auth/logout", Body::None).send().await {
            Err(error) if !error.is_unauthenticated() => Err(error),
            _ => {
                self.state.set(SessionState::Leaving);
                if let Some(store) = browser::tab_storage() {
                    // A blocked store holds nothing.
                    let _ = store.clear();
                }
                // Who signs in at a provider is signed in there still, and would be let in again without a question.
                match way {
                    Some(way) => browser::leave_to(&format!("/auth/sign-in/{way}/sign-out")),
                    None => browser::leave_to(routes::SIGN_IN),
                }
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
