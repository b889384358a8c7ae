//! `options.http.auth`: the credential that a request carries.

use toolgate_api::tool_types::AUTH;

use crate::definition::UploadContext;
use crate::definition::destination;
use crate::definition::fields;
use crate::definition::model::{AuthScheme, AuthStyle, HttpAuth, OAuthClient};
use crate::definition::names;
use crate::definition::nearest::nearest;
use crate::definition::node::{Cursor, Data};
use crate::definition::report::{Report, listed, shown};

const CLIENT_KEYS: [&str; 6] = [
    "token_url",
    "client_id",
    "client_secret",
    "scopes",
    "audience",
    "auth_style",
];
const SCHEMES: [(&str, AuthScheme); 7] = [
    ("bearer", AuthScheme::Bearer),
    ("basic", AuthScheme::Basic),
    ("header", AuthScheme::Header),
    ("query", AuthScheme::Query),
    ("cookie", AuthScheme::Cookie),
    ("oauth2", AuthScheme::OAuth2),
    ("account", AuthScheme::Account),
];
/// Scopes of one client, and characters of each.
const MAX_SCOPES: usize = 50;
const LONGEST: usize = 200;

/// Reads it.
pub(super) fn read(
    cursor: &Cursor<'_>,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<HttpAuth> {
    if !fields::map(cursor, "auth", report) {
        return None;
    }
    fields::known_fields(cursor, AUTH, "auth", report);
    let scheme = match cursor.get("scheme") {
        None if cursor.get("client").is_some() => AuthScheme::OAuth2,
        None if cursor.get("provider").is_some() => AuthScheme::Account,
        None => AuthScheme::Bearer,
        Some(at) => {
            let text = fields::string(&at, "scheme", report)?;
            one_of(&at, &text, "scheme", &SCHEMES, report)?
        }
    };
    let name = name(cursor, scheme, report);
    let client = cursor.get("client").and_then(|at| {
        if scheme != AuthScheme::OAuth2 {
            report.error(
                &at.spot,
                "\"client\" belongs to scheme: oauth2 only",
                "remove it, or write scheme: oauth2",
            );
            return None;
        }
        client(&at, context, report)
    });
    let provider = provider(cursor, scheme, report);
    if scheme == AuthScheme::Account {
        if let Some(at) = cursor.get("env") {
            report.error(
                &at.spot,
                "scheme: account takes the credential of the caller's account",
                "remove \"env\"",
            );
        }
        return Some(HttpAuth {
            scheme,
            env: String::new(),
            name: None,
            client: None,
            provider: Some(provider?),
        });
    }
    if scheme == AuthScheme::OAuth2 {
        if let Some(at) = cursor.get("env") {
            report.error(
                &at.spot,
                "scheme: oauth2 takes its values from \"client\"",
                "write client: {token_url, client_id, client_secret}",
            );
        } else if cursor.get("client").is_none() {
            report.error(
                &cursor.spot,
                "scheme: oauth2 needs a \"client\"",
                "write client: {token_url, client_id, client_secret}",
            );
        }
        return Some(HttpAuth {
            scheme,
            env: String::new(),
            name,
            client: Some(client?),
            provider: None,
        });
    }
    let env = source(cursor, "env", "auth", context, report)?;
    Some(HttpAuth {
        scheme,
        env,
        name,
        client: None,
        provider: None,
    })
}

/// The account provider whose accounts callers use.
fn provider(cursor: &Cursor<'_>, scheme: AuthScheme, report: &mut Report) -> Option<String> {
    let at = match (cursor.get("provider"), scheme) {
        (Some(at), AuthScheme::Account) => at,
        (Some(at), _) => {
            report.error(
                &at.spot,
                "\"provider\" belongs to scheme: account only",
                "remove it, or write scheme: account",
            );
            return None;
        }
        (None, AuthScheme::Account) => {
            report.error(
                &cursor.spot,
                "scheme: account needs the name of an account \"provider\" of the project",
                "write provider: issues, for example",
            );
            return None;
        }
        (None, _) => return None,
    };
    let name = fields::word(&at, "provider", LONGEST, report)?;
    match crate::accounts::name_fault(&name) {
        None => Some(name),
        Some(fault) => {
            report.error(&at.spot, fault, "write the name of an account provider");
            None
        }
    }
}

