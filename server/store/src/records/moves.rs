//! Moves of sessions, in the transaction of the completions that cause them.

use std::collections::HashMap;

use uuid::Uuid;

use crate::multirow::MultiRow;
use crate::records::columns::{CompletionColumns, MoveColumns};

/// On PostgreSQL, replicas lock sessions in the same order, so that they wait for each other and not in a circle.
pub(super) static LOCK: MultiRow = MultiRow::new(
    "SELECT id FROM sessions WHERE id IN (",
    1,
    ") ORDER BY id FOR UPDATE",
);
pub(super) static MOVE: MultiRow = MultiRow::new(
    "WITH moves (id, expected, to_state, at) AS (",
    4,
    ") UPDATE sessions
           SET state = moves.to_state, version = sessions.version + 1, moved_at = moves.at
           FROM moves
           WHERE sessions.id = moves.id AND sessions.version = moves.expected
             AND sessions.ended_at IS NULL AND sessions.expires_at > moves.at
           RETURNING sessions.id",
);
pub(super) static TRANSITION: MultiRow = MultiRow::new(
    "INSERT INTO transitions (project_uid, session_id, version, call_id, tool, from_state, to_state, at)",
    8,
    "",
);

/// A move with the index of its completion.
pub(super) type Indexed<'a> = (usize, &'a MoveColumns);

/// The moves of a batch in rounds, so that several moves of one session come one after another: each round moves a session
/// at most once, in the order of the sessions' ids.
pub(super) fn rounds(completions: &[CompletionColumns]) -> Vec<Vec<Indexed<'_>>> {
    let mut rounds: Vec<Vec<Indexed<'_>>> = Vec::new();
    let mut seen: HashMap<Uuid, usize> = HashMap::new();
    for (index, completion) in completions.iter().enumerate() {
        let Some(step) = &completion.session else { continue };
        let round = seen.entry(step.session).or_default();
        match rounds.get_mut(*round) {
            Some(moves) => moves.push((index, step)),
            None => rounds.push(vec![(index, step)]),
        }
        *round += 1;
    }
    for round in &mut rounds {
        round.sort_by_key(|(_, step)| step.session);
    }
    rounds
}

/// Applies all moves of a batch; marks the completions whose move did not apply.
macro_rules! apply {
    ($tx:expr, $store:expr, $completions:expr, $conflicts:expr) => {
        for round in $crate::records::moves::rounds($completions) {
            for chunk in $crate::multirow::chunks(&round) {
                if matches!($store.db(), $crate::db::Db::Pg(_)) {
                    let mut query = sqlx::query($crate::records::moves::LOCK.sql($store, chunk.len()));
                    for (_, step) in chunk {
                        query = query.bind(step.session);
                    }
                    query.execute(&mut *$tx).await?;
                }
                let mut query = sqlx::query_scalar($crate::records::moves::MOVE.sql($store, chunk.len()));
                for (_, step) in chunk {
                    query = query
                        .bind(step.session)
                        .bind(step.expected_version)
                        .bind(step.to.as_str())
                        .bind(step.at);
                }
                let moved: Vec<uuid::Uuid> = query.fetch_all(&mut *$tx).await?;
                let (applied, refused): (Vec<_>, Vec<_>) =
                    chunk.iter().partition(|(_, step)| moved.contains(&step.session));
                for (index, _) in refused {
                    $conflicts[index] = true;
                }
                if !applied.is_empty() {
                    let mut query =
                        sqlx::query($crate::records::moves::TRANSITION.sql($store, applied.len()));
                    for (index, step) in applied {
                        let completion = &$completions[index];
                        query = query
                            .bind(completion.project)
                            .bind(step.session)
                            .bind(step.expected_version + 1)
                            .bind(step.call)
                            .bind(step.tool.as_str())
                            .bind(completion.state_before.as_str())
                            .bind(step.to.as_str())
                            .bind(step.at);
                    }
                    query.execute(&mut *$tx).await?;
                }
            }
        }
    };
}
pub(super) use apply;
