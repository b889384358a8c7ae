//! `toolgate audit export`: the record of a project from the database, to standard output.

use std::io::Write;

use anyhow::Context;
use chrono::{DateTime, Utc};
use toolgate_api::audit::{AuditFormat, AuditOrder, AuditRecord};
use toolgate_core::ids::CallId;
use toolgate_store::Store;
use toolgate_store::rows::{RecordFilter, RecordRange};
use uuid::Uuid;

use crate::config::ServeArgs;
use crate::gateway::audit::{format, shown, stored_order};

/// Records read at once.
const PAGE: u32 = 500;

/// What to export.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The project's id.
    project: String,
    /// What the file looks like.
    #[arg(long, value_enum, default_value = "jsonl")]
    format: FileFormat,
    /// Decided at or after this time (RFC 3339).
    #[arg(long)]
    since: Option<DateTime<Utc>>,
    /// Decided before this time.
    #[arg(long)]
    until: Option<DateTime<Utc>>,
    /// With arguments, their origins and context.
    #[arg(long)]
    payloads: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FileFormat {
    Jsonl,
    Csv,
}

/// Writes the records of a project, oldest first.
pub(crate) async fn export(store: &Store, args: &ExportArgs, mut out: impl Write) -> anyhow::Result<()> {
    let project = store
        .projects()
        .await
        .context("reading the projects")?
        .into_iter()
        .find(|row| row.id.as_str() == args.project)
        .with_context(|| format!("there is no project \"{}\"", args.project))?;
    let format = match args.format {
        FileFormat::Jsonl => AuditFormat::Jsonl,
        FileFormat::Csv => AuditFormat::Csv,
    };
    let filter = RecordFilter {
        since: args.since,
        until: args.until,
        ..RecordFilter::default()
    };
    let mut range = RecordRange {
        order: stored_order(AuditOrder::OldestFirst),
        after: None,
        before: Some(CallId(Uuid::max())),
        limit: PAGE,
        scan: 20 * PAGE,
    };
    out.write_all(&format::head(format)?)?;
    loop {
        let page = store
            .record_page(project.uid, &filter, &range)
            .await
            .context("reading the record")?;
        let records: Vec<AuditRecord> = page
            .records
            .into_iter()
            .map(|record| shown(record, args.payloads))
            .collect();
        out.write_all(&format::lines(format, &records)?)?;
        match page.next {
            Some(next) => range.after = Some(next),
            None => return out.flush().context("writing the records"),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use clap::Parser;
    use toolgate_api::audit::{AuditAction, AuditOutcome};
    use toolgate_api::auth::PrincipalKind;
    use toolgate_core::ids::{ProjectId, ProjectUid};
    use toolgate_store::rows::{Opening, ProjectRow};

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: ExportArgs,
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn record(number: u128) -> AuditRecord {
        AuditRecord {
            id: Uuid::from_u128(number),
            at: at(10),
            action: AuditAction::Resolve,
            outcome: AuditOutcome::Succeeded,
            code: None,
            principal_kind: PrincipalKind::User,
            principal_id: "1".to_owned(),
            principal_name: "ada".to_owned(),
            tool: None,
            revision: None,
            requested_groups: Vec::new(),
            granted_groups: Vec::new(),
            missing_groups: Vec::new(),
            session_id: None,
            state_before: String::new(),
            state_from: None,
            state_after: Some(String::new()),
            state_conflict: false,
            arguments: Some(serde_json::json!({"q": "marmalade"})),
            provenance: None,
            coercions: Vec::new(),
            context: None,
            request_id: number.to_string(),
            address: None,
            entrance: None,
            connection: None,
            client_name: None,
            account: None,
            client_version: None,
            snapshot_version: 1,
            payloads_hidden: false,
            duration_ms: Some(0),
            failure: None,
            usage: None,
            warnings: Vec::new(),
            artifact_id: None,
            after_execution: None,
            questions: Vec::new(),
            deferred_until: None,
        }
    }

    async fn exported(store: &Store, args: &[&str]) -> anyhow::Result<String> {
        let cli = Cli::try_parse_from([&["export"], args].concat())?;
        let mut out = Vec::new();
        export(store, &cli.args, &mut out).await?;
        Ok(String::from_utf8(out)?)
    }

    #[tokio::test]
    async fn a_project_is_written_oldest_first() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let uid = ProjectUid(Uuid::from_u128(7));
        let row = ProjectRow {
            uid,
            id: ProjectId::parse("demo").unwrap(),
            name: "Demonstration".to_owned(),
            created_at: at(0),
        };
        store.create_project(&row, None).await.unwrap();
        let writer = store.records_writer(Uuid::from_u128(1));
        for number in 1..=3 {
            let record = Box::new(record(number));
            writer.open(Opening { project: uid, record }).await.unwrap();
        }
        let ids = |text: &str| {
            let id = |line: &str| serde_json::from_str::<AuditRecord>(line).unwrap().id.as_u128();
            text.lines().map(id).collect::<Vec<_>>()
        };
        let text = exported(&store, &["demo"]).await.unwrap();
        assert_eq!(ids(&text), [1, 2, 3]);
        assert!(!text.contains("marmalade"));
        let text = exported(&store, &["demo", "--payloads", "--until", "1970-01-01T00:00:11Z"]).await;
        assert!(text.unwrap().contains("marmalade"));
        let text = exported(
            &store,
            &["demo", "--format", "csv", "--since", "1970-01-01T00:00:11Z"],
        )
        .await;
        assert_eq!(text.unwrap().lines().count(), 1);
        assert!(exported(&store, &["nothing"]).await.is_err());
    }
}
