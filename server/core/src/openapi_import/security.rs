//! What an operation asks its callers to present (OpenAPI, "Security Requirement Object").

use serde_json::{Map, Value, json};

use super::document::Document;
use super::draft::{Draft, NewArgument};
use super::model::{Converted, Dialect, ImportOptions};
use super::servers;
use crate::definition::model::request::{ParameterLocation, RequestParameter};
use crate::http_mapping::places::Place;
use crate::imports::SecurityNeed;

/// One thing that must be presented, and how.
pub(super) struct Requirement {
    pub(super) need: SecurityNeed,
    kind: Kind,
}

/// How a credential is presented.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Bearer,
    Basic,
    /// A token that is given, or that a client gets at this address.
    OAuth2(Option<String>),
    Header(String),
    Query(String),
    Cookie(String),
    Unsupported,
}

impl Kind {
    /// Whether only `auth` presents it: the other kinds may be parameters too.
    const fn is_for_auth(&self) -> bool {
        matches!(
            self,
            Self::Bearer | Self::Basic | Self::OAuth2(_) | Self::Query(_)
        )
    }

    /// Name and location as a parameter, for those that may be one.
    fn as_parameter(&self) -> Option<(&str, ParameterLocation)> {
        match self {
            Self::Header(name) => Some((name, ParameterLocation::Header)),
            Self::Cookie(name) => Some((name, ParameterLocation::Cookie)),
            Self::Bearer | Self::Basic | Self::OAuth2(_) | Self::Query(_) | Self::Unsupported => None,
        }
    }

    /// Where it is sent.
    fn place(&self) -> Option<Place<'_>> {
        let (name, location) = match self {
            Self::Bearer | Self::Basic | Self::OAuth2(_) => ("Authorization", ParameterLocation::Header),
            Self::Query(name) => (name.as_str(), ParameterLocation::Query),
            Self::Header(_) | Self::Cookie(_) => self.as_parameter()?,
            Self::Unsupported => return None,
        };
        Place::of_parameter(location, name)
    }
}

/// The ways in which an operation can be called: any of them, with everything in it. Empty: without credentials.
pub(super) fn alternatives(document: Document<'_>, operation: &Value) -> Vec<Vec<Requirement>> {
    let listed = operation
        .get("security")
        .or_else(|| document.root.get("security"))
        .and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|needs| {
            needs
                .iter()
                .map(|(name, scopes)| requirement(document, name, scopes))
                .collect()
        })
        .collect()
}

fn requirement(document: Document<'_>, name: &str, scopes: &Value) -> Requirement {
    let schemes = match document.dialect {
        Dialect::Swagger2 => document.root.get("securityDefinitions"),
        Dialect::OpenApi30 | Dialect::OpenApi31 | Dialect::OpenApi32 => document
            .root
            .get("components")
            .and_then(|components| components.get("securitySchemes")),
    };
    let scheme = schemes
        .and_then(|schemes| schemes.get(name))
        .and_then(|scheme| document.follow(scheme).ok())
        .unwrap_or(&Value::Null);
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    let (what, kind) = match (text("type"), text("scheme").to_ascii_lowercase().as_str()) {
        ("apiKey", _) => {
            let key = text("name");
            match text("in") {
                "header" => (
                    format!("an API key in the header {key}"),
                    Kind::Header(key.to_owned()),
                ),
                "cookie" => (
                    format!("an API key in the cookie {key}"),
                    Kind::Cookie(key.to_owned()),
                ),
                "query" => (
                    format!("an API key in the query parameter {key}"),
                    Kind::Query(key.to_owned()),
                ),
                _ => ("an API key".to_owned(), Kind::Unsupported),
            }
        }
        ("http", "bearer") => ("a bearer token".to_owned(), Kind::Bearer),
        ("http", "basic") | ("basic", _) => ("a user and a password".to_owned(), Kind::Basic),
        ("http", other) => (format!("the HTTP scheme {other}"), Kind::Unsupported),
        ("oauth2", _) => match token_url(scheme) {
            None => ("an OAuth 2 access token".to_owned(), Kind::OAuth2(None)),
            url => (
                "an OAuth 2 access token, or the id and the secret of a client".to_owned(),
                Kind::OAuth2(url),
            ),
        },
        ("openIdConnect", _) => ("an OpenID Connect access token".to_owned(), Kind::Bearer),
        ("mutualTLS", _) => ("a client certificate".to_owned(), Kind::Unsupported),
        _ => (
            "something that the description does not describe".to_owned(),
            Kind::Unsupported,
        ),
    };
    let scopes = scopes.as_array().into_iter().flatten();
    Requirement {
        need: SecurityNeed {
            scheme: name.to_owned(),
            what,
            scopes: scopes.filter_map(Value::as_str).map(str::to_owned).collect(),
            supported: kind != Kind::Unsupported,
        },
        kind,
    }
}

/// Where a client that acts for itself gets tokens, if it can.
fn token_url(scheme: &Value) -> Option<String> {
    let flow = match scheme.get("flows") {
        Some(flows) => flows.get("clientCredentials")?,
        None if scheme.get("flow")? == "application" => scheme,
        None => return None,
    };
    flow.get("tokenUrl")?.as_str().map(str::to_owned)
}

/// What a definition says about credentials.
#[derive(Default)]
pub(super) struct Credentials {
    /// `options.http.auth`.
    pub(super) auth: Option<Value>,
    /// `options.envs`.
    pub(super) envs: Map<String, Value>,
}

