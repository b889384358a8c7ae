//! Queries and paths, with our errors.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use toolgate_api::ErrorCode;

use crate::gateway::Problem;
use crate::parse_fault;

/// Query parameters; unknown ones are refused.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        check_query(parts)?;
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| {
                let cause =
                    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                let cause = parse_fault::of_query(&cause, parts.uri.query().unwrap_or_default());
                Problem::new(
                    ErrorCode::MalformedRequest,
                    format!("The query is not valid: {cause}."),
                )
            })
    }
}

/// Refuses a query with U+0000.
pub fn check_query(parts: &Parts) -> Result<(), Problem> {
    let query = parts.uri.query().unwrap_or_default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if name.contains('\0') || value.contains('\0') {
            return Err(Problem::new(
                ErrorCode::MalformedRequest,
                format!(
                    "The query is not valid: `{}` has the character U+0000. Remove it.",
                    name.replace('\0', "")
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses texts of the query that are longer than the document says.
pub fn check_lengths(texts: &[(&str, &Option<String>, usize)]) -> Result<(), Problem> {
    let too_long = |(_, text, limit): &&(&str, &Option<String>, usize)| {
        text.as_ref().is_some_and(|text| text.chars().count() > *limit)
    };
    match texts.iter().find(too_long) {
        None => Ok(()),
        Some((name, _, limit)) => Err(Problem::new(
            ErrorCode::MalformedRequest,
            format!("The query is not valid: `{name}` has more than {limit} characters."),
        )),
    }
}

/// Path parameters; what does not parse does not exist.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        axum::extract::Path::from_request_parts(parts, state)
            .await
            .map(|path| Self(path.0))
            .map_err(|_| Problem::not_found("resource at this path"))
    }
}