/// The name of the place that holds the value.
fn name(cursor: &Cursor<'_>, scheme: AuthScheme, report: &mut Report) -> Option<String> {
    let (what, example) = match scheme {
        AuthScheme::Header => ("header", "X-Api-Key"),
        AuthScheme::Query => ("query", "api_key"),
        AuthScheme::Cookie => ("cookie", "session"),
        AuthScheme::Bearer | AuthScheme::Basic | AuthScheme::OAuth2 | AuthScheme::Account => {
            if let Some(at) = cursor.get("name") {
                report.error(
                    &at.spot,
                    "\"name\" belongs to scheme: header, query and cookie only",
                    "remove it, or write scheme: header",
                );
            }
            return None;
        }
    };
    let Some(at) = cursor.get("name") else {
        let message = match scheme {
            AuthScheme::Header => "scheme: header needs the header's \"name\"".to_owned(),
            _ => format!("scheme: {what} needs a \"name\""),
        };
        report.error(
            &cursor.spot,
            message,
            format!("write name: {example}, for example"),
        );
        return None;
    };
    let name = fields::word(&at, "name", LONGEST, report)?;
    let good = match scheme {
        AuthScheme::Header => destination::header_name(&name, &at.spot, report),
        // A cookie's name is a token, like a header's.
        AuthScheme::Cookie
            if name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) =>
        {
            true
        }
        AuthScheme::Cookie => {
            report.error(
                &at.spot,
                format!("{} is not a cookie's name", shown(&name)),
                "letters, digits, '-' and '_'",
            );
            false
        }
        _ => true,
    };
    good.then_some(name)
}

fn client(cursor: &Cursor<'_>, context: &UploadContext<'_>, report: &mut Report) -> Option<OAuthClient> {
    if !fields::map(cursor, "client", report) {
        return None;
    }
    fields::known_keys(cursor, &CLIENT_KEYS, "client", report);
    let token_url = match cursor.get("token_url") {
        Some(at) => destination::address(&at, "token_url", report),
        None => {
            report.error(
                &cursor.spot,
                "client has no \"token_url\"",
                "write token_url: https://auth.example.com/oauth/token",
            );
            None
        }
    };
    let client_id = source(cursor, "client_id", "client", context, report);
    let client_secret = source(cursor, "client_secret", "client", context, report);
    let audience = cursor
        .get("audience")
        .and_then(|at| fields::word(&at, "audience", LONGEST, report));
    let auth_style = match cursor.get("auth_style") {
        None => Some(AuthStyle::Basic),
        Some(at) => fields::string(&at, "auth_style", report).and_then(|text| {
            let styles = [("basic", AuthStyle::Basic), ("body", AuthStyle::Body)];
            one_of(&at, &text, "auth_style", &styles, report)
        }),
    };
    Some(OAuthClient {
        scopes: cursor
            .get("scopes")
            .map_or_else(Vec::new, |at| scopes(&at, report)),
        token_url: token_url?,
        client_id: client_id?,
        client_secret: client_secret?,
        audience,
        auth_style: auth_style?,
    })
}

/// Scopes, each a token of RFC 6749 section 3.3.
fn scopes(cursor: &Cursor<'_>, report: &mut Report) -> Vec<String> {
    if !matches!(cursor.node.data, Data::List(_)) {
        report.error(
            &cursor.spot,
            format!("\"scopes\" must be a list, not {}", cursor.node.kind()),
            "write [first, second]",
        );
    }
    if cursor.items().count() > MAX_SCOPES {
        report.error(&cursor.spot, format!("more than {MAX_SCOPES} scopes"), "");
    }
    let mut scopes = Vec::new();
    for item in cursor.items().take(MAX_SCOPES) {
        let Some(scope) = fields::word(&item, "scopes", LONGEST, report) else {
            continue;
        };
        if scope
            .bytes()
            .all(|b| matches!(b, b'!' | b'#'..=b'[' | b']'..=b'~'))
        {
            scopes.push(scope);
        } else {
            report.error(
                &item.spot,
                format!("{} is not a scope", shown(&scope)),
                "write each scope as an item of its own",
            );
        }
    }
    scopes
}

/// The name of what a value is taken from; never the value.
fn source(
    cursor: &Cursor<'_>,
    key: &str,
    place: &str,
    context: &UploadContext<'_>,
    report: &mut Report,
) -> Option<String> {
    let Some(at) = cursor.get(key) else {
        report.error(
            &cursor.spot,
            format!("{place} has no {key:?}"),
            "name the environment variable with the credential",
        );
        return None;
    };
    let name = fields::string(&at, key, report)?;
    names::env(&name, &at.spot, context.env_allowed, report).then_some(name)
}

fn one_of<T: Copy, const N: usize>(
    cursor: &Cursor<'_>,
    text: &str,
    what: &str,
    known: &[(&'static str, T); N],
    report: &mut Report,
) -> Option<T> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == text) {
        return Some(*value);
    }
    let names = known.map(|(name, _)| name);
    let hint = match nearest(text, names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("write {}", listed(names)),
    };
    report.error(&cursor.spot, format!("unknown {what} {}", shown(text)), hint);
    None
}
