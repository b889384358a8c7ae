//! Templates in the string values of `options.args` (tool development guide, section 4).
//!
//! `{name}` is replaced by one of ten ids of the call. Texts are rendered in one pass: what a variable brings is
//! never rendered again, so a caller cannot smuggle a placeholder in. `{{name}}` is the literal text `{name}`. Every
//! other brace is an ordinary character, so that JSON in a string needs no escapes. Where a text may have
//! placeholders of arguments too ([`parts`]), names may have dots and dashes.

use thiserror::Error;

/// The variables a template may use.
pub const VARIABLES: [&str; 10] = [
    "project_id",
    "channel_id",
    "agent_id",
    "agent_turn_id",
    "step_id",
    "tool_call_id",
    "parent_step_id",
    "trace_id",
    "turn_epoch",
    "context_box_id",
];

/// Why a template cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// Not one of [`VARIABLES`]; found when a definition is uploaded.
    #[error("unknown template variable {{{0}}}")]
    Unknown(String),
    /// The call brought no value for it, or an empty one; found when the tool is called.
    #[error("template variable {{{0}}} has no value in this call")]
    Missing(String),
}

/// Puts the values of `lookup` into a text, in one pass.
///
/// # Errors
/// The first variable that is unknown, or for which `lookup` gives nothing or an empty text.
pub fn render(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, TemplateError> {
    let mut rendered = String::with_capacity(text.len());
    for piece in Pieces(text, is_identifier) {
        match piece {
            Part::Text(text) => rendered.push_str(text),
            Part::Escaped(name) => {
                rendered.push('{');
                rendered.push_str(name);
                rendered.push('}');
            }
            Part::Placeholder(name) if !VARIABLES.contains(&name) => {
                return Err(TemplateError::Unknown(name.to_owned()));
            }
            Part::Placeholder(name) => match lookup(name) {
                Some(value) if !value.is_empty() => rendered.push_str(&value),
                _ => return Err(TemplateError::Missing(name.to_owned())),
            },
        }
    }
    Ok(rendered)
}

/// The names of all placeholders in a text, known or not, in their order.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    Pieces(text, is_identifier).filter_map(|piece| match piece {
        Part::Placeholder(name) => Some(name),
        Part::Text(_) | Part::Escaped(_) => None,
    })
}

/// What the placeholders of arguments begin with, where a text may have them (`options.static`).
pub const ARGUMENTS: &str = "arguments.";

/// The parts of a text whose placeholders may also be paths, such as `{arguments.address.city}`.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    Pieces(text, is_path)
}

/// The names of all placeholders in a text that may also have paths, known or not, in their order.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|part| match part {
        Part::Placeholder(name) => Some(name),
        Part::Text(_) | Part::Escaped(_) => None,
    })
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'t> {
    /// Literal text.
    Text(&'t str),
    /// `{{name}}`, the literal `{name}`.
    Escaped(&'t str),
    /// `{name}`.
    Placeholder(&'t str),
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_path(c: char) -> bool {
    is_identifier(c) || matches!(c, '.' | '-')
}

/// What of the text is still to be read, and which characters a name may have.
struct Pieces<'t>(&'t str, fn(char) -> bool);

impl<'t> Iterator for Pieces<'t> {
    type Item = Part<'t>;

    fn next(&mut self) -> Option<Part<'t>> {
        let text = self.0;
        if text.is_empty() {
            return None;
        }
        if let Some((name, rest)) = placeholder(text, "{{", "}}", self.1) {
            self.0 = rest;
            return Some(Part::Escaped(name));
        }
        if let Some((name, rest)) = placeholder(text, "{", "}", self.1) {
            self.0 = rest;
            return Some(Part::Placeholder(name));
        }
        // The first character is literal, whatever it is; the next brace may begin something.
        let end = text
            .char_indices()
            .skip(1)
            .find(|&(_, c)| c == '{')
            .map_or(text.len(), |(at, _)| at);
        self.0 = &text[end..];
        Some(Part::Text(&text[..end]))
    }
}

/// `open`, a name and `close` at the start of a text: the name and what follows.
fn placeholder<'t>(
    text: &'t str,
    open: &str,
    close: &str,
    of_name: fn(char) -> bool,
) -> Option<(&'t str, &'t str)> {
    let inner = text.strip_prefix(open)?;
    let end = inner.find(|c: char| !of_name(c)).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    rest.strip_prefix(close)
        .filter(|_| identifier)
        .map(|rest| (name, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(name: &str) -> Option<String> {
        match name {
            "project_id" => Some("demo".to_owned()),
            "agent_id" => Some("{project_id}".to_owned()),
            "step_id" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn only_documented_variables_in_single_braces_are_replaced() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("{project_id}", "demo"),
            ("a {project_id}/{project_id} b", "a demo/demo b"),
            ("{{project_id}}", "{project_id}"),
            ("{{{project_id}}}", "{{project_id}}"),
            ("{ project_id }", "{ project_id }"),
            ("{", "{"),
            ("}", "}"),
            ("{}", "{}"),
            ("{{}}", "{{}}"),
            ("{{}", "{{}"),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
            (r#"{"a":"{project_id}"}"#, r#"{"a":"demo"}"#),
            ("{\"a\":{project_id}}", "{\"a\":demo}"),
            ("{1}", "{1}"),
            ("ä{project_id}ö", "ädemoö"),
        ] {
            assert_eq!(render(text, &ids), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn paths_are_placeholders_only_where_arguments_may_be() {
        let text = "a {arguments.x-y.0} {{arguments.z}} {.b} {-c} { d }";
        assert_eq!(placeholders(text).collect::<Vec<_>>(), ["arguments.x-y.0"]);
        assert_eq!(variables(text).count(), 0);
    }

    #[test]
    fn a_value_is_never_rendered_again() {
        assert_eq!(render("{agent_id}", &ids), Ok("{project_id}".to_owned()));
    }

    #[test]
    fn unknown_and_empty_variables_are_errors() {
        assert_eq!(
            render("{user}", &ids),
            Err(TemplateError::Unknown("user".to_owned()))
        );
        assert_eq!(
            render("{trace_id}", &ids),
            Err(TemplateError::Missing("trace_id".to_owned()))
        );
        assert_eq!(
            render("{step_id}", &ids),
            Err(TemplateError::Missing("step_id".to_owned()))
        );
        assert_eq!(
            TemplateError::Unknown("user".to_owned()).to_string(),
            "unknown template variable {user}"
        );
    }

    proptest! {
        #[test]
        fn a_text_without_braces_stays_as_it_is(text in "[^{}]*") {
            prop_assert_eq!(render(&text, &ids), Ok(text));
        }

        #[test]
        fn any_text_is_rendered_or_refused(text in "([{}a_\"]|project_id|\\PC){0,20}") {
            let known = variables(&text).all(|name| VARIABLES.contains(&name));
            prop_assert_eq!(render(&text, &|_| Some("v".to_owned())).is_ok(), known);
        }
    }
}
