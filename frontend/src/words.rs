//! Words that depend on a number.

/// A number with its word: `1 tool`, `2 tools`.
pub(crate) fn counted(count: impl TryInto<i64>, one: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {one}s"),
        // More than anybody has.
        Err(_) => format!("countless {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_told_apart_from_many() {
        assert_eq!(counted(0_i64, "call"), "0 calls");
        assert_eq!(counted(1_usize, "call"), "1 call");
        assert_eq!(counted(2_u32, "policy test"), "2 policy tests");
    }
}
