//! Beginning a tool: a definition from what was pasted, and a test of a definition that is not stored.

use std::sync::Arc;

use toolgate_api::calls::CallRequest;
use toolgate_api::drafts::{
    DefinitionTested, DraftKind, DraftedCredential, DraftedDefinition, TestDefinition,
};
use toolgate_api::settings::SessionUse;
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::definition::{self, TextFormat, ToolDefinition, Upload};
use toolgate_core::pasted::{self, Credential, Draft, Pasted, Taken};
use toolgate_core::principal::Permission;
use toolgate_core::snapshot::ToolInput;
use toolgate_executors::Exchange;

use super::call::{CallOptions, call_once_with};
use super::entry::Entry;
use super::idempotency::Answer;
use super::{publish, secrets};
use crate::gateway::{Gateway, Problem};

/// Reads what was pasted. The credentials in it are stored as secrets of the project at once, where the caller may do that.
///
/// # Errors
/// 422 when the text is neither a URL nor a `curl` command.
pub async fn draft(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    text: String,
) -> Result<DraftedDefinition, Problem> {
    let (task, project) = (Arc::clone(gateway), Arc::clone(&entry.project));
    // Away from the threads that serve requests: a hostile text may take a while.
    let read = tokio::task::spawn_blocking(move || {
        let taken = Taken {
            tool: &|name| project.snapshot.tool(name).is_some(),
            secret: &|name| project.secrets.get(name).is_some(),
        };
        let pasted = pasted::read(&text, taken).map_err(unreadable)?;
        Ok::<_, Problem>(match pasted {
            Pasted::Description(url) => Read::Description(url),
            Pasted::Tool(draft) => {
                let json = draft.definition.to_string();
                let upload = publish::with_context(&task, &project, |context| {
                    definition::parse_upload(json.as_bytes(), TextFormat::Json, context)
                })
                .map_err(publish::invalid_definition)?;
                Read::Tool(draft, Box::new(upload))
            }
        })
    });
    match read.await.map_err(|error| Problem::internal(&error))?? {
        Read::Description(url) => Ok(DraftedDefinition {
            kind: DraftKind::ApiDescription,
            url: Some(url),
            yaml: String::new(),
            arguments: Default::default(),
            credentials: Vec::new(),
            diagnostics: Vec::new(),
        }),
        Read::Tool(draft, upload) => {
            let Draft {
                arguments,
                credentials,
                notes,
                ..
            } = *draft;
            let mut kept = Vec::with_capacity(credentials.len());
            for credential in credentials {
                kept.push(keep(gateway, entry, credential).await?);
            }
            // Read again: the warnings depend on the secrets that there are now.
            let project = publish::current(gateway, &entry.project.row.id)?;
            let warnings = publish::warnings(gateway, &project, &upload);
            Ok(DraftedDefinition {
                kind: DraftKind::Tool,
                url: None,
                yaml: upload
                    .tools
                    .iter()
                    .map(|tool| definition::to_yaml(&tool.definition))
                    .collect(),
                arguments,
                credentials: kept,
                diagnostics: notes.into_iter().chain(warnings).collect(),
            })
        }
    }
}

/// What a text was read as.
enum Read {
    Description(String),
    Tool(Box<Draft>, Box<Upload>),
}

/// Stores a credential, if it is one and the caller may.
async fn keep(
    gateway: &Arc<Gateway>,
    entry: &Entry,
    credential: Credential,
) -> Result<DraftedCredential, Problem> {
    let Credential { secret, place, value } = credential;
    let reason = match value {
        None => Some("The text has a placeholder for it.".to_owned()),
        Some(_) if !entry.may(Permission::ManageSecrets) => {
            Some("Your role does not manage secrets. An owner of the project can set it.".to_owned())
        }
        Some(value) => {
            let requester = entry.requester();
            match secrets::put(gateway, &entry.project, &secret, &value, Some(0), &requester).await {
                Ok(_) => None,
                Err(problem) if problem.code() == ErrorCode::InvalidRequest => Some(why(problem)),
                Err(problem)
                    if matches!(
                        problem.code(),
                        ErrorCode::SecretsNotConfigured | ErrorCode::PreconditionFailed
                    ) =>
                {
                    Some(problem.detail().to_owned())
                }
                Err(problem) => return Err(problem),
            }
        }
    };
    Ok(DraftedCredential {
        secret,
        place,
        stored: reason.is_none(),
        reason,
    })
}

