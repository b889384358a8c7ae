//! One box that finds everything: pages, projects, tools, groups, states, people, records and actions.

mod entries;

use std::time::Duration;

use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use toolgate_api::egress::ProjectEgress;

use self::entries::{
    ACTIONS, Does, Entry, GUIDE, PROJECT, RECORD, SETTINGS, SOURCES, entry, guide_entry, host_entry,
    page_entry, project_entry,
};
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

/// Guides that are shown of what was found.
const GUIDES: usize = 4;
/// Projects that are asked for beside those that are known.
const PROJECTS: &str = "6";
/// The rank of what fits least.
const LAST: usize = 4;

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
        entries.extend(
            projects
                .all()
                .into_iter()
                .map(|project| project_entry(project.id, project.name)),
        );
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
                let by_more = [RECORD, GUIDE, PROJECT].contains(&entry.kind);
                let rank = rank(&entry.text, &wanted).or(by_more.then_some(LAST))?;
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
                let known = |entry: &Entry| fixed.with_untracked(|fixed| fixed.contains(entry));
                let entries: Vec<_> = items
                    .take(most)
                    .map(entry)
                    .filter(|entry| !known(entry))
                    .collect();
                found.update(|found| found.extend(entries));
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
        // The shared list has only the first of many.
        if projects.list.has_more() {
            look(
                with_query("/projects".to_owned(), &[("q", &wanted), ("limit", PROJECTS)]),
                wanted.clone(),
                Box::new(|item| {
                    let field = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
                    project_entry(field("id"), field("name"))
                }),
                usize::MAX,
            );
        }
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
