//! The settings, one struct per concern.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use toolgate_executors::StdioSettings;
use url::Url;

use super::env::AllowedEnv;
use super::nats::NatsConfig;
use super::single_sign_on::SignInProvider;
use super::summary::Shown;
use crate::auth::external::IssuerConfig;
use crate::auth::strength;
use crate::secrets::Keyring;
use crate::secrets::keyring::KeyError;

/// Everything that can be set. Made by [`Config::load`]; printing it in any way shows no secret.
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// How clients reach the server from outside, for example `https://tools.example.com`.
    pub public_url: Option<Url>,
    /// Further hosts to answer for: `name`, `name:port`, `*.name`, or `*` for every host.
    pub allowed_hosts: Vec<String>,
    /// Proxies that are believed when they name a client in `X-Forwarded-For`: networks or addresses.
    pub trusted_proxies: Vec<String>,
    /// Other sites whose pages may call the API: `scheme://host[:port]`.
    pub cors_origins: Vec<String>,
    /// The database.
    pub database_url: DatabaseUrl,
    /// The first administrator.
    pub admin: AdminConfig,
    /// The keys that secrets are encrypted with.
    #[serde(default)]
    pub secrets: SecretsConfig,
    /// Where tools may connect to besides the built-in list: `scheme://host[:port]`.
    pub egress_allow: Vec<String>,
    /// The environment variables that definitions may use.
    pub tool_env: Vec<String>,
    /// The message bus.
    pub nats: NatsConfig,
    /// Log lines.
    pub log: LogConfig,
    /// What operators see besides the log.
    pub telemetry: TelemetryConfig,
    /// Tokens.
    pub auth: AuthConfig,
    /// The record.
    #[serde(default)]
    pub audit: AuditConfig,
    /// MCP servers that are processes of this machine.
    pub mcp: McpConfig,
    /// What one client may take of the server.
    pub limits: Limits,
    /// The values behind `tool_env`, captured at start.
    #[serde(skip)]
    pub env: AllowedEnv,
    /// What is odd but does not stop the start; to be logged.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// Every setting as it may be shown, with its source.
    #[serde(skip)]
    pub shown: Vec<Shown>,
}

impl Config {
    /// Whether clients reach the server by https, so that cookies must be `Secure`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url
            .as_ref()
            .is_some_and(|url| url.scheme() == "https")
    }

    /// Who may read `/metrics`, which name projects, groups and tools: those who send the token, if there is one; otherwise
    /// no caller, unless only this machine reaches the server or the operator wants them public.
    #[must_use]
    pub fn metrics_access(&self) -> MetricsAccess<'_> {
        match &self.telemetry.metrics_token {
            Some(token) => MetricsAccess::Token(token),
            None if self.telemetry.metrics_public || self.listen.ip().is_loopback() => MetricsAccess::Open,
            None => MetricsAccess::Closed,
        }
    }

    /// The server's address for clients, without a trailing slash: `public_url`, or the address it listens on.
    #[must_use]
    pub fn base_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None if self.listen.ip().is_unspecified() => {
                format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.listen.port())
            }
            None => format!("http://{}", self.listen),
        }
    }

    /// The `iss` of our own tokens: what is configured, the public address, or a plain name. Never the address that
    /// is listened on: replicas and restarts must agree.
    #[must_use]
    pub fn issuer(&self) -> String {
        let public = || {
            self.public_url
                .as_ref()
                .map(|url| url.as_str().trim_end_matches('/').to_owned())
        };
        self.auth
            .issuer
            .clone()
            .or_else(public)
            .unwrap_or_else(|| "toolgate".to_owned())
    }
}

/// The address of the database; its password never shows.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The whole address, password included.
    #[must_use]
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Whether it carries a password, in the authority or in the query.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.to_string() != self.0
    }
}