/// The first fault of a refusal, or what it says as a whole.
fn why(problem: Problem) -> String {
    let body = problem.into_body("");
    match body.errors.into_iter().next() {
        Some(fault) => format!("Its value {}.", fault.message),
        None => body.detail,
    }
}

fn unreadable(fault: Diagnostic) -> Problem {
    Problem::new(
        ErrorCode::InvalidRequest,
        "The text cannot be read as a request; nothing was stored.",
    )
    .errors(vec![fault])
}

/// Runs one call of a definition that is not stored, as a call of the caller with the groups of the draft: decided, limited,
/// recorded and executed like any other, but recorded as a test.
///
/// # Errors
/// 422 for a definition that an upload would refuse; otherwise as a call.
pub async fn test(
    gateway: &Arc<Gateway>,
    entry: Entry,
    request: TestDefinition,
) -> Result<DefinitionTested, Problem> {
    let definition = read(gateway, &entry, request.yaml).await?;
    if definition.executor_kind().defers() {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "A test cannot wait for a worker whose answer may come after the server restarts. Save the tool and call it.",
        ));
    }
    let call = CallRequest {
        tool: definition.name.as_str().to_owned(),
        arguments: request.arguments,
        group: Some(groups(&definition)),
        state: match request.session_id {
            Some(_) => None,
            None => request.state.or_else(|| open_state(&definition, &entry)),
        },
        session_id: request.session_id,
        context: request.context,
    };
    let snapshot = entry.project.snapshot.with_changes(
        entry.project.snapshot.version(),
        vec![ToolInput {
            definition: ToolDefinition {
                enabled: true,
                ..definition
            },
            revision: 0,
            updated_at: gateway.clock.now(),
            updated_by: entry.caller.identity.principal.name.clone(),
        }],
        &[],
        entry
            .project
            .snapshot
            .services()
            .map(|(service, revision)| (service.clone(), revision))
            .collect(),
    );
    let project = Arc::new(entry.project.with_snapshot(snapshot));
    let entry = Arc::new(Entry { project, ..entry });
    let exchange = Exchange::default();
    let options = CallOptions {
        test: Some(exchange.clone()),
        ..CallOptions::default()
    };
    let called = call_once_with(gateway, &entry, Arc::new(call), options).await;
    let call = match called.answer? {
        Answer::Fresh(call) => *call,
        Answer::Replayed(..) => {
            return Err(Problem::new(
                ErrorCode::Internal,
                "A test was answered by an earlier call.",
            ));
        }
    };
    let (sent, received) = exchange.take();
    Ok(DefinitionTested {
        call,
        request: sent,
        answer: received,
    })
}

/// The one tool of a text.
async fn read(gateway: &Arc<Gateway>, entry: &Entry, yaml: String) -> Result<ToolDefinition, Problem> {
    let (task, project) = (Arc::clone(gateway), Arc::clone(&entry.project));
    let upload = tokio::task::spawn_blocking(move || {
        publish::with_context(&task, &project, |context| {
            definition::parse_upload(yaml.as_bytes(), TextFormat::Yaml, context)
        })
    })
    .await
    .map_err(|error| Problem::internal(&error))?
    .map_err(publish::invalid_definition)?;
    match (<[_; 1]>::try_from(upload.tools), upload.services.is_empty()) {
        (Ok([tool]), true) => Ok(tool.definition),
        _ => Err(Problem::new(
            ErrorCode::InvalidRequest,
            "A test takes exactly one tool and no tool service.",
        )),
    }
}

/// All groups of the draft: the caller must hold each of them.
fn groups(definition: &ToolDefinition) -> Vec<String> {
    match definition.group.as_deref() {
        None => vec!["default".to_owned()],
        // Only `*` reaches a tool in no group.
        Some([]) => vec!["*".to_owned()],
        Some(groups) => groups.to_vec(),
    }
}

/// A state that the draft is open in, where a call may name one.
fn open_state(definition: &ToolDefinition, entry: &Entry) -> Option<String> {
    let states = definition.available_in_states.as_deref()?;
    let named = states.iter().find(|state| *state != "*")?;
    let may_name = entry.project.settings.sessions != SessionUse::Required;
    (may_name && !states.iter().any(|state| state == "*")).then(|| named.clone())
}
