//! The use case "what fits this question": only what the caller holds, by the decision that calls get.

use std::sync::Arc;

use toolgate_api::ErrorCode;
use toolgate_api::audit::{AuditAction, AuditOutcome};
use toolgate_api::recommendations::{
    RecommendationRequest, RecommendationResponse, RecommendedGroup, RecommendedTool,
};
use toolgate_core::ids::CallId;
use toolgate_core::policy::decision::{Effect, state_or_undefined};
use toolgate_core::policy::groups::GroupSet;
use toolgate_core::principal::Principal;
use toolgate_core::recommend::{self as rules, Found, FoundGroup, Index, Ranking};
use toolgate_core::snapshot::{CompiledTool, Denial};
use toolgate_store::rows::Opening;

use super::load;
use super::observe::{self, Observed};
use super::record::{self, Asker};
use super::recorded;
use super::resolve::insufficient_groups;
use super::world::ProjectState;
use crate::error::{ApiError, ApiResult};
use crate::state::App;

/// Ranks tools and groups for a question, and records that it was asked. The text of the question is not kept.
pub async fn recommend(
    app: &Arc<App>,
    project: &Arc<ProjectState>,
    asker: &Asker<'_>,
    request: RecommendationRequest,
    limit: usize,
) -> ApiResult<RecommendationResponse> {
    let preferred = match &request.group {
        Some(groups) => groups.iter().cloned().collect(),
        None => asker.granted.clone(),
    };
    let state = state_or_undefined(request.state.as_deref()).to_owned();
    let answer = search(app, project, asker, request, limit).await?;

    let id = CallId(app.clock.new_id());
    let version = project.snapshot.version();
    let mut record = record::decided(id, app.clock.now(), AuditAction::Resolve, asker, version);
    record.requested_groups = preferred.to_vec();
    record.state_before.clone_from(&state);
    let (outcome, code) = match &answer {
        Ok(_) => (AuditOutcome::Succeeded, None),
        Err(denial) => {
            record.missing_groups.clone_from(&denial.missing);
            (AuditOutcome::Denied, Some(ErrorCode::InsufficientToolGroups))
        }
    };
    let record = record::ended(record, outcome, code);
    if code.is_some() {
        app.metrics.decision(Effect::Deny, code);
        // An answer is no use of the preferred groups: with none named, these are all that are granted.
        observe::observed(app, &Observed::of_record(project, asker, &record));
    }
    let opening = Opening {
        project: project.row.uid,
        record,
    };
    recorded::write(app, opening).await?;

    match answer {
        Ok(answer) => Ok(RecommendationResponse {
            preferred_groups: preferred.to_vec(),
            state,
            ..answer
        }),
        Err(denial) => Err(insufficient_groups(denial.missing).call_id(id)),
    }
}

/// Searches away from the threads that serve requests: the first question after a change reads all definitions.
async fn search(
    app: &Arc<App>,
    project: &Arc<ProjectState>,
    asker: &Asker<'_>,
    request: RecommendationRequest,
    limit: usize,
) -> ApiResult<Result<RecommendationResponse, Denial>> {
    let (app, project) = (Arc::clone(app), Arc::clone(project));
    let granted: GroupSet = asker.granted.clone();
    let principal: Principal = asker.principal.clone();
    tokio::task::spawn_blocking(move || {
        let moment = load::moment(&project, app.clock.now(), &principal, None);
        let index = project.search.get_or_init(|| Index::build(&project.snapshot));
        let asked = rules::Asked {
            question: &request.question,
            granted: &granted,
            preferred: request.group.as_deref(),
            state: request.state.as_deref(),
            moment: &moment,
            limit,
        };
        let ranking = rules::rank(&project.snapshot, index, &asked, |tool| {
            usage(&app, &project, tool)
        })?;
        Ok(wire(ranking, index, &request.question))
    })
    .await
    .map_err(|error| ApiError::internal(&error))
}

/// How often a tool was called.
fn usage(app: &App, project: &ProjectState, tool: &CompiledTool) -> u64 {
    let used = app.observer.usage().tool(project.row.uid, tool.name());
    used.map_or(0, |used| u64::try_from(used.counts.calls).unwrap_or(0))
}

fn wire(ranking: Ranking, index: &Index, question: &str) -> RecommendationResponse {
    let tool = |found: Found| RecommendedTool {
        matched: index.common_words(question, &found.tool),
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
    let (n, plural) = (found.fitting, if found.fitting == 1 { "tool" } else { "tools" });
    let fits = if score > 0.0 {
        format!("{n} {plural} in it fit the question and can be called now")
    } else {
        format!("no tool fits the question, but {n} {plural} in it can be called now")
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
