//! Every address of the dashboard, with typed parts. Links and navigation go through here.

use crate::browser::encode;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Page {
    /// Decides where to start: the only project, or the list.
    Start,
    /// All projects.
    Projects,
    /// The tools of a project.
    Tools {
        /// The project's id.
        project: String,
    },
}

impl Page {
    /// Its path.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Start => "/ui/".to_owned(),
            Self::Projects => "/ui/projects".to_owned(),
            Self::Tools { project } => format!("/ui/projects/{}/tools", encode(project)),
        }
    }
}

/// The page that the server renders for signing in.
pub(crate) const SIGN_IN: &str = "/ui/sign-in";

/// The API reference that the server renders.
pub(crate) const API_REFERENCE: &str = "/docs";

/// The sign-in page, which returns to `path` afterwards and tells why it appears when a session `ended`.
pub(crate) fn sign_in_returning_to(path: &str, ended: bool) -> String {
    let reason = if ended { "reason=ended&" } else { "" };
    format!("{SIGN_IN}?{reason}next={}", encode(path))
}

/// Where to go after signing in: `next` when it is a page of this dashboard, else the start.
///
/// `next` comes from the address bar, so anything that is not a plain path below `/ui/` is refused: a link must not
/// be able to send a person who has just signed in to another site.
pub(crate) fn after_sign_in(next: Option<&str>) -> String {
    match next {
        Some(path) if is_own_page(path) => path.to_owned(),
        _ => Page::Start.path(),
    }
}

fn is_own_page(path: &str) -> bool {
    path.starts_with("/ui/")
        && !path.starts_with(SIGN_IN)
        && !path.contains(['\\', '\t', '\n', '\r'])
        && !path.contains("//")
        && !path
            .split(['?', '#'])
            .next()
            .is_some_and(|path| path.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::after_sign_in;

    #[test]
    fn returns_only_to_own_pages() {
        for (next, expected) in [
            (None, "/ui/"),
            (
                Some("/ui/projects/demo/tools?q=web"),
                "/ui/projects/demo/tools?q=web",
            ),
            (Some("/ui/sign-in"), "/ui/"),
            (Some("//evil.example/ui/"), "/ui/"),
            (Some("https://evil.example/ui/"), "/ui/"),
            (Some("/ui/..//evil.example"), "/ui/"),
            (Some("/ui/../auth/logout"), "/ui/"),
            (Some("/\\evil.example"), "/ui/"),
            (Some("javascript:alert(1)"), "/ui/"),
            (Some(""), "/ui/"),
        ] {
            assert_eq!(after_sign_in(next), expected, "next = {next:?}");
        }
    }
}
