//! One box that finds everything: pages, projects, tools, groups, states, people, records and actions.

use std::time::Duration;

use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use toolgate_api::egress::ProjectEgress;

use crate::api::{Ask, in_project, parse, with_query};
use crate::browser::lower;
use crate::components::{Dialog, Icon, Placement, Symbol, Toasts, after_paint};
use crate::features::projects::Projects;
use crate::language::{marked, t, tf};
use crate::preferences::Preferred;
use crate::reactive::effect;
use crate::routes::{Heading, Page, PageKind};
use crate::session::{Permission, Session};
use crate::theme::Theme;
use crate::url::{Navigator, project_in_path};

/// Most entries shown.
const SHOWN: usize = 12;
/// How long typing must rest before the server is asked.
const REST: Duration = Duration::from_millis(120);

/// What the server is asked for: the list, what one of it is called, the page and parameter that show it, and how many
/// are read at most.
const SOURCES: [(&str, &str, PageKind, &str, &str); 5] = [
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
const RECORD: &str = marked("Record");
/// What is found in the guides.
const GUIDE: &str = marked("Guide");
/// Guides that are shown of what was found.
const GUIDES: usize = 4;

/// What can be begun: the page, what it is called, and the rest of the address.
const ACTIONS: [(PageKind, &str, &str); 6] = [
    (PageKind::NewTool, marked("Create a tool"), ""),
    (PageKind::Upload, marked("Upload tools"), ""),
    (PageKind::Keys, marked("New key"), "?new=1"),
    (PageKind::Permissions, marked("Grant groups"), ""),
    (PageKind::Records, marked("Follow the record live"), "?live=1"),
    (PageKind::McpServers, marked("Add an MCP server"), "?add=1"),
];

/// What can be set: the same.
const SETTINGS: [(PageKind, &str, &str); 8] = [
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
/// The rank of what fits least.
const LAST: usize = 4;

/// What an entry does.
#[derive(Clone, PartialEq)]
enum Does {
    Go(String),
    /// A page of the server, beside this one.
    Open(String),
    Theme(Theme),
    SignOut,
}

#[derive(Clone, PartialEq)]
struct Entry {
    symbol: Symbol,
    text: String,
    kind: &'static str,
    does: Does,
}

/// The dialog with the box.
#[component]
pub(crate) fn Palette(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let session = Session::get();
    let projects = Projects::get();
    let navigator = Navigator::new();
    let toasts = Toasts::get();
    let preferred = Preferred::get();
    let q = RwSignal::new(String::new());
    let at = RwSignal::new(0_usize);
    let found = RwSignal::new(Vec::<Entry>::new());
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let is_listed = RwSignal::new(false);

    let project = project_in_path();
    let current = Memo::new(move |_| Some(project.get()).filter(|project| !project.is_empty()));
    let fixed = Memo::new(move |_| {
        let mut entries = Vec::new();
        if let Some(project) = current.get() {
            for kind in PageKind::ALL {
                if kind.is_of_project() && session.may_see(&project, *kind) {
                    entries.push(page_entry(Page::of_project(project.clone(), *kind)));
                }
            }
        }
        if let Some(project) = current.get() {
            let of_pages = ACTIONS.iter().map(|row| (row, marked("Action")));
            let of_pages = of_pages.chain(SETTINGS.iter().map(|row| (row, marked("Setting"))));
            entries.extend(
                of_pages
                    .filter(|((section, ..), _)| session.may_see(&project, *section))
                    .map(|((section, text, rest), kind)| Entry {
                        symbol: section.symbol(),
                        text: t(text).to_owned(),
                        kind,
                        does: Does::Go(Page::of_project(project.clone(), *section).path() + rest),
                    }),
            );
            if session.may(&project, Permission::EditDefinitions) {
                entries.push(Entry {
                    symbol: PageKind::Imports.symbol(),
                    text: t("Import a description of an API").to_owned(),
                    kind: marked("Action"),
                    does: Does::Go(Page::of_project(project, PageKind::NewImport).path()),
                });
            }
        }
        entries.extend(projects.all().into_iter().map(|project| Entry {
            symbol: Symbol::Group,
            does: Does::Go(Page::of_project(project.id, PageKind::Overview).path()),
            text: project.name,
            kind: marked("Project"),
        }));
        for kind in PageKind::ALL {
            if kind.heading() == Heading::Server && session.may_see("", *kind) {
                entries.push(page_entry(Page::of_server(*kind)));
            }
        }
        entries.push(page_entry(Page::of_server(PageKind::Profile)));
        entries.extend(Theme::ALL.into_iter().map(|theme| Entry {
            symbol: Symbol::Settings,
            text: tf!("{theme} theme", theme = theme.label()),
            kind: marked("Action"),
            does: Does::Theme(theme),
        }));
        entries.push(Entry {
            symbol: Symbol::SignOut,
            text: t("Sign out").to_owned(),
            kind: marked("Action"),
            does: Does::SignOut,
        });
        entries
    });
    let shown = Memo::new(move |_| {
        if !is_listed.get() {
            return Vec::new();
        }
        let wanted = lower(q.get().trim());
        let mut entries: Vec<(usize, Entry)> = fixed.with(|fixed| {
            fixed
                .iter()
                .filter_map(|entry| Some((rank(&entry.text, &wanted)?, entry.clone())))
                .collect()
        });
        found.with(|found| {
            entries.extend(found.iter().filter_map(|entry| {
                let rank = rank(&entry.text, &wanted)
                    .or((entry.kind == RECORD || entry.kind == GUIDE).then_some(LAST))?;
                Some((rank, entry.clone()))
            }));
        });
        let of_rank = |wanted| entries.iter().filter(move |(rank, _)| *rank == wanted);
        let in_order = (0..=LAST).flat_map(of_rank);
        in_order
            .map(|(_, entry)| entry.clone())
            .take(SHOWN)
            .collect::<Vec<_>>()
    });

    // Adds what the server has found, unless something else is wanted meanwhile.
    let look = move |address: String, wanted: String, entry: Box<dyn Fn(&Value) -> Entry>, most: usize| {
        let ask = Ask::get(address).send();
        spawn_local(async move {
            let answer = ask.await.and_then(|answer| parse(&answer.text));
            let is_wanted = q.try_get_untracked().is_some_and(|now| now.trim() == wanted);
            if let (Ok(page), true) = (answer, is_wanted) {
                let items = page["items"].as_array().into_iter().flatten();
                found.update(|found| found.extend(items.take(most).map(entry)));
            }
        });
    };
    let ask = move || {
        let wanted = q.get_untracked().trim().to_owned();
        found.set(Vec::new());
        if wanted.is_empty() {
            return;
        }
        look(
            with_query("/help/search".to_owned(), &[("q", &wanted)]),
            wanted.clone(),
            Box::new(guide_entry),
            GUIDES,
        );
        let Some(project) = current.get_untracked() else {
            return;
        };
        if session.may_see(&project, PageKind::Settings) {
            let (address, project) = (in_project(&project, &["egress"]), project.clone());
            let ask = Ask::get(address).send();
            let wanted = wanted.clone();
            spawn_local(async move {
                let answer = ask.await.and_then(|answer| answer.read::<ProjectEgress>());
                let is_wanted = q.try_get_untracked().is_some_and(|now| now.trim() == wanted);
                if let (Ok(egress), true) = (answer, is_wanted) {
                    let hosts = egress.hosts.into_iter().map(|host| host_entry(&project, host));
                    found.update(|found| found.extend(hosts));
                }
            });
        }
        for (list, kind, section, param, limit) in SOURCES {
            if !session.may_see(&project, section) {
                continue;
            }
            // Holders of permissions are few and have no search.
            let sought = if param == "principal" { "" } else { &wanted };
            let address = with_query(in_project(&project, &[list]), &[("q", sought), ("limit", limit)]);
            let project = project.clone();
            look(
                address,
                wanted.clone(),
                Box::new(move |item| entry(&project, kind, section, param, item)),
                usize::MAX,
            );
        }
    };
    let choose = move |entry: Entry| {
        open.set(false);
        match entry.does {
            Does::Go(path) => navigator.go(&path),
            Does::Open(path) => {
                // Without a window of its own, the browser says why.
                let _ = window().open_with_url_and_target(&path, "_blank");
            }
            Does::Theme(theme) => preferred.choose(theme),
            Does::SignOut => spawn_local(async move {
                if let Err(error) = session.sign_out().await {
                    toasts.failed(t("You are still signed in"), &error);
                }
            }),
        }
    };
    effect(move || {
        let is_open = open.get();
        is_listed.set(false);
        if is_open {
            q.set(String::new());
            found.set(Vec::new());
            at.set(0);
            // The box is there at once; what can be found is made when that was painted.
            after_paint(move || {
                // The page may be gone.
                if let Some(is_open) = open.try_get_untracked() {
                    is_listed.try_set(is_open);
                }
            });
        }
    });
    let on_keydown = move |event: ev::KeyboardEvent| {
        let count = shown.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if count > 0 => at.update(|at| *at = (*at + 1) % count),
            "ArrowUp" if count > 0 => at.update(|at| *at = (*at + count - 1) % count),
            // There is nothing else in the dialog that could have the focus.
            "Tab" => {}
            "Enter" => {
                if let Some(entry) = shown.with_untracked(|shown| shown.get(at.get_untracked()).cloned()) {
                    choose(entry);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <Dialog open title=t("Search for anything") placement=Placement::Top>
            <div class="palette">
                <input
                    class="palette-input"
                    type="text"
                    role="combobox"
                    aria-label=t("Search for pages, tools, groups, people, records, settings, hosts, guides, actions")
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-activedescendant=move || format!("palette-{}", at.get())
                    placeholder=t("Search for pages, tools, people, settings, guides, actions")
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || q.get()
                    on:keydown=on_keydown
                    on:input=move |event| {
                        q.set(event_target_value(&event));
                        at.set(0);
                        if let Some(Some(timer)) = pending.try_update_value(Option::take) {
                            timer.clear();
                        }
                        pending.set_value(set_timeout_with_handle(ask, REST).ok());
                    }
                />
                <ul class="palette-list" id="palette-list" role="listbox" aria-label=t("Found")>
                    {move || {
                        shown
                            .get()
                            .into_iter()
                            .enumerate()
                            .map(|(index, entry)| {
                                let chosen = entry.clone();
                                view! {
                                    <li
                                        id=format!("palette-{index}")
                                        class="palette-entry"
                                        role="option"
                                        aria-selected=move || (at.get() == index).to_string()
                                        on:pointermove=move |_| at.set(index)
                                        on:click=move |_| choose(chosen.clone())
                                    >
                                        <Icon symbol=entry.symbol />
                                        <span class="palette-text">{entry.text}</span>
                                        <span class="muted">{t(entry.kind)}</span>
                                    </li>
                                }
                            })
                            .collect::<Vec<_>>()
                    }}
                </ul>
                <p class="palette-none muted" role="status">
                    {move || (is_listed.get() && shown.with(Vec::is_empty)).then_some(t("Nothing found. Try fewer letters."))}
                </p>
            </div>
        </Dialog>
    }
}

/// A page.
fn page_entry(page: Page) -> Entry {
    Entry {
        symbol: page.kind().symbol(),
        text: page.kind().title().to_owned(),
        kind: marked("Page"),
        does: Does::Go(page.path()),
    }
}

/// A section of a guide.
fn guide_entry(item: &Value) -> Entry {
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
fn host_entry(project: &str, host: String) -> Entry {
    Entry {
        symbol: Symbol::Plug,
        text: host,
        kind: marked("Host"),
        does: Does::Go(Page::of_project(project.to_owned(), PageKind::Settings).path() + "#egress"),
    }
}

/// One thing that the server has found.
fn entry(project: &str, kind: &'static str, section: PageKind, param: &str, item: &Value) -> Entry {
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

/// How well a text fits: the whole, the beginning, the beginning of a word, somewhere. Lower is better.
fn rank(text: &str, wanted: &str) -> Option<usize> {
    let text = lower(text);
    if wanted.is_empty() {
        return Some(LAST);
    }
    match text.find(wanted) {
        Some(0) if text.len() == wanted.len() => Some(0),
        Some(0) => Some(1),
        Some(at) if !text[..at].ends_with(is_of_word) => Some(2),
        Some(_) => Some(3),
        None => None,
    }
}

/// Letters and digits; what is not ASCII counts as one, so that no browser loads tables of all letters.
fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn exact_names_come_first() {
        let mut names = ["my-web-search", "web-search", "web-search-2", "webby web-search"];
        names.sort_by_key(|name| rank(name, "web-search"));
        assert_eq!(names[0], "web-search");
        assert_eq!(names[1], "web-search-2");
        assert_eq!(rank("tools", "x"), None);
        assert_eq!(rank("tools", ""), Some(4));
    }
}
