//! The table of settings: path in the file, default, and how a text from a variable or flag is read.
//!
//! The variable of `a.b_c` is `TOOLGATE_A_B_C`, but that of `log.filter` is `TOOLGATE_LOG`.

use figment::value::Value;

use super::model::Limits;

/// How a text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Text,
    /// Like text, but never shown.
    Secret,
    /// Separated by commas.
    List,
    /// Like a list, but never shown.
    SecretList,
    Number,
    /// `true` or `false`.
    Flag,
    /// A structure that only a file can hold.
    FileOnly,
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) path: &'static str,
    pub(super) reading: Reading,
    /// Smallest and largest value of a number.
    pub(super) range: (u64, u64),
}

const fn key(path: &'static str, reading: Reading) -> Key {
    Key {
        path,
        reading,
        range: (0, u64::MAX),
    }
}

const fn number(path: &'static str, least: u64, most: u64) -> Key {
    Key {
        path,
        reading: Reading::Number,
        range: (least, most),
    }
}

/// Every setting, in the order of the summary.
pub(super) const KEYS: [Key; 35] = [
    key("listen", Reading::Text),
    key("public_url", Reading::Text),
    key("allowed_hosts", Reading::List),
    key("trusted_proxies", Reading::List),
    key("cors_origins", Reading::List),
    key("database_url", Reading::Secret),
    key("admin.username", Reading::Text),
    key("admin.password", Reading::Secret),
    key("secrets.key", Reading::Secret),
    key("secrets.keys", Reading::SecretList),
    key("egress_allow", Reading::List),
    key("tool_env", Reading::List),
    key("log.filter", Reading::Text),
    key("log.format", Reading::Text),
    key("telemetry.metrics_token", Reading::Secret),
    key("telemetry.metrics_public", Reading::Flag),
    key("telemetry.otlp_endpoint", Reading::Text),
    key("auth.issuer", Reading::Text),
    key("auth.audience", Reading::Text),
    number("auth.access_ttl_s", 60, 30 * 24 * 3600),
    key("auth.issuers", Reading::FileOnly),
    number("audit.retention_days", 1, 36_500),
    number("limits.max_connections", 1, 1_000_000),
    number("limits.max_connections_per_address", 1, 1_000_000),
    number("limits.header_timeout_s", 1, 3600),
    number("limits.body_timeout_s", 1, 3600),
    number("limits.idle_timeout_s", 1, 3600),
    number("limits.max_header_bytes", 8 * 1024, 1024 * 1024),
    number("limits.max_body_bytes", 1024, 64 * 1024 * 1024),
    number("limits.request_timeout_s", 1, 3600),
    number("limits.max_sessions_per_project", 1, 1_000_000),
    number("limits.max_sessions_per_principal", 1, 1_000_000),
    number("limits.drain_s", 0, 3600),
    number("limits.linger_s", 0, 3600),
    key("config", Reading::Text),
];

impl Key {
    /// The setting of a path.
    pub(super) fn of_path(path: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.path == path)
    }

    /// The environment variable that sets it.
    pub(super) fn variable(&self) -> String {
        match self.path {
            "log.filter" => "TOOLGATE_LOG".to_owned(),
            path => format!("TOOLGATE_{}", path.replace('.', "_").to_ascii_uppercase()),
        }
    }

    /// Whether its value must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.reading, Reading::Secret | Reading::SecretList)
    }

    /// Whether the file may hold it: a file does not name the file.
    pub(super) fn in_file(&self) -> bool {
        self.path != "config"
    }

    /// Reads a text from a variable or a flag.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        match self.reading {
            Reading::Text | Reading::Secret => Ok(Value::from(text)),
            Reading::List | Reading::SecretList => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(Value::from(parts.map(Value::from).collect::<Vec<_>>()))
            }
            Reading::Number => text
                .trim()
                .parse::<u64>()
                .map(Value::from)
                .map_err(|_| format!("{text:?} is not a whole number")),
            Reading::Flag => text
                .trim()
                .parse::<bool>()
                .map(Value::from)
                .map_err(|_| format!("{text:?} is neither true nor false")),
            Reading::FileOnly => Err("it can only be set in the configuration file".to_owned()),
        }
    }
}

/// What holds when nothing is set.
pub(super) fn defaults() -> Vec<(&'static str, Value)> {
    let limits = Limits::default();
    let empty = || Value::from(Vec::<Value>::new());
    vec![
        ("listen", Value::from("127.0.0.1:8080")),
        ("allowed_hosts", empty()),
        ("trusted_proxies", empty()),
        ("cors_origins", empty()),
        ("database_url", Value::from("sqlite:toolgate.db")),
        ("admin.username", Value::from("admin")),
        ("egress_allow", empty()),
        ("tool_env", empty()),
        ("log.filter", Value::from("info")),
        ("log.format", Value::from("text")),
        ("telemetry.metrics_public", Value::from(false)),
        ("auth.audience", Value::from("toolgate")),
        ("auth.access_ttl_s", Value::from(3600_u64)),
        ("auth.issuers", empty()),
        ("limits.max_connections", Value::from(limits.max_connections)),
        (
            "limits.max_connections_per_address",
            Value::from(limits.max_connections_per_address),
        ),
        ("limits.header_timeout_s", Value::from(limits.header_timeout_s)),
        ("limits.body_timeout_s", Value::from(limits.body_timeout_s)),
        ("limits.idle_timeout_s", Value::from(limits.idle_timeout_s)),
        ("limits.max_header_bytes", Value::from(limits.max_header_bytes)),
        ("limits.max_body_bytes", Value::from(limits.max_body_bytes)),
        ("limits.request_timeout_s", Value::from(limits.request_timeout_s)),
        (
            "limits.max_sessions_per_project",
            Value::from(limits.max_sessions_per_project),
        ),
        (
            "limits.max_sessions_per_principal",
            Value::from(limits.max_sessions_per_principal),
        ),
        ("limits.drain_s", Value::from(limits.drain_s)),
        ("limits.linger_s", Value::from(limits.linger_s)),
    ]
}
