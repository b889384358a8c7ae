use std::io;
use std::path::PathBuf;

use clap::Parser;
use rstest::rstest;
use secrecy::ExposeSecret;
use toolgate_executors::EnvSource;

use super::*;

/// As the command line has it.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: ServeArgs,
}

fn load(file: Option<&str>, variables: &[(&str, &str)], flags: &[&str]) -> Result<Config, ConfigError> {
    let mut args = Cli::parse_from([&["toolgate"], flags].concat()).args;
    if file.is_some() && args.config.is_none() {
        args.config = Some(PathBuf::from("toolgate.yaml"));
    }
    let variables = variables
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    Config::load(&args, variables, |_| {
        file.map(str::to_owned)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    })
}

fn faults(file: Option<&str>, variables: &[(&str, &str)], flags: &[&str]) -> String {
    load(file, variables, flags)
        .expect_err("it must be refused")
        .to_string()
}

#[test]
fn nothing_set_gives_the_documented_defaults() {
    let config = load(None, &[], &[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.database_url.expose_secret(), "sqlite:toolgate.db");
    assert_eq!(config.admin.username, "admin");
    assert!(config.admin.password.is_none() && config.public_url.is_none());
    assert_eq!(config.log.filter, "info");
    assert_eq!(config.log.format, LogFormat::Text);
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.auth.access_ttl_s, 3600);
    assert_eq!(config.issuer(), "toolgate");
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
}

#[rstest]
#[case::default(None, &[], &[], "127.0.0.1:8080", "default")]
#[case::file(Some("listen: 127.0.0.1:1"), &[], &[], "127.0.0.1:1", "file toolgate.yaml")]
#[case::variable(Some("listen: 127.0.0.1:1"), &[("TOOLGATE_LISTEN", "127.0.0.1:2")], &[], "127.0.0.1:2", "variable TOOLGATE_LISTEN")]
#[case::flag(Some("listen: 127.0.0.1:1"), &[("TOOLGATE_LISTEN", "127.0.0.1:2")], &["--listen", "127.0.0.1:3"], "127.0.0.1:3", "flag --listen")]
#[case::empty_variable_is_unset(None, &[("TOOLGATE_LISTEN", "")], &[], "127.0.0.1:8080", "default")]
fn later_sources_win(
    #[case] file: Option<&str>,
    #[case] variables: &[(&str, &str)],
    #[case] flags: &[&str],
    #[case] listen: &str,
    #[case] source: &str,
) {
    let config = load(file, variables, flags).unwrap();
    assert_eq!(config.listen.to_string(), listen);
    let summary = config.summary();
    let line = summary
        .lines()
        .find(|line| line.trim_start().starts_with("listen "))
        .unwrap();
    assert!(line.contains(listen) && line.ends_with(source), "{line}");
}

#[test]
fn every_setting_of_the_file_is_read() {
    let config = load(
        Some(
            "listen: 127.0.0.1:9000\npublic_url: https://tools.example.com\nallowed_hosts: [a.example, '*.b.example']\n\
             database_url: sqlite:x.db\nadmin: {username: root, password: 'long enough to keep'}\n\
             egress_allow: ['https://api.example.com']\ntool_env: [JINA_API_KEY]\nlog: {filter: debug, format: json}\n\
             auth: {issuer: me, audience: you, access_ttl_s: 60, authorization_server: false, issuers: []}\n\
             limits: {max_connections: 2, max_connections_per_address: 1, header_timeout_s: 2, body_timeout_s: 3, idle_timeout_s: 4, max_header_bytes: 8192,\n\
             \x20 max_body_bytes: 2048, request_timeout_s: 400, max_sessions_per_project: 5,\n\
             \x20 max_sessions_per_principal: 5, drain_s: 6, linger_s: 0}\n\
             telemetry: {metrics_public: true}\ncors_origins: ['https://app.example.com']\n\
             nats: {url: ['nats://127.0.0.1:4222'], require_tls: true, subjects: ['tools.>'],\n\
             \x20 auth_callout: {account: TG}}\n\
             mcp: {stdio_commands: [npx], stdio_sandbox: false, stdio_network: true, stdio_readable: [/srv], stdio_memory_mib: 64,\n\
             \x20 stdio_processes: 8, stdio_instances: 2}\n",
        ),
        &[],
        &[],
    )
    .unwrap();
    assert_eq!(
        config.admin.password.as_ref().unwrap().expose_secret(),
        "long enough to keep"
    );
    assert_eq!(config.allowed_hosts, ["a.example", "*.b.example"]);
    assert_eq!(config.cors_origins, ["https://app.example.com"]);
    assert_eq!(config.issuer(), "me");
    assert_eq!(
        (
            config.limits.max_connections,
            config.limits.max_body_bytes,
            config.limits.drain_s
        ),
        (2, 2048, 6)
    );
    assert!(config.is_https());
    assert!(
        !config
            .summary()
            .lines()
            .any(|line| line.ends_with("default") && !line.contains("(none)"))
    );
}

