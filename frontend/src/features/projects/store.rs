//! The projects of the signed-in person, read once and shared by the frame and the pages.

use leptos::prelude::*;
use toolgate_api::projects::Project;

use crate::api;
use crate::paged::Paged;

/// The shared list.
#[derive(Clone, Copy)]
pub(crate) struct Projects {
    /// The list; it depends on nothing but the session.
    pub(crate) list: Paged<(), Project>,
}

impl Projects {
    /// Reads the list and shares it with everything below the caller.
    pub(crate) fn provide() {
        let list = Paged::new(Memo::new(|_| ()), |(), cursor| async move {
            let page = api::list_projects(cursor).await?;
            Ok((page.items, page.next_cursor))
        });
        provide_context(Self { list });
    }

    /// The shared list.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Id and name of the project that a path belongs to, reactively. The id stands in for a name that is not known.
    pub(crate) fn at_path(self, path: &str) -> Option<(String, String)> {
        let segment = path.strip_prefix("/ui/projects/")?.split('/').next()?;
        if segment.is_empty() {
            return None;
        }
        let name = self.list.items.with(|projects| {
            projects
                .iter()
                .find(|project| project.id == segment)
                .map_or_else(|| segment.to_owned(), |project| project.name.clone())
        });
        Some((segment.to_owned(), name))
    }
}
