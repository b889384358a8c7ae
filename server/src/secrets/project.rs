//! The secrets of one project in memory: opened once, handed to the executors by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use toolgate_core::ids::ProjectUid;
use toolgate_executors::{SecretSource, Secrets};
use toolgate_store::rows::SecretRow;

use super::keyring::Keyring;
use super::place;

/// A secret as it is now.
pub struct LoadedSecret {
    /// Grows with every value that is set.
    pub revision: i64,
    /// When this value was set.
    pub set_at: DateTime<Utc>,
    /// Who set it.
    pub set_by: String,
    key_id: String,
    /// `None`: the configured keys do not open it.
    value: Option<SecretString>,
    /// Microseconds since 1970 UTC of the last use that this server knows of; 0: none.
    used_at: AtomicI64,
    /// The last use that is in the database.
    kept_at: AtomicI64,
}

impl LoadedSecret {
    /// Whether the configured keys open it.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.value.is_some()
    }

    /// When it was last used, as far as this server knows.
    #[must_use]
    pub fn last_used_at(&self) -> Option<DateTime<Utc>> {
        let at = self.used_at.load(Ordering::Relaxed);
        DateTime::from_timestamp_micros(at).filter(|_| at > 0)
    }

    /// The last use, if it is not in the database yet; it counts as being there from now on.
    #[must_use]
    pub fn take_unkept_use(&self) -> Option<DateTime<Utc>> {
        let at = self.used_at.load(Ordering::Relaxed);
        (self.kept_at.swap(at, Ordering::Relaxed) < at)
            .then(|| DateTime::from_timestamp_micros(at))
            .flatten()
    }
}

/// All secrets of a project, by name.
#[derive(Default)]
pub struct ProjectSecrets {
    by_name: HashMap<String, Arc<LoadedSecret>>,
    known: OnceLock<Option<Arc<Secrets>>>,
}

impl ProjectSecrets {
    /// Opens the secrets of a project. What has not changed since `previous` is taken over from there.
    #[must_use]
    pub fn open(
        project: ProjectUid,
        rows: Vec<SecretRow>,
        previous: Option<&Self>,
        keyring: &Keyring,
    ) -> Self {
        let open = |row: SecretRow| {
            let before = previous.and_then(|previous| previous.by_name.get(&row.name));
            let secret = match before {
                Some(before) if before.revision == row.revision && before.key_id == row.key_id => {
                    Arc::clone(before)
                }
                _ => Arc::new(load(project, &row, before, keyring)),
            };
            (row.name, secret)
        };
        Self {
            by_name: rows.into_iter().map(open).collect(),
            known: OnceLock::new(),
        }
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<LoadedSecret>> {
        self.by_name.get(name)
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<LoadedSecret>)> {
        self.by_name.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The value of a secret, for something other than a call, and that it is used now. `None` when there is no such
    /// secret or it cannot be read.
    #[must_use]
    pub fn value(&self, name: &str, now: DateTime<Utc>) -> Option<SecretString> {
        let secret = self.by_name.get(name)?;
        let value = secret.value.clone()?;
        secret
            .used_at
            .fetch_max(now.timestamp_micros(), Ordering::Relaxed);
        Some(value)
    }

    /// All values, as they are recognised in texts; `None` when there are none.
    #[must_use]
    pub fn known(&self) -> Option<&Arc<Secrets>> {
        let known = self.known.get_or_init(|| {
            let mut known = Secrets::default();
            let values = self.by_name.values().filter_map(|secret| secret.value.as_ref());
            values.for_each(|value| known.add(value));
            (!self.is_empty()).then(|| Arc::new(known))
        });
        known.as_ref()
    }

    /// As the executors take it to look whether a value is there; that is no use of it.
    #[must_use]
    pub fn unused(&self) -> Unused<'_> {
        Unused(self)
    }

    /// As the executors take it, with the time that counts as that of use.
    #[must_use]
    pub fn source(self: &Arc<Self>, now: DateTime<Utc>) -> Arc<dyn SecretSource> {
        Arc::new(AtTime {
            secrets: Arc::clone(self),
            now,
        })
    }
}

fn load(
    project: ProjectUid,
    row: &SecretRow,
    before: Option<&Arc<LoadedSecret>>,
    keyring: &Keyring,
) -> LoadedSecret {
    let opened = keyring
        .open(&row.key_id, &place::secret(project, &row.name), &row.sealed)
        .map_err(|error| error.to_string())
        .and_then(|bytes| text(&bytes).ok_or_else(|| "it is no text".to_owned()));
    let value = match opened {
        Ok(value) => Some(value),
        Err(cause) => {
            tracing::warn!(%project, secret = row.name, cause, "a secret cannot be read; tools that use it fail");
            None
        }
    };
    let kept = row.last_used_at.map_or(0, |at| at.timestamp_micros());
    let used = before.map_or(0, |before| before.used_at.load(Ordering::Relaxed));
    LoadedSecret {
        revision: row.revision,
        set_at: row.set_at,
        set_by: row.set_by.clone(),
        key_id: row.key_id.clone(),
        value,
        used_at: AtomicI64::new(used.max(kept)),
        kept_at: AtomicI64::new(kept),
    }
}

fn text(bytes: &Zeroizing<Vec<u8>>) -> Option<SecretString> {
    std::str::from_utf8(bytes).ok().map(SecretString::from)
}

/// Names only.
impl fmt::Debug for ProjectSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}

