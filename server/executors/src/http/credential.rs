//! `options.http.auth` made ready: where a credential stands in a request.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{self, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use toolgate_core::definition::model::{AuthScheme, HttpAuth};

use super::headers;
use super::oauth::OAuthTemplate;
use super::plan::QuerySecret;
use crate::failure::Failure;
use crate::redact::Secrets;

/// A credential of a definition.
pub(crate) struct Credential {
    place: Place,
    env: String,
}

enum Place {
    Bearer,
    Basic,
    Header(HeaderName),
    Query(Arc<str>),
    Cookie(String),
    Token(Box<OAuthTemplate>),
    /// As the account provider says.
    Account,
}

impl Credential {
    /// Prepares it.
    ///
    /// # Errors
    /// `tool_unavailable` when the definition cannot be executed.
    pub(crate) fn new(auth: &HttpAuth) -> Result<Self, Failure> {
        let name = || {
            auth.name.as_deref().ok_or_else(|| {
                Failure::misconfigured("`auth` needs the `name` of the place that the value goes to")
            })
        };
        let place = match auth.scheme {
            AuthScheme::Bearer => Place::Bearer,
            AuthScheme::Basic => Place::Basic,
            AuthScheme::Header => Place::Header(headers::name(name()?)?),
            AuthScheme::Query => Place::Query(name()?.into()),
            AuthScheme::Cookie => Place::Cookie(name()?.to_owned()),
            AuthScheme::Account => Place::Account,
            AuthScheme::OAuth2 => match &auth.client {
                Some(client) => Place::Token(Box::new(OAuthTemplate::new(client)?)),
                None => {
                    return Err(Failure::misconfigured(
                        "`auth` with scheme `oauth2` needs a `client`",
                    ));
                }
            },
        };
        Ok(Self {
            place,
            env: auth.env.clone(),
        })
    }

    /// The variable or secret with the value; `None` when it is fetched.
    pub(crate) fn env(&self) -> Option<&str> {
        match &self.place {
            Place::Token(_) | Place::Account => None,
            _ => Some(&self.env),
        }
    }

    /// How it is fetched, if it is.
    pub(crate) fn token(&self) -> Option<&OAuthTemplate> {
        match &self.place {
            Place::Token(template) => Some(template),
            _ => None,
        }
    }

    /// Whether it is that of the caller's account.
    pub(crate) fn is_account(&self) -> bool {
        matches!(self.place, Place::Account)
    }

    /// Puts the value in its place; what must be kept out of the address comes back. What is to be redacted is added to
    /// `secrets`, which has the value itself already.
    pub(crate) fn present(
        &self,
        value: &SecretString,
        headers: &mut HeaderMap,
        secrets: &mut Secrets,
    ) -> Result<Option<QuerySecret>, Failure> {
        match &self.place {
            Place::Bearer => {
                headers.insert(header::AUTHORIZATION, headers::bearer(value)?);
            }
            Place::Header(name) => {
                headers.insert(name, headers::bare(value)?);
            }
            Place::Basic => {
                let (header, encoded) = headers::basic(value)?;
                secrets.add(&encoded);
                // The user's name may come back, the password not even without it.
                if let Some((_, password)) = value.expose_secret().split_once(':') {
                    secrets.add(&password.into());
                }
                headers.insert(header::AUTHORIZATION, header);
            }
            Place::Cookie(name) => {
                let value = cookie(name, value, headers.get(header::COOKIE))?;
                headers.insert(header::COOKIE, value);
            }
            Place::Query(name) => {
                return Ok(Some(QuerySecret {
                    name: Arc::clone(name),
                    value: value.clone(),
                }));
            }
            Place::Token(_) | Place::Account => {}
        }
        Ok(None)
    }
}

/// The cookies that are there already, and this one (RFC 6265 section 4.1.1 says what may be in it).
fn cookie(name: &str, value: &SecretString, others: Option<&HeaderValue>) -> Result<HeaderValue, Failure> {
    let value = value.expose_secret();
    let fits = value
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\'));
    let others = match others {
        None => Some(String::new()),
        Some(others) => others.to_str().ok().map(|others| format!("{others}; ")),
    };
    let invalid =
        || Failure::misconfigured("the credential's value holds characters that cookies do not allow");
    let text = others
        .filter(|_| fits)
        .map(|others| format!("{others}{name}={value}"))
        .ok_or_else(invalid)?;
    let mut header = HeaderValue::from_str(&text).map_err(|_| invalid())?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_joins_the_others() {
        let secret = SecretString::from("k1");
        let there = HeaderValue::from_static("a=1");
        assert_eq!(cookie("s", &secret, None).expect("fine"), "s=k1");
        assert_eq!(cookie("s", &secret, Some(&there)).expect("fine"), "a=1; s=k1");
        for bad in ["a b", "a;b", "a,b", "a\"b", "\u{e9}", "a\nb"] {
            assert!(cookie("s", &SecretString::from(bad), None).is_err(), "{bad}");
        }
    }
}
