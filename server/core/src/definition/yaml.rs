//! Reads YAML: events of the parser become documents, with everything refused that a definition has no use for.
//!
//! Duplicate keys, unknown tags, unknown aliases and keys that are no strings are reported and reading goes on;
//! faults of the syntax and exhausted budgets end it. Aliases share their value, so that an amplification costs only
//! the arithmetic of its weight.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use super::node::{Budget, Data, Entry, MAX_DEPTH, Node, Size};
use super::report::{NUL, Place, Report, Spot, shown};
use super::scalar::{self, ScalarError};
use super::{yaml_quotes, yaml_syntax};

/// Most aliases in one upload.
const MAX_ALIASES: usize = 1_000;
const MERGE_KEY: &str = "<<";

/// Reading cannot go on; why is in the report.
struct Stop;

/// The documents of a text; empty ones are left out.
pub(super) fn read(text: &str, report: &mut Report) -> Vec<Rc<Node>> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        // A little more than we allow, so that our own count comes first where it can.
        flow_nesting_limit: MAX_DEPTH + 2,
        block_nesting_limit: MAX_DEPTH + 2,
    };
    let (found, fault) = documents(text, &options, report);
    let Some(fault) = fault else { return found };
    let Some(indented) = yaml_quotes::indent(text, &fault, &options) else {
        syntax(&fault, text, report);
        return found;
    };
    for line in indented.lines {
        let (message, hint) = yaml_quotes::WARNING;
        report.warning(&spot(position(line, 1)), message, hint);
    }
    let (found, fault) = documents(&indented.text, &options, report);
    if let Some(fault) = fault {
        syntax(&fault, &indented.text, report);
    }
    found
}

/// What can be read, and the fault of the syntax at which it ends. Other faults are in the report.
fn documents(text: &str, options: &Options, report: &mut Report) -> (Vec<Rc<Node>>, Option<ScanError>) {
    let mut reader = Reader::new(report);
    for step in Parser::new_from_str_with_options(text, options.clone()) {
        let (event, span) = match step {
            Ok(step) => step,
            Err(fault) => return (reader.documents, Some(fault)),
        };
        if reader.event(event, &span).is_err() {
            break;
        }
    }
    (reader.documents, None)
}

fn syntax(fault: &ScanError, text: &str, report: &mut Report) {
    let (message, hint) = yaml_syntax::explain(fault);
    let (line, column) = yaml_syntax::place(fault, text);
    report.error(&spot(position(line, column)), message, hint);
}

fn place(marker: &Marker) -> Place {
    position(marker.line().max(1), marker.col() + 1)
}

fn position(line: usize, column: usize) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        line: number(line),
        column: number(column),
    }
}

fn spot(place: Place) -> Spot {
    Spot {
        place: Some(place),
        pointer: None,
    }
}

/// A list or map that is not closed yet.
struct Open {
    place: Place,
    anchor: usize,
    children: Children,
}

enum Children {
    List(Vec<Rc<Node>>),
    Map {
        entries: Vec<Entry>,
        at: HashMap<String, usize>,
        merged: Vec<Entry>,
        key: Option<Key>,
    },
}

/// A key whose value comes next.
enum Key {
    Name(String, Place),
    Merge(Place),
    /// Reported; its value is skipped.
    Faulty,
}

struct Reader<'r> {
    report: &'r mut Report,
    documents: Vec<Rc<Node>>,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    aliases: usize,
    budget: Budget,
}

