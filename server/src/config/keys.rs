//! The table of settings: path in the file, how it is read, default, and the rule for each of its texts.
//!
//! The variable of `a.b_c` is `TOOLGATE_A_B_C`, but that of `log.filter` is `TOOLGATE_LOG`.

use serde_json::Value;
use toolgate_core::definition::queue::SubjectRules;

use super::IssuerConfig;
use super::rules;
use super::single_sign_on::{self, SignInProvider};
use Reading::{FileOnly, Flag, List, Number, Secret, SecretList, Text};

/// How a text becomes a value, and what a value in the file must be.
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
    /// What is set when nothing is, written as in a variable.
    pub(super) default: Option<&'static str>,
    /// Smallest and largest value of a number.
    range: (u64, u64),
    /// What a text, or each text of a list, must be.
    rule: Rule,
}

type Rule = fn(&str) -> Result<(), String>;

const ANY: Rule = |_| Ok(());

const fn key(path: &'static str, reading: Reading, default: Option<&'static str>, rule: Rule) -> Key {
    Key {
        path,
        reading,
        default,
        range: (0, u64::MAX),
        rule,
    }
}

const fn number(path: &'static str, least: u64, most: u64, default: Option<&'static str>) -> Key {
    Key {
        range: (least, most),
        ..key(path, Reading::Number, default, ANY)
    }
}

