//! A project as one file: reading and writing it, and what an import of it changes.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolgate_api::Diagnostic;
use toolgate_api::project_file::{
    FileGrant, FileOutcome, FilePart, FileSection, PROJECT_FILE_FORMAT, ProjectFile,
};

use crate::definition::value_diff;
use crate::nul;
use crate::pointer;
use crate::text::node::Node;
use crate::text::report::Report;
use crate::text::scalar;
use crate::text::yaml::read_patiently;
use crate::text::yaml::writer::yaml_of;

/// The sections that are lists.
const LISTS: [&str; 5] = ["tool_services", "tools", "grants", "policy_tests", "secrets"];
/// The sections that are one document.
const DOCUMENTS: [&str; 3] = ["settings", "limits", "egress"];
/// The member that says what the file is.
const FORMAT: &str = "toolgate_project";

/// The file as YAML. Reading it gives the same file.
#[must_use]
pub fn write(file: &ProjectFile) -> String {
    yaml_of(&value(file))
}

/// Reads a file, which is YAML or JSON. What its parts must be beside their form is not asked here.
///
/// # Errors
/// Every fault that was found, with its line and column or its JSON pointer.
pub fn read(text: &[u8]) -> Result<ProjectFile, Vec<Diagnostic>> {
    let whole = parse(text)?;
    let unfit = nul::faults(&whole);
    if !unfit.is_empty() {
        return Err(unfit);
    }
    let Value::Object(members) = &whole else {
        return Err(vec![no_project("a project file is a map")]);
    };
    match members.get(FORMAT) {
        None => return Err(vec![no_project("the file does not say that it is a project")]),
        Some(format) if *format != json!(PROJECT_FILE_FORMAT) => {
            let fault = Diagnostic::error(format!("the format {format} is unknown"))
                .hint(format!("this server reads the format {PROJECT_FILE_FORMAT}"));
            return Err(vec![fault.at_pointer(format!("/{FORMAT}"))]);
        }
        Some(_) => {}
    }
    let misshapen = lists_for_maps(members);
    if !misshapen.is_empty() {
        return Err(misshapen);
    }
    match serde_json::from_value(whole.clone()) {
        Ok(file) => Ok(file),
        Err(error) => Err(faults(members, &error.to_string())),
    }
}

/// Lists where the form has maps: the types would take their items in order.
fn lists_for_maps(members: &Map<String, Value>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut check = |value: &Value, place: &[&str]| {
        if value.is_array() {
            faults.push(
                Diagnostic::error("must be a map, not a list").at_pointer(pointer::of(place.iter().copied())),
            );
        }
    };
    for (key, value) in members {
        if !LISTS.contains(&key.as_str()) {
            check(value, &[key]);
        }
        match value {
            Value::Object(parts) if !DOCUMENTS.contains(&key.as_str()) => {
                for (name, part) in parts {
                    check(part, &[key, name]);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    check(item, &[key, &at.to_string()]);
                }
            }
            _ => {}
        }
    }
    faults
}

fn no_project(message: &str) -> Diagnostic {
    Diagnostic::error(message).hint(format!(
        "export a project, or write {FORMAT}: {PROJECT_FILE_FORMAT} and its sections"
    ))
}

