//! The guides that are about a tool: those of the project, of its groups, and of the import that it belongs to.

use leptos::prelude::*;

use crate::api::{in_project, with_query};
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};

/// A link to each; to all guides after the first page of them.
pub(super) fn guides(project: String, tool: &str) -> AnyView {
    let list = with_query(
        in_project(&project, &["guides"]),
        &[("tool", tool), ("limit", "200")],
    );
    let list = Loaded::new(move || list.clone());
    let path = Page::of_project(project, PageKind::Guides).path();
    part(move || {
        let Some(page) = list.json() else {
            return list.problem();
        };
        let mut links: Vec<_> = page["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|guide| {
                let text = |key: &str| guide[key].as_str().unwrap_or_default().to_owned();
                let href = with_query(path.clone(), &[("guide", &text("id"))]);
                link(href, text("summary"), text("id"))
            })
            .collect();
        if !page["next_cursor"].is_null() {
            links.push(link(path.clone(), String::new(), t("All guides").to_owned()));
        }
        match links.is_empty() {
            true => t("none").into_any(),
            false => view! { <ul class="stack-small">{links}</ul> }.into_any(),
        }
    })
}

fn link(href: String, title: String, text: String) -> AnyView {
    view! { <li><a href=href title=title>{text}</a></li> }.into_any()
}
