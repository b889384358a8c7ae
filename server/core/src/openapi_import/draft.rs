//! The tool that an operation becomes, while it is put together: arguments on one side, places in the request on the
//! other.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::model::{Converted, size};
use super::schemas::Schemas;
use crate::definition::extent::stand_ins;
use crate::definition::model::request::HttpRequest;
use crate::imports::{DEFINITIONS, Parts};

/// Longest name of an argument that every model's interface takes.
const LONGEST: usize = 64;

/// A tool that is not finished.
pub(super) struct Draft<'s, 'd> {
    pub(super) schemas: &'s mut Schemas<'d>,
    pub(super) request: HttpRequest,
    /// What differs from the description, or is left to the reader.
    pub(super) notes: Vec<String>,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// How many values the properties have.
    values: usize,
    /// The definitions that they refer to.
    refs: Vec<String>,
    taken: HashSet<String>,
}

/// One argument.
pub(super) struct NewArgument<'a> {
    /// The name it would like to have.
    pub(super) wish: &'a str,
    /// What distinguishes it from another of that name: its place.
    pub(super) place: &'a str,
    pub(super) schema: Converted,
    pub(super) description: Option<&'a str>,
    pub(super) required: bool,
}

impl<'s, 'd> Draft<'s, 'd> {
    pub(super) fn new(schemas: &'s mut Schemas<'d>) -> Self {
        Self {
            schemas,
            request: HttpRequest::default(),
            notes: Vec::new(),
            properties: Map::new(),
            required: Vec::new(),
            values: 0,
            refs: Vec::new(),
            taken: HashSet::new(),
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Adds an argument and gives the name it got.
    ///
    /// # Errors
    /// Why its schema cannot be converted.
    pub(super) fn argument(&mut self, mut new: NewArgument<'_>) -> Result<String, String> {
        if let Some(refusal) = new.schema.refusal.take() {
            return Err(refusal);
        }
        let name = self.free_name(new.wish, new.place);
        if let Value::Bool(flag) = new.schema.schema {
            new.schema.schema = if flag { json!({}) } else { json!({ "not": {} }) };
        }
        if let (Some(schema), Some(text)) = (new.schema.schema.as_object_mut(), new.description)
            && !text.trim().is_empty()
        {
            schema.insert("description".to_owned(), json!(text));
        }
        if new.required {
            self.required.push(name.clone());
        }
        self.notes.append(&mut new.schema.notes);
        self.values += size(&new.schema.schema);
        self.refs.append(&mut new.schema.refs);
        self.properties.insert(name.clone(), new.schema.schema);
        Ok(name)
    }

    fn free_name(&mut self, wish: &str, place: &str) -> String {
        let mut plain = String::with_capacity(wish.len());
        for c in wish.chars() {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                plain.push(c);
            } else if !plain.ends_with('_') && !plain.is_empty() {
                plain.push('_');
            }
        }
        let plain = plain.trim_end_matches('_');
        let plain = if plain.is_empty() { "value" } else { plain };
        let plain = &plain[..plain.len().min(LONGEST - 16)];
        let mut name = plain.to_owned();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            name = if number == 1 {
                format!("{plain}_{place}")
            } else {
                format!("{plain}_{place}_{number}")
            };
            number += 1;
        }
        name
    }

    /// The schema of all arguments, and the definitions that it leads to. In the schema itself each is any value.
    ///
    /// # Errors
    /// Why a definition that they lead to cannot be converted.
    pub(super) fn parameters(&mut self) -> Result<(Value, Parts), String> {
        let parts = self
            .schemas
            .definitions(self.values, &self.refs, &mut self.notes)?;
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        let properties = std::mem::take(&mut self.properties);
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        // What has no place in the request is reported to the caller instead of being dropped.
        schema.insert("additionalProperties".to_owned(), json!(false));
        if !self.refs.is_empty() {
            schema.insert(DEFINITIONS.to_owned(), stand_ins(&self.refs));
        }
        Ok((Value::Object(schema), parts))
    }
}
