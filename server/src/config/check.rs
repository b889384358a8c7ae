//! Rules for several settings together, and what is odd.

use super::error::Fault;
use super::model::{Config, MetricsAccess};
use super::sources::Sources;

/// The longest a tool may run, in seconds: a request must outlive it.
const LONGEST_TOOL_S: u64 = 300;

/// Adds what is wrong to the faults and what is odd to the warnings.
pub(super) fn check(config: &Config, sources: &mut Sources) {
    let mut found = Vec::new();
    if config.database_url.has_password() && sources.source("database_url").starts_with("flag ") {
        let problem = "a password in a flag can be read by every process; set TOOLGATE_DATABASE_URL instead";
        found.push(("database_url", problem.to_owned()));
    }
    if let Err((setting, error)) = config.secrets.keyring() {
        found.push((setting, error.to_string()));
    }
    if let Err((setting, problem)) = config.nats.bus() {
        found.push((setting, problem));
    }
    let (linger, drain) = (config.limits.linger_s, config.limits.drain_s);
    if linger > drain {
        let problem = format!("it must not be more than limits.drain_s ({drain})");
        found.push(("limits.linger_s", problem));
    }
    let faults = found.into_iter().map(|(path, problem)| Fault {
        source: sources.source(path).to_owned(),
        key: Some(path.to_owned()),
        problem,
    });
    let faults: Vec<Fault> = faults.collect();
    sources.faults.extend(faults);
    warn(config, &mut sources.warnings);
}

fn warn(config: &Config, warnings: &mut Vec<String>) {
    if let Some(why) = config.admin.weakness() {
        warnings.push(format!("admin.password is too easy to guess: {why}"));
    }
    if !config.listen.ip().is_loopback() && !config.is_https() {
        warnings.push(format!(
            "the server listens on {} without an https public_url: passwords and tokens travel unprotected unless \
             a proxy protects them",
            config.listen
        ));
    }
    match config.metrics_access() {
        MetricsAccess::Closed => warnings.push(format!(
            "the server listens on {}, so /metrics refuses every request: set telemetry.metrics_token, or \
             telemetry.metrics_public to let everybody read the names of projects, groups and tools",
            config.listen
        )),
        MetricsAccess::Token(_) if config.telemetry.metrics_public => warnings.push(
            "telemetry.metrics_public has no effect: /metrics asks for telemetry.metrics_token".to_owned(),
        ),
        MetricsAccess::Open | MetricsAccess::Token(_) => {}
    }
    if config.limits.max_connections_per_address >= config.limits.max_connections {
        warnings.push(
            "limits.max_connections_per_address is not below limits.max_connections: one client can take every connection"
                .to_owned(),
        );
    }
    if config.limits.request_timeout_s <= LONGEST_TOOL_S {
        warnings.push(format!(
            "limits.request_timeout_s is not above the {LONGEST_TOOL_S} s that a tool may take"
        ));
    }
    let nats = &config.nats;
    let nats_alone = nats.user.is_some()
        || nats.credentials_file.is_some()
        || nats.nkey_seed.is_some()
        || nats.auth_callout.issuer_seed.is_some();
    if nats.url.is_empty() && nats_alone {
        warnings
            .push("nats.url is not set, so the other settings of the message bus have no effect".to_owned());
    }
    if config.allowed_hosts.iter().any(|host| host == "*") {
        warnings.push(
            "allowed_hosts has \"*\": pages of other sites can reach the server by DNS rebinding".to_owned(),
        );
    }
}
