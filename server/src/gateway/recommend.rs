//! The use case "what fits this question": only what the caller holds, by the decision that calls get.

use std::sync::Arc;

use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::calls::CallContext;
use toolgate_api::recommendations::{
    RecommendationRequest, RecommendationResponse, RecommendedGroup, RecommendedTool,
};
use toolgate_core::counted::counted;
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::state_or_undefined;
use toolgate_core::policy::groups::{self, GroupSet};
use toolgate_core::principal::Principal;
use toolgate_core::recommend::{self as rules, Found, FoundGroup, Index, Ranking};
use toolgate_core::session::place::source;
use toolgate_core::snapshot::{CompiledTool, Denial};
use toolgate_store::rows::Opening;

use super::record::{self, Requester};
use super::recorded;
use super::resolve::insufficient_groups;
use super::server_snapshot::ProjectState;
use super::sessions::{self, SessionRejected};
use super::{available, load};
use crate::gateway::{Gateway, Problem};

/// Ranks tools and groups for a question, and records that it was asked. The text of the question is not kept.
pub async fn recommend(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    requester: &Requester<'_>,
    request: RecommendationRequest,
    limit: usize,
) -> Result<RecommendationResponse, Problem> {
    let id = CallId(gateway.clock.new_id());
    let version = project.snapshot.version();
    let mut record = record::decided(id, gateway.clock.now(), AuditAction::Resolve, requester, version);
    record.session_id = request.session_id;
    let place = match place(gateway, project, requester, &request).await? {
        Ok(place) => place,
        Err(turned) => {
            available::refuse(gateway, project, requester, turned.record(record)).await?;
            return Err(turned.answer(id));
        }
    };
    let preferred = place.preferred.iter().cloned().collect::<GroupSet>().to_vec();
    let state = state_or_undefined(place.state.as_deref()).to_owned();
    record.requested_groups.clone_from(&preferred);
    record.state_before.clone_from(&state);
    record.state_from = Some(source(request.session_id.is_some(), request.state.as_deref()));

    match search(gateway, project, requester, request.question, place, limit).await? {
        Ok(answer) => {
            // An answer is no use of the preferred groups: with none named, these are all that are granted.
            let record = record::ended(record, AuditOutcome::Succeeded, None);
            let opening = Opening {
                project: project.row.uid,
                record,
            };
            recorded::write(gateway, opening).await?;
            Ok(RecommendationResponse {
                preferred_groups: preferred,
                state,
                ..answer
            })
        }
        Err(denial) => {
            record.missing_groups.clone_from(&denial.missing);
            let code = ErrorCode::InsufficientToolGroups;
            let record = record::ended(record, AuditOutcome::Denied, Some(code));
            available::refuse(gateway, project, requester, record).await?;
            Err(insufficient_groups(denial.missing).call_id(id))
        }
    }
}

/// What a search is made in.
struct Place {
    /// The groups that can be asked for: the granted ones, or those of the session.
    held: GroupSet,
    preferred: Vec<String>,
    state: Option<String>,
    context: Option<CallContext>,
}

/// Finds it out: from the session, if the request names one.
async fn place(
    gateway: &Gateway,
    project: &ProjectState,
    requester: &Requester<'_>,
    request: &RecommendationRequest,
) -> Result<Result<Place, Box<SessionRejected>>, Problem> {
    let Some(session) = request.session_id else {
        let preferred = request
            .group
            .clone()
            .unwrap_or_else(|| requester.granted.to_vec());
        let state = request.state.as_deref();
        let allowed = sessions::without(project, requester, Some(&preferred), state);
        return Ok(allowed.map(|()| Place {
            held: requester.granted.clone(),
            preferred,
            state: request.state.clone(),
            context: None,
        }));
    };
    let entered = sessions::enter(gateway, project, requester, session, request.group.clone(), None).await?;
    Ok(entered.map(|entered| Place {
        held: groups::requested(entered.row.groups.as_deref()),
        preferred: groups::requested(entered.groups.as_deref()).to_vec(),
        state: Some(entered.row.state),
        context: entered.context,
    }))
}

/// Searches away from the threads that serve requests: the first question reads all definitions, and that after a change
/// indexes them again.
async fn search(
    gateway: &Arc<Gateway>,
    project: &Arc<ProjectState>,
    requester: &Requester<'_>,
    question: String,
    place: Place,
    limit: usize,
) -> Result<Result<RecommendationResponse, Denial>, Problem> {
    let (gateway, project) = (Arc::clone(gateway), Arc::clone(project));
    let principal: Principal = requester.principal.clone();
    tokio::task::spawn_blocking(move || {
        let evaluation = load::evaluation(&project, gateway.clock.now(), &principal, place.context.as_ref());
        let index = project.search.get_or_init(|| Index::build(&project.snapshot));
        let asked = rules::RecommendationQuestion {
            question: &question,
            granted: &place.held,
            preferred: Some(&place.preferred),
            state: place.state.as_deref(),
            evaluation: &evaluation,
            limit,
        };
        let ranking = rules::rank(&project.snapshot, index, &asked, |tool| {
            usage(&gateway, &project, tool)
        })?;
        Ok(wire(ranking, &question))
    })
    .await
    .map_err(|error| Problem::internal(&error))
}

/// How often a tool was called.
fn usage(gateway: &Gateway, project: &ProjectState, tool: &CompiledTool) -> u64 {
    let used = gateway.observer.usage().tool(project.row.uid, tool.name());
    used.map_or(0, |used| u64::try_from(used.counts.calls).unwrap_or(0))
}

fn wire(ranking: Ranking, question: &str) -> RecommendationResponse {
    let tool = |found: Found| RecommendedTool {
        matched: Index::common_words(question, &found.tool),
        tool: found.tool.name().to_owned(),
        description: found.tool.definition.description.clone(),
        score: rounded(found.score),
        groups: found.groups,
        states: found.tool.states.clone(),
        usage: found.usage,
    };
    RecommendationResponse {
        preferred_groups: Vec::new(),
        state: String::new(),
        tools: ranking.tools.into_iter().map(tool).collect(),
        elsewhere: ranking.elsewhere.into_iter().map(tool).collect(),
        groups: ranking.groups.into_iter().map(group).collect(),
    }
}

fn group(found: FoundGroup) -> RecommendedGroup {
    let score = rounded(found.score);
    let tools = counted(found.fitting, "tool");
    let fits = if score > 0.0 {
        format!("{tools} in it fit the question and can be called now")
    } else {
        format!("no tool fits the question, but {tools} in it can be called now")
    };
    RecommendedGroup {
        reason: if found.fallback {
            format!("{fits}; the preferred groups have none")
        } else {
            fits
        },
        group: found.group,
        score,
        tools: found.tools,
        fallback: found.fallback,
    }
}

/// To four digits: more would pretend an exactness that is not there.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