/// Every setting, in the order of the summary.
pub(super) const KEYS: [Key; 57] = [
    key("listen", Text, Some("127.0.0.1:8080"), rules::address),
    key("public_url", Text, None, rules::public_url),
    key("allowed_hosts", List, Some(""), rules::host),
    key("trusted_proxies", List, Some(""), rules::proxy),
    key("cors_origins", List, Some(""), rules::origin),
    key(
        "database_url",
        Secret,
        Some("sqlite:toolgate.db"),
        rules::database,
    ),
    key("admin.username", Text, Some("admin"), rules::username),
    key("admin.password", Secret, None, ANY),
    key("secrets.key", Secret, None, ANY),
    key("secrets.keys", SecretList, None, ANY),
    key("egress_allow", List, Some(""), ANY),
    key("tool_env", List, Some(""), rules::tool_env),
    key("nats.url", List, Some(""), rules::bus_server),
    key("nats.user", Text, None, ANY),
    key("nats.password", Secret, None, ANY),
    key("nats.credentials_file", Text, None, ANY),
    key("nats.nkey_seed", Secret, None, ANY),
    key("nats.require_tls", Flag, Some("false"), ANY),
    key("nats.ca_file", Text, None, ANY),
    key("nats.cert_file", Text, None, ANY),
    key("nats.key_file", Text, None, ANY),
    key(
        "nats.subjects",
        List,
        Some(SubjectRules::DEFAULT),
        rules::bus_subject,
    ),
    key("nats.auth_callout.issuer_seed", Secret, None, rules::account_seed),
    key("nats.auth_callout.account", Text, Some("$G"), rules::not_empty),
    key("nats.auth_callout.xkey_seed", Secret, None, rules::curve_seed),
    key("log.filter", Text, Some("info"), rules::log_filter),
    key("log.format", Text, Some("text"), rules::log_format),
    key("telemetry.metrics_token", Secret, None, ANY),
    key("telemetry.metrics_public", Flag, Some("false"), ANY),
    key("telemetry.otlp_endpoint", Text, None, rules::url),
    key("auth.issuer", Text, None, ANY),
    key("auth.audience", Text, Some("toolgate"), rules::not_empty),
    number("auth.access_ttl_s", 60, 30 * 24 * 3600, Some("3600")),
    key("auth.authorization_server", Flag, Some("true"), ANY),
    key("auth.issuers", FileOnly, None, ANY),
    key("auth.single_sign_on", FileOnly, None, ANY),
    number("audit.retention_days", 1, 36_500, None),
    key("mcp.stdio_commands", List, Some(""), rules::not_empty),
    key("mcp.stdio_sandbox", Flag, Some("true"), ANY),
    key("mcp.stdio_network", Flag, Some("false"), ANY),
    key("mcp.stdio_readable", List, Some(""), rules::not_empty),
    number("mcp.stdio_memory_mib", 16, 1 << 20, Some("1024")),
    number("mcp.stdio_processes", 1, 65_536, Some("256")),
    number("mcp.stdio_instances", 1, 65_536, Some("64")),
    number("limits.max_connections", 1, 1_000_000, Some("4096")),
    number("limits.max_connections_per_address", 1, 1_000_000, Some("1024")),
    number("limits.header_timeout_s", 1, 3600, Some("10")),
    number("limits.body_timeout_s", 1, 3600, Some("30")),
    number("limits.idle_timeout_s", 1, 3600, Some("75")),
    number("limits.max_header_bytes", 8 << 10, 1 << 20, Some("32768")),
    number("limits.max_body_bytes", 1 << 10, 64 << 20, Some("1048576")),
    number("limits.request_timeout_s", 1, 3600, Some("330")),
    number("limits.max_sessions_per_project", 1, 1_000_000, Some("10000")),
    number("limits.max_sessions_per_principal", 1, 1_000_000, Some("1000")),
    number("limits.drain_s", 0, 3600, Some("25")),
    number("limits.linger_s", 0, 3600, Some("1")),
    key("config", Text, None, ANY),
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
        matches!(self.reading, Secret | SecretList)
    }

    /// Whether the file may hold it: a file does not name the file.
    pub(super) fn in_file(&self) -> bool {
        self.path != "config"
    }

    /// Reads a text from a variable or a flag.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn read(&self, text: &str) -> Result<Value, Vec<String>> {
        let value = match self.reading {
            Text | Secret => Ok(Value::from(text)),
            List | SecretList => {
                let parts = text.split(',').map(str::trim);
                Ok(parts.filter(|part| !part.is_empty()).collect())
            }
            Number => (text.trim().parse::<u64>().map(Value::from))
                .map_err(|_| format!("{text:?} is not a whole number")),
            Flag => (text.trim().parse::<bool>().map(Value::from))
                .map_err(|_| format!("{text:?} is neither true nor false")),
            FileOnly => Err("it can only be set in the configuration file".to_owned()),
        };
        self.check(value.map_err(|problem| vec![problem])?)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Everything that is wrong with it. Secrets are not shown.
    pub(super) fn check(&self, value: Value) -> Result<Value, Vec<String>> {
        let (least, most) = self.range;
        let of_text = |value: &Value| match value {
            Value::String(text) => (self.rule)(text).err(),
            Value::Number(_) | Value::Bool(_) => Some("expected a text: write it in quotes".to_owned()),
            other => Some(self.mistyped(other, "a text")),
        };
        let problems: Vec<String> = match (self.reading, &value) {
            (Text | Secret, text) => of_text(text).into_iter().collect(),
            (List | SecretList, Value::Array(items)) => items.iter().filter_map(of_text).collect(),
            (Number, Value::Number(number)) => {
                let fits = number
                    .as_u64()
                    .is_some_and(|number| (least..=most).contains(&number));
                let problem = || format!("it must be between {least} and {most}");
                (!fits).then(problem).into_iter().collect()
            }
            (Flag, Value::Bool(_)) => Vec::new(),
            (FileOnly, structure) => self.structure_fault(structure).into_iter().collect(),
            (List | SecretList, other) => vec![self.mistyped(other, "a list of texts")],
            (Number, other) => vec![self.mistyped(other, "a whole number")],
            (Flag, other) => vec![self.mistyped(other, "true or false")],
        };
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(problems)
        }
    }

    /// What is wrong with a structure, if anything.
    fn structure_fault(&self, structure: &Value) -> Option<String> {
        if self.path == "auth.single_sign_on" {
            let read = serde_json::from_value::<Vec<SignInProvider>>(structure.clone());
            return read.map_or_else(
                |error| Some(error.to_string()),
                |providers| single_sign_on::fault(&providers),
            );
        }
        let read = serde_json::from_value::<Vec<IssuerConfig>>(structure.clone());
        read.err().map(|error| error.to_string())
    }

    fn mistyped(&self, value: &Value, expected: &str) -> String {
        match value {
            _ if self.is_secret() => format!("expected {expected}"),
            Value::String(text) => format!("found string {text:?}, expected {expected}"),
            Value::Array(_) => format!("found a list, expected {expected}"),
            Value::Object(_) => format!("found a map, expected {expected}"),
            other => format!("found {other}, expected {expected}"),
        }
    }
}
