//! Recovery codes: sign in once each where the authenticator of a second factor is lost.

use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::oauth_secret::MintedSecret;
use super::random::{self, NoRandomness};

/// How many a user gets.
pub const COUNT: usize = 10;
/// Letters and digits that are not mistaken for each other.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of a group; a code has three.
const GROUP: usize = 4;

/// A new code of 60 bits, as `xxxx-xxxx-xxxx`.
///
/// # Errors
/// When the machine gives no randomness.
pub fn mint() -> Result<MintedSecret, NoRandomness> {
    let bytes = random::bytes::<{ 3 * GROUP }>()?;
    // 256 is a multiple of 32, so each character is equally likely.
    let letters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
    let groups: Vec<String> = letters
        .chunks(GROUP)
        .map(|group| group.iter().collect())
        .collect();
    let text = groups.join("-");
    Ok(MintedSecret {
        digest: digest(&text),
        text: SecretString::from(text),
    })
}

/// What is stored of a code, however its groups and letters are typed.
#[must_use]
pub fn digest(code: &str) -> [u8; 32] {
    let typed = code.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = typed.map(|letter| letter.to_ascii_lowercase()).collect();
    Sha256::digest(plain.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_typed() {
        let minted = mint().unwrap();
        let text = minted.text.expose_secret();
        assert_eq!((text.len(), text.matches('-').count()), (14, 2));
        for typed in [text.to_uppercase(), text.replace('-', " "), text.replace('-', "")] {
            assert_eq!(digest(&typed), minted.digest, "{typed}");
        }
        assert_ne!(digest(""), minted.digest);
    }
}
