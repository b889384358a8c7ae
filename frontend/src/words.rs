//! Words that depend on a number.

use crate::language::found;

/// A number with its word in the reader's language: `1 tool`, `2 tools`. The catalogue has both words.
pub(crate) fn counted(count: impl TryInto<i64>, one: &str) -> String {
    // One piece of code for all kinds of numbers; no count is larger than fits.
    with_word(count.try_into().unwrap_or(i64::MAX), one)
}

fn with_word(count: i64, one: &str) -> String {
    let english = if count == 1 {
        one.to_owned()
    } else {
        format!("{one}s")
    };
    let word = found(&english).unwrap_or(&english);
    format!("{count} {word}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_distinguished_from_many() {
        assert_eq!(counted(0_i64, "call"), "0 calls");
        assert_eq!(counted(1_usize, "call"), "1 call");
        assert_eq!(counted(2_u32, "policy test"), "2 policy tests");
    }
}
