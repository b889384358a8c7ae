//! The guides that are about a tool: those of the project, of its groups, and of the import that it belongs to.

use leptos::prelude::*;
use serde_json::Value;
use toolgate_api::tools::Tool;

use crate::api::{in_project, with_query};
use crate::held_groups::covers;
use crate::language::t;
use crate::loaded::Loaded;
use crate::reactive::part;
use crate::routes::{Page, PageKind};

/// Guides of imports that are looked at.
const MOST: usize = 20;

/// A guide that is about the tool if its import is that of the tool.
struct Candidate {
    id: String,
    summary: String,
    /// The tools of its import that have the name in theirs; none for a guide of another kind.
    tools: Option<Loaded>,
}

/// A link to each; to all guides where not all of them were looked at.
pub(super) fn guides(project: String, tool: &Tool) -> AnyView {
    let list = in_project(&project, &["guides"]) + "?limit=200";
    let list = Loaded::new(move || list.clone());
    let (project, name) = (StoredValue::new(project), StoredValue::new(tool.name.clone()));
    let groups = StoredValue::new(tool.group.clone());
    part(move || {
        let Some(page) = list.json() else {
            return list.problem();
        };
        let mut found = Vec::new();
        let mut imports = 0;
        for item in page["items"].as_array().into_iter().flatten() {
            let about = groups.with_value(|groups| about(item, groups));
            let tools = match about {
                About::Other => continue,
                About::Tool => None,
                About::Import(import) => {
                    imports += 1;
                    if imports > MOST {
                        continue;
                    }
                    let name = name.get_value();
                    let query = [
                        ("import", import),
                        ("q", &name),
                        ("view", "summary"),
                        ("limit", "1000"),
                    ];
                    let path = with_query(in_project(&project.get_value(), &["tools"]), &query);
                    Some(Loaded::new(move || path.clone()))
                }
            };
            let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            let (id, summary) = (text("id"), text("summary"));
            found.push(Candidate { id, summary, tools });
        }
        let is_part = imports > MOST || !page["next_cursor"].is_null();
        links(project.get_value(), name.get_value(), found, is_part)
    })
}

fn links(project: String, tool: String, found: Vec<Candidate>, is_part: bool) -> AnyView {
    let path = Page::of_project(project, PageKind::Guides).path();
    part(move || {
        let has_tool = |tools: Loaded| {
            let page = tools.json().unwrap_or_default();
            let mut items = page["items"].as_array().into_iter().flatten();
            items.any(|item| item["name"] == tool.as_str())
        };
        let mut links: Vec<_> = found
            .iter()
            .filter(|guide| guide.tools.is_none_or(has_tool))
            .map(|guide| {
                let href = with_query(path.clone(), &[("guide", &guide.id)]);
                link(href, guide.summary.clone(), guide.id.clone())
            })
            .collect();
        if is_part {
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

/// What a guide is about, as far as a tool is concerned.
#[derive(Debug, PartialEq)]
enum About<'a> {
    /// The project, or one of the groups of the tool.
    Tool,
    /// The tools of an import.
    Import(&'a str),
    /// Another group.
    Other,
}

/// What a guide is about, seen from a tool of these groups.
fn about<'a>(guide: &'a Value, groups: &[String]) -> About<'a> {
    match (guide["group"].as_str(), guide["source"].as_str()) {
        (Some(of), _) if !groups.iter().any(|group| covers(of, group)) => About::Other,
        (None, Some(source)) => About::Import(source),
        _ => About::Tool,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{About, about};

    #[test]
    fn a_guide_is_about_the_tools_of_the_project_of_its_group_or_of_its_import() {
        let groups = ["a/b".to_owned()];
        for (guide, expected) in [
            (json!({}), About::Tool),
            (json!({"group": "a"}), About::Tool),
            (json!({"group": "a/b"}), About::Tool),
            (json!({"group": "c"}), About::Other),
            (json!({"source": "pets"}), About::Import("pets")),
        ] {
            assert_eq!(about(&guide, &groups), expected, "{guide}");
        }
    }
}
