//! Where an injected value comes from: a definition names an environment variable (`NAME`) or a secret of the project
//! (`secret:NAME`), never the value itself.

/// The prefix of the name of a secret.
const SECRET: &str = "secret:";
/// The longest name, in bytes.
const LONGEST: usize = 128;

/// What an injected value is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueSource<'a> {
    /// A variable of the server's environment that definitions may use.
    Env(&'a str),
    /// A secret of the project.
    Secret(&'a str),
}

impl<'a> ValueSource<'a> {
    /// Distinguishes the two. Whether the name is a valid one is not checked here.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        text.strip_prefix(SECRET).map_or(Self::Env(text), Self::Secret)
    }
}

/// Whether a text can name a secret or a variable: 1-128 letters, digits and `_`, not beginning with a digit.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.len() <= LONGEST
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_tells_secrets_from_variables() {
        assert_eq!(ValueSource::of("JINA_API_KEY"), ValueSource::Env("JINA_API_KEY"));
        assert_eq!(ValueSource::of("secret:KEY"), ValueSource::Secret("KEY"));
        assert_eq!(ValueSource::of("secret:"), ValueSource::Secret(""));
        assert_eq!(ValueSource::of("Secret:KEY"), ValueSource::Env("Secret:KEY"));
    }

    #[test]
    fn names_are_plain() {
        let longest = "a".repeat(LONGEST);
        for name in ["a", "_", "KEY_2", &longest] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "2KEY",
            "a-b",
            "a b",
            "ключ",
            "secret:KEY",
            &format!("{longest}a"),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
