//! Where a command is handled: its call, and its answer.

use std::sync::Arc;

use async_nats::HeaderMap;
use chrono::SecondsFormat;
use serde_json::Value;
use serde_json::{Map, json};
use toolgate_api::ErrorCode;
use toolgate_api::calls::{CallContext, CallRequest};
use toolgate_api::tools::AfterExecution;
use toolgate_core::principal::{Principal, PrincipalRef};
use toolgate_executors::Bus;
use toolgate_executors::bus::{LargePart, VERSION};

use super::super::card::{About, Ended, result_card};
use super::super::outcome::Outcome;
use super::super::{count, groups, header, session};
use super::control::{Control, Subject, child};
use super::delivery::Delivery;
use super::payload::Payload;
use super::{End, silent};
use crate::gateway::bus;
use crate::gateway::call::call_once;
use crate::gateway::cards::fit;
use crate::gateway::entry::{Entry, Origin};
use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// Where a command is handled.
pub(super) struct Place<'a> {
    pub(super) gateway: &'a Arc<Gateway>,
    pub(super) bus: &'a Arc<Bus>,
    pub(super) project: &'a Arc<ProjectState>,
    pub(super) subject: &'a Subject<'a>,
    pub(super) headers: &'a HeaderMap,
    pub(super) origin: &'a Origin,
    pub(super) delivery: &'a Delivery,
}

/// What a command is answered with.
pub(super) struct Answer<'a> {
    pub(super) card_id: &'a str,
    pub(super) tool: &'a str,
    /// The sender of the command, whose the artifact of a large result is.
    pub(super) owner: PrincipalRef,
    /// The metadata of the call's card.
    pub(super) call: Option<&'a Map<String, Value>>,
    pub(super) ended: &'a Ended,
    pub(super) after_execution: AfterExecution,
}

