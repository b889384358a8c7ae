//! Settings that work but should be corrected.

use toolgate_api::status::{StatusCheck, StatusLevel};

use super::{WithFix, ok};
use crate::config::Config;

/// One check for each setting that should be another one; one that says so when there is none.
pub(super) fn checks(config: &Config) -> Vec<StatusCheck> {
    let mut found = Vec::new();
    let mut warn = |id: &str, title: &str, summary: String, fix: &str| {
        found.push(ok(id, title, summary).with_fix(StatusLevel::Warning, fix));
    };
    let open = !config.listen.ip().is_loopback();
    if open && !config.is_https() {
        warn(
            "plain_http",
            "Encryption",
            format!(
                "The server listens on {} without an https public_url: passwords and tokens travel as they are, unless a \
                 proxy protects them.",
                config.listen
            ),
            "Put a proxy with TLS before the server and set TOOLGATE_PUBLIC_URL to its https address.",
        );
    }
    if open && config.telemetry.metrics_token.is_none() {
        warn(
            "open_metrics",
            "Metrics",
            "Everyone who reaches the server can read /metrics, which names projects, groups and tools."
                .to_owned(),
            "Set TOOLGATE_TELEMETRY_METRICS_TOKEN.",
        );
    }
    if let Some(why) = config.admin.weakness() {
        warn(
            "short_password",
            "Administrator's password",
            format!(
                "The administrator's first password, from the configuration, is too easy to guess: {why}."
            ),
            "Change the password after signing in, and take it out of the configuration.",
        );
    }
    if config.allowed_hosts.iter().any(|host| host == "*") {
        warn(
            "any_host",
            "Host names",
            "The server answers for every host name, so pages of other sites can reach it by DNS rebinding."
                .to_owned(),
            "Name the hosts in TOOLGATE_ALLOWED_HOSTS.",
        );
    }
    let private: Vec<&str> = config
        .egress_allow
        .iter()
        .map(|entry| entry.trim())
        .filter(|entry| is_private(entry))
        .collect();
    if !private.is_empty() {
        warn(
            "private_egress",
            "Private addresses",
            format!(
                "Tools may reach private addresses: {}. Everyone who edits tools can send requests there.",
                private.join(", ")
            ),
            "Keep only what tools need in TOOLGATE_EGRESS_ALLOW.",
        );
    }
    if found.is_empty() {
        found.push(ok(
            "configuration",
            "Configuration",
            "Nothing in it needs to be corrected.",
        ));
    }
    found
}

/// Whether an entry of the list of destinations lets tools to this machine or its network.
fn is_private(entry: &str) -> bool {
    if entry.starts_with("cidr:") {
        return true;
    }
    let Ok(url) = url::Url::parse(entry) else {
        return false;
    };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => {
            address.is_private() || address.is_loopback() || address.is_link_local()
        }
        Some(url::Host::Ipv6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServeArgs;

    fn ids(settings: &[(&str, &str)]) -> Vec<String> {
        let env: Vec<(String, String)> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let config = Config::load(&ServeArgs::default(), env, |path| std::fs::read_to_string(path))
            .unwrap_or_else(|error| panic!("{error}"));
        checks(&config).into_iter().map(|check| check.id).collect()
    }

    #[test]
    fn each_setting_that_should_be_another_is_named() {
        assert_eq!(ids(&[("TOOLGATE_LISTEN", "127.0.0.1:1")]), ["configuration"]);
        let open = ("TOOLGATE_LISTEN", "0.0.0.0:1");
        assert_eq!(ids(&[open]), ["plain_http", "open_metrics"]);
        assert_eq!(
            ids(&[open, ("TOOLGATE_PUBLIC_URL", "https://tools.example.com")]),
            ["open_metrics"]
        );
        for password in ["short", "password1234"] {
            assert_eq!(ids(&[("TOOLGATE_ADMIN_PASSWORD", password)]), ["short_password"]);
        }
        assert_eq!(ids(&[("TOOLGATE_ALLOWED_HOSTS", "*")]), ["any_host"]);
        for entry in [
            "http://localhost:1",
            "http://10.0.0.1",
            "cidr:10.0.0.0/8",
            "http://[::1]",
        ] {
            assert_eq!(
                ids(&[("TOOLGATE_EGRESS_ALLOW", entry)]),
                ["private_egress"],
                "{entry}"
            );
        }
        assert_eq!(
            ids(&[("TOOLGATE_EGRESS_ALLOW", "https://api.example.com")]),
            ["configuration"]
        );
    }
}
