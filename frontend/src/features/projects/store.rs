//! The projects of the signed-in person, read once and shared by the frame and the pages.

use leptos::prelude::*;
use toolgate_api::projects::Project;

use crate::paged::{Item, Paged};

/// The shared list.
#[derive(Clone, Copy)]
pub(crate) struct Projects {
    /// The list; it depends on nothing but the session.
    pub(crate) list: Paged,
    all: Memo<Vec<Project>>,
}

impl Projects {
    /// Reads the list and shares it with everything below the caller.
    pub(crate) fn provide() {
        let list = Paged::new(|| "/projects".to_owned());
        let all = Memo::new(move |_| {
            list.items
                .with(|items| items.iter().filter_map(Item::read).collect())
        });
        provide_context(Self { list, all });
    }

    /// The shared list.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Those that were read, reactively.
    pub(crate) fn all(self) -> Vec<Project> {
        self.all.get()
    }

    /// The name of a project, reactively. The id if the name is not known.
    pub(crate) fn name_of(self, id: &str) -> String {
        self.all.with(|projects| {
            projects
                .iter()
                .find(|project| project.id == id)
                .map_or_else(|| id.to_owned(), |project| project.name.clone())
        })
    }
}
