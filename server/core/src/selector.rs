//! JSONPath (RFC 9535) by which a definition picks a part of an answer.
//!
//! Answers come from outside, so that a path must cost no more than a few walks through them: it may descend to any depth
//! once, before the first filter, and filters look at nothing but what is below their own value.

use serde_json::Value;
use serde_json_path::JsonPath;

/// Longest path, in characters.
const LONGEST: usize = 500;

/// A path that may be used.
#[derive(Debug, Clone)]
pub struct Selector {
    path: JsonPath,
    one: bool,
}

impl Selector {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it, for its author.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LONGEST {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        let shape = Shape::of(text);
        if shape.roots > 1 {
            return Err("`$` may only be at its beginning".to_owned());
        }
        if shape.descents > 1 || shape.descends_in_filter {
            return Err("`..` may occur once, before the first filter".to_owned());
        }
        let path = JsonPath::parse(text)
            .map_err(|error| format!("at character {}: {}", error.position(), error.message()))?;
        Ok(Self {
            path,
            one: !shape.many,
        })
    }

    /// What it selects: the value, or null, for a path that names one place; otherwise a list.
    #[must_use]
    pub fn select(&self, value: &Value) -> Value {
        if self.one {
            return self.first(value).cloned().unwrap_or_default();
        }
        Value::Array(self.path.query(value).into_iter().cloned().collect())
    }

    /// The first value that it selects.
    #[must_use]
    pub fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.path.query(value).into_iter().next()
    }
}

/// The part of a path outside of quotes.
#[derive(Default)]
struct Shape {
    roots: usize,
    descents: usize,
    descends_in_filter: bool,
    /// Whether it may select several values.
    many: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        let (mut quote, mut escaped, mut filter) = (None, false, false);
        let mut before = ' ';
        for c in text.chars() {
            match quote {
                Some(_) if escaped => escaped = false,
                Some(_) if c == '\\' => escaped = true,
                Some(mark) if c == mark => quote = None,
                Some(_) => {}
                None => match c {
                    '"' | '\'' => quote = Some(c),
                    '$' => shape.roots += 1,
                    '.' if before == '.' => {
                        shape.descents += 1;
                        shape.descends_in_filter |= filter;
                        shape.many = true;
                    }
                    '?' => {
                        filter = true;
                        shape.many = true;
                    }
                    '*' | ':' | ',' => shape.many = true,
                    _ => {}
                },
            }
            before = c;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("$", json!({"a": [{"b": 1}, {"b": 2, "c..?": 3}]}))]
    #[case("$.a[0].b", json!(1))]
    #[case("$.a[-1]['c..?']", json!(3))]
    #[case("$.nope", json!(null))]
    #[case("$.a[*].b", json!([1, 2]))]
    #[case("$..b", json!([1, 2]))]
    #[case("$.a[0,1].b", json!([1, 2]))]
    #[case("$.a[:1]", json!([{"b": 1}]))]
    #[case("$.a[?@.b > 1].b", json!([2]))]
    #[case("$..[?@.b == 1].b", json!([1]))]
    #[case("$.a[?length(@) == 2].b", json!([2]))]
    #[case("$.nope[*]", json!([]))]
    fn selections(#[case] path: &str, #[case] expected: Value) {
        let value = json!({"a": [{"b": 1}, {"b": 2, "c..?": 3}]});
        assert_eq!(Selector::parse(path).expect("a path").select(&value), expected);
    }

    #[rstest]
    #[case("", "at character")]
    #[case("a.b", "at character")]
    #[case("$.", "at character")]
    #[case("$..a..b", "may occur once")]
    #[case("$.a[?@..b]", "before the first filter")]
    #[case("$.a[?@.b == $.c]", "at its beginning")]
    fn refusals(#[case] path: &str, #[case] why: &str) {
        let error = Selector::parse(path).expect_err("refused");
        assert!(error.contains(why), "{error}");
        assert!(Selector::parse(&format!("$.{}", "x".repeat(LONGEST))).is_err());
    }
}
