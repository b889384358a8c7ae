//! Guides as they are uploaded: a map `guide: {id: {...}}`, as tools have theirs; one document or several.

use std::collections::BTreeMap;

use toolgate_api::guides::GuideDefinition;
use toolgate_api::problem::Diagnostic;

use super::node::Cursor;
use super::report::{Report, Spot};
use super::{TextFormat, decode, fields, json, yaml};
use crate::guides::{MAX_GUIDES, check};

const MAP_KEY: &str = "guide";
const KEYS: [&str; 4] = ["summary", "group", "source", "text"];

/// Reads and checks an upload of guides: by id.
///
/// # Errors
/// Every fault of it, in the order of the text, with line, column and a hint.
pub fn parse_guides(
    text: &[u8],
    format: TextFormat,
) -> Result<BTreeMap<String, GuideDefinition>, Vec<Diagnostic>> {
    let mut report = Report::default();
    let documents = match decode(text, &mut report) {
        Some(text) if format == TextFormat::Yaml => yaml::read(text, &mut report),
        Some(text) => json::read(text, &mut report),
        None => Vec::new(),
    };
    let mut guides = BTreeMap::new();
    for document in &documents {
        collect(&Cursor::root(document), &mut guides, &mut report);
    }
    if guides.is_empty() && report.errors() == 0 {
        let hint = "write guide: {searching: {summary: ..., text: ...}}";
        report.error(&Spot::text(1, 1), "the upload contains no guide", hint);
    }
    if guides.len() > MAX_GUIDES {
        let message = format!("more than {MAX_GUIDES} guides");
        report.error(&Spot::text(1, 1), message, "a project keeps no more; remove some");
    }
    report.finish().map(|_warnings| guides)
}

fn collect(document: &Cursor<'_>, guides: &mut BTreeMap<String, GuideDefinition>, report: &mut Report) {
    if !fields::map(document, "the upload", report) {
        return;
    }
    fields::known_keys(document, &[MAP_KEY], "the upload", report);
    let Some(map) = document.get(MAP_KEY) else { return };
    if !fields::map(&map, MAP_KEY, report) {
        return;
    }
    for (id, _, cursor) in map.entries() {
        let Some(guide) = read(&cursor, report) else {
            continue;
        };
        for fault in check(id, &guide) {
            let spot = cursor.find(fault.pointer.as_deref().unwrap_or_default()).spot;
            report.error(&spot, fault.message, fault.hint.unwrap_or_default());
        }
        if guides.insert(id.to_owned(), guide).is_some() {
            report.error(&cursor.spot, "a guide of this id is in another document", "");
        }
    }
}

fn read(cursor: &Cursor<'_>, report: &mut Report) -> Option<GuideDefinition> {
    if !fields::map(cursor, "a guide", report) {
        return None;
    }
    let before = report.errors();
    fields::known_keys(cursor, &KEYS, "a guide", report);
    let mut text = |key: &str, needed: bool| match cursor.get(key) {
        Some(value) => fields::string(&value, key, report),
        None => {
            if needed {
                report.error(
                    &cursor.spot,
                    format!("{key:?} is missing"),
                    format!("add {key}: ..."),
                );
            }
            None
        }
    };
    let guide = GuideDefinition {
        summary: text("summary", true).unwrap_or_default(),
        group: text("group", false),
        source: text("source", false),
        text: text("text", true).unwrap_or_default(),
    };
    (report.errors() == before).then_some(guide)
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "guide:\n  searching:\n    summary: How to search\n    group: knowledge\n    text: |\n      # Searching\n";

    #[test]
    fn an_upload_is_a_map() {
        let guides = parse_guides(YAML.as_bytes(), TextFormat::Yaml).unwrap();
        let guide = &guides["searching"];
        assert_eq!(guide.group.as_deref(), Some("knowledge"));
        assert_eq!(guide.text, "# Searching\n");
        let json = r##"{"guide": {"searching": {"summary": "How to search", "group": "knowledge", "text": "# Searching\n"}}}"##;
        assert_eq!(parse_guides(json.as_bytes(), TextFormat::Json).unwrap(), guides);
    }

    #[test]
    fn every_fault_has_its_line() {
        let text = "guide:\n  a b:\n    summary: One\n    text: Two\n  c:\n    sumary: One\n    text: Two\n";
        let faults = parse_guides(text.as_bytes(), TextFormat::Yaml).unwrap_err();
        let lines: Vec<Option<u32>> = faults.iter().map(|fault| fault.line).collect();
        assert!(lines.contains(&Some(6)), "{faults:?}");
        assert!(
            faults.iter().any(|fault| fault.message.contains("valid id")),
            "{faults:?}"
        );
        assert!(parse_guides(b"tool: {}", TextFormat::Yaml).is_err());
        assert!(parse_guides(b"", TextFormat::Yaml).is_err());
    }
}
