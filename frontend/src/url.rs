//! What a page keeps in its address: filters, tabs, selections. So they can be shared, and back and forward work.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_query_map};

use crate::browser::encode;

/// One parameter of the query. Absent is the empty text.
#[derive(Clone, Copy)]
pub(crate) struct UrlParam {
    name: &'static str,
    value: Memo<String>,
    navigator: Navigator,
}

/// Changes the address of the page one is on.
#[derive(Clone, Copy)]
pub(crate) struct Navigator {
    go: StoredValue<Box<dyn Fn(&str, NavigateOptions)>, LocalStorage>,
    path: Memo<String>,
    query: Memo<leptos_router::params::ParamsMap>,
}

impl Navigator {
    /// For the page that is being built.
    pub(crate) fn new() -> Self {
        Self {
            go: StoredValue::new_local(Box::new(use_navigate())),
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

/// The project in the address.
pub(crate) fn project_in_path() -> Memo<String> {
    path_param("project_id")
}

/// A part of the path by the name that its route gives it.
pub(crate) fn path_param(name: &'static str) -> Memo<String> {
    let params = leptos_router::hooks::use_params_map();
    Memo::new(move |_| params.with(|params| params.get(name)).unwrap_or_default())
}
