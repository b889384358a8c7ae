//! A field for names that exist: the browser offers those of the project while one types.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{Ask, in_project, parse, with_query};
use crate::url::project_in_path;

/// How long typing must rest before the server is asked.
const REST: Duration = Duration::from_millis(150);
/// Names that are offered at most.
const OFFERED: &str = "30";

/// What the names are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamesOf {
    /// Groups of tools.
    Groups,
    /// States of the workflow.
    States,
    /// Tools.
    Tools,
}

impl NamesOf {
    fn list(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::States => "states",
            Self::Tools => "tools",
        }
    }
}

/// A line of text with the project's names to choose from. A name that does not exist yet can be typed as well.
#[component]
pub(crate) fn NameInput(
    /// Unique on the page.
    #[prop(into)]
    id: String,
    /// The text.
    value: RwSignal<String>,
    /// What the names are of.
    of: NamesOf,
    /// Whether several are written, with commas between them.
    #[prop(optional)]
    many: bool,
    /// An example.
    #[prop(optional)]
    placeholder: &'static str,
    /// Most characters.
    #[prop(default = "1024")]
    max: &'static str,
    /// The name, when no label refers to it.
    #[prop(optional)]
    name: Option<String>,
    /// Whether it only shows.
    #[prop(optional)]
    readonly: bool,
    /// The project's id; that of the page without it.
    #[prop(optional_no_strip)]
    project: Option<Signal<String>>,
) -> impl IntoView {
    let project = project.unwrap_or_else(|| project_in_path().into());
    let offered = RwSignal::new(Vec::<String>::new());
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let ask = move || {
        let typed = value.get_untracked();
        // What is written before the last comma stays as it is.
        let (before, wanted) = match typed.rsplit_once(',') {
            Some((before, wanted)) if many => (format!("{before}, "), wanted.trim().to_owned()),
            _ => (String::new(), typed.trim().to_owned()),
        };
        let address = in_project(&project.get_untracked(), &[of.list()]);
        let mut query = vec![("q", wanted.as_str()), ("limit", OFFERED)];
        if of == NamesOf::Tools {
            query.push(("view", "summary"));
        }
        let ask = Ask::get(with_query(address, &query)).send();
        spawn_local(async move {
            // Without names one can type them.
            let Ok(page) = ask.await.and_then(|answer| parse(&answer.text)) else {
                return;
            };
            let items = page["items"].as_array().into_iter().flatten();
            let names = items.filter_map(|item| item["name"].as_str());
            let names = names.map(|name| format!("{before}{name}")).collect();
            offered.try_set(names);
        });
    };
    let later = move || {
        if let Some(Some(timer)) = pending.try_update_value(Option::take) {
            timer.clear();
        }
        pending.set_value(set_timeout_with_handle(ask, REST).ok());
    };
    on_cleanup(move || {
        if let Some(Some(timer)) = pending.try_update_value(Option::take) {
            timer.clear();
        }
    });
    let list = format!("{id}-names");
    let help = name.is_none().then(|| format!("{id}-help"));
    view! {
        <input
            id=id
            class="input mono"
            type="text"
            list=list.clone()
            aria-label=name
            maxlength=max
            placeholder=placeholder
            autocomplete="off"
            readonly=readonly
            spellcheck="false"
            aria-describedby=help
            prop:value=move || value.get()
            on:focus=move |_| later()
            on:input=move |event| {
                value.set(event_target_value(&event));
                later();
            }
        />
        <datalist id=list>
            {move || offered.get().into_iter().map(|name| view! { <option value=name></option> }).collect::<Vec<_>>()}
        </datalist>
    }
}