impl<'r> Reader<'r> {
    fn new(report: &'r mut Report) -> Self {
        Self {
            report,
            documents: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            aliases: 0,
            budget: Budget::default(),
        }
    }

    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Stop> {
        let at = place(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if self.expects_key() && text == MERGE_KEY && style == ScalarStyle::Plain && tag.is_none() {
                    self.set_key(Key::Merge(at));
                    return Ok(());
                }
                let data = self.scalar(&text, style, tag.as_deref(), at);
                let node = Node::new(Some(at), data);
                self.pay(node.size, at)?;
                self.complete(node, anchor, at)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", at);
                self.open(at, anchor, Children::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", at);
                let map = Children::Map {
                    entries: Vec::new(),
                    at: HashMap::new(),
                    merged: Vec::new(),
                    key: None,
                };
                self.open(at, anchor, map)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(id) => self.alias(id, at),
            Event::UnresolvedAlias(name) => {
                self.report.error(
                    &spot(at),
                    format!("unknown alias {}", shown(&format!("*{name}"))),
                    format!("an anchor &{name} must stand before it in the same document; quote a text that begins with *"),
                );
                let node = Node::new(Some(at), Data::Null);
                self.complete(node, 0, at)
            }
            Event::DocumentEnd => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The value of a scalar; a faulty one is reported and read as a string.
    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Place) -> Data {
        if text.contains('\0') {
            self.report.error(&spot(at), NUL, "remove it");
        }
        let resolved = match tag {
            None if style == ScalarStyle::Plain => scalar::resolve(text),
            None => return Data::Text(text.to_owned()),
            Some(tag) if tag.is_yaml_core_schema_tag("str") || tag.original() == "!" => {
                return Data::Text(text.to_owned());
            }
            Some(tag) => {
                let resolved = scalar::resolve(text);
                let fits = match &resolved {
                    Ok(Data::Null) => tag.is_yaml_core_schema_tag("null"),
                    Ok(Data::Bool(_)) => tag.is_yaml_core_schema_tag("bool"),
                    Ok(Data::Number(number, _)) => {
                        tag.is_yaml_core_schema_tag("float")
                            || tag.is_yaml_core_schema_tag("int") && !number.is_f64()
                    }
                    Ok(_) => false,
                    Err(_) => true,
                };
                if !fits {
                    self.unknown_tag(tag, at);
                    return Data::Text(text.to_owned());
                }
                resolved
            }
        };
        match resolved {
            Ok(data) => data,
            Err(error) => {
                let message = match error {
                    ScalarError::NotFinite => format!("{text} is no JSON number"),
                    ScalarError::TooLarge => format!("the number {} is too large", shown(text)),
                };
                self.report
                    .error(&spot(at), message, "quote it if it is meant as a text");
                Data::Text(text.to_owned())
            }
        }
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, expected: &str, at: Place) {
        if let Some(tag) = tag
            && !tag.is_yaml_core_schema_tag(expected)
            && tag.original() != "!"
        {
            self.unknown_tag(tag, at);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, at: Place) {
        let message = if tag.is_yaml_core_schema() {
            format!("the value does not fit its tag {}", shown(&tag.original()))
        } else {
            format!("unknown tag {}", shown(&tag.original()))
        };
        self.report.error(
            &spot(at),
            message,
            "remove the tag; quote a text that begins with !",
        );
    }

    fn open(&mut self, place: Place, anchor: usize, children: Children) -> Result<(), Stop> {
        // Its children pay for themselves.
        self.pay(
            Size {
                nodes: 1,
                text: 0,
                height: 1,
            },
            place,
        )?;
        self.open.push(Open {
            place,
            anchor,
            children,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Stop> {
        let Some(Open {
            place,
            anchor,
            children,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let data = match children {
            Children::List(items) => Data::List(items),
            Children::Map {
                mut entries,
                mut at,
                merged,
                ..
            } => {
                // Keys of the map itself win over merged ones, earlier merges over later ones.
                for entry in merged {
                    if !at.contains_key(&entry.key) {
                        self.pay(entry.value.size, place)?;
                        at.insert(entry.key.clone(), entries.len());
                        entries.push(entry);
                    }
                }
                Data::Map(entries)
            }
        };
        self.complete(Node::new(Some(place), data), anchor, place)
    }

    fn alias(&mut self, id: usize, at: Place) -> Result<(), Stop> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            self.report.error(
                &spot(at),
                format!("more than {MAX_ALIASES} aliases"),
                "write the values out",
            );
            return Err(Stop);
        }
        let Some(target) = self.anchors.get(&id).cloned() else {
            self.report.error(
                &spot(at),
                "the alias stands inside the value it refers to",
                "write the value out",
            );
            return Err(Stop);
        };
        self.pay(target.size, at)?;
        self.complete(target, 0, at)
    }

    fn pay(&mut self, size: Size, at: Place) -> Result<(), Stop> {
        if self.budget.take(size, self.open.len(), &spot(at), self.report) {
            Ok(())
        } else {
            Err(Stop)
        }
    }

    fn expects_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                children: Children::Map { key: None, .. },
                ..
            })
        )
    }

    fn set_key(&mut self, new: Key) {
        if let Some(Open {
            children: Children::Map { key, .. },
            ..
        }) = self.open.last_mut()
        {
            *key = Some(new);
        }
    }

    /// Puts a finished value where it belongs: into the open collection, as its next key, or as a document.
    fn complete(&mut self, node: Rc<Node>, anchor: usize, at: Place) -> Result<(), Stop> {
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        if self.expects_key() {
            let key = self.key(&node, at);
            self.set_key(key);
            return Ok(());
        }
        let report = &mut *self.report;
        match self.open.last_mut() {
            None if matches!(node.data, Data::Null) => {}
            None => self.documents.push(node),
            Some(Open {
                children: Children::List(items),
                ..
            }) => items.push(node),
            Some(Open {
                children:
                    Children::Map {
                        entries,
                        at: index,
                        merged,
                        key,
                    },
                ..
            }) => match key.take() {
                Some(Key::Name(name, place)) => match index.get(&name) {
                    Some(&first) => {
                        let line = entries[first].place.map_or(0, |place| place.line);
                        report.error(
                            &spot(place),
                            format!("duplicate key {}", shown(&name)),
                            format!("it stands in line {line} already; keep one of them"),
                        );
                    }
                    None => {
                        index.insert(name.clone(), entries.len());
                        entries.push(Entry {
                            key: name,
                            place: Some(place),
                            value: node,
                        });
                    }
                },
                Some(Key::Merge(place)) => merge(&node, place, merged, report),
                Some(Key::Faulty) | None => {}
            },
        }
        Ok(())
    }

    fn key(&mut self, node: &Node, at: Place) -> Key {
        match &node.data {
            Data::Text(text) => Key::Name(text.clone(), at),
            _ => {
                let hint = match &node.data {
                    Data::Number(_, text) => format!("quote it: \"{text}\""),
                    Data::Bool(flag) => format!("quote it: \"{flag}\""),
                    Data::Map(_) => "quote a key or value that begins with {".to_owned(),
                    _ => "write a string before the colon".to_owned(),
                };
                self.report.error(
                    &spot(at),
                    format!("keys must be strings, not {}", node.kind()),
                    hint,
                );
                Key::Faulty
            }
        }
    }
}

/// Collects what a merge key brings: the entries of a map, or of each map of a list.
fn merge(node: &Node, place: Place, merged: &mut Vec<Entry>, report: &mut Report) {
    match &node.data {
        Data::Map(entries) => merged.extend(entries.iter().cloned()),
        Data::List(items) if items.iter().all(|item| matches!(item.data, Data::Map(_))) => {
            for item in items {
                merge(item, place, merged, report);
            }
        }
        _ => report.error(
            &spot(place),
            format!("a merge key needs a map or a list of maps, not {}", node.kind()),
            "write <<: *anchor",
        ),
    }
}