impl Place<'_> {
    /// Who answers.
    pub(super) fn author(&self) -> String {
        format!("tool.{}", self.subject.target)
    }

    /// Records a refusal, and gives the command up.
    pub(super) async fn refuse(
        &self,
        problem: Problem,
        principal: Option<&Principal>,
        tool: Option<&str>,
    ) -> End {
        if problem.code() == ErrorCode::Unavailable {
            return self.delivery.again(problem);
        }
        let code = problem.code();
        let recorded =
            bus::record_refusal(self.gateway, self.project, principal, self.origin, tool, code).await;
        match recorded {
            Ok(id) => End::Dead(problem.call_id(id)),
            Err(unrecorded) => self.delivery.again(unrecorded),
        }
    }

    pub(super) async fn run(
        &self,
        entry: Entry,
        control: &Control,
        payload: &Payload,
        arguments: Map<String, Value>,
    ) -> Outcome {
        let group = groups(self.headers);
        let session = match header(self.headers, "Toolgate-Session").filter(|alias| !alias.is_empty()) {
            None => None,
            Some(alias) => {
                let named =
                    session::named(self.gateway, &entry, &control.agent_id, alias, group.as_deref()).await;
                match named {
                    Ok(session) => Some(session),
                    Err(problem) => return problem.into(),
                }
            }
        };
        let text = |name: &str| header(self.headers, name).map(str::to_owned);
        let request = CallRequest {
            tool: payload.tool.clone(),
            arguments,
            group,
            state: text("Toolgate-State"),
            session_id: session,
            context: Some(CallContext {
                channel_id: Some(self.subject.channel.to_owned()),
                agent_id: Some(control.agent_id.clone()),
                agent_turn_id: Some(control.agent_turn_id.clone()),
                step_id: text("CG-Step-Id"),
                parent_step_id: text("CG-Parent-Step-Id"),
                tool_call_id: Some(control.tool_call_id.clone()),
                turn_epoch: Some(control.turn_epoch),
                // A worker that it is passed on to is one call deeper.
                recursion_depth: Some(control.depth + 1),
                ..CallContext::default()
            }),
        };
        call_once(
            self.gateway,
            &Arc::new(entry),
            Arc::new(request),
            Some(control.key.clone()),
        )
        .await
        .into()
    }

    /// Stores the card of a result, reports it, and wakes the agent's worker up. A result that no message carries is kept as an
    /// artifact.
    pub(super) async fn answer(&self, control: &Control, answer: Answer<'_>) -> Result<(), Problem> {
        let Answer {
            card_id,
            tool,
            owner,
            call,
            ended,
            after_execution,
        } = answer;
        let (row, channel) = (&self.project.row, self.subject.channel);
        let author = self.author();
        let about = About {
            card_id,
            project: row.id.as_str(),
            author: &author,
            tool,
            tool_call_id: &control.tool_call_id,
            agent_turn_id: &control.agent_turn_id,
            call,
            created_at: self
                .gateway
                .clock
                .now()
                .to_rfc3339_opts(SecondsFormat::Millis, true),
        };
        let cards = self.bus.cards(&row.id).await.map_err(silent)?;
        let card = result_card(&about, ended, after_execution);
        let fitted = fit(self.gateway, self.bus, (row.uid, owner), card, LargePart::Result).await?;
        let (ended_status, card) = match fitted {
            Some(fitted) => (ended.status, fitted.text),
            None => {
                let problem = Problem::new(
                    ErrorCode::UpstreamInvalid,
                    "The result is larger than a card may be. Bound it by `options.result` of the tool.",
                );
                let large = Ended::failed(problem, &author);
                (
                    large.status,
                    result_card(&about, &large, after_execution).to_string(),
                )
            }
        };
        let stored = cards.put(card_id, card.into()).await;
        stored.map_err(|error| Problem::new(ErrorCode::Unavailable, error.to_string()))?;

        let report = json!({
            "after_execution": after_execution,
            "status": ended_status,
            "tool_result_card_id": card_id,
        });
        let subject = format!(
            "cg.{VERSION}.{}.{channel}.evt.tool.{}.report",
            row.id, self.subject.target
        );
        let mut headers = self.reply_headers(control);
        headers.insert("CG-Tool-Call-Id", control.tool_call_id.as_str());
        headers.insert("CG-Recursion-Depth", control.depth.to_string());
        headers.insert("CG-Sender", author);
        let once = format!("{}.{card_id}.report", row.uid.0.simple());
        self.bus
            .report_result(subject, headers, &once, report.to_string().into())
            .await
            .map_err(silent)?;
        let entrance = self.project.settings.bus_entrance.as_ref();
        if let Some(worker) = entrance.and_then(|entrance| entrance.agents.get(&control.agent_id)) {
            let subject = format!("cg.{VERSION}.{}.{channel}.cmd.agent.{worker}.wakeup", row.id);
            let once = format!("{}.{card_id}.wakeup", row.uid.0.simple());
            let payload = json!({"tool_result_card_id": card_id});
            self.bus
                .command(
                    subject,
                    self.reply_headers(control),
                    &once,
                    payload.to_string().into(),
                )
                .await
                .map_err(silent)?;
        }
        count(self.gateway, &row.id, tool, ended_status, self.delivery.since);
        Ok(())
    }

    /// Project, channel, agent, turn, epoch, and a child of the command's span.
    pub(super) fn reply_headers(&self, control: &Control) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("CG-Project-Id", self.project.row.id.as_str());
        headers.insert("CG-Channel-Id", self.subject.channel);
        headers.insert("CG-Agent-Id", control.agent_id.as_str());
        headers.insert("CG-Turn-Id", control.agent_turn_id.as_str());
        headers.insert("CG-Turn-Epoch", control.turn_epoch.to_string());
        headers.insert("CG-Version", VERSION);
        let id = self.gateway.clock.new_id().simple().to_string();
        // The last half of an id is random.
        if let Some(parent) = header(self.headers, "traceparent")
            && let Some(span) = id.get(16..)
            && let Some(child) = child(parent, span)
        {
            headers.insert("traceparent", child);
        }
        headers
    }
}
