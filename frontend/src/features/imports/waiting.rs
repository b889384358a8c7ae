//! How many changes wait in the quarantine of the project, for the navigation.

use leptos::prelude::*;

use crate::api::{in_project, with_query};
use crate::components::{Badge, Tone};
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::session::{Permission, Session};
use crate::url::project_in_path;

/// The number, shared by the frame and the pages through the context.
#[derive(Clone, Copy)]
pub(crate) struct Waiting(Loaded);

impl Waiting {
    /// Shares it with everything below the caller.
    pub(crate) fn provide() {
        let (project, session) = (project_in_path(), Session::get());
        provide_context(Self(Loaded::new(move || {
            let project = project.get();
            if project.is_empty() || !session.may(&project, Permission::ReadDefinitions) {
                return String::new();
            }
            with_query(in_project(&project, &["quarantine"]), &[("limit", "1")])
        })));
    }

    /// That of the surrounding application.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Counts again: something was imported, approved or rejected.
    pub(crate) fn reload(self) {
        self.0.reload();
    }

    /// The number beside the name of the page; nothing when nothing waits.
    pub(crate) fn badge(self) -> AnyView {
        part(move || {
            let total = self.0.json().and_then(|page| page["total"].as_u64());
            match total {
                Some(1..) => {
                    view! { <Badge tone=Tone::Note text=total.unwrap_or_default().to_string() /> }.into_any()
                }
                _ => ().into_any(),
            }
        })
    }
}
