//! What the box can find, and what each of it does.

use serde_json::Value;

use crate::api::with_query;
use crate::components::Symbol;
use crate::language::marked;
use crate::routes::{Page, PageKind};
use crate::theme::Theme;

/// What the server is asked for: the list, what one of it is called, the page and parameter that show it, and how many
/// are read at most.
pub(super) const SOURCES: [(&str, &str, PageKind, &str, &str); 5] = [
    ("tools", marked("Tool"), PageKind::Tools, "", "12"),
    ("groups", marked("Group"), PageKind::Groups, "group", "6"),
    ("states", marked("State"), PageKind::States, "at", "6"),
    (
        "permissions",
        marked("Person or key"),
        PageKind::Permissions,
        "principal",
        "200",
    ),
    ("audit", RECORD, PageKind::Records, "record", "4"),
];
/// Records and guides are found by all that they hold, not only by what is shown of them.
pub(super) const RECORD: &str = marked("Record");
/// Projects are found by their ids too.
pub(super) const PROJECT: &str = marked("Project");
/// What is found in the guides.
pub(super) const GUIDE: &str = marked("Guide");
/// What can be begun: the page, what it is called, and the rest of the address.
pub(super) const ACTIONS: [(PageKind, &str, &str); 6] = [
    (PageKind::NewTool, marked("Create a tool"), ""),
    (PageKind::Upload, marked("Upload tools"), ""),
    (PageKind::Keys, marked("New key"), "?new=1"),
    (PageKind::Permissions, marked("Grant groups"), ""),
    (PageKind::Records, marked("Follow the record live"), "?live=1"),
    (PageKind::McpServers, marked("Add an MCP server"), "?add=1"),
];

/// What can be set: the same.
pub(super) const SETTINGS: [(PageKind, &str, &str); 8] = [
    (PageKind::Settings, marked("Agent endpoint"), "#agent-endpoint"),
    (
        PageKind::Settings,
        marked("Webhook for alerts and notifications"),
        "#webhook-url",
    ),
    (
        PageKind::Settings,
        marked("Thresholds of alerts"),
        "#alert-thresholds",
    ),
    (
        PageKind::Settings,
        marked("Hosts that tools may connect to (egress)"),
        "#egress",
    ),
    (
        PageKind::Settings,
        marked("Require sessions, start states"),
        "#sessions-use",
    ),
    (
        PageKind::Settings,
        marked("Trusted announcers"),
        "#trusted-announcers",
    ),
    (
        PageKind::Settings,
        marked("Rename or delete the project"),
        "#project",
    ),
    (PageKind::AccountProviders, marked("Account providers"), ""),
];
/// What an entry does.
#[derive(Clone, PartialEq)]
pub(super) enum Does {
    Go(String),
    /// A page of the server, beside this one.
    Open(String),
    Theme(Theme),
    SignOut,
}

#[derive(Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) symbol: Symbol,
    pub(super) text: String,
    pub(super) kind: &'static str,
    pub(super) does: Does,
}

/// A page.
pub(super) fn page_entry(page: Page) -> Entry {
    Entry {
        symbol: page.kind().symbol(),
        text: page.kind().title().to_owned(),
        kind: marked("Page"),
        does: Does::Go(page.path()),
    }
}

/// A project.
pub(super) fn project_entry(id: String, name: String) -> Entry {
    Entry {
        symbol: Symbol::Group,
        text: name,
        kind: PROJECT,
        does: Does::Go(Page::of_project(id, PageKind::Overview).path()),
    }
}

/// A section of a guide.
pub(super) fn guide_entry(item: &Value) -> Entry {
    let field = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let (guide, heading) = (field("guide"), field("heading"));
    Entry {
        symbol: Symbol::Book,
        text: if guide == heading {
            guide
        } else {
            format!("{guide}: {heading}")
        },
        kind: GUIDE,
        does: Does::Open(field("path")),
    }
}

/// A host that tools may connect to.
pub(super) fn host_entry(project: &str, host: String) -> Entry {
    Entry {
        symbol: Symbol::Plug,
        text: host,
        kind: marked("Host"),
        does: Does::Go(Page::of_project(project.to_owned(), PageKind::Settings).path() + "#egress"),
    }
}

/// One thing that the server has found.
pub(super) fn entry(
    project: &str,
    kind: &'static str,
    section: PageKind,
    param: &str,
    item: &Value,
) -> Entry {
    let field = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let (text, value) = match param {
        "record" => {
            let said = ["action", "tool", "outcome", "principal_name"].map(field);
            (said.join(" ").replace("  ", " "), field("id"))
        }
        "principal" => (field("name"), field("principal")),
        _ => (field("name"), field("name")),
    };
    let path = if param.is_empty() {
        Page::tool(project.to_owned(), value).path()
    } else {
        with_query(
            Page::of_project(project.to_owned(), section).path(),
            &[(param, &value)],
        )
    };
    Entry {
        symbol: section.symbol(),
        text,
        kind,
        does: Does::Go(path),
    }
}
