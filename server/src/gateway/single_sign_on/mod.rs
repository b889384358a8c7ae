//! Single sign-on: users sign in at an OpenID Connect provider, by authorization code with PKCE.
//!
//! A browser is sent to the provider with an [`Attempt`] that it keeps in a cookie and has to bring back. The provider's ID token
//! says who it is; `person.rs` finds or makes the user, and brings what it holds up to date.

mod person;
mod provider;

use std::fs;
use std::sync::Arc;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use toolgate_api::ErrorCode;
use toolgate_api::auth::SignInWay;
use toolgate_core::ids::UserId;
use url::Url;

use self::provider::{Provider, ProviderError};
use crate::auth::external::IssuerHttp;
use crate::auth::random;
use crate::config::SignInProvider;
use crate::gateway::entry::Origin;
use crate::gateway::{Gateway, Problem};

/// Characters of what is made at random: 43 letters and digits have 256 bits.
const RANDOM: usize = 43;
/// Where a person goes after signing in, unless a page was asked for.
const START: &str = "/ui/";

/// The configured providers.
#[derive(Default)]
pub struct SingleSignOn {
    providers: Vec<Provider>,
}

/// A sign-in that a browser has begun. The browser keeps it, so that no other browser can end it.
#[derive(Serialize, Deserialize)]
pub struct Attempt {
    provider: String,
    state: String,
    nonce: String,
    verifier: String,
    /// The page to go to afterwards.
    pub next: String,
}

/// What a provider sends a browser back with.
#[derive(Deserialize)]
pub struct Answer {
    #[serde(default)]
    state: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    iss: Option<String>,
}

impl SingleSignOn {
    /// Reads the secrets of the clients. Providers are asked at the first sign-in.
    ///
    /// # Errors
    /// The file that cannot be read.
    pub fn new(configs: &[SignInProvider]) -> Result<Self, String> {
        let http = Arc::new(IssuerHttp::new());
        let provider = |config: &SignInProvider| {
            let secret = match &config.client_secret_file {
                None => config.client_secret.clone(),
                Some(path) => {
                    let text = fs::read_to_string(path)
                        .map_err(|error| format!("{:?}: reading {}: {error}", config.id, path.display()))?;
                    Some(SecretString::from(text.trim()))
                }
            };
            Ok(Provider::new(config.clone(), secret, Arc::clone(&http)))
        };
        let providers = configs.iter().map(provider).collect::<Result<_, String>>()?;
        Ok(Self { providers })
    }

    /// What a person can choose from.
    #[must_use]
    pub fn ways(&self) -> Vec<SignInWay> {
        let way = |provider: &Provider| SignInWay {
            id: provider.config.id.clone(),
            title: provider.config.title.clone(),
        };
        self.providers.iter().map(way).collect()
    }

    /// The id of the provider of an issuer, if one is configured.
    #[must_use]
    pub fn provider_of(&self, issuer: &str) -> Option<&str> {
        let mut providers = self.providers.iter();
        let found = providers.find(|provider| provider.issuer() == issuer)?;
        Some(&found.config.id)
    }

    fn find(&self, id: &str) -> Result<&Provider, Problem> {
        let found = self.providers.iter().find(|provider| provider.config.id == id);
        found.ok_or_else(|| Problem::not_found(format!("sign-in provider {id:?}")))
    }
}

/// Begins to sign in: where the browser goes, and what it has to keep.
///
/// # Errors
/// When there is no such provider, or it does not answer.
pub async fn begin(gateway: &Gateway, id: &str, next: Option<&str>) -> Result<(Url, Attempt), Problem> {
    let provider = gateway.single_sign_on.find(id)?;
    let fresh = || random::text(RANDOM).map_err(|error| Problem::internal(&error));
    let attempt = Attempt {
        provider: id.to_owned(),
        state: fresh()?,
        nonce: fresh()?,
        verifier: fresh()?,
        next: next.filter(|next| is_own_page(next)).unwrap_or(START).to_owned(),
    };
    let now = gateway.clock.now();
    let back_to = redirect_uri(gateway, id);
    let url = provider.authorization_url(&attempt, &back_to, now).await;
    Ok((url.map_err(|error| failed(&error))?, attempt))
}

/// Ends a sign-in: the user who has signed in.
///
/// # Errors
/// When the browser has not begun it, or the provider says no; when the user may not sign in here.
pub async fn complete(
    gateway: &Arc<Gateway>,
    id: &str,
    origin: &Origin,
    attempt: Option<&Attempt>,
    answer: &Answer,
) -> Result<UserId, Problem> {
    let provider = gateway.single_sign_on.find(id)?;
    let attempt = attempt
        .filter(|attempt| attempt.provider == id && attempt.state == answer.state)
        .ok_or_else(|| {
            Problem::new(
                ErrorCode::InvalidRequest,
                "This browser has not begun to sign in there, or took longer than ten minutes. Begin again.",
            )
        })?;
    if let Some(error) = &answer.error {
        let word = crate::gateway::accounts::error_word(error);
        return Err(failed(&ProviderError::Refused(word)));
    }
    let code = answer.code.as_deref().unwrap_or_default();
    let uri = redirect_uri(gateway, id);
    let now = gateway.clock.now();
    let person = provider.person(attempt, &uri, code, answer.iss.as_deref(), now);
    let person = person.await.map_err(|error| failed(&error))?;
    person::user(gateway, provider, origin, person).await
}

/// Where a browser goes that has signed out here.
///
/// # Errors
/// When there is no such provider.
pub async fn sign_out_url(gateway: &Gateway, id: &str) -> Result<String, Problem> {
    let provider = gateway.single_sign_on.find(id)?;
    let back_to = format!("{}/ui/sign-in", gateway.config.base_url());
    // One who has signed out here is not kept because the provider is away.
    let url = provider.sign_out_url(&back_to, gateway.clock.now()).await;
    Ok(url.ok().flatten().map_or(back_to, String::from))
}

fn redirect_uri(gateway: &Gateway, id: &str) -> String {
    format!("{}/auth/sign-in/{id}/callback", gateway.config.base_url())
}

/// `next` comes from an address, so it must be a page of this server and nothing else.
fn is_own_page(next: &str) -> bool {
    next.starts_with(START)
        && next.len() <= 2_000
        && !next.starts_with("/ui/sign-in")
        && !next.contains("//")
        && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn failed(error: &ProviderError) -> Problem {
    let code = match error {
        ProviderError::Unreachable(_) | ProviderError::JustFailed => ErrorCode::UpstreamUnavailable,
        ProviderError::Unusable(_) => ErrorCode::UpstreamInvalid,
        ProviderError::Refused(_) | ProviderError::Token(_) => ErrorCode::Forbidden,
    };
    Problem::new(code, error.to_string())
}
