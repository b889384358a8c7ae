//! The schemas within a schema, and which of them look at the same value or at a part of it.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Which parts of a value a schema is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'s> {
    /// The member of this name.
    Member(&'s str),
    /// Members that other keywords of the schema with this number leave.
    OtherMembers(usize),
    /// Members whose names match a pattern, of the schema with this number.
    Matching(usize),
    /// The item at this place.
    Item(usize),
    /// Items that other keywords of the schema with this number leave.
    OtherItems(usize),
    /// Any item.
    AnyItem,
}

impl Part<'_> {
    /// Whether a value may have a part that both are. `of` and `other_of` are the schemas that name them.
    pub(crate) fn may_be(self, of: usize, other: Self, other_of: usize) -> bool {
        use Part::{AnyItem, Item, Matching, Member, OtherItems, OtherMembers};
        match (self, other) {
            (Member(name), Member(other)) => name == other,
            (Item(at), Item(other)) => at == other,
            // What the keywords of one schema share out among them.
            (OtherMembers(rest), Member(_) | Matching(_)) => rest != other_of,
            (Member(_) | Matching(_), OtherMembers(rest)) => rest != of,
            (OtherItems(rest), Item(_)) => rest != other_of,
            (Item(_), OtherItems(rest)) => rest != of,
            (Member(_) | Matching(_) | OtherMembers(_), Member(_) | Matching(_) | OtherMembers(_))
            | (Item(_) | OtherItems(_) | AnyItem, Item(_) | OtherItems(_) | AnyItem) => true,
            _ => false,
        }
    }
}

/// One schema.
#[derive(Debug, Default)]
pub(crate) struct Node<'s> {
    /// Schemas for the same value.
    pub(crate) same: Vec<usize>,
    /// Schemas for parts of the value.
    pub(crate) parts: Vec<(Part<'s>, usize)>,
    /// Schemas for the names of members.
    pub(crate) names: Vec<usize>,
    /// Whether it has a keyword that looks at the value itself.
    pub(crate) looks: bool,
    /// Whether it marks the value as secret.
    pub(crate) marked: bool,
    /// What its reference says, if it has one.
    pub(crate) reference: Option<&'s str>,
}

/// All schemas that can be reached; the first is the whole.
#[derive(Debug)]
pub(crate) struct Graph<'s> {
    pub(crate) nodes: Vec<Node<'s>>,
}

/// Keywords that only hold other schemas, or say nothing about a value.
const SILENT: [&str; 24] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$defs",
    "definitions",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$schema",
    "$comment",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

impl<'s> Graph<'s> {
    /// Of a schema.
    ///
    /// # Errors
    /// A reference that leaves the schema.
    pub(crate) fn of(root: &'s Value) -> Result<Self, String> {
        let mut builder = Builder {
            nodes: vec![Node::default()],
            known: HashMap::from([(std::ptr::from_ref(root).addr(), 0)]),
            open: vec![(0, root, root)],
            root,
            resources: HashMap::new(),
            anchors: Vec::new(),
        };
        builder.survey();
        while let Some((number, schema, resource)) = builder.open.pop() {
            if let Value::Object(schema) = schema {
                builder.read(number, schema, resource)?;
            }
        }
        Ok(Self { nodes: builder.nodes })
    }
}

struct Builder<'s> {
    nodes: Vec<Node<'s>>,
    /// The numbers of schemas by their addresses.
    known: HashMap<usize, usize>,
    /// Number, schema, and the resource (the next schema around it with an `$id`) that its references start from.
    open: Vec<(usize, &'s Value, &'s Value)>,
    root: &'s Value,
    /// The resources that values are in, by address, for those that are not in the whole schema's own.
    resources: HashMap<usize, &'s Value>,
    /// Anchors, with the schemas that have them.
    anchors: Vec<(&'s str, &'s Value)>,
}

