//! Account providers: what of one is invalid, and how a credential is sent.

use toolgate_api::Diagnostic;
use toolgate_api::accounts::{AccountMethod, AccountProviderDefinition};
use toolgate_api::mcp_servers::McpClientStyle;

use crate::definition::source::ValueSource;
use crate::ids::ImportId;
use crate::mcp_servers::ValueTemplate;

/// Providers of one project.
pub const MAX_PROVIDERS: usize = 100;
/// Longest address, in characters.
const LONGEST: usize = 2000;
/// Hosts and scopes of one provider, each.
const MOST: usize = 50;

/// Why a text cannot name a provider.
#[must_use]
pub fn name_fault(name: &str) -> Option<String> {
    ImportId::parse(name).err().map(|error| error.to_string())
}

/// The header that a credential is sent in.
#[must_use]
pub fn header(provider: &AccountProviderDefinition) -> &str {
    provider.header.as_deref().unwrap_or("Authorization")
}

/// What the header has before the credential.
#[must_use]
pub fn prefix(provider: &AccountProviderDefinition) -> &str {
    match (&provider.prefix, &provider.header) {
        (Some(prefix), _) => prefix,
        (None, None) => "Bearer",
        (None, Some(name)) if name.eq_ignore_ascii_case("authorization") => "Bearer",
        (None, Some(_)) => "",
    }
}

/// Every fault of a provider; none when it can be stored.
#[must_use]
pub fn check(provider: &AccountProviderDefinition) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut fault = |at: &str, message: &str, hint: &str| {
        faults.push(Diagnostic::error(message).hint(hint).at_pointer(at));
    };
    let method = provider.method;
    let is_oauth = method == AccountMethod::Oauth;
    if provider.hosts.is_empty() || provider.hosts.len() > MOST {
        fault(
            "/hosts",
            "a credential is sent to 1 to 50 hosts",
            "write the hosts of the service's API",
        );
    }
    for (at, host) in provider.hosts.iter().enumerate() {
        if !is_host(host) {
            fault(
                &format!("/hosts/{at}"),
                "this is no host",
                "write api.example.com, or api.example.com:8443, in lower case",
            );
        }
    }
    let token = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    if let Some(name) = &provider.header
        && (name.is_empty() || name.len() > 100 || !token(name) || is_transport(name))
    {
        fault(
            "/header",
            "this header cannot carry a credential",
            "write X-Api-Key, for example",
        );
    }
    if provider
        .prefix
        .as_ref()
        .is_some_and(|prefix| prefix.len() > 50 || !prefix.bytes().all(|b| b.is_ascii_graphic()))
    {
        fault(
            "/prefix",
            "the prefix is a word without spaces",
            "write Bearer, for example",
        );
    }
    for (at, text, most) in [
        ("/title", &provider.title, 100),
        ("/description", &provider.description, 1000),
        ("/audience", &provider.audience, 1000),
    ] {
        let is_long =
            |text: &String| text.chars().count() > most || text.chars().any(|c| c.is_control() && c != '\n');
        if text.as_ref().is_some_and(is_long) {
            fault(at, "the text is too long or has control characters", "shorten it");
        }
    }
    for (at, address) in [
        ("/authorization_url", &provider.authorization_url),
        ("/token_url", &provider.token_url),
        ("/issuer", &provider.issuer),
        ("/resource", &provider.resource),
    ] {
        if address.as_ref().is_some_and(|text| !is_address(text)) {
            fault(
                at,
                "this is no address of a service",
                "write an address with https and without user, password and fragment",
            );
        }
    }
    if provider.scopes.len() > MOST
        || !provider.scopes.iter().all(|scope| {
            !scope.is_empty() && scope.len() <= 200 && scope.bytes().all(|b| b.is_ascii_graphic())
        })
    {
        fault(
            "/scopes",
            "a scope is a word without spaces, and there are at most 50",
            "write each scope by itself",
        );
    }
    let only = [
        (
            "/authorization_url",
            provider.authorization_url.is_some(),
            is_oauth,
        ),
        ("/issuer", provider.issuer.is_some(), is_oauth),
        (
            "/resource",
            provider.resource.is_some(),
            method != AccountMethod::PersonalKey,
        ),
        (
            "/token_url",
            provider.token_url.is_some(),
            method != AccountMethod::PersonalKey,
        ),
        (
            "/client_id",
            provider.client_id.is_some(),
            method != AccountMethod::PersonalKey,
        ),
        (
            "/client_secret",
            provider.client_secret.is_some(),
            method != AccountMethod::PersonalKey,
        ),
        (
            "/scopes",
            !provider.scopes.is_empty(),
            method != AccountMethod::PersonalKey,
        ),
        (
            "/audience",
            provider.audience.is_some(),
            method == AccountMethod::TokenExchange,
        ),
        (
            "/auth_style",
            provider.auth_style != McpClientStyle::default(),
            method != AccountMethod::PersonalKey,
        ),
    ];
    for (at, is_written, may) in only {
        if is_written && !may {
            fault(at, "this method does not use it", "remove it");
        }
    }
    match method {
        AccountMethod::PersonalKey => {}
        AccountMethod::TokenExchange => {
            if provider.token_url.is_none() {
                fault("/token_url", "a token is exchanged at a `token_url`", "write it");
            }
            if provider.client_id.is_none() {
                fault("/client_id", "the exchange needs a client", "write `client_id`");
            }
        }
        AccountMethod::Oauth => {
            if provider.authorization_url.is_some() != provider.token_url.is_some() {
                fault(
                    "/authorization_url",
                    "`authorization_url` and `token_url` are written together",
                    "write both, or neither for those of the service's metadata",
                );
            }
            if provider.authorization_url.is_none()
                && provider.issuer.is_none()
                && provider.resource.is_none()
            {
                fault(
                    "",
                    "nothing says where persons sign in",
                    "write `authorization_url` and `token_url`, or `issuer`, or `resource`",
                );
            }
            if provider.authorization_url.is_some() && provider.client_id.is_none() {
                fault(
                    "/client_id",
                    "without the service's metadata a client cannot register itself",
                    "write `client_id`",
                );
            }
        }
    }
    if provider.client_secret.is_some() && provider.client_id.is_none() {
        fault(
            "/client_secret",
            "a secret belongs to a `client_id`",
            "write `client_id`",
        );
    }
    for (at, text, is_secret) in [
        ("/client_id", &provider.client_id, false),
        ("/client_secret", &provider.client_secret, true),
    ] {
        let Some(text) = text else { continue };
        let names = ValueTemplate::parse(text).is_ok_and(|template| template.sources().next().is_some());
        let is_source = matches!(ValueSource::of(text), ValueSource::Secret(_));
        if text.is_empty() || text.len() > 1000 || text.chars().any(char::is_control) {
            fault(
                at,
                "the text is empty, too long or has control characters",
                "shorten it",
            );
        } else if ValueTemplate::parse(text).is_err() {
            fault(at, "the value names no secret", "write ${secret:NAME}");
        } else if is_secret && !names && !is_source {
            fault(
                at,
                "the client's secret would be kept and shown",
                "store it as a secret of the project and write ${secret:NAME}",
            );
        }
    }
    faults
}

