//! What programs on the message bus announced last, and which server imports it.

use chrono::{DateTime, Utc};
use serde_json::Value;
use toolgate_api::Diagnostic;
use toolgate_api::presence::AnnouncerKind;
use toolgate_core::ids::ProjectUid;

use crate::Store;
use crate::codec::{Word, from_json, micros, text, time, to_json};
use crate::db::{both, execute, writing};
use crate::error::Result;
use crate::rows::{AnnouncedProgram, AnnouncementClaim, ProgramKey};

/// Programs of a project that may announce themselves.
const MOST: i64 = 1000;

/// Kind, name, digest, version, instance, start, time, descriptor, base, problems, whether it was imported.
type Columns = (
    String,
    String,
    String,
    String,
    String,
    i64,
    i64,
    Option<String>,
    Option<String>,
    String,
    bool,
);

impl Store {
    /// Takes it upon this server to import an announcement, unless it is the one that is known, or of a process that started earlier
    /// than the one that is known. While one is imported by any server, another waits; a server that began to before `stale` has stopped.
    /// A project has at most 1000 programs that announced themselves; more are refused like those that are known.
    pub async fn claim_announcement(
        &self,
        program: &AnnouncedProgram,
        stale: DateTime<Utc>,
    ) -> Result<AnnouncementClaim> {
        let key = &program.key;
        let descriptor = program.descriptor.as_ref().map(to_json).transpose()?;
        let (changed, busy) = writing!(self, |tx| {
            // A later process with the same content speaks from now on.
            execute!(
                tx,
                "UPDATE announced_programs SET started_at = $1
                 WHERE project_uid = $2 AND kind = $3 AND name = $4 AND digest = $5 AND started_at < $1",
                micros(program.started_at),
                key.project.0,
                key.kind.word(),
                text(&key.name),
                text(&program.digest),
            );
            let changed = execute!(
                tx,
                "INSERT INTO announced_programs (project_uid, kind, name, digest, version, instance, started_at, announced_at,
                                                 descriptor, base, problems, imported, claimed_at)
                 SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, '[]', $10, $8
                 WHERE EXISTS (SELECT 1 FROM announced_programs WHERE project_uid = $1 AND kind = $2 AND name = $3)
                    OR (SELECT COUNT(*) FROM announced_programs WHERE project_uid = $1) < $11
                 ON CONFLICT (project_uid, kind, name) DO UPDATE
                 SET digest = excluded.digest, version = excluded.version, instance = excluded.instance,
                     started_at = excluded.started_at, announced_at = excluded.announced_at,
                     descriptor = excluded.descriptor, problems = '[]',
                     imported = excluded.imported, claimed_at = excluded.claimed_at
                 WHERE (announced_programs.imported <> $10 AND announced_programs.digest <> excluded.digest
                        AND announced_programs.started_at <= excluded.started_at)
                    OR (announced_programs.imported = $10 AND announced_programs.claimed_at < $12
                        AND (announced_programs.digest = excluded.digest
                             OR announced_programs.started_at <= excluded.started_at))",
                key.project.0,
                key.kind.word(),
                text(&key.name),
                text(&program.digest),
                text(&program.version),
                text(&program.instance),
                micros(program.started_at),
                micros(program.announced_at),
                descriptor.as_deref(),
                false,
                MOST,
                micros(stale),
            );
            let busy: Option<i64> = sqlx::query_scalar(
                "SELECT started_at FROM announced_programs
                 WHERE project_uid = $1 AND kind = $2 AND name = $3 AND imported = $4 AND digest <> $5 AND started_at <= $6",
            )
            .bind(key.project.0)
            .bind(key.kind.word())
            .bind(text(&key.name))
            .bind(false)
            .bind(text(&program.digest))
            .bind(micros(program.started_at))
            .fetch_optional(&mut *tx)
            .await?;
            (changed, busy.is_some())
        })
        .await?;
        Ok(match (changed, busy) {
            (1.., _) => AnnouncementClaim::Mine,
            (0, true) => AnnouncementClaim::Busy,
            (0, false) => AnnouncementClaim::Known,
        })
    }

    /// Notes how the import of an announcement ended, unless there is a newer one. With `base`, the descriptor is decided about.
    pub async fn settle_announcement(
        &self,
        key: &ProgramKey,
        digest: &str,
        problems: &[Diagnostic],
        base: Option<&Value>,
    ) -> Result<()> {
        let (problems, base) = (to_json(&problems)?, base.map(to_json).transpose()?);
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE announced_programs SET imported = $1, problems = $2, base = COALESCE($3, base)
                 WHERE project_uid = $4 AND kind = $5 AND name = $6 AND digest = $7",
                true,
                problems.as_str(),
                base.as_deref(),
                key.project.0,
                key.kind.word(),
                text(&key.name),
                text(digest),
            );
        })
        .await
    }

    /// Gives an announcement back that could not be imported for a reason that passes, so that it is imported when it comes again.
    pub async fn release_announcement(&self, key: &ProgramKey, digest: &str) -> Result<()> {
        writing!(self, |tx| {
            execute!(
                tx,
                "UPDATE announced_programs SET claimed_at = 0
                 WHERE project_uid = $1 AND kind = $2 AND name = $3 AND digest = $4 AND imported = $5",
                key.project.0,
                key.kind.word(),
                text(&key.name),
                text(digest),
                false,
            );
        })
        .await
    }

    /// What the programs of a project announced, by kind and name.
    pub async fn announced_programs(&self, project: ProjectUid) -> Result<Vec<AnnouncedProgram>> {
        let rows: Vec<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT kind, name, digest, version, instance, started_at, announced_at, descriptor, base, problems, imported
                 FROM announced_programs WHERE project_uid = $1 ORDER BY kind, name",
            )
            .bind(project.0)
            .fetch_all(pool)
            .await?
        })
        .await?;
        rows.into_iter().map(|row| program(project, row)).collect()
    }

    /// What one program announced.
    pub async fn announced_program(&self, key: &ProgramKey) -> Result<Option<AnnouncedProgram>> {
        let row: Option<Columns> = both!(self, |pool| {
            sqlx::query_as(
                "SELECT kind, name, digest, version, instance, started_at, announced_at, descriptor, base, problems, imported
                 FROM announced_programs WHERE project_uid = $1 AND kind = $2 AND name = $3",
            )
            .bind(key.project.0)
            .bind(key.kind.word())
            .bind(text(&key.name))
            .fetch_optional(pool)
            .await?
        })
        .await?;
        row.map(|row| program(key.project, row)).transpose()
    }
}

fn program(project: ProjectUid, row: Columns) -> Result<AnnouncedProgram> {
    let (kind, name, digest, version, instance, started, at, descriptor, base, problems, imported) = row;
    let read = |text: Option<String>| {
        text.map(|text| from_json(&text, || format!("the descriptor that {name:?} announced")))
            .transpose()
    };
    Ok(AnnouncedProgram {
        digest,
        version,
        instance,
        started_at: time(started)?,
        announced_at: time(at)?,
        descriptor: read(descriptor)?,
        base: read(base)?,
        problems: from_json(&problems, || format!("the problems of {name:?}"))?,
        imported,
        key: ProgramKey {
            project,
            kind: AnnouncerKind::from_word(&kind)?,
            name,
        },
    })
}