/// The credentials that a tool presents.
pub(super) struct Chosen<'n> {
    needs: &'n [Requirement],
    /// The one that `options.http.auth` presents.
    first: usize,
}

impl Chosen<'_> {
    /// Whether a credential is sent in this place.
    pub(super) fn has(&self, place: Place<'_>) -> bool {
        let presented = self
            .needs
            .iter()
            .enumerate()
            .filter(|(at, need)| *at == self.first || need.kind.as_parameter().is_some());
        presented
            .filter_map(|(_, need)| need.kind.place())
            .any(|own| own.overlaps(place))
    }
}

/// The first alternative for which every credential is there. Without one, the tool is called without: what it needs is in
/// the preview.
pub(super) fn choose<'n>(
    draft: &mut Draft<'_, '_>,
    alternatives: &'n [Vec<Requirement>],
    options: &ImportOptions,
) -> Option<Chosen<'n>> {
    let has = |Requirement { need, .. }: &Requirement| {
        need.supported && options.credentials.contains_key(&need.scheme)
    };
    let chosen = alternatives
        .iter()
        .find(|needs| !needs.is_empty() && needs.iter().all(has));
    if let Some(needs) = chosen {
        // What nothing else can present comes first.
        let first = needs
            .iter()
            .position(|need| need.kind.is_for_auth())
            .unwrap_or_default();
        return Some(Chosen { needs, first });
    }
    let optional = alternatives.is_empty() || alternatives.iter().any(Vec::is_empty);
    if !optional {
        let ways: Vec<String> = alternatives
            .iter()
            .map(|needs| {
                needs
                    .iter()
                    .map(|requirement| requirement.need.what.as_str())
                    .collect::<Vec<_>>()
                    .join(" and ")
            })
            .collect();
        draft.note(format!(
            "the tool presents no credential; the API asks for {}",
            ways.join(", or ")
        ));
    }
    None
}

/// What a definition says about the credentials that were chosen.
///
/// # Errors
/// Why an argument cannot be added.
pub(super) fn present(
    draft: &mut Draft<'_, '_>,
    chosen: Option<&Chosen<'_>>,
    options: &ImportOptions,
) -> Result<Credentials, String> {
    let mut credentials = Credentials::default();
    let Some(chosen) = chosen else {
        return Ok(credentials);
    };
    let main = &chosen.needs[chosen.first];
    credentials.auth = Some(auth(main, &options.credentials[&main.need.scheme], options)?);
    let mut places: Vec<_> = main.kind.place().into_iter().collect();
    for (at, Requirement { need, kind }) in chosen.needs.iter().enumerate() {
        if at == chosen.first {
            continue;
        }
        let free = kind
            .place()
            .filter(|place| !places.iter().any(|taken| taken.overlaps(*place)));
        match (kind.as_parameter(), free) {
            (Some((name, location)), Some(place)) => {
                places.push(place);
                let source = &options.credentials[&need.scheme];
                as_parameter(draft, &mut credentials, need, name, location, source)?;
            }
            _ => draft.note(format!(
                "{} is not presented: another credential has its place",
                need.what
            )),
        }
    }
    Ok(credentials)
}

/// `options.http.auth` for one credential.
///
/// # Errors
/// That a client has nowhere to get tokens.
fn auth(
    Requirement { need, kind }: &Requirement,
    source: &str,
    options: &ImportOptions,
) -> Result<Value, String> {
    Ok(match kind {
        Kind::Header(name) => json!({"scheme": "header", "env": source, "name": name}),
        Kind::Query(name) => json!({"scheme": "query", "env": source, "name": name}),
        Kind::Cookie(name) => json!({"scheme": "cookie", "env": source, "name": name}),
        Kind::Basic => json!({"scheme": "basic", "env": source}),
        Kind::OAuth2(url) if source.contains('/') => {
            let (id, secret) = source.split_once('/').unwrap_or((source, ""));
            let url = url
                .as_deref()
                .and_then(|url| servers::absolute(url, options).ok());
            let url = url.ok_or_else(|| {
                format!(
                    "the description does not say where a client gets tokens for {}: name the source of a token",
                    need.scheme
                )
            })?;
            let mut client = json!({"token_url": url, "client_id": id, "client_secret": secret});
            if !need.scopes.is_empty() {
                client["scopes"] = json!(need.scopes);
            }
            json!({"scheme": "oauth2", "client": client})
        }
        Kind::Bearer | Kind::OAuth2(_) | Kind::Unsupported => json!({"scheme": "bearer", "env": source}),
    })
}

/// A further credential is an environment parameter, which callers neither see nor set.
fn as_parameter(
    draft: &mut Draft<'_, '_>,
    credentials: &mut Credentials,
    need: &SecurityNeed,
    name: &str,
    location: ParameterLocation,
    source: &str,
) -> Result<(), String> {
    let argument = draft.argument(NewArgument {
        wish: &need.scheme,
        place: "credential",
        schema: Converted {
            schema: json!({"type": "string"}),
            ..Converted::default()
        },
        description: Some(&need.what),
        required: false,
    })?;
    credentials.envs.insert(argument.clone(), json!(source));
    draft.request.parameters.push(RequestParameter {
        name: name.to_owned(),
        location,
        argument: (argument != name).then_some(argument),
        style: None,
        explode: None,
        allow_reserved: false,
        content_type: None,
    });
    Ok(())
}
