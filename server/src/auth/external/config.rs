//! How an external issuer is configured.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolgate_core::ids::ProjectId;
use toolgate_core::principal::Role;
use url::{Host, Url};

use super::Algorithm;

/// One external issuer and what its subjects get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuerConfig {
    /// The exact `iss` of its tokens.
    pub issuer: String,
    /// The `aud` that means this server.
    pub audience: String,
    /// Where it publishes its keys.
    pub jwks_url: Url,
    /// What it may sign with; RS256, ES256 and EdDSA unless configured.
    #[serde(default = "default_algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// The `typ` that its access tokens have; `at+jwt` and `JWT` unless configured.
    #[serde(default = "default_types")]
    pub types: Vec<TokenType>,
    /// The claim that lists groups: an array of texts, or one text with spaces between them. A token without the claim
    /// brings no groups; `*` in it stands for all.
    #[serde(default = "default_groups_claim")]
    pub groups_claim: String,
    /// The role of its subjects.
    #[serde(default = "default_role")]
    pub role: Role,
    /// The projects that its subjects may act in.
    #[serde(default)]
    pub projects: Vec<ProjectId>,
    /// Permits `http` in `jwks_url`, for a loopback address only.
    #[serde(default)]
    pub allow_http: bool,
}

/// The type of a token, by its `typ` header (RFC 8725, section 3.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenType {
    /// An access token (RFC 9068).
    #[serde(rename = "at+jwt")]
    AccessToken,
    /// Any token. Make sure that the issuer's identity tokens have another audience.
    #[serde(rename = "JWT")]
    Jwt,
    /// No `typ` at all.
    #[serde(rename = "absent")]
    Absent,
}

impl TokenType {
    /// Media types are compared without regard to case, and `application/` may be left out (RFC 7515, section 4.1.9).
    pub(super) fn of(typ: Option<&str>) -> Option<Self> {
        let Some(typ) = typ else { return Some(Self::Absent) };
        let lower = typ.to_ascii_lowercase();
        match lower.strip_prefix("application/").unwrap_or(&lower) {
            "at+jwt" => Some(Self::AccessToken),
            "jwt" => Some(Self::Jwt),
            _ => None,
        }
    }
}

/// Why an issuer's configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IssuerConfigError {
    /// A text that must not be empty.
    #[error("issuer {issuer:?}: {field} is empty; set it")]
    Empty {
        /// Which issuer.
        issuer: String,
        /// Which setting.
        field: &'static str,
    },
    /// Keys over an unprotected connection.
    #[error("issuer {issuer:?}: jwks_url {url} is not https (http needs allow_http and a loopback address)")]
    Scheme {
        /// Which issuer.
        issuer: String,
        /// The address.
        url: Url,
    },
    /// The address carries a name or password.
    #[error("issuer {issuer:?}: jwks_url must not contain a user name or password")]
    UserInfo {
        /// Which issuer.
        issuer: String,
    },
}

impl IssuerConfig {
    /// Checks what types cannot express.
    pub(super) fn check(&self) -> Result<(), IssuerConfigError> {
        let issuer = || self.issuer.clone();
        let filled = [
            ("issuer", self.issuer.is_empty()),
            ("audience", self.audience.is_empty()),
            ("algorithms", self.algorithms.is_empty()),
            ("types", self.types.is_empty()),
            ("groups_claim", self.groups_claim.is_empty()),
        ];
        if let Some((field, _)) = filled.into_iter().find(|(_, empty)| *empty) {
            return Err(IssuerConfigError::Empty {
                issuer: issuer(),
                field,
            });
        }
        let protected = match self.jwks_url.scheme() {
            "https" => true,
            "http" => self.allow_http && is_loopback(&self.jwks_url),
            _ => false,
        };
        if !protected {
            return Err(IssuerConfigError::Scheme {
                issuer: issuer(),
                url: self.jwks_url.clone(),
            });
        }
        if !self.jwks_url.username().is_empty() || self.jwks_url.password().is_some() {
            return Err(IssuerConfigError::UserInfo { issuer: issuer() });
        }
        Ok(())
    }
}

/// Whether an address is of this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// What issuers may sign with unless configured.
pub(crate) fn default_algorithms() -> Vec<Algorithm> {
    vec![Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa]
}

fn default_types() -> Vec<TokenType> {
    vec![TokenType::AccessToken, TokenType::Jwt]
}

fn default_groups_claim() -> String {
    "groups".to_owned()
}

fn default_role() -> Role {
    Role::Agent
}
