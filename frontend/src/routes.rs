//! Every address of the dashboard, with typed parts. Links and navigation go through here.

use crate::browser::{decode, encode};
use crate::components::Symbol;
use crate::session::Permission;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Page {
    /// Decides where to start: the only project, or the list.
    Start,
    /// All projects.
    Projects,
    /// The users of this server.
    Users,
    /// How this server does.
    Health,
    /// A page of a project.
    In(String, Section),
    /// One tool of a project.
    Tool(String, String),
    /// Importing a description into a project.
    NewImport(String),
    /// One import of a project.
    Import(String, String),
}

impl Page {
    /// Its path.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Start => "/ui/".to_owned(),
            Self::Projects => "/ui/projects".to_owned(),
            Self::Users => "/ui/users".to_owned(),
            Self::Health => "/ui/health".to_owned(),
            Self::In(project, section) => format!("/ui/projects/{}/{}", encode(project), section.segment()),
            Self::Tool(project, tool) => {
                format!("/ui/projects/{}/tools/{}", encode(project), encode(tool))
            }
            Self::NewImport(project) => format!("/ui/projects/{}/imports/new", encode(project)),
            Self::Import(project, import) => {
                format!("/ui/projects/{}/imports/{}", encode(project), encode(import))
            }
        }
    }
}

/// Which page it is, whatever it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// [`Page::Start`]
    Start,
    /// [`Page::Projects`]
    Projects,
    /// [`Page::Users`]
    Users,
    /// [`Page::Health`]
    Health,
    /// [`Page::In`]
    In(Section),
    /// [`Page::Tool`]
    Tool,
    /// [`Page::NewImport`]
    NewImport,
    /// [`Page::Import`]
    Import,
}

impl Page {
    /// Reads a path; nothing when it leads nowhere.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<String> = path
            .strip_prefix("/ui")?
            .split('/')
            .filter(|part| !part.is_empty())
            .map(decode)
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Some(match parts.as_slice() {
            [] => Self::Start,
            ["projects"] => Self::Projects,
            ["users"] => Self::Users,
            ["health"] => Self::Health,
            ["projects", project, "tools", tool] => Self::Tool((*project).to_owned(), (*tool).to_owned()),
            ["projects", project, "imports", "new"] => Self::NewImport((*project).to_owned()),
            ["projects", project, "imports", import] => {
                Self::Import((*project).to_owned(), (*import).to_owned())
            }
            ["projects", project, segment] => {
                let section = Section::ALL
                    .iter()
                    .find(|section| section.segment() == *segment)?;
                Self::In((*project).to_owned(), *section)
            }
            _ => return None,
        })
    }

    /// Which page it is.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Start => Kind::Start,
            Self::Projects => Kind::Projects,
            Self::Users => Kind::Users,
            Self::Health => Kind::Health,
            Self::In(_, section) => Kind::In(*section),
            Self::Tool(..) => Kind::Tool,
            Self::NewImport(_) => Kind::NewImport,
            Self::Import(..) => Kind::Import,
        }
    }

    /// The project it belongs to.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::In(project, _)
            | Self::Tool(project, _)
            | Self::NewImport(project)
            | Self::Import(project, _) => Some(project),
            _ => None,
        }
    }
}

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident = $segment:literal, $title:literal, $symbol:ident, $need:ident;)*) => {
        /// A page that every project has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Section {
            $($(#[$doc])* $name,)*
        }

        impl Section {
            /// All of them, in the order of the navigation.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The last part of its path.
            pub(crate) const fn segment(self) -> &'static str {
                match self { $(Self::$name => $segment,)* }
            }

            /// Its name in the navigation, and the heading of the page.
            pub(crate) const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// What its page takes.
            pub(crate) const fn needs(self) -> Permission {
                match self { $(Self::$name => Permission::$need,)* }
            }

            /// Its icon in the navigation.
            pub(crate) const fn symbol(self) -> Symbol {
                match self { $(Self::$name => Symbol::$symbol,)* }
            }
        }
    };
}

sections! {
    /// What happens in the project.
    Overview = "overview", "Overview", Overview, Use;
    /// The tools.
    Tools = "tools", "Tools", Tool, Use;
    /// Uploading definitions.
    Upload = "upload", "Upload", Upload, EditDefinitions;
    /// Descriptions of APIs whose operations are tools.
    Imports = "imports", "Imports", Import, ReadDefinitions;
    /// Changes of descriptions that wait for somebody.
    Quarantine = "quarantine", "Quarantine", Pause, ReadDefinitions;
    /// Groups, and which tools are in them.
    Groups = "groups", "Groups", Group, Use;
    /// States, and which tools lead from one to another.
    States = "states", "States", State, ReadDefinitions;
    /// Who holds what.
    Permissions = "permissions", "Permissions", Shield, ReadAccess;
    /// The keys of agents.
    Keys = "keys", "Keys", Key, ManageKeys;
    /// What somebody would see, and why.
    Simulator = "simulator", "Simulator", Play, Use;
    /// Stored expectations.
    PolicyTests = "policy-tests", "Policy tests", Check, ReadDefinitions;
    /// Workflow runs.
    Sessions = "sessions", "Sessions", Session, Use;
    /// The record of every decision and call.
    Records = "records", "Records", Record, ReadAudit;
    /// What looked suspicious.
    Alerts = "alerts", "Alerts", Bell, ReadAudit;
    /// Rates and concurrency.
    Limits = "limits", "Limits", Gauge, ReadDefinitions;
    /// Values that definitions use and nobody reads.
    Secrets = "secrets", "Secrets", Lock, ManageSecrets;
    /// What the project sets for itself.
    Settings = "settings", "Settings", Settings, ReadDefinitions;
    /// How agents and programs connect.
    Connect = "connect", "Connect", Plug, Use;
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
