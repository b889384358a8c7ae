//! The values that definitions only name: environment variables and secrets of the project.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use toolgate_api::remedy::Remedy;
use toolgate_core::definition::source::ValueSource;

use crate::config::{EnvSource, SecretSource};
use crate::failure::Failure;
use crate::redact::Secrets;

/// Where the values come from that definitions only name.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// What tools may use of the server's environment.
    pub(crate) envs: &'a dyn EnvSource,
    /// The secrets of the call's project.
    pub(crate) secrets: Option<&'a dyn SecretSource>,
}

impl Values<'_> {
    /// The values of these variables, by parameter.
    ///
    /// # Errors
    /// `tool_unavailable` with the first one that has no value.
    pub fn all(self, names: &BTreeMap<String, String>) -> Result<BTreeMap<String, SecretString>, Failure> {
        names
            .iter()
            .map(|(parameter, name)| Ok((parameter.clone(), self.required(name)?)))
            .collect()
    }

    /// Puts the values of these variables among arguments; the secrets that they are.
    ///
    /// # Errors
    /// As for [`Self::all`].
    pub(crate) fn inject(
        self,
        names: &BTreeMap<String, String>,
        arguments: &mut Map<String, Value>,
    ) -> Result<Secrets, Failure> {
        let mut secrets = Secrets::default();
        for (parameter, value) in self.all(names)? {
            secrets.add(&value);
            arguments.insert(parameter, Value::from(value.expose_secret()));
        }
        Ok(secrets)
    }

    /// The value of an environment variable, or of a secret when the name is `secret:NAME`.
    ///
    /// # Errors
    /// `tool_unavailable` when it has none.
    pub fn required(self, name: &str) -> Result<SecretString, Failure> {
        self.get(name).ok_or_else(|| missing(name))
    }

    /// The value, if it has one that is not empty.
    #[must_use]
    pub fn get(self, name: &str) -> Option<SecretString> {
        match ValueSource::of(name) {
            ValueSource::Env(name) => self.envs.get(name),
            ValueSource::Secret(name) => self.secrets.and_then(|secrets| secrets.get(name)),
        }
        .filter(|value| !value.expose_secret().is_empty())
    }
}

fn missing(name: &str) -> Failure {
    match ValueSource::of(name) {
        ValueSource::Env(name) => Failure::misconfigured(format!(
            "the environment variable {name} is not set or not offered to tools: set it and list it in TOOLGATE_TOOL_ENV"
        )),
        ValueSource::Secret(name) => Failure::misconfigured(format!(
            "the project has no secret {name}, or the server cannot read it: set it under /projects/{{project_id}}/secrets/{name}"
        ))
        .lifted_by(Remedy::SetSecret {
            name: name.to_string(),
        }),
    }
}
