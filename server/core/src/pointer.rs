//! JSON pointers (RFC 6901).

/// A name as a step of a pointer.
#[must_use]
pub fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The pointer to what these names lead to, from the outermost in; empty: the whole.
#[must_use]
pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut pointer = String::new();
    for name in names {
        pointer.push('/');
        pointer.push_str(&step(name));
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn pointers_lead_to_what_they_name() {
        let value = json!({"": {"a/b": {"~1": 7}}});
        assert_eq!(value.pointer(&super::of(["", "a/b", "~1"])), Some(&json!(7)));
        assert_eq!(super::of([]), "");
    }
}
