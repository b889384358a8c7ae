//! Whose record a page shows.

use leptos::prelude::*;
use toolgate_api::audit::{AuditPage, AuditRecord};

use crate::api::{in_project, in_project_or_server, with_query};
use crate::loaded::Loaded;

/// A record of decisions and changes.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// That of the project with this id.
    Project(Memo<String>),
    /// That of the server: what concerns no single project.
    Server,
}

impl Scope {
    /// Where its list is, reactively.
    pub(super) fn list(self) -> String {
        in_project_or_server(&self.project(), &["audit"])
    }

    /// Where one of its records is, reactively. The server's is a list with one item.
    pub(super) fn record(self, id: &str) -> String {
        match self {
            Self::Project(project) => in_project(&project.get(), &["audit", id]),
            Self::Server => with_query(self.list(), &[("id", id)]),
        }
    }

    /// The record at such an address, reactively; nothing before the answer, or when there is none.
    pub(super) fn read(self, loaded: Loaded) -> Option<AuditRecord> {
        match self {
            Self::Project(_) => loaded.read(),
            Self::Server => loaded.read::<AuditPage>()?.items.into_iter().next(),
        }
    }

    /// The project's id, reactively; empty for the server.
    pub(super) fn project(self) -> String {
        match self {
            Self::Project(project) => project.get(),
            Self::Server => String::new(),
        }
    }
}
