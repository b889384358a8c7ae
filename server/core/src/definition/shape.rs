//! The shapes an upload may have: one definition, a list of them, or maps by id; one document or several.

use super::fields;
use super::nearest::nearest;
use super::node::{Cursor, Data};
use super::report::{Report, Spot, shown};
use super::service::{PARAMS, REQUEST, RESPONSE};

const TOOLS: &str = "tool";
const SERVICES: &str = "tool-service";

/// One definition that was found, with the key it is written under in the map form.
#[derive(Debug)]
pub(super) struct Item<'n> {
    pub(super) cursor: Cursor<'n>,
    pub(super) key: Option<(&'n str, Spot)>,
    pub(super) is_service: bool,
}

impl Item<'_> {
    /// The key and its place.
    pub(super) fn key(&self) -> Option<(&str, &Spot)> {
        self.key.as_ref().map(|(key, spot)| (*key, spot))
    }
}

/// Adds the definitions of one document.
pub(super) fn collect<'n>(document: &Cursor<'n>, items: &mut Vec<Item<'n>>, report: &mut Report) {
    match &document.node.data {
        Data::List(_) => document.items().for_each(|item| single(item, items, report)),
        Data::Map(_) if is_map_form(document) => {
            for (key, spot, value) in document.entries() {
                match key {
                    TOOLS => by_id(&value, false, items, report),
                    SERVICES => by_id(&value, true, items, report),
                    _ => fields::unknown_key(key, &spot, &[TOOLS, SERVICES], "the upload", report),
                }
            }
        }
        _ => single(document.clone(), items, report),
    }
}

/// A map of nothing but `tool` and `tool-service`, or of what was meant to be them.
fn is_map_form(document: &Cursor<'_>) -> bool {
    document
        .entries()
        .any(|(key, _, _)| matches!(key, TOOLS | SERVICES))
        || document.entries().count() > 0
            && document
                .entries()
                .all(|(key, _, value)| value.is_map() && nearest(key, [TOOLS, SERVICES]).is_some())
}

fn single<'n>(cursor: Cursor<'n>, items: &mut Vec<Item<'n>>, report: &mut Report) {
    if !cursor.is_map() {
        report.error(
            &cursor.spot,
            format!("a tool is a map, not {}", cursor.node.kind()),
            "write name: <name> and the tool's other keys, one in each line",
        );
        return;
    }
    let has = |key: &str| cursor.get(key).is_some();
    let service_keys = || REQUEST.iter().chain(&RESPONSE).chain(&PARAMS).any(|key| has(key));
    let is_service = !has("name") && !has("tool_name") && (service_keys() || has("id"));
    items.push(Item {
        cursor,
        key: None,
        is_service,
    });
}

fn by_id<'n>(map: &Cursor<'n>, is_service: bool, items: &mut Vec<Item<'n>>, report: &mut Report) {
    let what = if is_service { SERVICES } else { TOOLS };
    if !fields::map(map, what, report) {
        return;
    }
    for (key, spot, cursor) in map.entries() {
        if cursor.is_map() {
            items.push(Item {
                cursor,
                key: Some((key, spot)),
                is_service,
            });
        } else {
            report.error(
                &cursor.spot,
                format!("{what} {} is a map, not {}", shown(key), cursor.node.kind()),
                "write its keys below it, indented",
            );
        }
    }
}
