//! The items of a page as they came, without reading what is in them: most of them are not shown yet, and reading a page of
//! them takes longer than a frame lasts.

/// The texts of the items of `{"items": [...], ...}`, and the page without them. Nothing when there is no such list; whether
/// each item is well formed shows when it is read.
pub(super) fn taken_out(page: &str) -> Option<(Vec<&str>, String)> {
    let mut items = Vec::new();
    let (mut depth, mut is_escaped) = (0_i32, false);
    // Where the text began that the place is in, and the last one that was at the depth of the page's own names.
    let (mut text, mut name) = (None, "");
    // Where the list began, and the item in it.
    let (mut list, mut item) = (None, 0);
    for (at, byte) in page.bytes().enumerate() {
        if let Some(start) = text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    text = None;
                    if depth == 1 {
                        name = page.get(start + 1..at)?;
                    }
                }
                _ => {}
            }
            continue;
        }
        match (byte, list) {
            (b'"', _) => text = Some(at),
            (b'[', None) if depth == 1 && name == "items" => {
                depth += 1;
                (list, item) = (Some(at), at + 1);
            }
            (b'{' | b'[', _) => depth += 1,
            (b',', Some(_)) if depth == 2 => {
                items.push(page.get(item..at)?.trim());
                item = at + 1;
            }
            (b']', Some(start)) if depth == 2 => {
                let last = page.get(item..at)?.trim();
                if !last.is_empty() {
                    items.push(last);
                }
                let (before, after) = (page.get(..start)?, page.get(at + 1..)?);
                return Some((items, format!("{before}[]{after}")));
            }
            (b'}' | b']', _) => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::taken_out;

    #[test]
    fn every_item_is_what_a_parser_reads() {
        let hard = r#"] } , " \ { [ é \" "items": [1]"#;
        for items in [
            json!([]),
            json!([1]),
            json!([{"a": hard, "b": [[], {}, [{"items": [hard]}]]}, {}, [hard], hard, null, true, -1.5e3]),
        ] {
            let page = json!({"before": {"items": [hard]}, "items": items, "next_cursor": hard, "total": 3});
            for text in [page.to_string(), format!("{page:#}")] {
                let (texts, rest) = taken_out(&text).unwrap();
                let read: Vec<Value> = texts
                    .iter()
                    .map(|text| serde_json::from_str(text).unwrap())
                    .collect();
                assert_eq!(Value::Array(read), items);
                let mut expected = page.clone();
                expected["items"] = json!([]);
                assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_is_no_page_has_no_items() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"items": {"items": [1]}}"#,
            r#"{"items": "x"}"#,
            r#"{"items": [1"#,
            r#"{"other": [1], "total": 1}"#,
        ] {
            assert_eq!(taken_out(text), None, "{text}");
        }
    }
}
