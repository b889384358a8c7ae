//! Reads JSON (RFC 8259) with the place of every value and key.
//!
//! The structure is read here, texts are read by `serde_json`. Duplicate keys, which RFC 8259 leaves open, are errors.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Number;

use super::limits::{Budget, UPLOAD};
use super::node::{Data, Entry, Node, Size};
use super::report::{NUL, Place, Report, Spot, shown};
use super::scalar;

/// Reading cannot go on; why is in the report.
struct Stop;

/// The documents of a text: one, or none when it cannot be read or is empty.
pub(crate) fn read(text: &str, report: &mut Report) -> Vec<Rc<Node>> {
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        counted: 0,
        column: 1,
        depth: 0,
        budget: Budget::new(&UPLOAD),
        report,
    };
    reader.skip_space();
    if reader.at == text.len() {
        return Vec::new();
    }
    let Ok(root) = reader.value() else {
        return Vec::new();
    };
    reader.skip_space();
    if reader.at < text.len() {
        let _: Stop = reader.fault(
            "something follows the end of the JSON value",
            "send one value; put several tools into a list",
        );
    }
    vec![root]
}

struct Reader<'t, 'r> {
    text: &'t str,
    at: usize,
    line: u32,
    /// Up to here `column` is counted, so that a text in one line is counted once.
    counted: usize,
    column: u32,
    depth: usize,
    budget: Budget,
    report: &'r mut Report,
}

impl Reader<'_, '_> {
    fn value(&mut self) -> Result<Rc<Node>, Stop> {
        let place = self.place();
        let data = match self.peek() {
            Some(b'{') => return self.map(place),
            Some(b'[') => return self.list(place),
            Some(b'"') => Data::Text(self.string()?),
            Some(b't') if self.word("true") => Data::Bool(true),
            Some(b'f') if self.word("false") => Data::Bool(false),
            Some(b'n') if self.word("null") => Data::Null,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            None => return Err(self.fault("the JSON ends in the middle", "close all brackets and quotes")),
            Some(_) => {
                return Err(self.fault(
                    "the JSON cannot be read: a value is expected here",
                    "values are strings in double quotes, numbers, true, false, null, lists and maps",
                ));
            }
        };
        let node = Node::new(Some(place), data);
        self.pay(node.size, place)?;
        Ok(node)
    }

    fn map(&mut self, place: Place) -> Result<Rc<Node>, Stop> {
        self.enter(place)?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: HashMap<String, u32> = HashMap::new();
        self.skip_space();
        if !self.accept(b'}') {
            loop {
                self.skip_space();
                let at = self.place();
                if self.peek() != Some(b'"') {
                    return Err(self.fault(
                        "the JSON cannot be read: a key in double quotes is expected here",
                        "",
                    ));
                }
                let key = self.string()?;
                self.skip_space();
                if !self.accept(b':') {
                    return Err(self.fault("the JSON cannot be read: a colon is expected here", ""));
                }
                self.skip_space();
                let value = self.value()?;
                match lines.get(&key) {
                    Some(line) => self.report.error(
                        &Spot {
                            place: Some(at),
                            pointer: None,
                        },
                        format!("duplicate key {}", shown(&key)),
                        format!("it is in line {line} already; keep one of them"),
                    ),
                    None => {
                        lines.insert(key.clone(), at.line);
                        entries.push(Entry {
                            key,
                            place: Some(at),
                            value,
                        });
                    }
                }
                self.skip_space();
                if self.accept(b'}') {
                    break;
                }
                if !self.accept(b',') {
                    return Err(self.fault("the JSON cannot be read: a comma or } is expected here", ""));
                }
            }
        }
        self.depth -= 1;
        Ok(Node::new(Some(place), Data::Map(entries)))
    }

