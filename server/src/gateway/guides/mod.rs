//! Guides: how the tools of a project are used, for agents and for people.

mod change;

use toolgate_api::guides::Guide;
use toolgate_core::guides::is_shown;
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::GuideRow;

pub use self::change::{invalid, put, remove, upload};
use super::Problem;
use super::server_snapshot::ProjectState;

/// One guide by its id.
#[must_use]
pub fn find<'s>(project: &'s ProjectState, id: &str) -> Option<&'s GuideRow> {
    let at = project
        .guides
        .binary_search_by(|guide| guide.id.as_str().cmp(id))
        .ok()?;
    project.guides.get(at)
}

/// The guides that are shown to a caller who asks for groups that it holds, by id.
pub fn shown(project: &ProjectState, groups: GroupSet) -> impl Iterator<Item = &GuideRow> {
    project.guides.iter().filter(move |guide| {
        let tools = guide.tools.iter().filter_map(|name| project.snapshot.tool(name));
        let offered = tools.filter(|tool| tool.is_offered());
        is_shown(
            &guide.definition,
            &groups,
            offered.map(|tool| tool.groups.as_slice()),
        )
    })
}

/// Whether a guide is about a tool: one of the project, of a group that covers one of the tool's, or of the tool's import.
#[must_use]
pub fn is_about(guide: &GuideRow, tool: &CompiledTool) -> bool {
    match (&guide.definition.group, &guide.definition.source) {
        (Some(group), _) => {
            let of: GroupSet = [group.as_str()].into_iter().collect();
            tool.groups.iter().any(|group| of.covers(group))
        }
        (None, Some(_)) => {
            let name = tool.definition.name.as_str();
            guide.tools.iter().any(|of_source| of_source == name)
        }
        (None, None) => true,
    }
}

/// A guide as the API shows it; `whole` with its text, `author` with who changed it.
#[must_use]
pub fn wire(row: &GuideRow, whole: bool, author: bool) -> Guide {
    let guide = &row.definition;
    Guide {
        id: row.id.clone(),
        summary: guide.summary.clone(),
        group: guide.group.clone(),
        source: guide.source.clone(),
        text: whole.then(|| guide.text.clone()),
        revision: row.revision,
        updated_at: row.updated_at,
        updated_by: author.then(|| row.updated_by.clone()),
    }
}

/// The project has no such guide, or none that the caller sees.
#[must_use]
pub fn not_found(id: &str) -> Problem {
    let shown: String = id.chars().take(64).collect();
    Problem::not_found(format!("guide \"{shown}\""))
}
