//! The path of a request: literal pieces and parameters.

use super::escape::Escape;
use super::names::{self, Sent};
use super::request::{document, for_address, rule};
use super::{Lookup, MappingError, style};
use crate::definition::model::request::{ParameterStyle, RequestParameter};

/// The path of a definition, made ready.
pub(super) struct PathMapping(Vec<Piece>);

enum Piece {
    Literal(String),
    Parameter(RequestParameter),
}

impl PathMapping {
    /// Takes a path like `/users/{id}` apart.
    ///
    /// # Errors
    /// When a brace is not paired, or names no parameter.
    pub(super) fn new(path: &str, parameters: &[RequestParameter]) -> Result<Self, MappingError> {
        let mut pieces = Vec::new();
        let mut rest = path;
        while let Some((literal, after)) = rest.split_once('{') {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| MappingError::Definition("`path` has a `{` without a `}`".to_owned()))?;
            let parameter = parameters
                .iter()
                .find(|parameter| parameter.name == name)
                .ok_or_else(|| {
                    MappingError::Definition(format!(
                        "`path` has {{{name}}}, which is no parameter of the path"
                    ))
                })?;
            pieces.push(Piece::Literal(literal.to_owned()));
            pieces.push(Piece::Parameter(parameter.clone()));
            rest = after;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The path of one request.
    ///
    /// # Errors
    /// When an argument is absent, empty, or would lead to another path.
    pub(super) fn write(&self, lookup: Lookup<'_>) -> Result<String, MappingError> {
        self.names_are_distinct(lookup)?;
        let mut path = String::with_capacity(64);
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => path.push_str(text),
                Piece::Parameter(parameter) => write_parameter(&mut path, parameter, lookup)?,
            }
        }
        if path.split('/').any(is_dots) {
            return Err(MappingError::Arguments(
                "`.` and `..` cannot be path segments".to_owned(),
            ));
        }
        Ok(path)
    }

    /// Only the style `matrix` sends names.
    fn names_are_distinct(&self, lookup: Lookup<'_>) -> Result<(), MappingError> {
        let parameters = self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(parameter) if parameter.style() == ParameterStyle::Matrix => Some(parameter),
            Piece::Parameter(_) | Piece::Literal(_) => None,
        });
        let given: Vec<_> = parameters
            .filter_map(|parameter| Some((parameter, lookup(parameter.argument())?)))
            .collect();
        let sent = given
            .iter()
            .map(|(parameter, argument)| Sent::parameter(parameter, &argument.value));
        names::distinct(&sent.collect::<Vec<_>>(), None)
    }
}

fn write_parameter(
    path: &mut String,
    parameter: &RequestParameter,
    lookup: Lookup<'_>,
) -> Result<(), MappingError> {
    let name = parameter.argument();
    let argument = lookup(name).ok_or_else(|| MappingError::argument(name, "needed in the path"))?;
    let value = for_address(&argument, name)?;
    let start = path.len();
    let escape = if parameter.allow_reserved {
        Escape::ReservedInPath
    } else {
        Escape::Strict
    };
    match document(parameter, value)? {
        Some(text) => escape.write(path, &text),
        None => style::path(path, &parameter.name, value, rule(parameter), escape),
    }
    // Without it, the request would go to another path than the one that is described.
    if path.len() == start {
        return Err(MappingError::argument(
            name,
            "must not be empty, it is part of the path",
        ));
    }
    Ok(())
}

/// Whether a segment goes up or stays, as address parsers understand it.
fn is_dots(segment: &str) -> bool {
    segment.len() <= 6
        && matches!(
            segment.to_ascii_lowercase().replace("%2e", ".").as_str(),
            "." | ".."
        )
}
