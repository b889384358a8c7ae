//! Words that depend on a number.

/// A number with its word: `1 tool`, `2 tools`.
#[must_use]
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    // No count is larger than fits.
    let count = count.try_into().unwrap_or(u64::MAX);
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_distinguished_from_many() {
        for (count, expected) in [(0_usize, "0 tools"), (1, "1 tool"), (2, "2 tools")] {
            assert_eq!(counted(count, "tool"), expected);
        }
    }
}
