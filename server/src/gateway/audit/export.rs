//! The record as a file, of any length in little memory.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditFormat, AuditOrder, AuditRecord};
use toolgate_core::ids::{CallId, ProjectUid};
use toolgate_store::StoreError;
use toolgate_store::rows::{Opening, RecordFilter, RecordRange};

use super::access_recheck::AccessRecheck;
use super::concurrency_limit::ConcurrencyPermit;
use super::{format, shown, stored_order};
use crate::gateway::record::{self, Requester};
use crate::gateway::recorded::{self, OpenRecord};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Records of one chunk.
const PAGE: u32 = 500;
/// Records that are looked at for a chunk.
const SCAN: u32 = 5_000;
/// Chunks that may wait for the client.
const AHEAD: usize = 2;

/// The parts of an export, as they are written; an error cuts it off.
pub type Chunks = mpsc::Receiver<std::io::Result<Bytes>>;

type Sender = mpsc::Sender<std::io::Result<Bytes>>;

/// What to export.
pub struct Export {
    /// How it is written.
    pub format: AuditFormat,
    /// In which order.
    pub order: AuditOrder,
    /// Which records.
    pub filter: RecordFilter,
    /// The filter as it was asked for, for the record.
    pub asked: Value,
    /// Whether arguments and context are shown.
    pub payloads: bool,
    /// Whether the reader may still read.
    pub access_recheck: AccessRecheck,
    /// The reader's seat.
    pub permit: ConcurrencyPermit,
}

/// Begins an export: what was made before it, each record in its state when it is read. The export is on the record
/// itself, from its beginning on.
///
/// # Errors
/// [`ErrorCode::AuditUnavailable`] when it could not be recorded.
pub async fn begin(
    gateway: &Arc<Gateway>,
    project: &ProjectState,
    requester: &Requester<'_>,
    export: Export,
) -> Result<Chunks, Problem> {
    let id = CallId(gateway.clock.new_id());
    let now = gateway.clock.now();
    let mut record = record::decided(
        id,
        now,
        AuditAction::Export,
        requester,
        project.snapshot.version(),
    );
    record.arguments = Some(export.asked.clone());
    let project = project.row.uid;
    let opened = recorded::open(gateway, Opening { project, record }).await?;
    let (sender, chunks) = mpsc::channel(AHEAD);
    let export = Run {
        gateway: Arc::clone(gateway),
        project,
        id,
        export,
    };
    tokio::spawn(export.run(sender, opened));
    Ok(chunks)
}

struct Run {
    gateway: Arc<Gateway>,
    project: ProjectUid,
    /// The export's own record; only what was made before it is exported.
    id: CallId,
    export: Export,
}

/// Why an export did not complete.
enum Broken {
    /// The client disconnected.
    Gone,
    /// The reader lost the permission to read.
    Refused,
    /// The server stops.
    Stopping,
    /// The database does not answer, or what it says makes no sense.
    Store(StoreError),
    /// A record could not be written out.
    Format(std::io::Error),
}

impl Broken {
    const fn code(&self) -> ErrorCode {
        match self {
            Self::Gone => ErrorCode::Cancelled,
            Self::Refused => ErrorCode::Forbidden,
            Self::Stopping => ErrorCode::Interrupted,
            Self::Store(_) => ErrorCode::Unavailable,
            Self::Format(_) => ErrorCode::Internal,
        }
    }
}

impl Run {
    async fn run(self, sender: Sender, record: OpenRecord) {
        let mut sent = 0_u64;
        let stopping = self.gateway.shutdown.clone();
        let outcome = tokio::select! {
            biased;
            () = stopping.stopping() => Err(Broken::Stopping),
            outcome = self.write(&sender, &mut sent) => outcome,
        };
        let code = outcome.as_ref().err().map(Broken::code);
        // Recorded before the client learns that it has everything.
        if let Err(error) = record.complete(code, Some(json!({"records": sent}))).await {
            tracing::error!(export = %self.id, code = %error.code(), "the end of an export is not recorded yet");
        }
        // The seat is free before the client knows that it may ask again.
        drop(self);
        if let Err(broken) = outcome {
            match &broken {
                Broken::Store(error) => tracing::error!(cause = %error, "an export broke off"),
                Broken::Format(error) => tracing::error!(cause = %error, "an export broke off"),
                _ => {}
            }
            // An answer that ends without its last chunk is known to be cut off.
            let cut = std::io::Error::other("the export broke off");
            let _gone = sender.send(Err(cut)).await;
        }
    }

    async fn write(&self, sender: &Sender, sent: &mut u64) -> Result<(), Broken> {
        let Export {
            format,
            order,
            filter,
            payloads,
            access_recheck,
            ..
        } = &self.export;
        let send = async |text: Vec<u8>| {
            if text.is_empty() {
                return Ok(());
            }
            sender.send(Ok(text.into())).await.map_err(|_| Broken::Gone)
        };
        send(format::head(*format).map_err(Broken::Format)?).await?;
        let mut range = RecordRange {
            order: stored_order(*order),
            after: None,
            before: Some(self.id),
            limit: PAGE,
            scan: SCAN,
        };
        loop {
            if sender.is_closed() {
                return Err(Broken::Gone);
            }
            if !access_recheck.holds(&self.gateway).await {
                return Err(Broken::Refused);
            }
            let page = self
                .gateway
                .store
                .record_page(self.project, filter, &range)
                .await
                .map_err(Broken::Store)?;
            let records: Vec<AuditRecord> = page
                .records
                .into_iter()
                .map(|record| shown(record, *payloads))
                .collect();
            let text = format::lines(*format, &records).map_err(Broken::Format)?;
            send(text).await?;
            *sent += records.len() as u64;
            match page.next {
                Some(next) => range.after = Some(next),
                None => return Ok(()),
            }
        }
    }
}