#[test]
fn a_setting_without_a_value_is_not_set() {
    let config = load(Some("listen:\npublic_url:\nlimits:\n"), &[], &[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert!(config.public_url.is_none());
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn variables_named_in_the_documentation_work() {
    let config = load(
        None,
        &[
            ("TOOLGATE_LISTEN", "127.0.0.1:1234"),
            ("TOOLGATE_DATABASE_URL", "postgres://me:hunter2@db/tools"),
            ("TOOLGATE_ADMIN_USERNAME", "root"),
            ("TOOLGATE_ADMIN_PASSWORD", "correct horse battery"),
            (
                "TOOLGATE_EGRESS_ALLOW",
                "http://127.0.0.1:9, https://api.example.com",
            ),
            ("TOOLGATE_TOOL_ENV", "JINA_API_KEY,OTHER"),
            ("TOOLGATE_LOG", "warn"),
            ("TOOLGATE_LOG_FORMAT", "json"),
            ("TOOLGATE_LIMITS_DRAIN_S", "3"),
        ],
        &[],
    )
    .unwrap();
    assert_eq!(config.admin.username, "root");
    assert_eq!(
        config.egress_allow,
        ["http://127.0.0.1:9", "https://api.example.com"]
    );
    assert_eq!(config.tool_env, ["JINA_API_KEY", "OTHER"]);
    assert_eq!(
        (config.log.filter.as_str(), config.log.format),
        ("warn", LogFormat::Json)
    );
    assert_eq!(config.limits.drain_s, 3);
}

#[test]
fn no_secret_shows() {
    let config = load(
        Some("database_url: postgres://me:hunter2@db/tools?sslpassword=hunter3&x=1\n"),
        &[
            ("TOOLGATE_ADMIN_PASSWORD", "hunter4 is long enough"),
            ("TOOLGATE_TOOL_ENV_KEY", "hunter5"),
            (
                "TOOLGATE_SECRETS_KEY",
                "hunter6hunter6hunter6hunter6hunter6hunter6A=",
            ),
            (
                "TOOLGATE_SECRETS_KEYS",
                "hunter7hunter7hunter7hunter7hunter7hunter7A=,hunter8hunter8hunter8hunter8hunter8hunter8A=",
            ),
        ],
        &[],
    )
    .unwrap();
    let (summary, debug) = (config.summary(), format!("{config:?}"));
    for text in [&summary, &debug] {
        assert!(!text.contains("hunter"), "{text}");
    }
    assert!(
        summary.contains("postgres://me:***@db/tools?sslpassword=***&x=1"),
        "{summary}"
    );
    assert!(summary.contains("TOOLGATE_TOOL_ENV_KEY"), "{summary}");
}

#[rstest]
#[case("sqlite:toolgate.db", "sqlite:toolgate.db")]
#[case("postgres://db/x", "postgres://db/x")]
#[case("postgres://me@db/x", "postgres://me@db/x")]
#[case("postgres://me:p@ss@db/x", "postgres://me:***@db/x")]
#[case("postgres://db/x?user=me&password=p", "postgres://db/x?user=me&password=***")]
fn database_urls_show_no_password(#[case] url: &str, #[case] shown: &str) {
    let url = DatabaseUrl::from(url.to_owned());
    assert_eq!(url.to_string(), shown);
    assert_eq!(url.has_password(), shown.contains("***"));
}

#[rstest]
#[case::unknown_key("lisen: x", &["file toolgate.yaml", "lisen: unknown key", "\"listen\""])]
#[case::unknown_nested("limits: {drain: 3}", &["limits.drain: unknown key", "\"limits.drain_s\""])]
#[case::unknown_section("limit: {drain_s: 3}", &["limit: unknown key"])]
#[case::both_at_once("lisen: x\nlimits: {drain: 3}", &["lisen", "limits.drain"])]
#[case::values_at_once("listen: here\nlimits: {drain_s: soon, linger_s: 9999}\nlog: {format: xml}\nallowed_hosts: [a b, '']", &["listen: \"here\"", "limits.drain_s", "limits.linger_s", "log.format", "\"a b\"", "\"\" is not a host"])]
#[case::file_names_no_file("config: x.yaml", &["config: unknown key"])]
#[case::bad_address("listen: here", &["file toolgate.yaml", "listen", "127.0.0.1:8080"])]
#[case::bad_type("limits: {drain_s: soon}", &["limits.drain_s", "found string \"soon\""])]
#[case::section_is_no_map("limits: 3", &["limits", "expected"])]
#[case::out_of_range("limits: {header_timeout_s: 0}", &["limits.header_timeout_s", "between 1 and 3600"])]
#[case::linger("limits: {linger_s: 9, drain_s: 3}", &["limits.linger_s", "limits.drain_s (3)"])]
#[case::bad_format("log: {format: xml}", &["log.format", "\"xml\" is none of text, json"])]
#[case::bad_filter("log: {filter: 'toolgate=loud'}", &["log.filter", "toolgate=loud"])]
#[case::bad_url("public_url: nowhere", &["public_url", "https://tools.example.com"])]
#[case::url_with_path("public_url: https://a.example/x", &["public_url", "root of its host"])]
#[case::url_scheme("public_url: ftp://a.example", &["public_url", "http://"])]
#[case::bad_proxy("trusted_proxies: [10.0.0.0/99]", &["trusted_proxies", "10.0.0.0/99"])]
#[case::bad_host("allowed_hosts: ['http://a.example']", &["allowed_hosts", "http://a.example"])]
#[case::bus_address("nats: {url: ['http://bus:4222']}", &["nats.url", "nats://host:port"])]
#[case::bus_password("nats: {url: ['nats://me:hunter2@bus:4222']}", &["nats.url", "no user name or password"])]
#[case::bus_user("nats: {url: ['nats://bus'], user: me}", &["nats.user", "set nats.password too"])]
#[case::bus_twice("nats: {user: me, password: p, nkey_seed: s}", &["nats.nkey_seed", "set one of"])]
#[case::bus_certificate("nats: {key_file: k.pem}", &["nats.key_file", "set nats.cert_file too"])]
#[case::bus_issuer("nats: {auth_callout: {issuer_seed: hunter2}}", &["nats.auth_callout.issuer_seed", "seed of an account"])]
#[case::bus_curve("nats: {auth_callout: {xkey_seed: hunter2}}", &["nats.auth_callout.xkey_seed", "seed of a curve key"])]
#[case::bus_subjects("nats: {subjects: ['>']}", &["nats.subjects", "first token"])]
#[case::bad_database("database_url: mysql://me:hunter2@db", &["database_url", "sqlite:"])]
#[case::bad_tool_env("tool_env: [a b]", &["tool_env", "\"a b\""])]
#[case::own_secret("tool_env: [TOOLGATE_ADMIN_PASSWORD]", &["tool_env", "secret of the server itself"])]
#[case::not_yaml("listen: [", &["file toolgate.yaml", "line"])]
#[case::twice("listen: 127.0.0.1:1\nlisten: 127.0.0.1:2", &["file toolgate.yaml", "listen"])]
#[case::no_secrets_key("secrets: {key: hunter2}", &["file toolgate.yaml", "secrets.key", "openssl rand -base64 32"])]
#[case::second_secrets_key("secrets: {keys: ['AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=', hunter2]}", &["secrets.keys", "32 random bytes"])]
#[case::secret_number_in_list("secrets: {keys: [4711]}", &["secrets.keys", "write it in quotes"])]
#[case::secret_number("admin: {password: 4711}", &["admin.password", "write it in quotes"])]
fn a_bad_file_is_refused_with_place_and_remedy(#[case] file: &str, #[case] says: &[&str]) {
    let text = faults(Some(file), &[], &[]);
    for part in says {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(!text.contains("hunter2") && !text.contains("4711"), "{text}");
}

#[rstest]
#[case::number(&[("TOOLGATE_LIMITS_DRAIN_S", "soon")], &[], &["variable TOOLGATE_LIMITS_DRAIN_S", "limits.drain_s", "whole number"])]
#[case::address(&[("TOOLGATE_LISTEN", "8080")], &[], &["variable TOOLGATE_LISTEN", "listen"])]
#[case::file_only(&[("TOOLGATE_AUTH_ISSUERS", "x")], &[], &["variable TOOLGATE_AUTH_ISSUERS", "configuration file"])]
#[case::flag(&[], &["--public-url", "x"], &["flag --public-url", "public_url"])]
#[case::password_in_flag(&[], &["--database-url", "postgres://a:hunter2@db/x"], &["flag --database-url", "TOOLGATE_DATABASE_URL"])]
#[case::missing_file(&[("TOOLGATE_CONFIG", "gone.yaml")], &[], &["file gone.yaml", "cannot be read"])]
fn bad_variables_and_flags_are_named(
    #[case] variables: &[(&str, &str)],
    #[case] flags: &[&str],
    #[case] says: &[&str],
) {
    let text = faults(None, variables, flags);
    for part in says {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn unknown_variables_warn_with_the_nearest_name() {
    let variables = [
        ("TOOLGATE_LISTN", "x"),
        ("TOOLGATE_TOOL_ENV_LISTN", "x"),
        ("OTHER", "x"),
    ];
    let config = load(None, &variables, &[]).unwrap();
    assert_eq!(config.warnings.len(), 1, "{:?}", config.warnings);
    assert!(
        config.warnings[0].contains("TOOLGATE_LISTN") && config.warnings[0].contains("\"TOOLGATE_LISTEN\"")
    );
}

#[rstest]
#[case::open_listen(&[("TOOLGATE_LISTEN", "0.0.0.0:80")], "0.0.0.0:80")]
#[case::closed_metrics(&[("TOOLGATE_LISTEN", "0.0.0.0:80")], "telemetry.metrics_token")]
#[case::both_ways(&[("TOOLGATE_TELEMETRY_METRICS_PUBLIC", "true"), ("TOOLGATE_TELEMETRY_METRICS_TOKEN", "t")], "no effect")]
#[case::short_password(&[("TOOLGATE_ADMIN_PASSWORD", "short")], "admin.password")]
#[case::common_password(&[("TOOLGATE_ADMIN_PASSWORD", "password1234")], "easy to guess")]
#[case::one_client(&[("TOOLGATE_LIMITS_MAX_CONNECTIONS_PER_ADDRESS", "4096")], "one client")]
#[case::any_host(&[("TOOLGATE_ALLOWED_HOSTS", "*")], "rebinding")]
#[case::impatient(&[("TOOLGATE_LIMITS_REQUEST_TIMEOUT_S", "10")], "request_timeout_s")]
fn odd_settings_warn(#[case] variables: &[(&str, &str)], #[case] says: &str) {
    let config = load(None, variables, &[]).unwrap();
    assert!(
        config.warnings.iter().any(|warning| warning.contains(says)),
        "{:?}",
        config.warnings
    );
}

#[rstest]
#[case::loopback("127.0.0.1:80", None, None, "open")]
#[case::loopback_6("[::1]:80", None, None, "open")]
#[case::token("127.0.0.1:80", Some("t"), None, "token")]
#[case::reachable("0.0.0.0:80", None, None, "closed")]
#[case::reachable_with_a_token("0.0.0.0:80", Some("t"), None, "token")]
#[case::public("0.0.0.0:80", None, Some("true"), "open")]
#[case::not_public("0.0.0.0:80", None, Some("false"), "closed")]
#[case::a_token_is_asked_for_in_public_too("0.0.0.0:80", Some("t"), Some("true"), "token")]
fn who_may_read_the_metrics(
    #[case] listen: &str,
    #[case] token: Option<&str>,
    #[case] public: Option<&str>,
    #[case] expected: &str,
) {
    let mut variables = vec![("TOOLGATE_LISTEN", listen)];
    variables.extend(token.map(|token| ("TOOLGATE_TELEMETRY_METRICS_TOKEN", token)));
    variables.extend(public.map(|public| ("TOOLGATE_TELEMETRY_METRICS_PUBLIC", public)));
    let config = load(None, &variables, &[]).unwrap();
    let access = match config.metrics_access() {
        MetricsAccess::Open => "open",
        MetricsAccess::Token(_) => "token",
        MetricsAccess::Closed => "closed",
    };
    assert_eq!(access, expected);
    let warned = config
        .warnings
        .iter()
        .any(|warning| warning.contains("/metrics refuses every request"));
    assert_eq!(warned, expected == "closed", "{:?}", config.warnings);
}

#[test]
fn a_flag_is_true_or_false() {
    let says = faults(None, &[("TOOLGATE_TELEMETRY_METRICS_PUBLIC", "yes")], &[]);
    assert!(says.contains("neither true nor false"), "{says}");
    let config = load(Some("telemetry: {metrics_public: true}"), &[], &[]).unwrap();
    assert!(config.telemetry.metrics_public && config.summary().contains("true"));
}

#[test]
fn definitions_reach_listed_and_prefixed_variables_only() {
    let config = load(
        None,
        &[
            ("TOOLGATE_TOOL_ENV", "LISTED,LISTED_UNSET,BOTH"),
            ("LISTED", "1"),
            ("HOME", "/home/me"),
            ("TOOLGATE_ADMIN_PASSWORD", "correct horse battery"),
            ("TOOLGATE_TOOL_ENV_PREFIXED", "2"),
            ("BOTH", "listed"),
            ("TOOLGATE_TOOL_ENV_BOTH", "prefixed"),
        ],
        &[],
    )
    .unwrap();
    let rows = [
        ("LISTED", true, Some("1")),
        ("LISTED_UNSET", true, None),
        ("TOOLGATE_TOOL_ENV_PREFIXED", true, Some("2")),
        ("PREFIXED", true, Some("2")),
        ("BOTH", true, Some("listed")),
        ("HOME", false, None),
        ("TOOLGATE_ADMIN_PASSWORD", false, None),
        ("", false, None),
    ];
    for (name, allowed, value) in rows {
        assert_eq!(config.env.allows(name), allowed, "{name}");
        assert_eq!(
            config.env.get(name).as_ref().map(ExposeSecret::expose_secret),
            value,
            "{name}"
        );
    }
}

#[rstest]
#[case("127.0.0.1:8080", None, "http://127.0.0.1:8080")]
#[case("0.0.0.0:8080", None, "http://127.0.0.1:8080")]
#[case("[::1]:8080", None, "http://[::1]:8080")]
#[case(
    "0.0.0.0:8080",
    Some("https://tools.example.com/"),
    "https://tools.example.com"
)]
fn the_address_for_clients(#[case] listen: &str, #[case] public: Option<&str>, #[case] base: &str) {
    let mut variables = vec![("TOOLGATE_LISTEN", listen)];
    variables.extend(public.map(|url| ("TOOLGATE_PUBLIC_URL", url)));
    assert_eq!(load(None, &variables, &[]).unwrap().base_url(), base);
}