/// Secrets that are looked at and not used.
pub struct Unused<'a>(&'a ProjectSecrets);

impl SecretSource for Unused<'_> {
    fn get(&self, name: &str) -> Option<SecretString> {
        self.0.by_name.get(name)?.value.clone()
    }
}

struct AtTime {
    secrets: Arc<ProjectSecrets>,
    now: DateTime<Utc>,
}

impl SecretSource for AtTime {
    fn get(&self, name: &str) -> Option<SecretString> {
        self.secrets.value(name, self.now)
    }

    fn known(&self) -> Option<Arc<Secrets>> {
        self.secrets.known().cloned()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use secrecy::ExposeSecret;
    use uuid::Uuid;

    use super::*;

    fn ring(byte: u8) -> Keyring {
        Keyring::new([&STANDARD.encode([byte; 32]).into()]).expect("a key")
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_760_000_000 + seconds, 0).expect("a time")
    }

    fn row(project: ProjectUid, name: &str, revision: i64, value: &str, ring: &Keyring) -> SecretRow {
        let sealed = ring
            .seal(&place::secret(project, name), value.as_bytes())
            .expect("sealed");
        SecretRow {
            name: name.to_owned(),
            revision,
            key_id: sealed.key_id,
            sealed: sealed.bytes,
            set_at: at(0),
            set_by: "ada".to_owned(),
            last_used_at: None,
        }
    }

    #[test]
    fn what_cannot_be_opened_is_there_but_gives_nothing() {
        let (one, other) = (ProjectUid(Uuid::from_u128(1)), ProjectUid(Uuid::from_u128(2)));
        let ring_1 = ring(1);
        let row_a = row(one, "A", 3, "value of a", &ring_1);
        let shown = |project, row: &SecretRow, ring: &Keyring| {
            let secrets = ProjectSecrets::open(project, vec![row.clone()], None, ring);
            assert!(secrets.get("A").is_some() || secrets.get("B").is_some());
            let value = secrets.value(&row.name, at(1));
            value.map(|value| value.expose_secret().to_owned())
        };
        assert_eq!(shown(one, &row_a, &ring_1).as_deref(), Some("value of a"));
        assert_eq!(shown(one, &row_a, &ring(2)), None, "another key");
        assert_eq!(shown(other, &row_a, &ring_1), None, "moved to another project");
        let renamed = SecretRow {
            name: "B".to_owned(),
            ..row_a
        };
        assert_eq!(shown(one, &renamed, &ring_1), None, "moved to another name");
    }

    #[test]
    fn uses_are_counted_until_they_are_kept_and_survive_a_reload() {
        let project = ProjectUid(Uuid::from_u128(1));
        let ring = ring(1);
        let rows = vec![row(project, "A", 3, "value of a", &ring)];
        let first = Arc::new(ProjectSecrets::open(project, rows, None, &ring));
        let secret = first.get("A").expect("A");
        assert_eq!((secret.last_used_at(), secret.take_unkept_use()), (None, None));
        assert!(first.source(at(9)).get("A").is_some());
        assert!(first.source(at(5)).get("A").is_some());
        assert!(first.unused().get("A").is_some() && first.unused().get("B").is_none());
        assert_eq!(secret.last_used_at(), Some(at(9)), "the latest one");
        let rows = vec![row(project, "A", 4, "another value", &ring)];
        let second = ProjectSecrets::open(project, rows, Some(&first), &ring);
        let secret = second.get("A").expect("A");
        assert_eq!(secret.take_unkept_use(), Some(at(9)));
        assert_eq!(secret.take_unkept_use(), None, "kept");
        assert_eq!(format!("{second:?}"), "{\"A\"}");
    }
}
