//! Whether a file can be imported: every part by the rules that its own operation has, all faults at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use toolgate_api::project_file::ProjectFile;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{
    ServiceDefinition, Upload, UploadContext, UploadedTool, check_service, check_tool,
};
use toolgate_core::project_file::definition_name;
use toolgate_core::{accounts, guides, limits, mcp_servers, pointer, policy_tests};
use toolgate_store::LabelContent;

use super::current::value;
use crate::gateway::access::check_terms;
use crate::gateway::labels::{self, Kind};
use crate::gateway::publish::with_context;
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem, egress, settings};

/// A file that can be imported.
pub(super) struct Checked {
    /// The file, its parts as they are stored.
    pub(super) file: ProjectFile,
    /// Its definitions.
    pub(super) upload: Upload,
    /// Accepted, but should be corrected.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Checks the file.
///
/// # Errors
/// 422 with every fault and its place in the file.
pub(super) async fn check(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    mut file: ProjectFile,
) -> Result<Checked, Problem> {
    let mut faults = Faults::default();
    if let Some(settings) = &file.settings {
        faults.add(&["settings"], settings::faults(settings, &gateway.egress));
    }
    if let Some(limits) = &file.limits {
        faults.add(&["limits"], limits::check(limits));
    }
    if let Some(list) = &mut file.egress {
        match egress::checked(&gateway.egress, list) {
            Ok(checked) => *list = checked,
            Err(refusal) => faults.refused(&["egress"], refusal),
        }
    }
    labels(&file, &mut faults).await;
    for (name, provider) in &file.account_providers {
        let place = ["account_providers", name];
        faults.add(&place, accounts::name_fault(name).map(Diagnostic::error));
        faults.add(&place, accounts::check(provider));
    }
    for (name, server) in &file.mcp_servers {
        let place = ["mcp_servers", name];
        faults.add(&place, mcp_servers::name_fault(name).map(Diagnostic::error));
        faults.add(&place, mcp_servers::check(server));
    }
    for (id, guide) in &file.guides {
        faults.add(&["guides", id], guides::check(id, guide));
    }
    grants(&file, &mut faults);
    let names = file.policy_tests.iter().map(|test| test.name.clone());
    faults.twice("policy_tests", names);
    for (at, test) in file.policy_tests.iter().enumerate() {
        faults.add(&["policy_tests", &at.to_string()], policy_tests::check(test));
    }
    let (task, state) = (Arc::clone(gateway), Arc::clone(project));
    // Away from the threads that serve requests: schemas are compiled.
    let (mut file, upload, of_definitions) = tokio::task::spawn_blocking(move || {
        let (upload, faults) = definitions(&task, &state, &file);
        (file, upload, faults)
    })
    .await
    .map_err(|error| Problem::internal(&error))?;
    faults.0.extend(of_definitions);
    let (errors, warnings): (Vec<_>, Vec<_>) = faults.0.into_iter().partition(Diagnostic::is_error);
    if !errors.is_empty() {
        let detail =
            "The file cannot be imported; nothing was stored. `errors` names each fault with its place.";
        return Err(Problem::new(ErrorCode::InvalidRequest, detail).errors(errors));
    }
    file.tools = upload.tools.iter().map(|tool| value(&tool.definition)).collect();
    file.tool_services = upload.services.iter().map(value).collect();
    Ok(Checked {
        file,
        upload,
        warnings,
    })
}

/// What was found, with its places in the file.
#[derive(Default)]
struct Faults(Vec<Diagnostic>);

impl Faults {
    fn add(&mut self, place: &[&str], found: impl IntoIterator<Item = Diagnostic>) {
        let place = pointer::of(place.iter().copied());
        self.0.extend(found.into_iter().map(|fault| {
            let within = fault.pointer.clone().unwrap_or_default();
            fault.at_pointer(format!("{place}{within}"))
        }));
    }

