//! The answer of a static tool: what its definition says, with the values of the call in its placeholders.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::definition::template::{ARGUMENTS, Part, TemplateError, parts};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StaticFault {
    /// A placeholder has no value.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The arguments make the answer too large.
    #[error("the answer would be larger than {0} bytes")]
    TooLarge(usize),
}

/// Puts values into templates.
pub struct Filler<'c> {
    arguments: &'c Map<String, Value>,
    ids: &'c dyn Fn(&str) -> Option<String>,
    most: usize,
    left: usize,
}

impl<'c> Filler<'c> {
    /// With the arguments and ids of a call. All that it makes has roughly this many bytes as JSON at most.
    #[must_use]
    pub fn new(
        arguments: &'c Map<String, Value>,
        ids: &'c dyn Fn(&str) -> Option<String>,
        most: usize,
    ) -> Self {
        Self {
            arguments,
            ids,
            most,
            left: most,
        }
    }

    /// A value with its texts filled. A text that is nothing but one placeholder of an argument becomes the argument itself,
    /// so that a number stays a number; an argument that was not given is null there.
    ///
    /// # Errors
    /// See [`StaticFault`].
    pub fn value(&mut self, template: &Value) -> Result<Value, StaticFault> {
        Ok(match template {
            Value::String(text) => match only_argument(text) {
                Some(path) => match self.argument(path) {
                    Some(value) => {
                        self.take(size(value))?;
                        value.clone()
                    }
                    None => Value::Null,
                },
                None => Value::String(self.text(text)?),
            },
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.value(value)?)));
                Value::Object(members.collect::<Result<_, StaticFault>>()?)
            }
            other => other.clone(),
        })
    }

    /// A text with its placeholders filled, in one pass. An argument that is no text is there as JSON, and one that was not
    /// given is nothing.
    ///
    /// # Errors
    /// See [`StaticFault`].
    pub fn text(&mut self, template: &str) -> Result<String, StaticFault> {
        let mut filled = String::with_capacity(template.len());
        for part in parts(template) {
            let before = filled.len();
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Escaped(name) => {
                    filled.push('{');
                    filled.push_str(name);
                    filled.push('}');
                }
                Part::Placeholder(name) => match name.strip_prefix(ARGUMENTS) {
                    Some(path) => match self.argument(path) {
                        None | Some(Value::Null) => {}
                        Some(Value::String(text)) => filled.push_str(text),
                        Some(other) => filled.push_str(&other.to_string()),
                    },
                    None => match (self.ids)(name) {
                        Some(id) if !id.is_empty() => filled.push_str(&id),
                        _ => return Err(TemplateError::Missing(name.to_owned()).into()),
                    },
                },
            }
            self.take(filled.len() - before)?;
        }
        Ok(filled)
    }

    /// The argument of that name, or the part of one that a path leads to.
    fn argument(&self, path: &str) -> Option<&'c Value> {
        if let Some(value) = self.arguments.get(path) {
            return Some(value);
        }
        let mut steps = path.split('.');
        let first = self.arguments.get(steps.next()?)?;
        steps.try_fold(first, |value, step| match value {
            Value::Object(members) => members.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn take(&mut self, bytes: usize) -> Result<(), StaticFault> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or(StaticFault::TooLarge(self.most))?;
        Ok(())
    }
}

/// The path of the argument that a text is nothing but a placeholder of.
fn only_argument(text: &str) -> Option<&str> {
    let mut parts = parts(text);
    match (parts.next(), parts.next()) {
        (Some(Part::Placeholder(name)), None) => name.strip_prefix(ARGUMENTS),
        _ => None,
    }
}

/// The bytes of a value as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn ids(name: &str) -> Option<String> {
        (name == "agent_id").then(|| "a{arguments.city}".to_owned())
    }

    fn filled(template: &Value) -> Result<Value, StaticFault> {
        let arguments = json!({
            "city": "Ulm", "n": 3, "yes": true, "none": null, "where": {"zip": "89073", "at": [48.4, 9.99]}, "a.b": "dotted",
            "a": {"b": "deep"}, "brace": "{arguments.city}",
        });
        let arguments = arguments.as_object().expect("an object");
        Filler::new(arguments, &ids, 200).value(template)
    }

    #[rstest]
    #[case::plain(json!({"a": [1, 1.50, true, null, "x"]}), json!({"a": [1, 1.50, true, null, "x"]}))]
    #[case::in_a_text(json!("Hello {arguments.city}!"), json!("Hello Ulm!"))]
    #[case::whole_number(json!({"n": "{arguments.n}"}), json!({"n": 3}))]
    #[case::number_in_a_text(json!("{arguments.n} of {arguments.n}"), json!("3 of 3"))]
    #[case::whole_object(json!(["{arguments.where}"]), json!([{"zip": "89073", "at": [48.4, 9.99]}]))]
    #[case::object_in_a_text(json!("at {arguments.where.at}"), json!("at [48.4,9.99]"))]
    #[case::path(json!("{arguments.where.zip}"), json!("89073"))]
    #[case::item(json!("{arguments.where.at.1}"), json!(9.99))]
    #[case::exact_name_first(json!("{arguments.a.b}"), json!("dotted"))]
    #[case::not_given(json!(["{arguments.nope}", "<{arguments.nope}>", "{arguments.none}"]), json!([null, "<>", null]))]
    #[case::escaped(json!("{{arguments.city}}"), json!("{arguments.city}"))]
    #[case::other_braces(json!("{ } {\"a\":1} {1}"), json!("{ } {\"a\":1} {1}"))]
    #[case::id(json!("by {agent_id}"), json!("by a{arguments.city}"))]
    #[case::one_pass(json!("{arguments.brace}!"), json!("{arguments.city}!"))]
    #[case::keys_are_names(json!({"{arguments.city}": 1}), json!({"{arguments.city}": 1}))]
    fn templates(#[case] template: Value, #[case] expected: Value) {
        assert_eq!(filled(&template), Ok(expected));
    }

    #[test]
    fn an_id_that_the_call_does_not_bring_is_a_fault() {
        assert_eq!(
            filled(&json!("{trace_id}")),
            Err(TemplateError::Missing("trace_id".to_owned()).into())
        );
    }

    #[test]
    fn repeated_arguments_cannot_make_an_answer_of_any_size() {
        for template in [
            json!("{arguments.city}".repeat(100)),
            json!(vec!["{arguments.where}"; 100]),
        ] {
            assert_eq!(filled(&template), Err(StaticFault::TooLarge(200)));
        }
    }

    proptest! {
        #[test]
        fn what_has_no_braces_stays_as_it_is(text in "[^{}]{0,100}") {
            prop_assert_eq!(filled(&json!({"a": [text.clone()]})), Ok(json!({"a": [text]})));
        }

        #[test]
        fn an_argument_comes_back_whatever_is_in_it(text in "\\PC{0,100}") {
            let arguments = Map::from_iter([("a".to_owned(), json!(text))]);
            let mut filler = Filler::new(&arguments, &ids, 10_000);
            prop_assert_eq!(filler.value(&json!("{arguments.a}")), Ok(json!(text)));
            prop_assert_eq!(filler.text("<{arguments.a}>"), Ok(format!("<{text}>")));
        }
    }
}
