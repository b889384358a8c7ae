//! Authorization requests (OAuth 2.1, section 4.1.1), and what is wrong with them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use url::{Url, form_urlencoded};

use super::clients::{self, Client};
use super::fault::{Fault, OauthError};
use super::{issuer, redirect};
use crate::config::Config;
use crate::gateway::Gateway;

/// Bytes of the query.
const LONGEST: usize = 8192;
/// Length of a challenge of the method `S256`: SHA-256 in base64url (RFC 7636, section 4.2).
const CHALLENGE_LENGTH: usize = 43;

/// The parameters as they came.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationRequest(HashMap<String, String>);

impl AuthorizationRequest {
    /// Reads a query. A parameter may come once (RFC 6749, section 3.1).
    ///
    /// # Errors
    /// A query that is too long or names a parameter twice: it is then not clear whom to answer.
    pub fn read(query: &str) -> Result<Self, Fault> {
        parameters(query.as_bytes()).map(Self)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// The parameters of a query or form, each once.
pub(super) fn parameters(text: &[u8]) -> Result<HashMap<String, String>, Fault> {
    let invalid = |description: String| Fault::new(OauthError::InvalidRequest, description);
    if text.len() > LONGEST {
        return Err(invalid(format!("The request has more than {LONGEST} bytes.")));
    }
    let mut all = HashMap::new();
    for (name, value) in form_urlencoded::parse(text) {
        let known: String = name.chars().take(40).filter(|c| !c.is_control()).collect();
        if name.contains('\0') || value.contains('\0') {
            return Err(invalid(format!("`{known}` has the character U+0000.")));
        }
        if all.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(invalid(format!("`{known}` is there twice. Send it once.")));
        }
    }
    Ok(all)
}

/// A request that a user can decide about.
pub struct Valid {
    pub(super) client: Client,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) state: Option<String>,
    /// The project whose address `resource` is.
    pub(super) project: String,
}

/// What a request is worth.
pub enum Checked {
    /// A user can decide about it.
    Valid(Box<Valid>),
    /// Client and address are known, the rest is wrong: the client is answered there.
    Redirect(String),
}

/// Checks what a client that registered itself asks for. A client that is known by an address is not looked for: nothing is
/// fetched for a person who has not signed in. `None` for such a one.
///
/// # Errors
/// A client or redirection address that is not trusted: the user reads it, and the client gets no answer.
pub async fn check_registered(
    gateway: &Gateway,
    request: &AuthorizationRequest,
) -> Result<Option<Checked>, Fault> {
    let id = client_id(request)?;
    if clients::is_address(id) {
        return Ok(None);
    }
    let client = clients::registered(gateway, id).await?;
    checked(&gateway.config, client, request).map(Some)
}

/// Checks a request for a user who is signed in.
///
/// # Errors
/// As [`check_registered`].
pub(super) async fn check(
    gateway: &Gateway,
    request: &AuthorizationRequest,
    user: &str,
    now: DateTime<Utc>,
) -> Result<Checked, Fault> {
    let client = clients::find(gateway, client_id(request)?, user, now).await?;
    checked(&gateway.config, client, request)
}

fn client_id(request: &AuthorizationRequest) -> Result<&str, Fault> {
    let id = request.get("client_id");
    id.ok_or_else(|| Fault::new(OauthError::InvalidRequest, "`client_id` is missing."))
}

fn checked(config: &Config, client: Client, request: &AuthorizationRequest) -> Result<Checked, Fault> {
    let given = request
        .get("redirect_uri")
        .ok_or_else(|| Fault::new(OauthError::InvalidRequest, "`redirect_uri` is missing."))?;
    if !client
        .redirect_uris
        .iter()
        .any(|uri| redirect::matches(uri, given))
    {
        return Err(Fault::new(
            OauthError::InvalidRequest,
            "`redirect_uri` is none of the addresses that the client has registered.",
        ));
    }
    let redirect_uri = given.to_owned();
    let state = request.get("state").map(str::to_owned);
    Ok(match rest(config, request) {
        Ok((challenge, project)) => Checked::Valid(Box::new(Valid {
            client,
            redirect_uri,
            challenge,
            state,
            project,
        })),
        Err(fault) => Checked::Redirect(refusal(config, &redirect_uri, state.as_deref(), &fault)),
    })
}

/// The challenge and the project.
fn rest(config: &Config, request: &AuthorizationRequest) -> Result<(String, String), Fault> {
    let invalid = |description: &str| Fault::new(OauthError::InvalidRequest, description);
    match request.get("response_type") {
        Some("code") => {}
        None => return Err(invalid("`response_type` is missing.")),
        Some(_) => {
            return Err(Fault::new(
                OauthError::UnsupportedResponseType,
                "`response_type` must be `code`.",
            ));
        }
    }
    if request.get("response_mode").is_some_and(|mode| mode != "query") {
        return Err(invalid("`response_mode` must be `query`."));
    }
    if request.get("code_challenge_method") != Some("S256") {
        return Err(invalid("`code_challenge_method` must be `S256`."));
    }
    let is_challenge = |text: &&str| {
        text.len() == CHALLENGE_LENGTH
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let challenge = request.get("code_challenge").filter(is_challenge);
    let challenge = challenge
        .ok_or_else(|| invalid("`code_challenge` must be the SHA-256 of the verifier in base64url."))?;
    let project = request
        .get("resource")
        .and_then(|resource| project_of(config, resource));
    let project = project.ok_or_else(|| {
        Fault::new(
            OauthError::InvalidTarget,
            format!(
                "`resource` must be the address of a project's MCP endpoint here: {}/projects/<project>/mcp.",
                issuer(config)
            ),
        )
    })?;
    Ok((challenge.to_owned(), project))
}

/// The project whose MCP endpoint an address is. The query says what a client asks for there, and does not matter.
pub(super) fn project_of(config: &Config, resource: &str) -> Option<String> {
    let given = Url::parse(resource).ok()?;
    let own = Url::parse(&config.base_url()).ok()?;
    if given.origin() != own.origin()
        || given.fragment().is_some()
        || !given.username().is_empty()
        || given.password().is_some()
    {
        return None;
    }
    let below = given.path().strip_prefix(own.path().trim_end_matches('/'))?;
    let id = below.strip_prefix("/projects/")?.strip_suffix("/mcp")?;
    toolgate_core::ids::ProjectId::parse(id).ok().map(String::from)
}

/// The client's address with an error (RFC 6749, section 4.1.2.1; `iss`: RFC 9207).
pub(super) fn refusal(config: &Config, redirect_uri: &str, state: Option<&str>, fault: &Fault) -> String {
    let issuer = issuer(config);
    let mut parameters = vec![
        ("error", fault.error.as_str()),
        ("error_description", fault.description.as_str()),
    ];
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", &issuer));
    redirect::with_parameters(redirect_uri, &parameters)
}
