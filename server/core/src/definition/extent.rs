//! How much a schema is, and schemas that are put together of checked parts.
//!
//! Tools of one description share what their schemas refer to. A part is checked once, however many tools it is of; each tool
//! adds up how much its parts are.

use serde_json::{Map, Value, json};
use toolgate_api::Diagnostic;

use super::node::{Cursor, Node};
use super::report::Report;
use super::schema::{self, LISTS, MAPS, MAX_HEIGHT, MAX_NODES, MAX_PATTERNS, SINGLE};
use crate::text::limits::UPLOAD;

/// The depth of the parts of a schema: under `$defs`, under their name.
const PART_DEPTH: usize = 2;

/// What of a schema is bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Values, itself and everything in it.
    pub(crate) values: usize,
    /// Bytes of its texts and names.
    text: usize,
    /// Levels of lists and maps.
    height: usize,
    /// Regular expressions.
    patterns: usize,
}

impl Extent {
    /// Of a schema.
    pub(crate) fn of(schema: &Value) -> Self {
        Self {
            patterns: patterns(schema),
            ..Self::of_value(schema)
        }
    }

    fn of_value(value: &Value) -> Self {
        let mut extent = Self {
            values: 1,
            ..Self::default()
        };
        let mut add = |key: usize, child: &Value| {
            let child = Self::of_value(child);
            extent.values += child.values;
            extent.text += child.text + key;
            extent.height = extent.height.max(child.height + 1);
        };
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => extent.text = text.len(),
            Value::Array(items) => {
                items.iter().for_each(|item| add(0, item));
                extent.height = extent.height.max(1);
            }
            Value::Object(members) => {
                members.iter().for_each(|(key, member)| add(key.len(), member));
                extent.height = extent.height.max(1);
            }
        }
        extent
    }

    /// With a part under `$defs`.
    pub(crate) fn add_part(&mut self, part: &Self) {
        self.values += part.values;
        self.text += part.text;
        self.height = self.height.max(part.height + PART_DEPTH);
        self.patterns += part.patterns;
    }

    /// Whether a tool may have such a schema.
    ///
    /// # Errors
    /// What is too much, as a sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.values > MAX_NODES || self.height > MAX_HEIGHT {
            return Err(schema::too_large());
        }
        if self.patterns > MAX_PATTERNS {
            return Err(schema::too_many_patterns());
        }
        if self.text > UPLOAD.text {
            return Err(format!(
                "the schema is too large: at most {} MiB of text",
                UPLOAD.text >> 20
            ));
        }
        Ok(())
    }
}

/// How many regular expressions a schema has.
fn patterns(schema: &Value) -> usize {
    let Value::Object(keywords) = schema else { return 0 };
    let named = keywords.get("patternProperties").and_then(Value::as_object);
    let own = usize::from(keywords.contains_key("pattern")) + named.map_or(0, Map::len);
    let inner = keywords.iter().map(|(keyword, value)| match value {
        Value::Array(schemas) if LISTS.contains(&keyword.as_str()) => schemas.iter().map(patterns).sum(),
        Value::Object(schemas) if MAPS.contains(&keyword.as_str()) => schemas.values().map(patterns).sum(),
        value if SINGLE.contains(&keyword.as_str()) => patterns(value),
        _ => 0,
    });
    own + inner.sum::<usize>()
}

/// Checks a part of schemas by itself: what it refers to is any value meanwhile.
///
/// # Errors
/// Every fault of it.
pub(crate) fn check_part(part: &Value, refs: &[String]) -> Result<(), Vec<Diagnostic>> {
    let whole = json!({"type": "object", "properties": {"part": part}, "$defs": stand_ins(refs)});
    let Ok(node) = Node::from_value(&whole) else {
        return Err(vec![Diagnostic::error(schema::too_large())]);
    };
    let mut report = Report::default();
    schema::read(&Cursor::root(&node), &mut report);
    report.finish().map(drop)
}

/// `$defs` with the names of parts that are checked elsewhere.
pub(crate) fn stand_ins(refs: &[String]) -> Value {
    refs.iter().map(|name| (name.clone(), json!({}))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_what_definitions_count() {
        let schema = json!({
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "^a$"}, "b": {"type": "array", "items": {"pattern": "b"}}},
            "patternProperties": {"^x-": {"anyOf": [{"pattern": "c"}, true]}},
            "default": {"pattern": "no schema"},
        });
        let node = Node::from_value(&schema).expect("a tree");
        let extent = Extent::of(&schema);
        assert_eq!(
            (extent.values, extent.text, extent.height),
            (node.size.nodes, node.size.text, node.size.height)
        );
        assert_eq!(extent.patterns, 4);
    }

    #[test]
    fn parts_are_two_levels_down() {
        let part = json!({"type": "object", "properties": {"a": {"pattern": "a"}}});
        let mut head = json!({"type": "object"});
        let mut extent = Extent::of(&head);
        extent.add_part(&Extent::of(&part));
        head["$defs"] = json!({ "Part": part });
        let whole = Extent::of(&head);
        assert_eq!((extent.height, extent.patterns), (whole.height, whole.patterns));
    }

    #[test]
    fn a_part_is_checked_without_what_it_refers_to() {
        let refers = json!({"$ref": "#/$defs/Other"});
        assert_eq!(check_part(&refers, &["Other".to_owned()]), Ok(()));
        assert!(check_part(&refers, &[]).is_err());
        assert!(check_part(&json!({"type": "text"}), &[]).is_err());
        assert!(check_part(&json!({"minimum": "1"}), &[]).is_err());
    }
}