impl<'s> Builder<'s> {
    /// Finds resources and anchors, in whatever place: taking one too many is harmless.
    fn survey(&mut self) {
        let mut open = vec![(self.root, self.root)];
        while let Some((value, mut resource)) = open.pop() {
            if let Value::Object(members) = value {
                if members.get("$id").is_some_and(Value::is_string) {
                    resource = value;
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(anchor)) = members.get(keyword) {
                        self.anchors.push((anchor, value));
                    }
                }
                if members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                    self.anchors.push(("$recursive", value));
                }
                open.extend(members.values().map(|member| (member, resource)));
            } else if let Value::Array(items) = value {
                open.extend(items.iter().map(|item| (item, resource)));
            }
            if !std::ptr::eq(resource, self.root) {
                self.resources.insert(std::ptr::from_ref(value).addr(), resource);
            }
        }
    }

    fn number(&mut self, schema: &'s Value) -> usize {
        let address = std::ptr::from_ref(schema).addr();
        let next = self.nodes.len();
        let number = *self.known.entry(address).or_insert(next);
        if number == next {
            self.nodes.push(Node::default());
            let resource = self.resources.get(&address).copied().unwrap_or(self.root);
            self.open.push((number, schema, resource));
        }
        number
    }

    fn read(
        &mut self,
        number: usize,
        schema: &'s Map<String, Value>,
        resource: &'s Value,
    ) -> Result<(), String> {
        let mut node = Node {
            marked: schema.get("writeOnly") == Some(&Value::Bool(true))
                || schema.get("format").is_some_and(|format| format == "password"),
            looks: schema.keys().any(|keyword| !SILENT.contains(&keyword.as_str())),
            ..Node::default()
        };
        for (keyword, value) in schema {
            let mut same = |schema| node.same.push(self.number(schema));
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let Value::String(reference) = value else { continue };
                    node.reference = Some(reference);
                    self.targets(keyword, reference, resource)?
                        .into_iter()
                        .for_each(|target| node.same.push(self.number(target)));
                }
                "allOf" | "anyOf" | "oneOf" => value.as_array().into_iter().flatten().for_each(&mut same),
                "not" | "if" | "then" | "else" => same(value),
                "dependentSchemas" | "dependencies" => value
                    .as_object()
                    .into_iter()
                    .flat_map(Map::values)
                    .filter(|schema| !schema.is_array())
                    .for_each(&mut same),
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        node.parts.push((Part::Member(name), self.number(schema)));
                    }
                }
                "patternProperties" => {
                    for schema in value.as_object().into_iter().flat_map(Map::values) {
                        node.parts.push((Part::Matching(number), self.number(schema)));
                    }
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    node.parts.push((Part::OtherMembers(number), self.number(value)));
                }
                "prefixItems" | "items" if value.is_array() => {
                    for (at, schema) in value.as_array().into_iter().flatten().enumerate() {
                        node.parts.push((Part::Item(at), self.number(schema)));
                    }
                }
                "items" | "additionalItems" | "unevaluatedItems" => {
                    node.parts.push((Part::OtherItems(number), self.number(value)));
                }
                "contains" => node.parts.push((Part::AnyItem, self.number(value))),
                "propertyNames" => node.names.push(self.number(value)),
                _ => {}
            }
        }
        self.nodes[number] = node;
        Ok(())
    }

    /// What a reference may mean. Which of several a dynamic one means depends on the way to it, so all are taken.
    fn targets(&self, keyword: &str, reference: &str, resource: &'s Value) -> Result<Vec<&'s Value>, String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            let shown: String = reference.chars().take(60).collect();
            return Err(format!("{keyword} may not leave the schema: {shown:?}"));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let mut targets = Vec::new();
        if fragment.is_empty() || fragment.starts_with('/') {
            targets.extend(resource.pointer(&fragment));
        }
        let anchor = if keyword == "$recursiveRef" {
            "$recursive"
        } else {
            &*fragment
        };
        targets.extend(
            self.anchors
                .iter()
                .filter(|(name, _)| *name == anchor)
                .map(|(_, schema)| *schema),
        );
        Ok(targets)
    }
}
