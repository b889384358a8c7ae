//! What the server talks to: the hosts of tools, the webhooks of projects, the message bus.

use chrono::TimeDelta;
use toolgate_api::status::{StatusCheck, StatusLevel};
use toolgate_executors::UpstreamReport;

use super::{WithFix, ok};
use crate::gateway::Gateway;
use crate::gateway::probes;
use crate::gateway::server_snapshot::ProjectState;

/// How far back messages are looked at.
const MESSAGES: TimeDelta = TimeDelta::days(1);

/// The hosts that tools went to since this server started, each with how it answers; those of one project, or all.
pub(super) fn upstreams(gateway: &Gateway, of: Option<&ProjectState>) -> Vec<StatusCheck> {
    let concerned = |report: &UpstreamReport| of.is_none_or(|project| report.project == project.row.id);
    gateway
        .executors
        .upstreams()
        .into_iter()
        .filter(concerned)
        .map(|report| upstream(&report))
        .collect()
}

fn upstream(report: &UpstreamReport) -> StatusCheck {
    let UpstreamReport {
        project,
        host,
        failures,
        ..
    } = report;
    let (id, title) = (format!("upstream:{project}:{host}"), "Host of tools");
    let ago = report.ago.as_secs();
    let in_the_hour = match failures {
        0 => "none failed in the last hour".to_owned(),
        failures => format!("{failures} failed in the last hour"),
    };
    let fix = "Ask whether the host works, and look at the failed calls of its tools in the record.";
    if report.answered {
        let summary = format!(
            "{host} answered the last call of \"{project}\" {ago} s ago; of the calls {in_the_hour}."
        );
        let check = ok(id, title, summary);
        if *failures == 0 {
            check
        } else {
            check.with_fix(StatusLevel::Warning, fix)
        }
    } else {
        let summary = format!(
            "{host} did not answer the last call of \"{project}\" {ago} s ago; of the calls {in_the_hour}."
        );
        ok(id, title, summary).with_fix(StatusLevel::Failing, fix)
    }
}

/// The tools whose upstreams are asked whether they are well, each with what was found last.
pub(super) fn probes<'a>(
    gateway: &Gateway,
    projects: impl Iterator<Item = &'a ProjectState>,
) -> Vec<StatusCheck> {
    probes::found(gateway, projects).iter().map(probe).collect()
}

fn probe(found: &probes::Found) -> StatusCheck {
    let (project, tool, report) = (&found.project, found.tool.name(), &found.report);
    let (id, title) = (format!("probe:{project}:{tool}"), "Upstream of a tool");
    let ago = report.ago.as_secs();
    let upstream = format!("The upstream of \"{tool}\" in \"{project}\"");
    if report.succeeded {
        return ok(id, title, format!("{upstream} said {ago} s ago that it is well."));
    }
    let why = match (report.status, report.code) {
        (Some(status), _) => format!("HTTP {status}"),
        (None, Some(code)) => code.as_str().to_owned(),
        (None, None) => "no answer".to_owned(),
    };
    let again = match report.failures {
        times @ 2.. => format!(", {times} times in a row"),
        _ => String::new(),
    };
    let summary = format!("{upstream} did not say {ago} s ago that it is well ({why}){again}.");
    let fix = "Ask whether the upstream works, and look at `probe` and `auth` in the tool's definition.";
    ok(id, title, summary).with_fix(StatusLevel::Failing, fix)
}

/// The webhooks of projects, each with how its messages of the last day have come out.
pub(super) async fn messages<'a>(
    gateway: &Gateway,
    projects: impl Iterator<Item = &'a ProjectState>,
) -> Vec<StatusCheck> {
    let projects: Vec<_> = projects
        .filter(|project| project.settings.webhook.is_some())
        .collect();
    if projects.is_empty() {
        return Vec::new();
    }
    // The check of the database says that it does not answer.
    let Ok(counts) = gateway
        .store
        .message_deliveries(gateway.clock.now() - MESSAGES)
        .await
    else {
        return Vec::new();
    };
    let check = |project: &ProjectState| {
        let project_id = &project.row.id;
        let (id, title) = (format!("webhook:{project_id}"), "Messages to the webhook");
        let found = counts.iter().find(|counts| counts.project == project.row.uid);
        let (delivered, retried, failed) = found.map_or((0, 0, 0), |counts| {
            (counts.delivered, counts.retried, counts.failed)
        });
        let summary = format!(
            "Of the last day's messages to the webhook of \"{project_id}\" {delivered} were taken, {retried} are tried \
             again and {failed} were given up."
        );
        let check = ok(id, title, summary);
        let fix = "Look at `last_error` of the project's alerts and at the log, and correct the receiver or the webhook's address and secret.";
        match (retried, failed) {
            (0, 0) => check,
            (_, 0) => check.with_fix(StatusLevel::Warning, fix),
            _ => check.with_fix(StatusLevel::Failing, fix),
        }
    };
    projects.into_iter().map(check).collect()
}

/// The connection to the message bus.
pub(super) fn bus(gateway: &Gateway) -> StatusCheck {
    let (id, title) = ("message_bus", "Message bus");
    let Some(bus) = &gateway.bus else {
        return ok(id, title, "Not configured.");
    };
    let report = bus.report();
    let servers = report.servers.join(", ");
    let said = match &report.last_error {
        Some(error) => format!(" The last error: {error}."),
        None => String::new(),
    };
    if !report.connected {
        let summary = format!("Not connected to {servers}.{said}");
        let fix = "Ask whether the bus runs, and look at the settings nats.* of this server. It reconnects by itself; until then \
                   calls of tool services are refused.";
        return ok(id, title, summary).with_fix(StatusLevel::Failing, fix);
    }
    let summary = format!(
        "Connected to {servers}; connections since the start: {}; messages received: {}, sent: {}, for no call here: {}.{said}",
        report.connects, report.messages.received, report.messages.sent, report.messages.foreign
    );
    let check = ok(id, title, summary);
    if report.slow == 0 {
        return check;
    }
    let fix = "This server took messages too slowly and lost some. Give it more processor time, or limit the calls of its tool \
               services by max-concurrent.";
    check.with_fix(StatusLevel::Warning, fix)
}
