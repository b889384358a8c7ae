//! Seals everything again under the first configured key.

use toolgate_core::ids::ProjectUid;
use toolgate_store::Store;
use toolgate_store::rows::{Resealed, ResealedSecret, SecretRow};

use super::keyring::{Keyring, SealError, Sealed};
use super::{place, second_factor, signing};

/// Secrets per transaction. Each holds at most 64 KiB.
const BATCH: u32 = 100;

/// What a rotation did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Secrets that were sealed again.
    pub secrets: u64,
    /// Connected accounts that were sealed again.
    pub accounts: u64,
    /// Signing keys that were sealed again.
    pub signing_keys: u64,
    /// Second factors of users that were sealed again.
    pub second_factors: u64,
    /// What could not be opened and stays as it is, each with the reason.
    pub unreadable: Vec<String>,
}

/// Seals again every secret, every signing key and every second factor that is not under the first key.
///
/// Batches are transactions, and what is done is not done again: a rotation that was cut off is simply repeated. Servers
/// go on meanwhile, if they have both keys.
///
/// # Errors
/// When there is no key, or the database does not answer.
pub async fn rotate(store: &Store, keyring: &Keyring) -> anyhow::Result<Rotation> {
    let first = keyring.first_id().ok_or(SealError::NoKey)?.to_owned();
    let mut done = Rotation::default();
    let mut after: Option<(ProjectUid, String)> = None;
    loop {
        let rows = store.secrets_not_under(&first, after.as_ref(), BATCH).await?;
        let Some((project, last)) = rows.last() else {
            break;
        };
        after = Some((*project, last.name.clone()));
        let mut resealed = Vec::with_capacity(rows.len());
        for (project, row) in &rows {
            match reseal(*project, row, keyring) {
                Ok(sealed) => resealed.push(ResealedSecret {
                    project: *project,
                    name: row.name.clone(),
                    revision: row.revision,
                    new: sealed.into(),
                }),
                Err(error) => done
                    .unreadable
                    .push(format!("secret {} of project {project}: {error}", row.name)),
            }
        }
        done.secrets += store.reseal_secrets(&resealed).await?;
    }
    let mut after = None;
    loop {
        let rows = store.accounts_not_under(&first, after, BATCH).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.id);
        for row in &rows {
            let place = place::account(row.project, row.id);
            let opened = keyring.open(&row.sealed.key_id, &place, &row.sealed.sealed);
            match opened.and_then(|value| keyring.seal(&place, &value)) {
                Ok(sealed) => {
                    let done_now = store.reseal_account(row.id, row.version, &sealed.into()).await?;
                    done.accounts += u64::from(done_now);
                }
                Err(error) => done
                    .unreadable
                    .push(format!("connected account {}: {error}", row.id)),
            }
        }
    }
    let mut keys = Vec::new();
    for row in store.load_directory().await?.signing_keys {
        if row.key_id.as_deref() == Some(first.as_str()) {
            continue;
        }
        let kid = row.kid.clone();
        match signing::open(row, keyring).and_then(|row| signing::seal(row, keyring)) {
            Ok(row) => keys.push((
                kid,
                Resealed {
                    key_id: first.clone(),
                    sealed: row.pkcs8,
                },
            )),
            Err(error) => done.unreadable.push(format!("signing key {kid}: {error}")),
        }
    }
    if !keys.is_empty() {
        done.signing_keys = store.reseal_signing_keys(&keys).await?;
    }
    let mut factors = Vec::new();
    for (user, row) in store.second_factors_not_under(&first).await? {
        match second_factor::reseal(user, &row, keyring) {
            Ok(sealed) => factors.push((user, row, sealed.into())),
            Err(error) => done
                .unreadable
                .push(format!("second factor of user {user}: {error}")),
        }
    }
    if !factors.is_empty() {
        done.second_factors = store.reseal_second_factors(&factors).await?;
    }
    Ok(done)
}

fn reseal(project: ProjectUid, row: &SecretRow, keyring: &Keyring) -> Result<Sealed, SealError> {
    let place = place::secret(project, &row.name);
    let value = keyring.open(&row.key_id, &place, &row.sealed)?;
    keyring.seal(&place, &value)
}

impl From<Sealed> for Resealed {
    fn from(sealed: Sealed) -> Self {
        Self {
            key_id: sealed.key_id,
            sealed: sealed.bytes,
        }
    }
}
