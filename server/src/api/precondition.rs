//! `ETag` and `If-Match` (RFC 9110 sections 8.8.3 and 13.1.1): a client cannot overwrite what it has not read.

use axum::http::{HeaderMap, HeaderValue, header};
use toolgate_api::ErrorCode;

use crate::gateway::Problem;

/// What `If-Match` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: whatever is there.
    Any,
    /// One of these.
    Tags(Vec<String>),
}

impl IfMatch {
    /// The header, which must be there: 428 without.
    pub fn required(headers: &HeaderMap) -> Result<Self, Problem> {
        Self::optional(headers)?.ok_or_else(required)
    }

    /// The header, if it is there.
    pub fn optional(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let mut values = headers.get_all(header::IF_MATCH).iter().peekable();
        if values.peek().is_none() {
            return Ok(None);
        }
        let malformed = || {
            Problem::new(
                ErrorCode::MalformedRequest,
                "`If-Match` is not `*` or a list of quoted ETags.",
            )
        };
        let mut tags = Vec::new();
        for value in values {
            let text = value.to_str().map_err(|_| malformed())?.trim();
            if text == "*" {
                return Ok(Some(Self::Any));
            }
            for (weak, tag) in entity_tags(text).ok_or_else(malformed)? {
                // A weak tag is well-formed, but it never matches here (RFC 9110 section 13.1.1).
                if !weak {
                    tags.push(tag.to_owned());
                }
            }
        }
        Ok(Some(Self::Tags(tags)))
    }

    /// 412 unless the current tag is among them.
    pub fn check(&self, current: &str) -> Result<(), Problem> {
        match self {
            Self::Any => Ok(()),
            Self::Tags(tags) if tags.iter().any(|tag| tag == current) => Ok(()),
            Self::Tags(_) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                format!(
                    "This has changed since you read it; its ETag is now \"{current}\". Read it again and merge."
                ),
            )),
        }
    }
}

/// The `If-Match` of a `PUT` that creates a resource or replaces it, for the document.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the header; `ReplaceCondition` reads it")]
pub struct ReplaceIfMatch {
    /// The ETag that was last read, or `*` for whatever is there, nothing included. Not needed for a new resource.
    #[param(rename = "If-Match", example = "*", required = false)]
    if_match: String,
}

/// What a `PUT` demands that creates a resource freely, and replaces one by its ETag only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplaceCondition(Option<IfMatch>);

impl ReplaceCondition {
    /// The header, if it is there.
    pub fn optional(headers: &HeaderMap) -> Result<Self, Problem> {
        IfMatch::optional(headers).map(Self)
    }

    /// 428 to replace without the header, 412 when what is there is not what was read; `what` names the kind of resource.
    pub fn check(&self, current: Option<&str>, what: &str) -> Result<(), Problem> {
        match (&self.0, current) {
            (Some(read), Some(current)) => read.check(current),
            (None, Some(_)) => Err(required()),
            (Some(IfMatch::Tags(_)), None) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                format!("There is no such {what} (any more). Leave `If-Match` out to create it."),
            )),
            (None | Some(IfMatch::Any), None) => Ok(()),
        }
    }
}

fn required() -> Problem {
    Problem::new(
        ErrorCode::PreconditionRequired,
        "Send `If-Match` with the ETag you last read, or `If-Match: *` to change whatever is there.",
    )
}

/// What a `PUT` demands that makes something new or replaces it: never both by chance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutCondition {
    /// `If-None-Match: *`: nothing is there yet.
    New,
    /// `If-Match`: this is there, whatever it is for `*`.
    Existing(IfMatch),
}

impl PutCondition {
    /// One of the two headers, which must be there: 428 without, 400 with both.
    pub fn required(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut absent = headers.get_all(header::IF_NONE_MATCH).iter();
        match (absent.next(), IfMatch::optional(headers)?) {
            (None, Some(tags)) => Ok(Self::Existing(tags)),
            (None, None) => Err(Problem::new(
                ErrorCode::PreconditionRequired,
                "Send `If-None-Match: *` to make it, or `If-Match` with the ETag you last read to replace it.",
            )),
            (Some(value), None) if value.as_bytes() == b"*" && absent.next().is_none() => Ok(Self::New),
            (Some(_), _) => Err(Problem::new(
                ErrorCode::MalformedRequest,
                "Send either `If-None-Match: *` to make it or `If-Match` to replace it.",
            )),
        }
    }

    /// 412 unless what is there, if anything, is what was expected.
    pub fn check(&self, current: Option<&str>) -> Result<(), Problem> {
        let failed = |detail| Err(Problem::new(ErrorCode::PreconditionFailed, detail));
        match (self, current) {
            (Self::New, None) => Ok(()),
            (Self::New, Some(_)) => {
                failed("This is there already. Read it, and send `If-Match` to replace it.")
            }
            (Self::Existing(tags), Some(current)) => tags.check(current),
            (Self::Existing(_), None) => {
                failed("The resource does not exist. Send `If-None-Match: *` to create it.")
            }
        }
    }
}

