//! Instructions that are hidden in what models read of a tool. They are flagged for the person who approves the tool; a
//! text can be harmless and look like one, and the other way round.

use serde_json::Value;

/// Texts that speak to a model instead of describing a tool, in lower case with single blanks.
const PHRASES: [&str; 16] = [
    "ignore previous instructions",
    "ignore all previous",
    "ignore the above",
    "disregard previous",
    "disregard all previous",
    "forget your instructions",
    "you must always call",
    "before using any other tool",
    "do not tell the user",
    "don't tell the user",
    "do not mention this",
    "without telling the user",
    "hide this from the user",
    "<important>",
    "<system>",
    "system prompt",
];
/// Findings of one tool.
const MOST: usize = 10;
/// Longest part of a text that is shown.
const SHOWN: usize = 60;

/// What is suspicious in a tool: one sentence for each finding, with its place.
#[must_use]
pub fn suspicions(tool: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(tool, &mut String::new(), &mut found);
    found.truncate(MOST);
    found
}

fn look(value: &Value, place: &mut String, found: &mut Vec<String>) {
    if found.len() >= MOST {
        return;
    }
    match value {
        Value::String(text) => {
            found.extend(finding(text).map(|what| format!("suspicious: {what} in {}", shown(place))));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                step(&at.to_string(), item, place, found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                if let Some(what) = finding(key) {
                    found.push(format!("suspicious: {what} in a key of {}", shown(place)));
                }
                step(key, member, place, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn step(key: &str, value: &Value, place: &mut String, found: &mut Vec<String>) {
    let before = place.len();
    place.push('/');
    place.push_str(key);
    look(value, place, found);
    place.truncate(before);
}

fn shown(place: &str) -> String {
    let plain = place.chars().filter(|c| !is_invisible(*c) && !c.is_control());
    match plain.take(SHOWN).collect::<String>() {
        whole if whole.is_empty() => "the tool".to_owned(),
        whole => whole,
    }
}

fn finding(text: &str) -> Option<String> {
    if let Some(c) = text.chars().find(|c| is_invisible(*c)) {
        return Some(format!("an invisible character (U+{:04X})", u32::from(c)));
    }
    let is_control = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some(c) = text.chars().find(is_control) {
        return Some(format!("a control character (U+{:04X})", u32::from(c)));
    }
    let plain = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase();
    let phrase = PHRASES.iter().find(|phrase| plain.contains(**phrase))?;
    Some(format!("an instruction to the model ({phrase:?})"))
}

/// Characters that people do not see and models read: zero width, direction marks, tags, variation selectors of the supplement.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}'
    ) && c != '\u{200d}'
}
