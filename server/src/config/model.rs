//! The settings, one struct per concern.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use super::env::AllowedEnv;
use super::summary::Shown;
use crate::auth::external::IssuerConfig;

/// Everything that can be set. Made by [`Config::load`]; printing it in any way shows no secret.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// How clients reach the server from outside, for example `https://tools.example.com`.
    #[serde(default)]
    pub public_url: Option<Url>,
    /// Further hosts to answer for: `name`, `name:port`, `*.name`, or `*` for every host.
    pub allowed_hosts: Vec<String>,
    /// The database.
    pub database_url: DatabaseUrl,
    /// The first administrator.
    pub admin: AdminConfig,
    /// Where tools may connect to besides the built-in list: `scheme://host[:port]`.
    pub egress_allow: Vec<String>,
    /// The environment variables that definitions may use.
    pub tool_env: Vec<String>,
    /// Log lines.
    pub log: LogConfig,
    /// Tokens.
    pub auth: AuthConfig,
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
#[serde(deny_unknown_fields)]
pub struct AdminConfig {
    /// The name to sign in with.
    pub username: String,
    /// The password; generated and printed once when absent.
    #[serde(default)]
    pub password: Option<SecretString>,
}

/// Log lines.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Which lines: a level (`info`) or pairs (`info,toolgate=debug`).
    pub filter: String,
    /// How they look.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthConfig {
    /// The `iss` of our own tokens; the public address, or `toolgate`, when absent.
    #[serde(default)]
    pub issuer: Option<String>,
    /// The `aud` of our own tokens.
    pub audience: String,
    /// Seconds until our own tokens expire.
    pub access_ttl_s: u32,
    /// Other issuers whose tokens are accepted (in the file only).
    pub issuers: Vec<IssuerConfig>,
}

/// What one client may take of the server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Open connections; further ones wait to be accepted.
    pub max_connections: u32,
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
    /// Seconds that running requests get when the server stops.
    pub drain_s: u64,
    /// Seconds of `drain_s` in which a stopping server still takes new connections, so that load balancers can
    /// see it is not ready.
    pub linger_s: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            header_timeout_s: 10,
            body_timeout_s: 30,
            idle_timeout_s: 75,
            max_header_bytes: 32 * 1024,
            max_body_bytes: 1024 * 1024,
            request_timeout_s: 330,
            drain_s: 25,
            linger_s: 1,
        }
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
