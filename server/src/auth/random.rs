//! Secrets from the operating system's random source.

use thiserror::Error;

/// Letters and digits: one word for a double click, no quoting in a shell.
pub(super) const LETTERS_AND_DIGITS: &[u8] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The operating system gives no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the operating system gave no random bytes")]
pub struct NoRandomness;

/// Fresh random bytes.
pub(super) fn bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// `length` letters and digits, each equally likely (log2 62 = 5.95 bits a character).
pub(crate) fn text(length: usize) -> Result<String, NoRandomness> {
    // Bytes above the largest multiple of 62 are thrown away: taking the remainder would favour the first letters.
    let alphabet = LETTERS_AND_DIGITS.len();
    let limit = 256 / alphabet * alphabet;
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let fresh = bytes::<64>()?;
        let letters = fresh
            .iter()
            .map(|&byte| usize::from(byte))
            .filter(|&byte| byte < limit);
        text.extend(
            letters
                .map(|byte| char::from(LETTERS_AND_DIGITS[byte % alphabet]))
                .take(length - text.len()),
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn random_text_has_the_length_and_uses_every_letter() {
        let text = text(10_000).unwrap();
        assert_eq!(text.len(), 10_000);
        let used: BTreeSet<u8> = text.bytes().collect();
        assert_eq!(used, LETTERS_AND_DIGITS.iter().copied().collect());
    }
}
