//! What is kept: the database, the record, and who else writes there.

use std::sync::atomic::Ordering;

use toolgate_api::audit::IntegrityStatus;
use toolgate_api::status::{StatusCheck, StatusLevel};
use toolgate_core::counted::counted;

use super::{WithFix, ok};
use crate::gateway::Gateway;
use crate::gateway::integrity::reason;
use crate::gateway::recorded::Waiting;

/// Milliseconds that an answer of the database may take: every call waits for two of them.
const SLOW_MS: i64 = 250;

/// Whether the database answers, how fast, and whether it takes changes.
pub(super) async fn database(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("database", "Database");
    let kind = match gateway.store.backend_name() {
        "sqlite" => "SQLite",
        _ => "PostgreSQL",
    };
    let start = gateway.clock.now();
    let pinged = gateway.store.ping().await;
    let took = (gateway.clock.now() - start).num_milliseconds();
    let probe = match pinged {
        Ok(()) => gateway.store.probe().await,
        Err(error) => Err(error),
    };
    match probe {
        Err(error) => {
            tracing::warn!(cause = %error, "the database does not answer");
            ok(
                id,
                title,
                format!("{kind} does not answer, so every call is refused."),
            )
            .with_fix(
                StatusLevel::Failing,
                "Look at the database itself and at TOOLGATE_DATABASE_URL; the server's log has the cause.",
            )
        }
        Ok(found) => {
            let size = size(found.bytes);
            match found.writable {
                Err(error) => {
                    tracing::warn!(cause = %error, "the database takes no changes");
                    ok(
                        id,
                        title,
                        format!("{kind} answers in {took} ms but takes no changes, so every call is refused; it has {size}."),
                    )
                    .with_fix(
                        StatusLevel::Failing,
                        "Look for a full disk, a read-only file system or a standby server; the server's log has the cause.",
                    )
                }
                Ok(()) if took > SLOW_MS => ok(
                    id,
                    title,
                    format!("{kind} takes {took} ms to answer, and every call waits for it; it has {size}."),
                )
                .with_fix(
                    StatusLevel::Warning,
                    "Give the database a faster disk, or bring it nearer to the server.",
                ),
                Ok(()) => ok(
                    id,
                    title,
                    format!("{kind} answers in {took} ms and takes changes; it has {size}."),
                ),
            }
        }
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = bytes.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10 * 1024 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Whether records are still taken.
pub(super) fn writer(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("record_writer", "Writing the record");
    if gateway.records.is_running() {
        ok(id, title, "Records are written as they come.")
    } else {
        ok(
            id,
            title,
            "No records are written any more, so every call is refused.",
        )
        .with_fix(
            StatusLevel::Failing,
            "Restart the server; its log shows the cause.",
        )
    }
}

/// What could not be completed yet, because the database was unavailable.
pub(super) fn completions(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("record_completions", "Completing records");
    match gateway.completer.waiting() {
        Waiting { records: 0, keys: 0 } => ok(id, title, "No record waits to be completed."),
        Waiting { records, keys } => ok(
            id,
            title,
            format!(
                "{} to complete and {} to release wait for the database. That is done as soon as it takes changes.",
                counted(records, "record"),
                counted(keys, "idempotency key"),
            ),
        )
        .with_fix(
            StatusLevel::Warning,
            "Look at the database; the server's log has the cause. If the server is stopped before, the next start closes \
             these records as interrupted.",
        ),
    }
}

/// What the verification of the record has found.
pub(super) fn integrity(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("record_integrity", "Integrity of the record");
    let known = gateway.integrity.known();
    let entries = known.entries;
    match (known.status(), &known.fault) {
        (IntegrityStatus::Broken, Some(found)) => ok(
            id,
            title,
            format!(
                "Entry {} of chain {} {}; the {entries} entries before it are as they were written.",
                found.fault.position,
                found.chain,
                reason(found.fault.why)
            ),
        )
        .with_fix(
            StatusLevel::Failing,
            "The database was changed by something other than this server. Run `toolgate audit verify`, compare with a backup, and \
             find out who has access to the database.",
        ),
        (IntegrityStatus::Intact, _) => ok(id, title, format!("All {entries} entries are as they were written.")),
        _ => ok(
            id,
            title,
            format!("The first verification is on its way: {entries} entries so far are as they were written."),
        ),
    }
}

/// How many servers share the database.
pub(super) fn instances(gateway: &Gateway) -> StatusCheck {
    let servers = gateway.servers.load(Ordering::Relaxed);
    let summary = match servers {
        0 | 1 => "This is the only server on this database.".to_owned(),
        more => format!("{more} servers share this database, this one included."),
    };
    ok("instances", "Servers", summary)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_for_people() {
        for (bytes, text) in [
            (0, "0.0 KiB"),
            (1536, "1.5 KiB"),
            (4_404_019, "4.1 MiB"),
            (1 << 40, "1.0 TiB"),
            (u64::MAX, "1677721.5 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