impl From<String> for DatabaseUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, query) = match self.0.split_once('?') {
            Some((head, query)) => (head, Some(query)),
            None => (self.0.as_str(), None),
        };
        // The last `@`: a password may hold one that was not encoded.
        match head
            .split_once("://")
            .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)))
        {
            Some((scheme, (user, rest))) => match user.split_once(':') {
                Some((name, _)) => write!(f, "{scheme}://{name}:***@{rest}")?,
                None => write!(f, "{scheme}://{user}@{rest}")?,
            },
            None => f.write_str(head)?,
        }
        for (at, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
            f.write_str(if at == 0 { "?" } else { "&" })?;
            match pair.split_once('=') {
                Some((name, _)) if name.to_ascii_lowercase().contains("pass") => write!(f, "{name}=***")?,
                _ => f.write_str(pair)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The first administrator.
#[derive(Debug, Clone, Deserialize)]
pub struct AdminConfig {
    /// The name to sign in with.
    pub username: String,
    /// The password; generated and printed once when absent.
    pub password: Option<SecretString>,
}

impl AdminConfig {
    /// Why the password is too easy to guess, if there is one and it is.
    #[must_use]
    pub fn weakness(&self) -> Option<String> {
        let password = self.password.as_ref()?;
        strength::weakness(password.expose_secret(), &[&self.username])
    }
}

/// The keys that secrets are encrypted with. All of them decrypt; the first one encrypts.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SecretsConfig {
    /// The first key: 32 bytes in base64.
    pub key: Option<SecretString>,
    /// Further keys, after it.
    #[serde(default)]
    pub keys: Vec<SecretString>,
}

impl SecretsConfig {
    /// The keys, ready for use.
    ///
    /// # Errors
    /// The setting that has a key which cannot be used, and why.
    pub fn keyring(&self) -> Result<Keyring, (&'static str, KeyError)> {
        Keyring::new(self.key.iter().chain(&self.keys)).map_err(|(at, error)| {
            let setting = if at == 0 && self.key.is_some() {
                "secrets.key"
            } else {
                "secrets.keys"
            };
            (setting, error)
        })
    }
}

/// Log lines.
#[derive(Debug, Clone, Deserialize)]
pub struct LogConfig {
    /// Which lines: a level (`info`) or pairs (`info,toolgate=debug`).
    pub filter: String,
    /// How they look.
    pub format: LogFormat,
}

/// What operators see besides the log.
#[derive(Debug, Clone, Deserialize)]
pub struct TelemetryConfig {
    /// The token that a request for `/metrics` must send; see [`Config::metrics_access`].
    pub metrics_token: Option<SecretString>,
    /// Whether everybody who reaches the server may read `/metrics`.
    pub metrics_public: bool,
    /// Where traces are sent to, by OTLP over HTTP: the base address of a collector. None are made without it.
    pub otlp_endpoint: Option<Url>,
    /// Whether the variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT` and the like) say where to.
    #[serde(skip)]
    pub otlp_by_environment: bool,
}

impl TelemetryConfig {
    /// Whether traces are sent anywhere.
    #[must_use]
    pub fn exports_traces(&self) -> bool {
        self.otlp_endpoint.is_some() || self.otlp_by_environment
    }
}

/// Who may read `/metrics`.
#[derive(Debug, Clone, Copy)]
pub enum MetricsAccess<'a> {
    /// Everybody.
    Open,
    /// Those who send this.
    Token(&'a SecretString),
    /// No caller: no setting says who.
    Closed,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Tokens.
#[derive(Debug, Clone, Deserialize)]
pub struct AuthConfig {
    /// The `iss` of our own tokens; the public address, or `toolgate`, when absent.
    pub issuer: Option<String>,
    /// The `aud` of our own tokens.
    pub audience: String,
    /// Seconds until our own tokens expire.
    pub access_ttl_s: u32,
    /// Whether MCP clients get tokens from this server when a user lets them in; without it they find the other issuers only.
    pub authorization_server: bool,
    /// Other issuers whose tokens are accepted (in the file only).
    #[serde(default)]
    pub issuers: Vec<IssuerConfig>,
    /// OpenID Connect providers at which users sign in (in the file only).
    #[serde(default)]
    pub single_sign_on: Vec<SignInProvider>,
}

/// The record of decisions and calls.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AuditConfig {
    /// Days that records are kept; for ever when absent.
    pub retention_days: Option<u32>,
}

/// What the operator allows of MCP servers that are processes of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct McpConfig {
    /// The commands that projects may have started, exactly as their servers name them.
    pub stdio_commands: Vec<String>,
    /// Whether they run in bubblewrap; otherwise they run as the user of this server, with its rights.
    pub stdio_sandbox: bool,
    /// Whether those that ask for it get the network: in the sandbox, what the egress lists permit.
    pub stdio_network: bool,
    /// Folders that they may read, beside those of the system's programs.
    pub stdio_readable: Vec<String>,
    /// MiB of memory that one may use, where there is a cgroup to bound it.
    pub stdio_memory_mib: u64,
    /// Processes and threads that one may have, where there is a cgroup to bound it.
    pub stdio_processes: u64,
    /// Those that serve one session or principal each, at the same time, of all projects together.
    pub stdio_instances: u32,
    /// The program that brings the network into sandboxes (`mcp relay`); that of this process when absent. It is no setting.
    #[serde(skip)]
    pub relay: Option<PathBuf>,
}

