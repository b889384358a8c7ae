//! What a page keeps in its address: filters, tabs, selections. So they can be shared, and back and forward work.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_query_map};
use leptos_router::location::{BrowserUrl, LocationProvider};

use crate::browser::encode;
use crate::reactive::effect;
use crate::routes::{Page, PageKind};

/// One parameter of the query. Absent is the empty text.
#[derive(Clone, Copy)]
pub(crate) struct UrlParam {
    name: &'static str,
    value: Memo<String>,
    navigator: Navigator,
}

/// Goes to a path.
type Go = Box<dyn Fn(&str, NavigateOptions)>;

/// Changes the address of the page one is on.
#[derive(Clone, Copy)]
pub(crate) struct Navigator {
    go: StoredValue<Go, LocalStorage>,
    path: Memo<String>,
    query: Memo<leptos_router::params::ParamsMap>,
}

impl Navigator {
    /// For the page that is being built.
    pub(crate) fn new() -> Self {
        Self {
            go: StoredValue::new_local(Box::new(use_navigate()) as Go),
            path: use_location().pathname,
            query: use_query_map(),
        }
    }

    /// Goes to another page.
    pub(crate) fn go(self, path: &str) {
        self.go.with_value(|go| go(path, NavigateOptions::default()));
    }

    /// Sets some parameters and keeps the others; an empty value removes its parameter.
    pub(crate) fn set(self, changes: &[(&str, &str)], remember: bool) {
        let mut query = String::new();
        let mut push = |name: &str, value: &str| {
            if !value.is_empty() {
                query.push(if query.is_empty() { '?' } else { '&' });
                query.push_str(&encode(name));
                query.push('=');
                query.push_str(&encode(value));
            }
        };
        self.query.with_untracked(|map| {
            for (name, value) in map.clone() {
                if changes.iter().all(|(changed, _)| *changed != name) {
                    push(&name, &value);
                }
            }
        });
        for (name, value) in changes {
            push(name, value);
        }
        let target = self.path.get_untracked() + &query;
        let options = NavigateOptions {
            replace: !remember,
            scroll: false,
            ..NavigateOptions::default()
        };
        self.go.with_value(|go| go(&target, options));
    }
}

impl UrlParam {
    /// The parameter of a name.
    pub(crate) fn new(name: &'static str) -> Self {
        let navigator = Navigator::new();
        Self {
            name,
            value: Memo::new(move |_| navigator.query.with(|map| map.get(name)).unwrap_or_default()),
            navigator,
        }
    }

    /// Its value, reactively.
    pub(crate) fn get(self) -> String {
        self.value.get()
    }

    /// Its value now.
    pub(crate) fn get_untracked(self) -> String {
        self.value.get_untracked()
    }

    /// Its value as a signal.
    pub(crate) fn signal(self) -> Memo<String> {
        self.value
    }

    /// Whether the drawer is open that shows what this names; closing it empties this.
    pub(crate) fn drawer(self) -> RwSignal<bool> {
        let open = RwSignal::new(false);
        effect(move || open.set(!self.get().is_empty()));
        Effect::new(move |before: Option<bool>| {
            let now = open.get();
            if before == Some(true) && !now {
                self.push("");
            }
            now
        });
        open
    }

    /// Changes it in place: the way back leads past it. For what changes with every key stroke.
    pub(crate) fn replace(self, value: &str) {
        if self.value.get_untracked() != value {
            self.navigator.set(&[(self.name, value)], false);
        }
    }

    /// Changes it as a step of its own, which the way back undoes.
    pub(crate) fn push(self, value: &str) {
        if self.value.get_untracked() != value {
            self.navigator.set(&[(self.name, value)], true);
        }
    }
}

/// The page in the address, shared by the frame and the pages through the context.
#[derive(Clone, Copy)]
struct Current(Memo<Option<Page>>);

/// Follows the address from now on.
pub(crate) fn provide_page() -> Memo<Option<Page>> {
    let path = use_location().pathname;
    let page = Memo::new(move |_| path.with(|path| Page::parse(path)));
    // The router writes the address and the history once the new page is reported as shown. Its own routes would do
    // that; here `Page` says what an address means.
    let query = use_location().search;
    let location = use_context::<BrowserUrl>();
    effect(move || {
        path.track();
        query.track();
        if let Some(location) = &location {
            location.ready_to_complete();
        }
    });
    provide_context(Current(page));
    page
}

/// The page in the address.
pub(crate) fn page() -> Memo<Option<Page>> {
    expect_context::<Current>().0
}

/// The page in the address now, where there is one.
pub(crate) fn page_here() -> Option<Page> {
    use_context::<Current>()?.0.get_untracked()
}

/// The project in the address; empty outside of projects.
pub(crate) fn project_in_path() -> Memo<String> {
    let page = page();
    Memo::new(move |_| {
        page.with(|page| page.as_ref().and_then(|page| page.project().map(str::to_owned)))
            .unwrap_or_default()
    })
}

/// The import in the address; empty on other pages.
pub(crate) fn import_in_path() -> Memo<String> {
    subject(PageKind::Import)
}

/// The MCP server in the address; empty on other pages.
pub(crate) fn mcp_server_in_path() -> Memo<String> {
    subject(PageKind::McpServer)
}

/// The service or worker in the address; empty on other pages.
pub(crate) fn bus_program_in_path() -> Memo<String> {
    subject(PageKind::BusProgram)
}

/// The tool service whose definition is in the address; empty on other pages.
pub(crate) fn service_in_path() -> Memo<String> {
    subject(PageKind::ServiceDefinition)
}

/// The tool in the address; empty on other pages.
pub(crate) fn tool_in_path() -> Memo<String> {
    subject(PageKind::Tool)
}

/// What the address is about, on one kind of page; empty on others.
fn subject(kind: PageKind) -> Memo<String> {
    let page = page();
    Memo::new(move |_| {
        page.with(|page| {
            let page = page.as_ref().filter(|page| page.kind() == kind);
            page.map(|page| page.subject().to_owned())
        })
        .unwrap_or_default()
    })
}
