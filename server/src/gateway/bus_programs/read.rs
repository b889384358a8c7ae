//! Programs on the message bus as they are shown.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::presence::{
    Announced, AnnouncerKind, BusProgram, BusProgramStatus, BusPrograms, BusState, FailedCall, QueueStatus,
};
use toolgate_core::definition::Execution;
use toolgate_core::snapshot::CompiledTool;
use toolgate_store::rows::{AnnouncedProgram, ProgramKey, RecordFilter, RecordOrder, RecordRange};

use super::presence::ProgramName;
use super::{import_id, not_found, waiting_descriptor};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Names of tools that are listed for one program.
const MOST_TOOLS: usize = 1000;
/// Programs that are listed.
const MOST: usize = 2000;
/// Failed calls that are listed.
const FAILURES: usize = 10;
/// Records of failed calls among which those of a program are looked for.
const SCANNED: u32 = 2000;

/// Every program that the project has to do with.
pub async fn list(gateway: &Gateway, project: &ProjectState) -> Result<BusPrograms, Problem> {
    let (uid, now) = (project.row.uid, gateway.clock.now());
    let mut instances = gateway.presence.programs(uid, now);
    let mut announced: BTreeMap<ProgramName, AnnouncedProgram> = BTreeMap::new();
    for row in gateway.store.announced_programs(uid).await? {
        announced.insert((row.key.kind, row.key.name.clone()), row);
    }
    let mut tools = by_program(project);
    let names: BTreeSet<ProgramName> = tools
        .keys()
        .chain(announced.keys())
        .chain(instances.keys())
        .cloned()
        .collect();
    let mut items = Vec::new();
    for name in names.into_iter().take(MOST) {
        let program = BusProgram {
            announced: match announced.get(&name) {
                Some(row) => Some(shown(gateway, project, row).await?),
                None => None,
            },
            instances: instances.remove(&name).unwrap_or_default(),
            ..of_tools(&name, tools.remove(&name).unwrap_or_default())
        };
        items.push(program);
    }
    Ok(BusPrograms {
        bus: match &gateway.bus {
            None => BusState::None,
            Some(bus) if bus.is_connected() => BusState::Connected,
            Some(_) => BusState::Disconnected,
        },
        items,
        refused: gateway.presence.latest_refused(uid),
    })
}

/// One program, with its queue; with `reads_records`, with its latest failed calls.
///
/// # Errors
/// 404 when nothing is known of it.
pub async fn status(
    gateway: &Gateway,
    project: &ProjectState,
    kind: AnnouncerKind,
    name: &str,
    reads_records: bool,
) -> Result<BusProgramStatus, Problem> {
    let (uid, now) = (project.row.uid, gateway.clock.now());
    let key = (kind, name.to_owned());
    let row = gateway
        .store
        .announced_program(&ProgramKey {
            project: uid,
            kind,
            name: name.to_owned(),
        })
        .await?;
    let instances = gateway.presence.programs(uid, now).remove(&key);
    let tools = by_program(project).remove(&key);
    if row.is_none() && instances.is_none() && tools.is_none() {
        return Err(not_found(name));
    }
    let program = BusProgram {
        announced: match &row {
            Some(row) => Some(shown(gateway, project, row).await?),
            None => None,
        },
        instances: instances.unwrap_or_default(),
        ..of_tools(&key, tools.unwrap_or_default())
    };
    let failures = match reads_records {
        true => failures(gateway, project, &program).await?,
        false => Vec::new(),
    };
    Ok(BusProgramStatus {
        queue: queue(gateway, project, kind, name).await,
        program,
        failures,
    })
}

async fn queue(gateway: &Gateway, project: &ProjectState, kind: AnnouncerKind, name: &str) -> QueueStatus {
    let Some(bus) = &gateway.bus else {
        return QueueStatus::Unknown {
            reason: "this server is connected to no message bus".to_owned(),
        };
    };
    match (kind, project.snapshot.service(name)) {
        (AnnouncerKind::Worker, _) => bus.worker_queue(&project.row.id, name).await,
        (AnnouncerKind::ToolService, Some(service)) => bus.service_queue(&project.row.id, service).await,
        (AnnouncerKind::ToolService, None) => QueueStatus::NotKept,
    }
}

/// The program that executes a tool.
fn program(tool: &CompiledTool) -> Option<ProgramName> {
    let definition = &tool.definition;
    match definition.execution()? {
        Execution::Bus { subject } => {
            let target = subject.split_once("cmd.tool.")?.1.split('.').next()?;
            Some((AnnouncerKind::Worker, target.to_owned()))
        }
        Execution::Service { id } => Some((AnnouncerKind::ToolService, id.to_owned())),
        _ => None,
    }
}

/// The tools of the project by the programs that execute them; services without tools too.
fn by_program(project: &ProjectState) -> BTreeMap<ProgramName, Vec<&CompiledTool>> {
    let mut programs: BTreeMap<ProgramName, Vec<&CompiledTool>> = BTreeMap::new();
    for (service, _) in project.snapshot.services() {
        if service.request_queue.is_some() {
            programs.insert((AnnouncerKind::ToolService, service.id.to_string()), Vec::new());
        }
    }
    for tool in project.snapshot.tools() {
        if let Some(program) = program(tool) {
            programs.entry(program).or_default().push(tool);
        }
    }
    programs
}

fn of_tools(name: &ProgramName, tools: Vec<&CompiledTool>) -> BusProgram {
    let disabled = tools.iter().filter(|tool| !tool.definition.enabled).count();
    BusProgram {
        kind: name.0,
        name: name.1.clone(),
        disabled: u32::try_from(disabled).unwrap_or(u32::MAX),
        tools: tools
            .into_iter()
            .take(MOST_TOOLS)
            .map(|tool| tool.name().to_owned())
            .collect(),
        announced: None,
        instances: Vec::new(),
    }
}

async fn shown(
    gateway: &Gateway,
    project: &ProjectState,
    row: &AnnouncedProgram,
) -> Result<Announced, Problem> {
    let import = import_id(row.key.kind, &row.key.name).map_or_else(String::new, |id| id.to_string());
    let counted = gateway.store.import_counted(project.row.uid, &import).await?;
    Ok(Announced {
        version: row.version.clone(),
        at: row.announced_at,
        instance: row.instance.clone(),
        digest: row.digest.clone(),
        import,
        waiting: counted.map_or(0, |(_, counts)| counts.waiting),
        descriptor_diff: waiting_descriptor(gateway, project, row).map(|waiting| waiting.diff),
        problems: row.problems.clone(),
    })
}

/// The latest failed calls of a program's tools.
async fn failures(
    gateway: &Gateway,
    project: &ProjectState,
    program: &BusProgram,
) -> Result<Vec<FailedCall>, Problem> {
    let filter = RecordFilter {
        action: Some(AuditAction::Call),
        outcome: Some(AuditOutcome::Failed),
        tool: match program.tools.as_slice() {
            [] => return Ok(Vec::new()),
            [only] => Some(only.clone()),
            _ => None,
        },
        ..RecordFilter::default()
    };
    let range = RecordRange {
        order: RecordOrder::NewestFirst,
        after: None,
        before: None,
        limit: 200,
        scan: SCANNED,
    };
    let page = gateway
        .store
        .record_page(project.row.uid, &filter, &range)
        .await?;
    let of_program = page.records.into_iter().filter_map(|record| {
        let tool = record.tool?;
        program.tools.contains(&tool).then_some(FailedCall {
            call_id: record.id,
            at: record.at,
            tool,
            code: record.code,
        })
    });
    Ok(of_program.take(FAILURES).collect())
}
