//! Receiving announcements and heartbeats, and importing what is announced: by one of the servers of a database, once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::mpsc;
use toolgate_api::auth::PrincipalKind;
use toolgate_api::imports::{ImportOutcome, ImportReport};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::announcements::{self, Announcement};
use toolgate_core::ids::{ImportId, ProjectId, ProjectUid};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_executors::{Bus, BusAnnouncement};
use toolgate_store::rows::{AnnouncedProgram, AnnouncementClaim, ProgramKey};

use super::speaker::{self, Said};
use super::{import_id, trusted, waiting_descriptor};
use crate::gateway::change_record::Changer;
use crate::gateway::entry::Origin;
use crate::gateway::imports::request::ImportRequest;
use crate::gateway::imports::run;
use crate::gateway::publish::Author;
use crate::gateway::record::Requester;
use crate::gateway::{Gateway, Problem};

/// Announcements that wait to be imported.
const WAITING: usize = 1024;
/// A server that has not imported an announcement for so long has stopped.
const STALE: TimeDelta = TimeDelta::seconds(60);
/// Problems of an announcement that are kept.
const MOST_PROBLEMS: usize = 100;
/// What the records of announcements name as the request.
pub(super) const ORIGIN: &str = "tool-descriptors";
/// How often it is looked whether the connection is another one.
const LOOK: Duration = Duration::from_secs(1);

/// Receives what programs say of themselves until the server stops.
pub async fn run(gateway: Arc<Gateway>, mut messages: mpsc::Receiver<BusAnnouncement>) {
    let (to, waiting) = mpsc::channel(WAITING);
    tokio::spawn(import_all(Arc::clone(&gateway), waiting));
    let mut looks = tokio::time::interval(LOOK);
    let mut asked = HashMap::new();
    loop {
        tokio::select! {
            () = gateway.shutdown.stopped() => return,
            _ = looks.tick() => ask(&gateway, &mut asked).await,
            message = messages.recv() => match message {
                Some(message) => receive(&gateway, message, &to).await,
                None => return,
            },
        }
    }
}

/// Asks the programs of each project once for each connection; `asked` has the projects that were asked, by their connection.
async fn ask(gateway: &Gateway, asked: &mut HashMap<ProjectUid, u64>) {
    let Some(bus) = gateway.bus.as_deref().filter(|bus| bus.is_connected()) else {
        return;
    };
    let connection = bus.report().connects;
    let snapshot = gateway.snapshots.now();
    let projects: HashMap<ProjectUid, &ProjectId> = snapshot
        .projects()
        .map(|project| (project.row.uid, &project.row.id))
        .collect();
    for (uid, id) in &projects {
        if asked.insert(*uid, connection) != Some(connection) {
            bus.discover(id).await;
        }
    }
    asked.retain(|uid, _| projects.contains_key(uid));
    gateway
        .presence
        .prune(|uid| projects.contains_key(&uid), gateway.clock.now());
}

async fn receive(gateway: &Gateway, message: BusAnnouncement, to: &mpsc::Sender<Heard>) {
    let snapshot = gateway.snapshots.now();
    let Some(project) = snapshot.project(message.project.as_str()) else {
        return;
    };
    let (uid, now) = (project.row.uid, gateway.clock.now());
    if message.is_heartbeat {
        match announcements::read_heartbeat(&message.payload) {
            Ok(beat) => {
                if gateway.presence.beat(uid, beat, now)
                    && let Some(bus) = &gateway.bus
                {
                    Bus::discover(bus, &message.project).await;
                }
            }
            Err(reason) => gateway
                .presence
                .refused(uid, format!("a heartbeat: {reason}"), now),
        }
        return;
    }
    match announcements::read(&message.payload, now) {
        Ok(announcement) => {
            if !gateway.presence.announced(uid, &announcement, now) {
                let reason = "too many programs or announcements; it is taken when it comes again".to_owned();
                gateway.presence.refused(uid, reason, now);
                return;
            }
            let heard = Heard {
                project: message.project,
                announcement: Arc::new(announcement),
                said: Said {
                    subject: message.subject,
                    headers: message.headers.unwrap_or_default(),
                    payload: message.payload,
                    at: now,
                },
            };
            if to.try_send(heard).is_err() {
                tracing::debug!("an announcement was dropped: too many wait to be imported");
            }
        }
        Err(reason) => gateway.presence.refused(uid, reason, now),
    }
}

/// An announcement that waits to be imported.
struct Heard {
    project: ProjectId,
    announcement: Arc<Announcement>,
    said: Said,
}

async fn import_all(gateway: Arc<Gateway>, mut waiting: mpsc::Receiver<Heard>) {
    // Those that wait for an earlier one of the same program, or for the database.
    let mut later = VecDeque::new();
    let mut looks = tokio::time::interval(LOOK);
    loop {
        let next = tokio::select! {
            () = gateway.shutdown.stopped() => return,
            _ = looks.tick(), if !later.is_empty() => later.pop_front(),
            next = waiting.recv() => next,
        };
        let Some(heard) = next else {
            return;
        };
        let is_done = match import(&gateway, &heard).await {
            Ok(claim) => claim != AnnouncementClaim::Busy,
            Err(problem) => {
                tracing::warn!(project = %heard.project, program = heard.announcement.name, code = %problem.code(), "an announcement was not imported; it is tried again");
                false
            }
        };
        if !is_done && later.len() < WAITING {
            later.push_back(heard);
        }
    }
}

