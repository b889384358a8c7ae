//! Rules that a type cannot express.

use figment::Figment;
use url::Url;

use super::env::PREFIX;
use super::error::Fault;
use super::keys::{KEYS, Key};
use super::model::{Config, MetricsAccess};
use crate::middleware::host::HostPattern;
use crate::middleware::{TrustedProxies, cors};

/// The longest a tool may run, in seconds: a request must outlive it.
const LONGEST_TOOL_S: u64 = 300;

/// Adds what is wrong to `faults` and what is odd to `warnings`.
pub(super) fn check(config: &Config, figment: &Figment, faults: &mut Vec<Fault>, warnings: &mut Vec<String>) {
    let mut fault = |path: &str, problem: String| {
        faults.push(Fault {
            source: source(figment, path),
            key: Some(path.to_owned()),
            problem,
        });
    };

    for key in KEYS {
        let value = figment
            .find_value(key.path)
            .ok()
            .and_then(|value| value.to_u128());
        let (least, most) = key.range;
        if value.is_some_and(|value| value < least.into() || value > most.into()) {
            fault(key.path, format!("it must be between {least} and {most}"));
        }
    }
    if let Some(problem) = config.public_url.as_ref().and_then(public_url) {
        fault("public_url", problem);
    }
    for problem in config
        .allowed_hosts
        .iter()
        .filter_map(|host| HostPattern::parse(host).err())
    {
        fault("allowed_hosts", problem);
    }
    if let Err(problem) = TrustedProxies::parse(&config.trusted_proxies) {
        fault("trusted_proxies", problem);
    }
    for problem in config
        .cors_origins
        .iter()
        .filter_map(|text| cors::origin(text).err())
    {
        fault("cors_origins", problem);
    }
    let database = config.database_url.expose_secret();
    if !["sqlite:", "postgres://", "postgresql://"]
        .iter()
        .any(|scheme| database.starts_with(scheme))
    {
        fault(
            "database_url",
            "it must begin with \"sqlite:\" or \"postgres://\"".to_owned(),
        );
    }
    if config.database_url.has_password() && source(figment, "database_url").starts_with("flag ") {
        let problem = "a password in a flag can be read by every process; set TOOLGATE_DATABASE_URL instead";
        fault("database_url", problem.to_owned());
    }
    if config.admin.username.trim().is_empty() || config.admin.username.len() > 64 {
        fault("admin.username", "it must have 1 to 64 bytes".to_owned());
    }
    if let Err((setting, error)) = config.secrets.keyring() {
        fault(setting, error.to_string());
    }
    for problem in config.tool_env.iter().filter_map(|name| tool_env(name)) {
        fault("tool_env", problem);
    }
    if let Err(error) = crate::telemetry::logs::filter(&config.log.filter) {
        fault("log.filter", error.to_string());
    }
    if config.auth.audience.is_empty() {
        fault("auth.audience", "it must not be empty".to_owned());
    }
    if config.limits.linger_s > config.limits.drain_s {
        fault(
            "limits.linger_s",
            format!(
                "it must not be more than limits.drain_s ({})",
                config.limits.drain_s
            ),
        );
    }
    warn(config, warnings);
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
            "the server listens on {}, so /metrics answers nobody: set telemetry.metrics_token, or \
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
    if config.allowed_hosts.iter().any(|host| host == "*") {
        warnings.push(
            "allowed_hosts has \"*\": pages of other sites can reach the server by DNS rebinding".to_owned(),
        );
    }
}

fn source(figment: &Figment, path: &str) -> String {
    figment
        .find_metadata(path)
        .map_or_else(|| "default".to_owned(), |metadata| metadata.name.to_string())
}

fn public_url(url: &Url) -> Option<String> {
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "it must begin with http:// or https://"
    } else if url.host().is_none() {
        "it names no host"
    } else if !url.username().is_empty() || url.password().is_some() {
        "it must hold no user name or password"
    } else if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        "it must be scheme, host and port only: the server lives at the root of its host"
    } else {
        return None;
    };
    Some(problem.to_owned())
}

fn tool_env(name: &str) -> Option<String> {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if !first || !bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Some(format!("{name:?} is not the name of a variable"));
    }
    let ours = name.starts_with("TOOLGATE_") && !name.starts_with(PREFIX);
    let secret = KEYS
        .iter()
        .any(|key| Key::is_secret(key) && key.variable() == name);
    (ours && secret).then(|| format!("{name} is a secret of the server itself: no definition may use it"))
}
