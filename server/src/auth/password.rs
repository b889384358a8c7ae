//! Passwords of people: argon2id, off the async threads, a bounded number at a time.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, Params, PasswordHasher as _, PasswordVerifier as _};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;
use tokio::sync::Semaphore;

use super::random::{self, NoRandomness};
use super::strength;

/// The longest password that is hashed, in bytes.
pub const MAX_PASSWORD_BYTES: usize = 1024;
const GENERATED_LENGTH: usize = 24;

/// Why a password could not be hashed or checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// As many checks as allowed are running and waiting.
    #[error("too many passwords are being checked; try again shortly")]
    Busy,
    /// An empty password, or one of more than [`MAX_PASSWORD_BYTES`].
    #[error("a password has 1 to 1024 bytes")]
    Length,
    /// The stored hash is damaged, or hashing failed.
    #[error("the password hash could not be made or read")]
    Hash,
    /// No random salt.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

/// Hashes and checks passwords. Cheap to clone; clones share the bound.
#[derive(Clone)]
pub struct PasswordHasher {
    argon2: Argon2<'static>,
    /// Verified for users that do not exist, so that an answer takes as long as for those that do.
    dummy: Arc<str>,
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl PasswordHasher {
    /// At most `running` checks at a time (each takes 19 MiB and some 20 ms of one core), at most `waiting` behind them.
    #[must_use]
    pub fn new(running: usize, waiting: usize) -> Self {
        Self::with_params(&Params::default(), running, waiting)
    }

    pub(super) fn with_params(params: &Params, running: usize, waiting: usize) -> Self {
        let running = running.max(1);
        Self {
            argon2: Argon2::from(params),
            dummy: dummy(params).into(),
            running: Arc::new(Semaphore::new(running)),
            admitted: Arc::new(Semaphore::new(running + waiting)),
        }
    }

    /// The PHC string to store for a password.
    ///
    /// # Errors
    /// [`PasswordError::Busy`], [`PasswordError::Length`], or a fault of the machine.
    pub async fn hash(&self, password: SecretString) -> Result<String, PasswordError> {
        if !acceptable(&password) {
            return Err(PasswordError::Length);
        }
        self.run(move |argon2| {
            let salt = random::bytes::<16>()?;
            let hash: PasswordHash = argon2
                .hash_password_with_salt(password.expose_secret().as_bytes(), &salt)
                .map_err(|_| PasswordError::Hash)?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Whether the password fits the stored hash. Give `None` for a user that does not exist: the answer is then
    /// `false`, after the same work.
    ///
    /// # Errors
    /// [`PasswordError::Busy`], or [`PasswordError::Hash`] for a stored text that is no argon2 hash.
    pub async fn verify(&self, stored: Option<&str>, password: SecretString) -> Result<bool, PasswordError> {
        if !acceptable(&password) {
            return Ok(false);
        }
        let known = stored.is_some();
        let stored: Arc<str> = stored.map_or_else(|| Arc::clone(&self.dummy), Arc::from);
        self.run(move |argon2| {
            let hash = PasswordHash::new(&stored).map_err(|_| PasswordError::Hash)?;
            let fits = argon2.verify_password(password.expose_secret().as_bytes(), &hash);
            match fits {
                Ok(()) => Ok(known),
                Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                Err(_) => Err(PasswordError::Hash),
            }
        })
        .await
    }

    /// Why a password is too easy to guess: see [`strength::weakness`]. Looked for here because it can take as long as a hash.
    ///
    /// # Errors
    /// [`PasswordError::Busy`].
    pub async fn weakness(
        &self,
        password: SecretString,
        names: Vec<String>,
    ) -> Result<Option<String>, PasswordError> {
        self.run(move |_| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Ok(strength::weakness(password.expose_secret(), &names))
        })
        .await
    }

    /// Runs the work on a blocking thread. The permits go with it: a caller that leaves does not free its place
    /// while its hash still burns a core.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Argon2<'static>) -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let admitted = Arc::clone(&self.admitted)
            .try_acquire_owned()
            .map_err(|_| PasswordError::Busy)?;
        let running = Arc::clone(&self.running)
            .acquire_owned()
            .await
            .map_err(|_| PasswordError::Busy)?;
        let argon2 = self.argon2.clone();
        let task = tokio::task::spawn_blocking(move || {
            let outcome = work(&argon2);
            drop((running, admitted));
            outcome
        });
        task.await.map_err(|_| PasswordError::Hash)?
    }
}

/// A password for a person who gave none: 24 letters and digits, 142 bits.
///
/// # Errors
/// When the operating system gives no random bytes.
pub fn generate_password() -> Result<SecretString, NoRandomness> {
    random::text(GENERATED_LENGTH).map(SecretString::from)
}

fn acceptable(password: &SecretString) -> bool {
    (1..=MAX_PASSWORD_BYTES).contains(&password.expose_secret().len())
}

/// A well-formed hash with the given cost that is the hash of no known password.
fn dummy(params: &Params) -> String {
    let (m, t, p) = (params.m_cost(), params.t_cost(), params.p_cost());
    let (salt, hash) = (
        STANDARD_NO_PAD.encode([0x5a; 16]),
        STANDARD_NO_PAD.encode([0xa5; 32]),
    );
    format!("$argon2id$v=19$m={m},t={t},p={p}${salt}${hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap(running: usize, waiting: usize) -> PasswordHasher {
        PasswordHasher::with_params(&Params::new(8, 1, 1, None).unwrap(), running, waiting)
    }

    #[tokio::test]
    async fn only_the_right_password_of_a_known_user_fits() {
        let passwords = cheap(2, 8);
        let stored = passwords.hash("correct horse".into()).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$"), "{stored}");
        let long = "x".repeat(MAX_PASSWORD_BYTES + 1);
        let rows = [
            (Some(stored.as_str()), "correct horse", Ok(true)),
            (Some(&stored), "correct horse ", Ok(false)),
            (Some(&stored), "Correct horse", Ok(false)),
            (Some(&stored), "", Ok(false)),
            (Some(&stored), &long, Ok(false)),
            (None, "correct horse", Ok(false)),
            (None, "", Ok(false)),
            (Some("not a hash"), "correct horse", Err(PasswordError::Hash)),
        ];
        for (stored, given, expected) in rows {
            assert_eq!(
                passwords.verify(stored, given.into()).await,
                expected,
                "{given:?} for {stored:?}"
            );
        }
    }

    #[tokio::test]
    async fn the_same_password_has_another_hash_each_time() {
        let passwords = cheap(1, 1);
        let (one, other) = (
            passwords.hash("same".into()).await,
            passwords.hash("same".into()).await,
        );
        assert_ne!(one.unwrap(), other.unwrap());
    }

    #[tokio::test]
    async fn passwords_have_bounds() {
        let passwords = cheap(1, 0);
        for (length, expected) in [
            (0, false),
            (1, true),
            (MAX_PASSWORD_BYTES, true),
            (MAX_PASSWORD_BYTES + 1, false),
        ] {
            let hashed = passwords.hash("a".repeat(length).into()).await;
            assert_eq!(hashed.is_ok(), expected, "{length}");
        }
    }

    #[tokio::test]
    async fn an_unknown_user_costs_what_a_known_one_does() {
        let passwords = PasswordHasher::new(1, 0);
        let stored = passwords.hash("anything".into()).await.unwrap();
        let (known, dummy) = (
            PasswordHash::new(&stored).unwrap(),
            PasswordHash::new(&passwords.dummy).unwrap(),
        );
        assert_eq!(known.algorithm, dummy.algorithm);
        assert_eq!(known.version, dummy.version);
        assert_eq!(known.params.to_string(), dummy.params.to_string());
        assert_eq!(
            known.salt.unwrap().as_ref().len(),
            dummy.salt.unwrap().as_ref().len()
        );
        assert_eq!(
            known.hash.unwrap().as_bytes().len(),
            dummy.hash.unwrap().as_bytes().len()
        );
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_recovers() {
        let passwords = cheap(1, 1);
        let places = Arc::clone(&passwords.admitted).try_acquire_many_owned(2).unwrap();
        assert_eq!(passwords.verify(None, "x".into()).await, Err(PasswordError::Busy));
        assert_eq!(passwords.hash("x".into()).await, Err(PasswordError::Busy));
        drop(places);
        assert_eq!(passwords.verify(None, "x".into()).await, Ok(false));
    }

    #[test]
    fn generated_passwords_are_long_and_differ() {
        let (one, other) = (generate_password().unwrap(), generate_password().unwrap());
        assert_eq!(one.expose_secret().len(), GENERATED_LENGTH);
        assert_ne!(one.expose_secret(), other.expose_secret());
    }
}
