//! Every address of the dashboard, with typed parts. Links and navigation go through here. The pages are in
//! `page_table.rs`.

use toolgate_api::auth::ProjectPermission as Permission;

use crate::browser::{decode, encode};
use crate::components::Symbol;
use crate::language::t;
use crate::page_table::page_table;

/// Where every path begins.
const ROOT: &str = "/ui/";
/// The place of the project in a path of the table.
const PROJECT: &str = "{project}";
/// The place of the tool, the import or the server in a path of the table.
const SUBJECT: &str = "{subject}";

/// The headings of the sidebar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    /// Making tools.
    Build,
    /// Who may call them.
    Access,
    /// What happens.
    Run,
    /// The project itself.
    Project,
    /// What is the same for all projects.
    Server,
    /// Not in the sidebar.
    Unlisted,
}

/// What a page takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing but being signed in.
    Anyone,
    /// A permission in its project.
    In(Permission),
    /// Being a system administrator.
    SystemAdmin,
}

/// A row of the table.
struct Row {
    path: &'static str,
    title: &'static str,
    symbol: Symbol,
    heading: Heading,
    need: Need,
}

macro_rules! kinds {
    ($($_bundle:ident { $(
        $(#[$doc:meta])*
        $kind:ident = $path:literal, $title:literal, $symbol:ident, $heading:ident, $need:ident $(($permission:ident))? => $_view:ident;
    )* })*) => {
        /// Which page it is, whatever it is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum PageKind {
            $($($(#[$doc])* $kind,)*)*
        }

        impl PageKind {
            /// All of them, in the order of the table.
            pub(crate) const ALL: &'static [Self] = &[$($(Self::$kind,)*)*];
        }

        /// The rows, in the order of the kinds.
        static ROWS: &[Row] = &[$($(Row {
            path: $path,
            title: $title,
            symbol: Symbol::$symbol,
            heading: Heading::$heading,
            need: Need::$need $((Permission::$permission))?,
        },)*)*];
    };
}

page_table!(kinds);

impl PageKind {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its name in the sidebar, and the heading of the page.
    pub(crate) fn title(self) -> &'static str {
        t(self.row().title)
    }

    /// Its icon.
    pub(crate) fn symbol(self) -> Symbol {
        self.row().symbol
    }

    /// Where it is in the sidebar.
    pub(crate) fn heading(self) -> Heading {
        self.row().heading
    }

    /// What it takes.
    pub(crate) fn need(self) -> Need {
        self.row().need
    }

    /// Whether every project has it, and the sidebar shows it there.
    pub(crate) fn is_of_project(self) -> bool {
        !matches!(self.heading(), Heading::Server | Heading::Unlisted)
    }

    /// Whether it has a table, a matrix or a drawing that uses a wide screen.
    pub(crate) fn is_wide(self) -> bool {
        matches!(
            self,
            Self::Overview
                | Self::Tools
                | Self::Import
                | Self::Quarantine
                | Self::Groups
                | Self::States
                | Self::Permissions
                | Self::Keys
                | Self::Users
                | Self::Sessions
                | Self::Records
                | Self::ServerRecords
                | Self::Usage
                | Self::Alerts
                | Self::ServerAlerts
                | Self::Limits
        )
    }

    /// The project and the subject in a path below `/ui/`, if it is the path of this page.
    fn matches(self, parts: &[String]) -> Option<Page> {
        let mut page = Page::of_server(self);
        let mut given = parts.iter();
        for wanted in segments(self.row().path) {
            let part = given.next()?;
            match wanted {
                PROJECT => page.project.clone_from(part),
                SUBJECT => page.subject.clone_from(part),
                word if word == part => {}
                _ => return None,
            }
        }
        given.next().is_none().then_some(page)
    }
}

/// A page, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    kind: PageKind,
    /// Empty outside of projects.
    project: String,
    /// The tool, the import or the server; empty where the page is of neither.
    subject: String,
}

impl Page {
    /// A page that is the same for all projects.
    pub(crate) fn of_server(kind: PageKind) -> Self {
        Self::of_project(String::new(), kind)
    }

    /// A page of a project.
    pub(crate) fn of_project(project: String, kind: PageKind) -> Self {
        Self {
            kind,
            project,
            subject: String::new(),
        }
    }

    /// One tool of a project.
    pub(crate) fn tool(project: String, tool: String) -> Self {
        Self {
            kind: PageKind::Tool,
            project,
            subject: tool,
        }
    }

    /// One import of a project.
    pub(crate) fn import(project: String, import: String) -> Self {
        Self {
            kind: PageKind::Import,
            project,
            subject: import,
        }
    }

    /// One MCP server of a project.
    pub(crate) fn mcp_server(project: String, server: String) -> Self {
        Self {
            kind: PageKind::McpServer,
            project,
            subject: server,
        }
    }

    /// One service or worker of a project.
    pub(crate) fn bus_program(project: String, program: String) -> Self {
        Self {
            kind: PageKind::BusProgram,
            project,
            subject: program,
        }
    }

    /// The definition of a tool service of a project.
    pub(crate) fn service_definition(project: String, service: String) -> Self {
        Self {
            kind: PageKind::ServiceDefinition,
            project,
            subject: service,
        }
    }

    /// Its path.
    pub(crate) fn path(&self) -> String {
        let mut path = ROOT.to_owned();
        for (at, part) in segments(self.kind.row().path).enumerate() {
            if at > 0 {
                path.push('/');
            }
            match part {
                PROJECT => path.push_str(&encode(&self.project)),
                SUBJECT => path.push_str(&encode(&self.subject)),
                word => path.push_str(word),
            }
        }
        path
    }

    /// Reads a path; nothing when it leads nowhere.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let below = path.strip_prefix(ROOT.trim_end_matches('/'))?;
        let parts: Vec<String> = segments(below).map(decode).collect();
        PageKind::ALL.iter().find_map(|kind| kind.matches(&parts))
    }

    /// Which page it is.
    pub(crate) fn kind(&self) -> PageKind {
        self.kind
    }

    /// The project it belongs to.
    pub(crate) fn project(&self) -> Option<&str> {
        Some(self.project.as_str()).filter(|project| !project.is_empty())
    }

    /// The tool, the import or the server that it is about.
    pub(crate) fn subject(&self) -> &str {
        &self.subject
    }
}

/// The parts of a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// The page that the server renders for signing in.
pub(crate) const SIGN_IN: &str = "/ui/sign-in";

/// The API reference that the server renders.
pub(crate) const API_REFERENCE: &str = "/docs";

/// The sign-in page, which returns to `path` afterwards and says why it appears when a session `ended`.
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
        _ => Page::of_server(PageKind::Start).path(),
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
    use super::{PageKind, ROWS, after_sign_in};

    #[test]
    fn every_kind_has_its_row() {
        assert_eq!(PageKind::ALL.len(), ROWS.len());
        assert_eq!(
            PageKind::PolicyTests.row().path,
            "projects/{project}/policy-tests"
        );
        for (at, kind) in PageKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, at, "{kind:?}");
        }
    }

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
