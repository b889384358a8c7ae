//! Opaque cursors: what a page ended with, and where the next begins.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use toolgate_api::ErrorCode;

use crate::gateway::Problem;

/// Items of a page when the request does not say.
pub const DEFAULT_LIMIT: u32 = 50;
/// Items of a page at most.
pub const MAX_LIMIT: u32 = 200;

/// The cursor after an item.
#[must_use]
pub fn after(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("1:{key}"))
}

/// The item that a cursor names.
pub fn parse(cursor: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(cursor) = cursor else { return Ok(None) };
    let key = URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix("1:").map(str::to_owned));
    key.map(Some).ok_or_else(invalid)
}

/// 400 for a cursor that is not one of ours.
pub fn invalid() -> Problem {
    Problem::new(
        ErrorCode::MalformedRequest,
        "The cursor is not one that this list gave out. Begin without a cursor, or send `next_cursor` as it was.",
    )
}

/// The number of items to answer with.
pub fn limit(asked: Option<u32>) -> Result<usize, Problem> {
    limit_up_to(asked, MAX_LIMIT)
}

/// The number of items to answer with, for a list of small items.
pub fn limit_up_to(asked: Option<u32>, most: u32) -> Result<usize, Problem> {
    let limit = asked.unwrap_or(DEFAULT_LIMIT);
    if (1..=most).contains(&limit) {
        return Ok(limit as usize);
    }
    Err(Problem::new(
        ErrorCode::MalformedRequest,
        format!("`limit` is {limit}; it must be from 1 to {most}."),
    ))
}

/// Cuts a list that was read with one item more than asked for, and makes the cursor for the rest.
pub fn page<T>(mut items: Vec<T>, limit: usize, key: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
    if items.len() <= limit {
        return (items, None);
    }
    items.truncate(limit);
    let next = items.last().map(|last| after(&key(last)));
    (items, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        for key in ["", "a", "web-search", "ä:1"] {
            assert_eq!(parse(Some(&after(key))).unwrap().as_deref(), Some(key));
        }
        for bad in ["", "!", "YWJj", "a b", "MTo\u{0}"] {
            assert!(parse(Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn pages_end_without_a_cursor() {
        let key = |n: &i32| n.to_string();
        assert_eq!(page(vec![1, 2], 2, key), (vec![1, 2], None));
        assert_eq!(page(vec![1, 2, 3], 2, key), (vec![1, 2], Some(after("2"))));
    }

    #[test]
    fn limits_are_bounded() {
        assert_eq!(limit(None).unwrap(), 50);
        assert_eq!(limit(Some(200)).unwrap(), 200);
        assert!(limit(Some(0)).is_err());
        assert!(limit(Some(201)).is_err());
    }
}
