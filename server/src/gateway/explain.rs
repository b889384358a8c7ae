//! The use case "why, or why not": the decision on tools, test by test, without any effect but a record of the question.

use chrono::{DateTime, Utc};
use serde_json::json;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::explain::{ExplainRequest, ExplainResponse, ExplainedPrincipal, ToolExplanation};
use toolgate_api::{Diagnostic, ErrorCode};
use toolgate_core::arguments::TemplateContext;
use toolgate_core::explain::{
    self as rules, Arguments, Circumstances, Foreseen, Question, SessionTest, Shown,
};
use toolgate_core::ids::{CallId, UserId};
use toolgate_core::policy::decision::state_or_undefined;
use toolgate_core::policy::evaluation_context::EvaluationContext;
use toolgate_core::policy::groups::{self, ANY, GroupSet};
use toolgate_core::policy_tests::GrantLookup;
use toolgate_core::principal::{Principal, PrincipalKind, PrincipalRef};
use toolgate_core::session::{self, SessionLife, place};
use toolgate_executors::Reach;
use toolgate_store::rows::{AccountRow, Opening, SessionRow};

use super::accounts;
use super::limits;
use super::policy_tests::CurrentGrants;
use super::record::{self, Requester};
use super::recorded;
use super::server_snapshot::{ProjectState, ServerSnapshot};
use super::sessions::{self, gone, wider};
use crate::gateway::{Gateway, Problem};

/// Who an explanation is about.
pub struct Subject {
    /// Which principal.
    pub principal: PrincipalRef,
    /// What it holds at the time.
    pub granted: GroupSet,
}

impl Subject {
    /// The caller, with what it holds now or at another time. What a token brings along is the same at any time.
    #[must_use]
    pub fn requester(
        server_snapshot: &ServerSnapshot,
        project: &ProjectState,
        requester: &Requester<'_>,
        at: Option<DateTime<Utc>>,
    ) -> Self {
        let principal = PrincipalRef::from(requester.principal);
        let granted = match at {
            Some(at) if principal.kind != PrincipalKind::External => {
                CurrentGrants::new(&server_snapshot.directory, &project.row)
                    .grant_of(&principal, at)
                    .unwrap_or_default()
            }
            _ => requester.granted.clone(),
        };
        Self { principal, granted }
    }

    /// Another principal. One that holds nothing here is answered like one that does not exist, but for the project's
    /// own keys: the caller sees them in the list of keys, so that a revoked or expired one can be explained.
    pub fn other(
        server_snapshot: &ServerSnapshot,
        project: &ProjectState,
        principal: PrincipalRef,
        at: DateTime<Utc>,
    ) -> Result<Self, Problem> {
        let granted = CurrentGrants::new(&server_snapshot.directory, &project.row).grant_of(&principal, at);
        let own_key = principal.kind == PrincipalKind::ServiceKey
            && server_snapshot
                .directory
                .keys_of(project.row.uid)
                .any(|key| key.id.to_string() == principal.id);
        if granted.is_none() && !own_key {
            return Err(Problem::not_found(format!(
                "principal \"{principal}\" in this project"
            )));
        }
        Ok(Self {
            principal,
            granted: granted.unwrap_or_default(),
        })
    }
}

/// Puts what a session has into a question: whose it is, its state, its groups unless the question asks for fewer, and its
/// context under that of the question. Answers the session's groups.
///
/// # Errors
/// As a call in the session would be refused: it has ended, or lacks the groups. And when the question is about
/// a principal other than that of the session.
pub fn in_session(
    project: &ProjectState,
    request: &mut ExplainRequest,
    session: SessionRow,
    at: DateTime<Utc>,
) -> Result<Option<Vec<String>>, Problem> {
    let principal = session.principal.to_string();
    if request
        .principal
        .as_deref()
        .and_then(PrincipalRef::parse)
        .is_some_and(|asked| asked != session.principal)
    {
        return Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The session belongs to another principal; only that one can use it.",
        )
        .errors(vec![
            Diagnostic::error("is not the session's principal")
                .hint("leave it out")
                .at_pointer("/principal"),
        ]));
    }
    match session::life(session.expires_at, session.ended_at, at) {
        SessionLife::Living => {}
        life => return Err(gone(project, life)),
    }
    // Whether the groups are granted is a test of the explanation; here only widening them is refused.
    let everything: GroupSet = [ANY].into_iter().collect();
    request.group = session::effective_groups(&everything, session.groups.as_deref(), request.group.take())
        .map_err(|refused| wider(refused.outside))?;
    request.context = session::overlay(session.context.as_ref(), request.context.as_ref());
    request.state = Some(session.state);
    request.principal = Some(principal);
    Ok(session.groups)
}

