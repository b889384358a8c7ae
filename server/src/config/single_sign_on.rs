//! OpenID Connect providers at which users sign in.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;
use toolgate_core::ids::ProjectId;
use toolgate_core::principal::Role;
use url::Url;

use crate::auth::external::{Algorithm, default_algorithms, is_loopback};

/// Longest id, in characters.
const LONGEST_ID: usize = 32;

/// A provider, and what its users get here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignInProvider {
    /// Names it in addresses: lower-case letters, digits and `-`.
    pub id: String,
    /// What the button of the sign-in page says after "Sign in with".
    pub title: String,
    /// The exact `iss` of its ID tokens; its metadata is at `<issuer>/.well-known/openid-configuration`.
    pub issuer: Url,
    /// The client that this server is for it.
    pub client_id: String,
    /// The client's secret; without one the client is public, and PKCE alone protects the code.
    #[serde(default)]
    pub client_secret: Option<SecretString>,
    /// The file with the client's secret, instead of `client_secret`.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// What is asked for; `openid`, `profile` and `email` unless configured.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<String>,
    /// The claim with the user name.
    #[serde(default = "default_username_claim")]
    pub username_claim: String,
    /// The claim that lists the user's groups at the provider: an array of texts, or one text with spaces between them.
    #[serde(default = "default_groups_claim")]
    pub groups_claim: String,
    /// Groups at the provider whose members are system administrators here. Without any, the provider decides nothing about that.
    #[serde(default)]
    pub system_admins: Vec<String>,
    /// What users hold in projects.
    #[serde(default)]
    pub projects: Vec<ProjectRule>,
    /// Whether who signs in takes over the user of the same name. Only for providers whose user names cannot be chosen freely.
    #[serde(default)]
    pub adopt_users: bool,
    /// What it may sign with; RS256, ES256 and EdDSA unless configured.
    #[serde(default = "default_algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// Permits `http`, for a loopback address only.
    #[serde(default)]
    pub allow_http: bool,
}

/// What the members of some groups at the provider hold in a project.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectRule {
    /// The project.
    pub project: ProjectId,
    /// The groups at the provider, one of which is enough; absent: everybody who signs in there.
    #[serde(default)]
    pub when: Option<Vec<String>>,
    /// The role.
    pub role: Role,
    /// The groups of tools; `*` stands for all.
    #[serde(default)]
    pub groups: Vec<String>,
}

impl SignInProvider {
    /// What is wrong with it, if anything.
    fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !(1..=LONGEST_ID).contains(&self.id.len()) || !self.id.chars().all(plain) {
            return Some("an id has 1-32 lower-case letters, digits and '-'".to_owned());
        }
        let empty = [("title", &self.title), ("client_id", &self.client_id)];
        if let Some((field, _)) = empty.into_iter().find(|(_, text)| text.trim().is_empty()) {
            return Some(format!("{field} is empty; set it"));
        }
        let protected = self.issuer.scheme() == "https" || self.allow_http && is_loopback(&self.issuer);
        if !protected {
            return Some("issuer is not https (http needs allow_http and a loopback address)".to_owned());
        }
        if !self.scopes.iter().any(|scope| scope == "openid") {
            return Some("scopes lacks openid".to_owned());
        }
        if self.client_secret.is_some() && self.client_secret_file.is_some() {
            return Some("set either client_secret or client_secret_file".to_owned());
        }
        if self.algorithms.is_empty() {
            return Some("algorithms is empty; leave it out or name one".to_owned());
        }
        None
    }
}

/// What is wrong with the providers, if anything.
pub(super) fn fault(providers: &[SignInProvider]) -> Option<String> {
    for (at, provider) in providers.iter().enumerate() {
        let earlier = &providers[..at];
        let fault = provider.fault().or_else(|| {
            let twice = earlier
                .iter()
                .any(|other| other.id == provider.id || other.issuer == provider.issuer);
            twice.then(|| "another provider has the same id or issuer".to_owned())
        });
        if let Some(fault) = fault {
            return Some(format!("{:?}: {fault}", provider.id));
        }
    }
    None
}

fn default_scopes() -> Vec<String> {
    ["openid", "profile", "email"].map(str::to_owned).into()
}

fn default_username_claim() -> String {
    "preferred_username".to_owned()
}

fn default_groups_claim() -> String {
    "groups".to_owned()
}