impl From<&McpConfig> for StdioSettings {
    fn from(config: &McpConfig) -> Self {
        let default = Self::default();
        Self {
            commands: config.stdio_commands.clone(),
            sandbox: config.stdio_sandbox,
            network: config.stdio_network,
            readable: config.stdio_readable.iter().map(Into::into).collect(),
            memory_mib: config.stdio_memory_mib,
            processes: config.stdio_processes,
            instances: config.stdio_instances,
            relay: config.relay.clone().unwrap_or(default.relay),
        }
    }
}

/// What one client may take of the server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Limits {
    /// Open connections; further ones wait to be accepted while those that have sent no request are closed.
    pub max_connections: u32,
    /// Open connections of one client address (of IPv6: of 64 bits); further ones are refused. Behind trusted proxies
    /// requests at a time of the client that they name.
    pub max_connections_per_address: u32,
    /// Seconds for the head of a request to arrive.
    pub header_timeout_s: u64,
    /// Seconds for the body of a request to arrive.
    pub body_timeout_s: u64,
    /// Seconds a connection may be idle, or refuse to take an answer.
    pub idle_timeout_s: u64,
    /// Bytes of a request's head.
    pub max_header_bytes: u32,
    /// Bytes of a request's body, uploads included.
    pub max_body_bytes: usize,
    /// Seconds until a request must have its answer's head; above the longest time-out of a tool.
    pub request_timeout_s: u64,
    /// Living sessions in one project.
    pub max_sessions_per_project: u32,
    /// Living sessions of one principal in one project.
    pub max_sessions_per_principal: u32,
    /// Seconds that running requests get when the server stops.
    pub drain_s: u64,
    /// Seconds of `drain_s` in which a stopping server still takes new connections, so that load balancers can
    /// see it is not ready.
    pub linger_s: u64,
}

#[cfg(test)]
impl Default for Limits {
    fn default() -> Self {
        let loaded = Config::load(&super::ServeArgs::default(), [], |_| {
            Err(std::io::ErrorKind::NotFound.into())
        });
        loaded.expect("the defaults").limits
    }
}

impl Limits {
    /// For the head of a request to arrive.
    #[must_use]
    pub const fn header_timeout(&self) -> Duration {
        Duration::from_secs(self.header_timeout_s)
    }

    /// For the body of a request to arrive.
    #[must_use]
    pub const fn body_timeout(&self) -> Duration {
        Duration::from_secs(self.body_timeout_s)
    }

    /// For a connection to be idle.
    #[must_use]
    pub const fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_s)
    }

    /// For a request to have its answer's head.
    #[must_use]
    pub const fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_s)
    }

    /// For running requests when the server stops.
    #[must_use]
    pub const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_s)
    }

    /// For load balancers to notice that the server stops.
    #[must_use]
    pub const fn linger(&self) -> Duration {
        Duration::from_secs(self.linger_s)
    }
}
