//! Events of the parser become documents.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, ScalarStyle, Span, Tag};

use super::{Mode, place, spot};
use crate::text::limits::Budget;
use crate::text::node::{Data, Entry, Node, Size};
use crate::text::report::{NUL, Place, Report, shown};
use crate::text::scalar::{self, ScalarError};

const MERGE_KEY: &str = "<<";

/// Reading cannot go on; why is in the report.
pub(super) struct Stop;

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

/// What was read so far.
pub(super) struct Reader<'r> {
    mode: Mode,
    report: &'r mut Report,
    pub(super) documents: Vec<Rc<Node>>,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    aliases: usize,
    budget: Budget,
}

impl<'r> Reader<'r> {
    pub(super) fn new(mode: Mode, report: &'r mut Report) -> Self {
        Self {
            mode,
            report,
            documents: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            aliases: 0,
            budget: Budget::new(mode.limits()),
        }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Stop> {
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

    fn is_patient(&self) -> bool {
        self.mode == Mode::Patient
    }

    /// The value of a scalar; a faulty one is reported and read as a string.
    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Place) -> Data {
        if self.is_patient() {
            let is_plain = style == ScalarStyle::Plain && tag.is_none() && !self.expects_key();
            let resolved = is_plain.then(|| scalar::resolve(text).ok()).flatten();
            return resolved.unwrap_or_else(|| Data::Text(text.to_owned()));
        }
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
            && !self.is_patient()
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
        let most = self.mode.limits().aliases;
        if self.aliases > most {
            self.report.error(
                &spot(at),
                format!("more than {most} aliases"),
                "write the values out",
            );
            return Err(Stop);
        }
        let Some(target) = self.anchors.get(&id).cloned() else {
            self.report.error(
                &spot(at),
                "the alias is inside the value it refers to",
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
            let key = self.key(&node, at)?;
            self.set_key(key);
            return Ok(());
        }
        let (mode, report) = (self.mode, &mut *self.report);
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
                    Some(&first) if mode == Mode::Patient => entries[first].value = node,
                    Some(&first) => {
                        let line = entries[first].place.map_or(0, |place| place.line);
                        report.error(
                            &spot(place),
                            format!("duplicate key {}", shown(&name)),
                            format!("it is in line {line} already; keep one of them"),
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
                Some(Key::Merge(place)) => {
                    if !merge(&node, merged) && mode == Mode::Strict {
                        report.error(
                            &spot(place),
                            format!("a merge key needs a map or a list of maps, not {}", node.kind()),
                            "write <<: *anchor",
                        );
                    }
                }
                Some(Key::Faulty) | None => {}
            },
        }
        Ok(())
    }

    fn key(&mut self, node: &Node, at: Place) -> Result<Key, Stop> {
        let hint = match &node.data {
            Data::Text(text) => return Ok(Key::Name(text.clone(), at)),
            Data::Number(_, text) => format!("quote it: \"{text}\""),
            Data::Bool(flag) => format!("quote it: \"{flag}\""),
            Data::Map(_) => "quote a key or value that begins with {".to_owned(),
            Data::Null | Data::List(_) => "write a string before the colon".to_owned(),
        };
        self.report.error(
            &spot(at),
            format!("keys must be strings, not {}", node.kind()),
            hint,
        );
        if self.is_patient() {
            return Err(Stop);
        }
        Ok(Key::Faulty)
    }
}

/// Collects what a merge key brings: the entries of a map, or of each map of a list. Whether there is nothing else in it.
fn merge(node: &Node, merged: &mut Vec<Entry>) -> bool {
    match &node.data {
        Data::Map(entries) => {
            merged.extend(entries.iter().cloned());
            true
        }
        Data::List(items) => {
            let mut is_all = true;
            for item in items {
                is_all &= matches!(item.data, Data::Map(_)) && merge(item, merged);
            }
            is_all
        }
        _ => false,
    }
}