/// Imports an announcement that is new, unless another server does.
async fn import(gateway: &Arc<Gateway>, heard: &Heard) -> Result<AnnouncementClaim, Problem> {
    let Heard {
        project,
        announcement,
        said,
    } = heard;
    let Some(state) = gateway.snapshots.now().project(project.as_str()).cloned() else {
        return Ok(AnnouncementClaim::Known);
    };
    let now = gateway.clock.now();
    let (speaker, unproven) = match speaker::of(gateway, &state, said).await? {
        Ok(speaker) => (speaker, None),
        Err(unproven) => (None, Some(unproven)),
    };
    let digest = match &speaker {
        Some(_) => speaker::trusted_digest(&announcement.digest),
        None => announcement.digest.clone(),
    };
    let program = AnnouncedProgram {
        key: ProgramKey {
            project: state.row.uid,
            kind: announcement.kind,
            name: announcement.name.clone(),
        },
        digest,
        version: announcement.version.clone(),
        instance: announcement.instance.clone(),
        started_at: announcement.started,
        announced_at: now,
        descriptor: announcement.descriptor.clone(),
        base: None,
        problems: Vec::new(),
        imported: false,
    };
    let claim = gateway.store.claim_announcement(&program, now - STALE).await?;
    if claim != AnnouncementClaim::Mine {
        return Ok(claim);
    }
    let stored = match &speaker {
        Some(entry) => trusted::take(gateway, project, announcement, &program, entry).await,
        None => store(gateway, project, announcement).await,
    };
    let mut problems = match stored {
        Ok(report) => problems(report),
        Err(problem) if passes(problem.code()) => {
            gateway
                .store
                .release_announcement(&program.key, &program.digest)
                .await?;
            return Err(problem);
        }
        Err(problem) => {
            let body = problem.into_body("");
            let mut all = vec![Diagnostic::error(body.detail)];
            all.extend(body.errors);
            all
        }
    };
    problems.extend(unproven);
    // A descriptor that the service has now needs no decision.
    let current = gateway.snapshots.now().project(project.as_str()).cloned();
    let is_current = current.is_some_and(|state| {
        state.snapshot.service(&announcement.name).is_some()
            && waiting_descriptor(gateway, &state, &program).is_none()
    });
    let base = announcement.descriptor.as_ref().filter(|_| is_current);
    let shown = &problems[..problems.len().min(MOST_PROBLEMS)];
    gateway
        .store
        .settle_announcement(&program.key, &program.digest, shown, base)
        .await?;
    Ok(claim)
}

/// Whether an import that failed may succeed when it is tried again.
fn passes(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::AuditUnavailable | ErrorCode::Unavailable | ErrorCode::Conflict | ErrorCode::Internal
    )
}

/// Imports an announcement, on the record: what it says is untrusted, so that new tools are disabled and changes wait.
async fn store(
    gateway: &Arc<Gateway>,
    project: &ProjectId,
    announcement: &Arc<Announcement>,
) -> Result<ImportReport, Problem> {
    let principal = Principal {
        kind: PrincipalKind::External,
        id: "toolgate|bus".to_owned(),
        name: "bus".to_owned(),
    };
    let (granted, origin) = (GroupSet::default(), Origin::internal(ORIGIN));
    let by = changer(
        announcement,
        Requester {
            principal: &principal,
            granted: &granted,
            reads_definitions: false,
            origin: &origin,
        },
    );
    let request = ImportRequest {
        announcement: Some(Arc::clone(announcement)),
        ..ImportRequest::default()
    };
    let id = id_of(announcement)?;
    let (_, report) = Box::pin(run::import(gateway, project, id, &by, request, |_| Ok(()))).await?;
    Ok(report)
}

/// The import of a program.
pub(super) fn id_of(announcement: &Announcement) -> Result<ImportId, Problem> {
    import_id(announcement.kind, &announcement.name).ok_or_else(|| {
        Problem::new(
            ErrorCode::InvalidRequest,
            "The name is too long for an import; nothing was stored. Choose one with at most 50 letters, digits and hyphens.",
        )
    })
}

/// Who imports what was announced.
pub(super) fn changer<'a>(announcement: &Announcement, requester: Requester<'a>) -> Changer<'a> {
    Changer {
        author: Author {
            name: &requester.principal.name,
            note: Some(format!(
                "{} announced itself on the message bus: version {:?}, instance {:?}",
                announcement.name, announcement.version, announcement.instance
            )),
            ignore_policy_tests: false,
        },
        requester,
    }
}

/// What of an announcement could not be imported.
fn problems(report: ImportReport) -> Vec<Diagnostic> {
    let refused = report.operations.into_iter().filter_map(|operation| {
        let is_left = matches!(operation.outcome, ImportOutcome::Refused | ImportOutcome::Taken);
        let reason = operation.reason.filter(|_| is_left)?;
        Some(
            Diagnostic::error(format!("the tool \"{}\": {reason}", operation.tool))
                .at_pointer(operation.pointer),
        )
    });
    report.problems.into_iter().chain(refused).collect()
}
