//! What parsers say about a value, in words for its author.

use url::form_urlencoded;

/// What a reason of the standard library and of the crates that read queries asks for; `None` when the reason is plain already.
fn wanted(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "a whole number, 0 or more"
        }
        "number too large to fit in target type" => "a smaller number",
        "number too small to fit in target type" => "a larger number",
        "provided string was not `true` or `false`" => "true or false",
        _ if reason.starts_with("UUID parsing failed") => "a UUID",
        "premature end of input"
        | "trailing input"
        | "input is out of range"
        | "input contains invalid characters" => "a time such as 2025-01-31T12:00:00Z",
        _ => return None,
    })
}

/// Why a query cannot be read: `cause` is `name: reason`.
pub(crate) fn of_query(cause: &str, query: &str) -> String {
    let Some((name, reason)) = cause.split_once(": ") else {
        return cause.to_owned();
    };
    let Some(wanted) = wanted(reason) else {
        return cause.to_owned();
    };
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let value = pairs.find_map(|(found, value)| (found == name).then_some(value));
    let shown: String = value.unwrap_or_default().chars().take(60).collect();
    format!("`{name}` is {shown:?}; it must be {wanted}")
}

/// Why JSON does not fit, without Rust's names of types.
pub(crate) fn of_json(reason: &str) -> String {
    let Some((what, expected)) = reason.rsplit_once("expected ") else {
        return reason.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative and not too large",
        "i8" | "i16" | "i32" | "i64" => "a whole number that is not too large",
        "f32" | "f64" => "a number",
        _ if expected.starts_with("struct ") => "an object",
        _ if expected.starts_with("a Vec") => "a list",
        _ => return reason.to_owned(),
    };
    format!("{what}expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_answered_with_what_was_sent_and_what_is_wanted() {
        for (cause, query, expected) in [
            (
                "limit: invalid digit found in string",
                "a=1&limit=-1",
                "`limit` is \"-1\"; it must be a whole number, 0 or more",
            ),
            (
                "limit: number too large to fit in target type",
                "limit=99999999999",
                "`limit` is \"99999999999\"; it must be a smaller number",
            ),
            (
                "dry_run: provided string was not `true` or `false`",
                "dry_run=yes",
                "`dry_run` is \"yes\"; it must be true or false",
            ),
            (
                "unknown field `nope`, expected `limit`",
                "nope=1",
                "unknown field `nope`, expected `limit`",
            ),
        ] {
            assert_eq!(of_query(cause, query), expected);
        }
    }

    #[test]
    fn json_faults_are_reported_without_names_of_types() {
        for (reason, expected) in [
            (
                "invalid value: integer `-1`, expected u32",
                "invalid value: integer `-1`, expected a whole number that is not negative and not too large",
            ),
            (
                "invalid type: string \"x\", expected a boolean",
                "invalid type: string \"x\", expected a boolean",
            ),
            (
                "invalid type: integer `1`, expected struct Limit",
                "invalid type: integer `1`, expected an object",
            ),
        ] {
            assert_eq!(of_json(reason), expected);
        }
    }
}