    /// The faults of a part that its own check refuses.
    fn refused(&mut self, place: &[&str], refusal: Problem) {
        let detail = refusal.detail().to_owned();
        match refusal.into_body("").errors {
            errors if errors.is_empty() => self.add(place, [Diagnostic::error(detail)]),
            errors => self.add(place, errors),
        }
    }

    /// Names of a list that are there more than once.
    fn twice(&mut self, section: &str, names: impl Iterator<Item = String>) {
        let mut seen = HashSet::new();
        for (at, name) in names.enumerate() {
            if !seen.insert(name) {
                self.add(&[section, &at.to_string()], [Diagnostic::error("is there twice")]);
            }
        }
    }
}

async fn labels(file: &ProjectFile, faults: &mut Faults) {
    let groups = file.groups.iter().map(|(name, group)| {
        let content = LabelContent {
            description: group.description.clone(),
            condition: group.condition.clone(),
        };
        (Kind::Group, "groups", name, content)
    });
    let states = file.states.iter().map(|(name, state)| {
        let content = LabelContent {
            description: state.description.clone(),
            condition: None,
        };
        (Kind::State, "states", name, content)
    });
    for (kind, section, name, content) in groups.chain(states) {
        if let Err(refusal) = labels::check(kind, name, &content).await {
            faults.refused(&[section, name], refusal);
        }
    }
}

fn grants(file: &ProjectFile, faults: &mut Faults) {
    faults.twice(
        "grants",
        file.grants.iter().map(|grant| grant.holder().to_owned()),
    );
    for (at, grant) in file.grants.iter().enumerate() {
        let at = at.to_string();
        let place = ["grants", at.as_str()];
        if grant.user.is_some() == grant.subject.is_some() {
            faults.add(&place, [Diagnostic::error("name either `user` or `subject`")]);
        }
        if let Err(refusal) = check_terms(&grant.terms()) {
            faults.refused(&place, refusal);
        }
    }
}

/// The definitions of the file: its tools may refer to its services, and to those that the project has.
fn definitions(gateway: &Gateway, project: &ProjectState, file: &ProjectFile) -> (Upload, Vec<Diagnostic>) {
    let mut faults = Faults::default();
    faults.twice("tool_services", names(&file.tool_services, "id"));
    faults.twice("tools", names(&file.tools, "name"));
    let services = with_context(gateway, project, |context| {
        collect(&mut faults, "tool_services", &file.tool_services, |service| {
            check_service(service, context)
        })
    });
    let by_id: HashMap<&str, &ServiceDefinition> = services
        .iter()
        .map(|service| (service.id.as_str(), service))
        .collect();
    let tools = with_context(gateway, project, |context| {
        let service = |id: &str| {
            by_id
                .get(id)
                .map(|&service| service.clone())
                .or_else(|| (context.existing_services)(id))
        };
        let context = UploadContext {
            project: context.project,
            env_allowed: context.env_allowed,
            existing_services: &service,
            executes: context.executes,
            subjects: context.subjects,
        };
        collect(&mut faults, "tools", &file.tools, |tool| {
            check_tool(tool, &context)
        })
    });
    let tools = tools
        .into_iter()
        .map(|definition| UploadedTool {
            definition,
            expect_revision: None,
        })
        .collect();
    let upload = Upload {
        tools,
        services,
        warnings: Vec::new(),
    };
    (upload, faults.0)
}

fn names<'f>(definitions: &'f [Value], key: &'f str) -> impl Iterator<Item = String> + 'f {
    definitions
        .iter()
        .map(move |definition| definition_name(definition, key))
}

fn collect<T>(
    faults: &mut Faults,
    section: &str,
    definitions: &[Value],
    check: impl Fn(&Value) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>>,
) -> Vec<T> {
    let mut found = Vec::new();
    for (at, definition) in definitions.iter().enumerate() {
        let place = [section, &at.to_string()];
        match check(definition) {
            Ok((definition, warnings)) => {
                faults.add(&place, warnings);
                found.push(definition);
            }
            Err(errors) => faults.add(&place, errors),
        }
    }
    found
}
