//! A request that is ready to be sent, and what it is made from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;

use super::redirect::Hop;
use crate::failure::Failure;
use crate::redact::Secrets;

/// Everything a template needs besides the definition.
pub(crate) struct Inputs {
    /// The merged arguments of the call.
    pub(crate) arguments: Map<String, Value>,
    /// Parameter name to environment value. These win over arguments of the same name.
    pub(crate) envs: BTreeMap<String, SecretString>,
    /// The credential that the definition names, when there is one.
    pub(crate) credential: Option<SecretString>,
}

/// One argument, from the caller or from the environment.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a> {
    /// Given in the call, by a default or fixed in the definition.
    Given(&'a Value),
    /// Taken from the environment: it must not reach a URL, a log or a message.
    Env(&'a SecretString),
}

impl Inputs {
    /// The argument of that name; null counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<Argument<'_>> {
        if let Some(secret) = self.envs.get(name) {
            return Some(Argument::Env(secret));
        }
        self.arguments
            .get(name)
            .filter(|value| !value.is_null())
            .map(Argument::Given)
    }

    /// Every argument, null ones left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Argument<'_>)> {
        let given = self
            .arguments
            .iter()
            .filter(|(name, value)| !value.is_null() && !self.envs.contains_key(*name))
            .map(|(name, value)| (name.as_str(), Argument::Given(value)));
        given.chain(
            self.envs
                .iter()
                .map(|(name, secret)| (name.as_str(), Argument::Env(secret))),
        )
    }

    /// The values that must not come back in any text.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for secret in self.envs.values().chain(&self.credential) {
            secrets.add(secret);
        }
        secrets
    }
}

impl<'a> Argument<'a> {
    /// As a value of a JSON body.
    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Given(value) => value.clone(),
            Self::Env(secret) => Value::String(secret.expose_secret().to_owned()),
        }
    }

    /// The value, refused when it would put an environment value into a URL.
    pub(crate) fn for_url(self, name: &str) -> Result<&'a Value, Failure> {
        match self {
            Self::Given(value) => Ok(value),
            Self::Env(_) => Err(Failure::misconfigured(format!(
                "the environment parameter `{name}` would be part of the URL, where secrets leak into logs: map it to a header or the body"
            ))),
        }
    }
}

/// The text of a string, number or boolean.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Appends one argument to a query: lists repeat the name, objects are JSON text, null is left out.
pub(crate) fn append_query(
    query: &mut url::form_urlencoded::Serializer<'_, String>,
    name: &str,
    value: &Value,
) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for item in items.iter().filter(|item| !item.is_null()) {
                query.append_pair(name, &scalar(item).unwrap_or_else(|| item.to_string()));
            }
        }
        Value::String(text) => {
            query.append_pair(name, text);
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            query.append_pair(name, &value.to_string());
        }
    }
}

/// A request that is ready to be sent. Nothing in its `Debug` form depends on arguments or secrets.
pub(crate) struct RequestPlan {
    /// What is sent first; redirects may follow.
    pub(crate) first: Hop,
    /// What must be removed from every text that comes back.
    pub(crate) secrets: Secrets,
}

/// A query parameter whose value is a secret.
#[derive(Debug, Clone)]
pub(crate) struct QuerySecret {
    pub(crate) name: Arc<str>,
    pub(crate) value: SecretString,
}

impl QuerySecret {
    /// The address with the parameter at its end. It is for the connection only.
    pub(crate) fn add_to(&self, url: &Url) -> Url {
        let mut url = url.clone();
        url.query_pairs_mut()
            .append_pair(&self.name, self.value.expose_secret());
        url
    }
}

impl RequestPlan {
    /// Presents an access token, and redacts it from then on.
    pub(crate) fn present(&mut self, token: &SecretString) -> Result<(), Failure> {
        self.first
            .headers
            .insert(header::AUTHORIZATION, super::headers::bearer(token)?);
        self.secrets.add(token);
        Ok(())
    }

    /// Adds the headers of a trace, unless the definition sets them itself.
    pub(crate) fn hand_on(&mut self, trace: HeaderMap) {
        for (name, value) in trace {
            if let Some(name) = name.filter(|name| !self.first.headers.contains_key(name)) {
                self.first.headers.insert(name, value);
            }
        }
    }
}

impl fmt::Debug for RequestPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestPlan")
            .field("method", &self.first.method)
            .field("origin", &self.first.url.origin().ascii_serialization())
            .field("body_bytes", &self.first.body.as_ref().map(Bytes::len))
            .field("secrets", &self.secrets)
            .finish_non_exhaustive()
    }
}

/// What a test gives a template: arguments, values of the environment, and the credential.
#[cfg(test)]
pub(crate) fn inputs(arguments: Value, envs: &[(&str, &str)], credential: Option<&str>) -> Inputs {
    let Value::Object(arguments) = arguments else {
        panic!("an object")
    };
    let envs = envs.iter();
    Inputs {
        arguments,
        envs: envs
            .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
            .collect(),
        credential: credential.map(SecretString::from),
    }
}