/// A session with a group that is not granted any more is refused whole, whatever the request asks for: the question is
/// then about all its groups.
pub fn whole_session(request: &mut ExplainRequest, groups: Option<Vec<String>>, subject: &Subject) {
    let held = groups::requested(groups.as_deref());
    if !subject.granted.missing(&held).is_empty() {
        request.group = groups;
    }
}

/// Which tools the caller may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Whole definitions.
    Definitions,
    /// The tools in the granted groups.
    Granted,
}

/// Which tools to explain.
pub enum Scope<'a> {
    /// One, there or not.
    One(&'a str),
    /// Those that the caller may see, after a name, at most so many.
    Page {
        /// The name to start after.
        after: &'a str,
        /// How many.
        limit: usize,
    },
}

/// What a call would meet now once it was decided. Nothing is counted and nothing is sent.
fn circumstances(
    gateway: &Gateway,
    project: &ProjectState,
    subject: &Subject,
    tool: &str,
    at: Option<DateTime<Utc>>,
    connected: &[AccountRow],
) -> Circumstances {
    let Some(tool) = project.snapshot.tool(tool) else {
        return Circumstances::default();
    };
    let caller = Principal {
        kind: subject.principal.kind,
        id: subject.principal.id.clone(),
        name: String::new(),
    };
    let limits = match limits::has_room(gateway, project, &caller, tool, gateway.clock.now()) {
        _ if at.is_some() && !project.limits.is_empty() => Foreseen::Unknown {
            why: "the use of limits at another time is unknown; leave out `at` for now".to_owned(),
        },
        Ok(()) => Foreseen::Holds,
        Err(exceeded) => Foreseen::Fails {
            code: exceeded.code(),
            because: exceeded.detail(),
            remedy: None,
        },
    };
    let secrets = project.secrets.unused();
    let egress = project.egress.origins();
    let ready = gateway.executors.foresee(
        &project.row.id,
        (&tool.definition, tool.service.as_ref()),
        &tool.envs,
        Some(&secrets),
        Reach {
            egress: egress.as_ref(),
            servers: project.mcp_servers.set(),
        },
    );
    let execution = match ready {
        Ok(()) => Foreseen::Holds,
        Err(failure) => Foreseen::Fails {
            code: failure.code,
            because: failure.message,
            remedy: failure.remedy,
        },
    };
    let account = accounts::foreseen(
        gateway,
        project,
        subject.principal.kind,
        connected,
        &tool.definition,
    );
    let execution = match account {
        Err((code, because)) => Foreseen::Fails {
            code,
            because,
            remedy: None,
        },
        Ok(()) => execution,
    };
    Circumstances {
        limits: Some(limits),
        execution: Some(execution),
    }
}

/// Whether a call must name a session, and would.
fn session_test(project: &ProjectState, request: &ExplainRequest) -> Option<SessionTest> {
    place::is_required(&project.settings).then(|| SessionTest {
        passes: request.session_id.is_some() || request.assume_session,
        hint: sessions::required(project),
    })
}