/// The sources that a provider takes values from: variables, and `secret:NAME`.
pub fn sources(provider: &AccountProviderDefinition) -> impl Iterator<Item = String> {
    let texts = [&provider.client_id, &provider.client_secret];
    let templates = texts
        .into_iter()
        .flatten()
        .filter_map(|text| ValueTemplate::parse(text).ok());
    templates.flat_map(|template| template.sources().map(str::to_owned).collect::<Vec<_>>())
}

/// Whether a credential may be sent to a host; `port` is absent for the usual one.
#[must_use]
pub fn may_be_sent(provider: &AccountProviderDefinition, host: &str, port: Option<u16>) -> bool {
    let whole = match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    provider.hosts.contains(&whole)
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let port_is_good = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let name_is_good = host
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._[]:".contains(&b));
    !host.is_empty() && host.len() <= 253 && port_is_good && name_is_good
}

fn is_address(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    text.len() <= LONGEST
        && rest.is_some_and(|rest| {
            let authority = rest.split(['/', '?']).next().unwrap_or_default();
            !authority.is_empty()
                && !authority.contains('@')
                && rest.bytes().all(|b| b.is_ascii_graphic() && b != b'#')
        })
}

fn is_transport(name: &str) -> bool {
    const TRANSPORT: [&str; 8] = [
        "host",
        "content-length",
        "content-type",
        "transfer-encoding",
        "connection",
        "accept",
        "accept-encoding",
        "mcp-session-id",
    ];
    TRANSPORT
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn provider(text: &str) -> AccountProviderDefinition {
        serde_json::from_str(text).expect("a provider")
    }

    #[rstest]
    #[case(r#"{"method":"personal_key","hosts":["api.example.com"],"header":"X-Api-Key"}"#, &[])]
    #[case(r#"{"method":"oauth","hosts":["api.example.com"],"resource":"https://api.example.com/mcp"}"#, &[])]
    #[case(r#"{"method":"oauth","hosts":["a.test:8443"],"authorization_url":"https://a.test/a","token_url":"https://a.test/t","client_id":"toolgate","client_secret":"${secret:S}"}"#, &[])]
    #[case(r#"{"method":"oauth","hosts":["a.test"]}"#, &[""])]
    #[case(r#"{"method":"oauth","hosts":["a.test"],"authorization_url":"https://a.test/a"}"#, &["/authorization_url", "/client_id"])]
    #[case(r#"{"method":"token_exchange","hosts":["a.test"]}"#, &["/token_url", "/client_id"])]
    #[case(r#"{"method":"personal_key","hosts":[],"token_url":"https://u@a.test/"}"#, &["/hosts", "/token_url", "/token_url"])]
    #[case(r#"{"method":"personal_key","hosts":["https://a.test"],"header":"Host"}"#, &["/hosts/0", "/header"])]
    #[case(r#"{"method":"token_exchange","hosts":["a.test"],"token_url":"https://a.test/t","client_id":"c","client_secret":"plain"}"#, &["/client_secret"])]
    fn faults_have_their_places(#[case] text: &str, #[case] places: &[&str]) {
        let faults = check(&provider(text));
        let found: Vec<_> = faults
            .iter()
            .filter_map(|fault| fault.pointer.as_deref())
            .collect();
        assert_eq!(found, places);
    }

    #[test]
    fn a_credential_goes_to_its_hosts_only() {
        let provider = provider(r#"{"method":"personal_key","hosts":["a.test","b.test:8443"]}"#);
        assert!(may_be_sent(&provider, "a.test", None));
        assert!(may_be_sent(&provider, "b.test", Some(8443)));
        for (host, port) in [("a.test", Some(8443)), ("b.test", None), ("x.a.test", None)] {
            assert!(!may_be_sent(&provider, host, port), "{host}");
        }
        assert_eq!(
            (header(&provider), prefix(&provider)),
            ("Authorization", "Bearer")
        );
    }
}