/// A list of entity tags, each with whether it is weak. A tag may hold commas, but no quote (RFC 9110 section 8.8.3).
fn entity_tags(text: &str) -> Option<Vec<(bool, &str)>> {
    let mut tags = Vec::new();
    let mut rest = text;
    loop {
        let weak = rest.starts_with("W/");
        let quoted = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
        let (tag, after) = quoted.split_once('"')?;
        tags.push((weak, tag));
        let after = after.trim_start();
        if after.is_empty() {
            return Some(tags);
        }
        rest = after.strip_prefix(',')?.trim_start();
    }
}

/// An entity tag as a header value.
#[must_use]
pub fn etag(tag: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"?\""))
}

/// Whether `If-None-Match` names the current tag: then 304 will do.
#[must_use]
pub fn unchanged(headers: &HeaderMap, current: &str) -> bool {
    let texts = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok());
    texts.map(str::trim).any(|text| {
        text == "*" || entity_tags(text).is_some_and(|tags| tags.iter().any(|&(_, tag)| tag == current))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::IF_MATCH, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn what_if_match_says() {
        let rows = [
            ("*", Some(IfMatch::Any)),
            ("\"r1\"", Some(IfMatch::Tags(vec!["r1".into()]))),
            (
                "\"r1\", \"r2\"",
                Some(IfMatch::Tags(vec!["r1".into(), "r2".into()])),
            ),
            ("\"a,b\" , W/\"c\"", Some(IfMatch::Tags(vec!["a,b".into()]))),
            ("\"a\" \"b\"", None),
            ("\"a\",", None),
            ("r1", None),
            ("W/\"r1\"", Some(IfMatch::Tags(vec![]))),
            ("", None),
        ];
        for (value, expected) in rows {
            assert_eq!(IfMatch::required(&headers(value)).ok(), expected, "{value}");
        }
        assert_eq!(
            IfMatch::required(&HeaderMap::new()).unwrap_err().code(),
            ErrorCode::PreconditionRequired
        );
    }

    #[test]
    fn a_put_makes_or_replaces() {
        let with = |pairs: &[(header::HeaderName, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
            PutCondition::required(&pairs.collect())
        };
        let (absent, present) = (header::IF_NONE_MATCH, header::IF_MATCH);
        let new = with(&[(absent.clone(), "*")]).unwrap();
        let any = with(&[(present.clone(), "*")]).unwrap();
        let one = with(&[(present.clone(), "\"r1\"")]).unwrap();
        // (condition, nothing is there, r1 is there, r2 is there)
        let rows = [
            (new, [true, false, false]),
            (any, [false, true, true]),
            (one, [false, true, false]),
        ];
        for (condition, expected) in rows {
            let passes = [None, Some("r1"), Some("r2")].map(|current| condition.check(current).is_ok());
            assert_eq!(passes, expected, "{condition:?}");
        }
        let code = |pairs: &[_]| with(pairs).unwrap_err().code();
        assert_eq!(code(&[]), ErrorCode::PreconditionRequired);
        assert_eq!(code(&[(absent.clone(), "\"r1\"")]), ErrorCode::MalformedRequest);
        assert_eq!(
            code(&[(absent, "*"), (present, "*")]),
            ErrorCode::MalformedRequest
        );
    }

    #[test]
    fn a_put_creates_freely_and_replaces_by_tag() {
        let none = ReplaceCondition::optional(&HeaderMap::new()).unwrap();
        let any = ReplaceCondition::optional(&headers("*")).unwrap();
        let one = ReplaceCondition::optional(&headers("\"r1\"")).unwrap();
        let (required, failed) = (ErrorCode::PreconditionRequired, ErrorCode::PreconditionFailed);
        // (condition, nothing is there, r1 is there, r2 is there)
        let rows = [
            (none, [None, Some(required), Some(required)]),
            (any, [None, None, None]),
            (one, [Some(failed), None, Some(failed)]),
        ];
        for (condition, expected) in rows {
            let codes = [None, Some("r1"), Some("r2")].map(|current| {
                condition
                    .check(current, "thing")
                    .err()
                    .map(|problem| problem.code())
            });
            assert_eq!(codes, expected, "{condition:?}");
        }
    }

    #[test]
    fn only_the_current_tag_passes() {
        assert!(IfMatch::Any.check("r2").is_ok());
        assert!(IfMatch::Tags(vec!["r1".into(), "r2".into()]).check("r2").is_ok());
        let stale = IfMatch::Tags(vec!["r1".into()]).check("r2").unwrap_err();
        assert_eq!(stale.code(), ErrorCode::PreconditionFailed);
    }
}