/// Explains. Nothing runs, nothing moves, nothing is counted; the question is on the record.
pub async fn explain(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    subject: &Subject,
    sight: Sight,
    scope: &Scope<'_>,
    request: &ExplainRequest,
) -> Result<ExplainResponse, Problem> {
    let now = gateway.clock.now();
    let at = request.at.unwrap_or(now);
    let snapshot = &project.snapshot;
    let mut evaluation = EvaluationContext::at(at)
        .context(request.context.as_ref())
        .by_ref(&subject.principal);
    if snapshot.has_conditions() {
        evaluation = evaluation.load(project.load.now(now));
    }
    let context = TemplateContext::new(&project.row.id, request.context.as_ref());
    let question = Question {
        granted: &subject.granted,
        requested: request.group.as_deref(),
        state: request.state.as_deref(),
        evaluation: &evaluation,
        session: session_test(project, request),
        arguments: request.arguments.as_ref().map(|caller| Arguments {
            caller,
            context: &context,
        }),
    };
    let visible = snapshot.visible(requester.granted);
    let user = subject
        .principal
        .uuid()
        .filter(|_| subject.principal.kind == PrincipalKind::User);
    let connected = match user {
        Some(user) if !project.account_providers.is_empty() => {
            gateway.store.accounts_of(project.row.uid, UserId(user)).await?
        }
        _ => Vec::new(),
    };
    let shown = |tool: &str| match sight {
        Sight::Definitions => Shown::Everything,
        Sight::Granted if visible.tool(tool).is_some() => Shown::Operands,
        Sight::Granted => Shown::Verdict,
    };
    let one = |tool: &str| {
        let shown = shown(tool);
        let mut explanation = rules::explain(snapshot, &question, tool, shown);
        let circumstances = circumstances(gateway, project, subject, tool, request.at, &connected);
        rules::add(&mut explanation, circumstances, shown);
        explanation
    };
    let (items, more): (Vec<ToolExplanation>, bool) = match *scope {
        Scope::One(tool) => (vec![one(tool)], false),
        Scope::Page { after, limit } => {
            let page: Vec<_> = match sight {
                Sight::Definitions => {
                    let tools = snapshot.tools();
                    let start = tools.partition_point(|tool| tool.name() <= after);
                    tools[start..].iter().take(limit + 1).cloned().collect()
                }
                Sight::Granted => visible.after(after).take(limit + 1).cloned().collect(),
            };
            let items = page.iter().take(limit).map(|tool| one(tool.name())).collect();
            (items, page.len() > limit)
        }
    };

    let requested = groups::requested(request.group.as_deref());
    let id = CallId(gateway.clock.new_id());
    let mut record = record::decided(id, now, AuditAction::Explain, requester, snapshot.version());
    record.session_id = request.session_id;
    record.requested_groups = requested.to_vec();
    record.missing_groups = subject.granted.missing(&requested);
    state_or_undefined(request.state.as_deref()).clone_into(&mut record.state_before);
    let in_session = request.session_id.is_some();
    record.state_from = Some(place::source(in_session, request.state.as_deref()));
    record.tool = request.tool.clone();
    record.revision = request
        .tool
        .as_deref()
        .and_then(|tool| Some(snapshot.tool(tool)?.revision));
    // What was asked; the answer follows from it and from the version of the definitions.
    record.arguments = Some(json!({
        "principal": subject.principal.to_string(),
        "at": at,
        "assume_session": request.assume_session,
        "arguments": request.arguments.as_ref().map(|given| {
            let tool = request.tool.as_deref().and_then(|tool| snapshot.tool(tool));
            record::arguments(project, tool.map(|tool| &**tool), given)
        }),
    }));
    record.context = request
        .context
        .as_ref()
        .and_then(|context| serde_json::to_value(context).ok())
        .and_then(record::non_empty);
    record::conceal(project, &mut record);
    let opening = Opening {
        project: project.row.uid,
        record: record::ended(record, AuditOutcome::Succeeded, None),
    };
    recorded::write(gateway, opening).await?;

    Ok(ExplainResponse {
        record_id: id.0,
        principal: ExplainedPrincipal {
            kind: subject.principal.kind,
            id: subject.principal.id.clone(),
        },
        at,
        requested_groups: requested.to_vec(),
        granted_groups: subject.granted.to_vec(),
        next_cursor: if more {
            items.last().map(|last| super::cursor::after(&last.tool))
        } else {
            None
        },
        items,
    })
}