    fn list(&mut self, place: Place) -> Result<Rc<Node>, Stop> {
        self.enter(place)?;
        let mut items = Vec::new();
        self.skip_space();
        if !self.accept(b']') {
            loop {
                self.skip_space();
                items.push(self.value()?);
                self.skip_space();
                if self.accept(b']') {
                    break;
                }
                if !self.accept(b',') {
                    return Err(self.fault("the JSON cannot be read: a comma or ] is expected here", ""));
                }
            }
        }
        self.depth -= 1;
        Ok(Node::new(Some(place), Data::List(items)))
    }

    fn string(&mut self) -> Result<String, Stop> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.fault("the JSON cannot be read: unclosed quote", "close the quote")),
            }
        }
        end += 1;
        // `end` is behind an ASCII quote, so this is a character boundary.
        match serde_json::from_str::<String>(&self.text[start..end]) {
            Ok(text) => {
                if text.contains('\0') {
                    let place = Some(self.place());
                    self.report
                        .error(&Spot { place, pointer: None }, NUL, "remove it");
                }
                self.at = end;
                Ok(text)
            }
            Err(_) => Err(self.fault(
                "the JSON cannot be read: this string has a bad escape or a raw control character",
                r#"escape control characters, for example \n, and backslashes as \\"#,
            )),
        }
    }

    fn number(&mut self) -> Result<Data, Stop> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .take_while(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .count();
        let text = &self.text[self.at..self.at + length];
        let read = match (scalar::number(text), serde_json::from_str::<Number>(text)) {
            (Some(Err(_)), _) => return Err(self.fault("the number is too large", "send it as a string")),
            // JSON has fewer spellings than YAML.
            (Some(Ok(number)), Ok(_)) => number,
            _ => return Err(self.fault("the JSON cannot be read: this is no JSON number", "")),
        };
        self.at += length;
        Ok(Data::Number(read, text.to_owned()))
    }

    fn enter(&mut self, place: Place) -> Result<(), Stop> {
        self.pay(
            Size {
                nodes: 1,
                text: 0,
                height: 1,
            },
            place,
        )?;
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn pay(&mut self, size: Size, place: Place) -> Result<(), Stop> {
        let spot = Spot {
            place: Some(place),
            pointer: None,
        };
        if self.budget.take(size, self.depth, &spot, self.report) {
            Ok(())
        } else {
            Err(Stop)
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn word(&mut self, word: &str) -> bool {
        let there = self.text[self.at..].starts_with(word);
        if there {
            self.at += word.len();
        }
        there
    }

    fn skip_space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.counted = self.at;
                self.column = 1;
            }
        }
    }

    fn place(&mut self) -> Place {
        let characters = self.text[self.counted..self.at].chars().count();
        self.column = self
            .column
            .saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        self.counted = self.at;
        Place {
            line: self.line,
            column: self.column,
        }
    }

    fn fault(&mut self, message: &str, hint: &str) -> Stop {
        let place = self.place();
        self.report.error(
            &Spot {
                place: Some(place),
                pointer: None,
            },
            message,
            hint,
        );
        Stop
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<serde_json::Value> {
        let mut report = Report::default();
        let documents = read(text, &mut report);
        (report.errors() == 0).then(|| documents.first().map(|node| node.to_value()))?
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "'a'",
            "tru",
            "01",
            "+1",
            "1.",
            ".5",
            "0x1",
            "NaN",
            "\"\\x\"",
            "\"\u{1}\"",
            "\"",
            "\"\\",
            "[1] 2",
            "{\"a\":1,\"a\":2}",
            "# no",
            "\"\\ud800\"",
            "1e999",
            "é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_writes(text in r#"([\[\]{},:]|"[a-zé\\\\n]{0,3}"|-?[0-9]{1,3}(\.5|e2|00000000000000000000)?|true|null| |\n){0,12}"#) {
            let mut theirs = serde_json::from_str::<serde_json::Value>(&text).ok();
            theirs.iter_mut().for_each(scalar::normalize);
            let ours = parse(&text);
            // Equal, but for duplicate keys, which only we refuse.
            if ours.is_some() || !text.contains('{') {
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
