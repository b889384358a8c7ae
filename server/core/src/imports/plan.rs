//! What becomes of each operation when its description is imported again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::merge::merge;
use super::operation::Operation;
use super::tool::ImportedTool;
use super::value;
use crate::definition::ToolDefinition;
use crate::ids::ToolName;

/// An operation that was imported before.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<'a> {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The tool that it became; it keeps this name.
    pub tool: ToolName,
    /// The definition as the last import brought it.
    pub base: Cow<'a, ToolDefinition>,
}

/// What is known of the tools of a project.
pub trait Place {
    /// A tool as it is.
    fn tool(&self, name: &str) -> Option<&ToolDefinition>;
    /// Whether a tool belongs to another import, even if it was deleted.
    fn is_elsewhere(&self, name: &str) -> bool;
}

/// What becomes of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It becomes this tool, which is disabled.
    New(Box<ToolDefinition>),
    /// The tool of its name is taken in as it is; this is what the description says of it.
    Adopted(Box<ToolDefinition>),
    /// The tool of its name does not belong to the import; the sentence says whose it is.
    Taken(String),
    /// It cannot become a tool, or no more.
    Refused(String),
    /// Nothing is to be decided; this is what the description says now.
    Unchanged(Box<ToolDefinition>),
    /// This waits for a decision.
    Changed(Box<ToolDefinition>),
    /// The tool was deleted here; this is what the description says now.
    Deleted(Box<ToolDefinition>),
    /// The description has it no more.
    Gone,
}

/// An operation and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Its place in the description; `None` when it is not there any more.
    pub found: Option<usize>,
    /// Its place among those that were imported before; `None` when it was not.
    pub kept: Option<usize>,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// Plans an import: the operations of the description that are chosen or were imported before, in its order, then those that
/// it has no more.
///
/// An operation is found again by method and path, or else by the name of its tool: an API that moves `/v1/pets` to
/// `/v2/pets` keeps the ids of its operations. With `adopt`, tools that are there by the name of a chosen operation are
/// taken in.
#[must_use]
pub fn plan(
    kept: &[Kept<'_>],
    found: &[Operation],
    is_chosen: impl Fn(&Operation) -> bool,
    place: &dyn Place,
    adopt: bool,
) -> Vec<Planned> {
    let again = find_again(kept, found);
    let of_import: HashSet<&str> = kept.iter().map(|kept| kept.tool.as_str()).collect();
    let mut planned = Vec::new();
    let mut seen = vec![false; kept.len()];
    for (at, operation) in found.iter().enumerate() {
        let verdict = match again.get(&at) {
            Some(&index) => {
                seen[index] = true;
                known(&kept[index], operation, place)
            }
            None if !is_chosen(operation) => continue,
            None if of_import.contains(operation.name.as_str()) => Verdict::Taken(
                "another operation of this import has the name: import with another prefix".to_owned(),
            ),
            None => new(operation, place, adopt),
        };
        planned.push(Planned {
            found: Some(at),
            kept: again.get(&at).copied(),
            verdict,
        });
    }
    let gone = seen.iter().enumerate().filter(|(_, seen)| !**seen);
    planned.extend(gone.map(|(index, _)| Planned {
        found: None,
        kept: Some(index),
        verdict: Verdict::Gone,
    }));
    planned
}

/// For operations of the description, by their place: which of those imported before they are.
fn find_again(kept: &[Kept<'_>], found: &[Operation]) -> HashMap<usize, usize> {
    let mut by_place: HashMap<(&str, &str), usize> = HashMap::with_capacity(found.len());
    let mut by_name: HashMap<&str, usize> = HashMap::with_capacity(found.len());
    for (at, operation) in found.iter().enumerate() {
        by_place.entry((&operation.method, &operation.path)).or_insert(at);
        by_name.entry(&operation.name).or_insert(at);
    }
    let mut again = HashMap::with_capacity(kept.len());
    let mut lost = Vec::new();
    for (index, kept) in kept.iter().enumerate() {
        match by_place.get(&(kept.method.as_str(), kept.path.as_str())) {
            Some(&at) => {
                again.insert(at, index);
            }
            None => lost.push(index),
        }
    }
    for index in lost {
        if let Some(&at) = by_name.get(kept[index].tool.as_str()) {
            again.entry(at).or_insert(index);
        }
    }
    again
}

fn new(operation: &Operation, place: &dyn Place, adopt: bool) -> Verdict {
    let definition = match &operation.tool {
        Ok(tool) => draft(tool, &tool.plain().name),
        Err(why) => return Verdict::Refused(why.clone()),
    };
    if place.is_elsewhere(&operation.name) {
        return Verdict::Taken(
            "the tool of this name belongs to another import: import this one with a prefix".to_owned(),
        );
    }
    match place.tool(&operation.name) {
        None => Verdict::New(definition),
        Some(_) if adopt => Verdict::Adopted(definition),
        Some(_) => Verdict::Taken(
            "the project has a tool of this name that does not belong to the import: import with a prefix, rename or delete the tool, \
             or take it in with adopt=true"
                .to_owned(),
        ),
    }
}

fn known(kept: &Kept<'_>, operation: &Operation, place: &dyn Place) -> Verdict {
    let theirs = match &operation.tool {
        Ok(tool) => draft(tool, &kept.tool),
        Err(why) => return Verdict::Refused(why.clone()),
    };
    let Some(ours) = place.tool(kept.tool.as_str()) else {
        return Verdict::Deleted(theirs);
    };
    if *theirs == *kept.base {
        return Verdict::Unchanged(theirs);
    }
    // An editor may have made the same change before.
    let ours = value(ours);
    let merged = merge(&value(&kept.base), &ours, &value(&theirs), |_| None);
    if merged.conflicts.is_empty() && merged.merged == ours {
        Verdict::Unchanged(theirs)
    } else {
        Verdict::Changed(theirs)
    }
}

/// The definition as an import stores it: under the name that its tool has, and disabled at first.
fn draft(tool: &ImportedTool, name: &ToolName) -> Box<ToolDefinition> {
    let mut definition = tool.definition();
    definition.name.clone_from(name);
    definition.enabled = false;
    definition
}
