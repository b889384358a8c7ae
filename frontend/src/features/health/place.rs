//! Where what a check found can be looked at and corrected.

use crate::routes::{Page, PageKind};

/// The page, and the query that narrows it, of a check by its id; none where no page corrects it, as for a setting of the
/// server.
pub(super) fn place(id: &str) -> Option<(Page, &'static str)> {
    let (kind, of) = id.split_once(':')?;
    let (project, subject) = of.split_once(':').unwrap_or((of, ""));
    let (project, subject) = (project.to_owned(), subject.to_owned());
    Some(match kind {
        "upstream" => (Page::of_project(project, PageKind::Records), "?outcome=failed"),
        "probe" => (Page::tool(project, subject), "?tab=definition"),
        "mcp_server" => (Page::mcp_server(project, subject), ""),
        "webhook" => (Page::of_project(project, PageKind::Settings), ""),
        "secrets" => (Page::of_project(project, PageKind::Secrets), ""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn checks_lead_to_where_they_are_corrected() {
        for (id, expected) in [
            (
                "upstream:demo:api.example.com:8443",
                Some("/ui/projects/demo/records?outcome=failed"),
            ),
            (
                "probe:demo:look-up",
                Some("/ui/projects/demo/tools/look-up?tab=definition"),
            ),
            (
                "mcp_server:demo:weather",
                Some("/ui/projects/demo/mcp-servers/weather"),
            ),
            ("webhook:demo", Some("/ui/projects/demo/settings")),
            ("secrets:demo", Some("/ui/projects/demo/secrets")),
            ("secrets_key", None),
            ("database", None),
            ("other:demo", None),
        ] {
            let href = place(id).map(|(page, query)| page.path() + query);
            assert_eq!(href.as_deref(), expected, "{id}");
        }
    }
}