fn parse(text: &[u8]) -> Result<Value, Vec<Diagnostic>> {
    let text = std::str::from_utf8(text).map_err(|_| vec![Diagnostic::error("the file is not UTF-8")])?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{')
        && let Ok(mut value) = serde_json::from_str(text)
    {
        scalar::normalize(&mut value);
        return Ok(value);
    }
    let mut report = Report::default();
    let document = read_patiently(text, &mut report);
    report.finish()?;
    Ok(document.map(Node::into_value).unwrap_or_default())
}

/// Where a file has not the form of one: each section and each of its parts is tried by itself.
fn faults(members: &Map<String, Value>, whole: &str) -> Vec<Diagnostic> {
    let alone = |key: &str, value: Value| {
        let mut one = Map::new();
        one.insert(FORMAT.to_owned(), json!(PROJECT_FILE_FORMAT));
        one.insert(key.to_owned(), value);
        serde_json::from_value::<ProjectFile>(Value::Object(one))
            .err()
            .map(|error| error.to_string())
    };
    let mut faults = Vec::new();
    for (key, value) in members {
        let Some(section) = alone(key, value.clone()) else {
            continue;
        };
        let parts: Vec<(String, Value)> = match value {
            Value::Object(parts) => parts
                .iter()
                .map(|(name, part)| (name.clone(), json!({ name.as_str(): part })))
                .collect(),
            Value::Array(parts) => parts
                .iter()
                .enumerate()
                .map(|(at, part)| (at.to_string(), json!([part])))
                .collect(),
            _ => Vec::new(),
        };
        let before = faults.len();
        for (name, part) in parts {
            if let Some(message) = alone(key, part) {
                faults.push(Diagnostic::error(message).at_pointer(pointer::of([key.as_str(), &name])));
            }
        }
        if faults.len() == before {
            faults.push(Diagnostic::error(section).at_pointer(pointer::of([key.as_str()])));
        }
    }
    if faults.is_empty() {
        faults.push(Diagnostic::error(whole));
    }
    faults
}

/// What an import of `wanted` changes in a project that is `current` as a file, in the order in which it is applied: what others
/// refer to first, what may refuse a change last.
#[must_use]
pub fn compare(current: &ProjectFile, wanted: &ProjectFile) -> Vec<FilePart> {
    let there: HashMap<(FileSection, String), Value> = parts(current)
        .into_iter()
        .map(|(section, name, value)| ((section, name), value))
        .collect();
    parts(wanted)
        .into_iter()
        .map(|(section, name, wanted)| {
            let before = there.get(&(section, name.clone()));
            let outcome = match before {
                None => FileOutcome::Created,
                Some(before) if *before == wanted => FileOutcome::Unchanged,
                Some(_) => FileOutcome::Changed,
            };
            let diff = (outcome != FileOutcome::Unchanged).then(|| value_diff(before, Some(&wanted)));
            FilePart {
                section,
                name,
                outcome,
                reason: None,
                diff,
            }
        })
        .collect()
}

/// The name of a part that is a definition.
#[must_use]
pub fn definition_name(definition: &Value, key: &str) -> String {
    definition[key].as_str().unwrap_or_default().to_owned()
}

fn parts(file: &ProjectFile) -> Vec<(FileSection, String, Value)> {
    use FileSection::{
        AccountProviders, Egress, Grants, Groups, Guides, Limits, McpServers, PolicyTests, Settings, States,
        ToolServices, Tools,
    };
    let mut parts = Vec::new();
    one(&mut parts, Egress, file.egress.as_ref());
    named(&mut parts, AccountProviders, &file.account_providers);
    named(&mut parts, McpServers, &file.mcp_servers);
    named(&mut parts, Groups, &file.groups);
    named(&mut parts, States, &file.states);
    for service in &file.tool_services {
        parts.push((ToolServices, definition_name(service, "id"), service.clone()));
    }
    for tool in &file.tools {
        parts.push((Tools, definition_name(tool, "name"), tool.clone()));
    }
    named(&mut parts, Guides, &file.guides);
    one(&mut parts, Settings, file.settings.as_ref());
    one(&mut parts, Limits, file.limits.as_ref());
    let holder = FileGrant::holder;
    for grant in &file.grants {
        parts.push((Grants, holder(grant).to_owned(), value(grant)));
    }
    for test in &file.policy_tests {
        parts.push((PolicyTests, test.name.clone(), value(test)));
    }
    parts
}

fn one(
    parts: &mut Vec<(FileSection, String, Value)>,
    section: FileSection,
    document: Option<&impl Serialize>,
) {
    parts.extend(document.map(|document| (section, String::new(), value(document))));
}

fn named<'a, T: Serialize + 'a>(
    parts: &mut Vec<(FileSection, String, Value)>,
    section: FileSection,
    all: impl IntoIterator<Item = (&'a String, &'a T)>,
) {
    parts.extend(
        all.into_iter()
            .map(|(name, part)| (section, name.clone(), value(part))),
    );
}

fn value(part: &impl Serialize) -> Value {
    // The parts of a file are always JSON.
    serde_json::to_value(part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
toolgate_project: 1
groups:
  knowledge: {description: Reads}
tools:
  - {name: find, type: static, static: {text: \"1\"}}
secrets: [KEY]
";

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let file = read(FILE.as_bytes()).expect("a file");
        assert_eq!(file.groups["knowledge"].description, "Reads");
        assert_eq!(read(write(&file).as_bytes()), Ok(file.clone()));
        assert_eq!(read(value(&file).to_string().as_bytes()), Ok(file));
    }

    #[test]
    fn an_import_changes_what_differs() {
        let current = read(FILE.as_bytes()).expect("a file");
        let text = FILE.replace("Reads", "Searches") + "states: {results: {}}\n";
        let wanted = read(text.as_bytes()).expect("a file");
        let found: Vec<_> = compare(&current, &wanted)
            .into_iter()
            .map(|part| (part.section, part.name, part.outcome, part.diff.is_some()))
            .collect();
        let expected = [
            (FileSection::Groups, "knowledge", FileOutcome::Changed, true),
            (FileSection::States, "results", FileOutcome::Created, true),
            (FileSection::Tools, "find", FileOutcome::Unchanged, false),
        ];
        assert_eq!(
            found,
            expected.map(|(section, name, outcome, diff)| (section, name.to_owned(), outcome, diff))
        );
    }

    #[test]
    fn faults_name_their_places() {
        let rows = [
            ("- 1", ""),
            ("groups: {}", ""),
            ("toolgate_project: 2", "/toolgate_project"),
            ("toolgate_project: 1\ngroup: {}", "/group"),
            (
                "toolgate_project: 1\ngroups: {a: {descripton: x}, b: {}}",
                "/groups/a",
            ),
            ("toolgate_project: 1\nsettings: {alerts: 7}", "/settings/alerts"),
            ("toolgate_project: 1\nsecrets: 7", "/secrets"),
            ("toolgate_project: 1\nsettings: []", "/settings"),
            ("toolgate_project: 1\ngroups: {a: []}", "/groups/a"),
            ("toolgate_project: 1\ngrants: [[]]", "/grants/0"),
        ];
        for (text, pointer) in rows {
            let faults = read(text.as_bytes()).expect_err(text);
            let found: Vec<_> = faults
                .iter()
                .map(|fault| fault.pointer.as_deref().unwrap_or_default())
                .collect();
            assert_eq!(found, [pointer], "{text}");
        }
    }
}
