//! Guides: how tools are used. What one must be, and whom it is shown to.

use toolgate_api::Diagnostic;
use toolgate_api::guides::GuideDefinition;

use crate::ids::ToolName;
use crate::policy::groups::GroupSet;

/// Guides of one project.
pub const MAX_GUIDES: usize = 500;
/// Characters of an id.
const ID: usize = 64;
/// Characters of a summary.
const SUMMARY: usize = 200;
/// Bytes of a text.
const TEXT: usize = 64 * 1024;
/// Characters of the name of a group or an import.
const NAME: usize = 128;

/// Every fault of a guide, each with its JSON pointer. Empty: it may be stored. Whether its group or import exists is not
/// asked: guides may be written before their tools.
#[must_use]
pub fn check(id: &str, guide: &GuideDefinition) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |pointer: &str, message: String, hint: &str| {
        faults.push(Diagnostic::error(message).at_pointer(pointer).hint(hint));
    };
    if id.len() > ID || ToolName::parse(id).is_err() {
        fault(
            "",
            "is not a valid id of a guide".to_owned(),
            "write 1-64 letters, digits, '.', '_' and '-'",
        );
    }
    let summary = guide.summary.trim();
    if summary.is_empty() || summary.chars().nth(SUMMARY).is_some() || summary.chars().any(char::is_control) {
        fault(
            "/summary",
            format!("a summary is one line of 1-{SUMMARY} characters"),
            "say in one sentence what the guide is good for",
        );
    }
    if guide.text.trim().is_empty() || guide.text.len() > TEXT || guide.text.contains('\0') {
        fault(
            "/text",
            format!("a text has 1-{TEXT} bytes, and no character U+0000"),
            "write Markdown, and divide a longer one",
        );
    }
    for (pointer, name) in [("/group", &guide.group), ("/source", &guide.source)] {
        let fits = |name: &String| {
            !name.is_empty() && name.chars().nth(NAME).is_none() && !name.chars().any(char::is_control)
        };
        if !name.as_ref().is_none_or(fits) {
            fault(
                pointer,
                format!("a name has 1-{NAME} characters"),
                "leave it out for a guide of the project",
            );
        }
    }
    if guide.group.is_some() && guide.source.is_some() {
        fault(
            "/source",
            "a guide is about a group or about an import".to_owned(),
            "name one of them, or neither for a guide of the project",
        );
    }
    faults
}

/// Whether a guide is shown to a caller who asks for groups that it holds: one of the project to everyone, one of a group to
/// those who may use the group, one of an import to those who may use one of its tools. `of_source` has the groups of each of
/// these tools.
pub fn is_shown<'t>(
    guide: &GuideDefinition,
    groups: &GroupSet,
    mut of_source: impl Iterator<Item = &'t [String]>,
) -> bool {
    match (&guide.group, &guide.source) {
        (Some(group), _) => groups.covers(group),
        (None, Some(_)) => of_source.any(|tool| tool.iter().any(|group| groups.covers(group))),
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn guide(group: Option<&str>, source: Option<&str>) -> GuideDefinition {
        GuideDefinition {
            summary: "How to search".to_owned(),
            group: group.map(str::to_owned),
            source: source.map(str::to_owned),
            text: "# Searching".to_owned(),
        }
    }

    #[rstest]
    #[case::of_the_project(None, None, &[], true)]
    #[case::of_a_group(Some("a"), None, &["a"], true)]
    #[case::of_a_child(Some("a/x"), None, &["a"], true)]
    #[case::of_a_parent(Some("a"), None, &["a/x"], false)]
    #[case::of_another_group(Some("a"), None, &["b"], false)]
    #[case::of_an_import(None, Some("api"), &["b"], true)]
    #[case::of_an_import_without_a_tool(None, Some("api"), &["c"], false)]
    #[case::all(Some("a"), None, &["*"], true)]
    fn a_guide_is_shown_to_those_who_may_use_what_it_is_about(
        #[case] group: Option<&str>,
        #[case] source: Option<&str>,
        #[case] held: &[&str],
        #[case] shown: bool,
    ) {
        let held: GroupSet = held.iter().copied().collect();
        let tools = [vec!["a".to_owned()], vec!["b".to_owned()]];
        let of_source = tools.iter().map(Vec::as_slice);
        assert_eq!(is_shown(&guide(group, source), &held, of_source), shown);
    }

    #[test]
    fn every_fault_of_a_guide_is_named() {
        assert_eq!(check("searching", &guide(Some("a"), None)), []);
        let mut wrong = guide(Some(""), Some("api"));
        (wrong.summary, wrong.text) = ("two\nlines".to_owned(), " ".to_owned());
        let pointers: Vec<String> = check("a b", &wrong)
            .into_iter()
            .filter_map(|fault| fault.pointer)
            .collect();
        assert_eq!(pointers, ["", "/summary", "/text", "/group", "/source"]);
    }
}
