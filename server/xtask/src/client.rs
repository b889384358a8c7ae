//! A small client of Toolgate's API for the tasks here.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::Agent;

/// Talks to one server as one caller.
pub(crate) struct Client {
    agent: Agent,
    address: String,
    token: Option<String>,
}

/// A body to send.
pub(crate) enum Body<'a> {
    /// Nothing.
    None,
    /// JSON.
    Json(&'a Value),
    /// Definitions as YAML.
    Yaml(&'a str),
}

impl Client {
    /// A client without a credential.
    pub(crate) fn new(address: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build();
        Self {
            agent: config.into(),
            address: address.to_owned(),
            token: None,
        }
    }

    /// The server's address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The key or token it presents.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The same server with a key or token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            agent: self.agent.clone(),
            address: self.address.clone(),
            token: Some(token.to_owned()),
        }
    }

    /// Signs in with a password.
    pub(crate) fn sign_in(&self, username: &str, password: &str) -> Result<Self> {
        let body = serde_json::json!({ "username": username, "password": password });
        let answer = self.send("POST", "/auth/login", &Body::Json(&body))?;
        Ok(self.with_token(text(&answer, "access_token")?))
    }

    /// A GET whose answer is JSON.
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.send("GET", path, &Body::None)
    }

    /// A POST of JSON whose answer is JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send("POST", path, &Body::Json(body))
    }

    /// Sends a request; anything but a 2xx answer is an error that shows the problem.
    pub(crate) fn send(&self, method: &str, path: &str, body: &Body<'_>) -> Result<Value> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if method == "PUT" {
            request = request.header("if-match", "*");
        }
        let what = || format!("{method} {path}");
        let answer = match body {
            Body::None => self.agent.run(request.body(())?),
            Body::Json(value) => self.agent.run(
                request
                    .header("content-type", "application/json")
                    .body(serde_json::to_vec(value)?)?,
            ),
            Body::Yaml(text) => self
                .agent
                .run(request.header("content-type", "application/yaml").body(*text)?),
        };
        let mut answer = answer.with_context(what)?;
        let status = answer.status();
        let text = answer.body_mut().read_to_string().with_context(what)?;
        if !status.is_success() {
            bail!("{} was answered with {status}: {text}", what());
        }
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).with_context(|| format!("{} was not answered with JSON: {text}", what()))
    }
}

/// A text member of an answer.
pub(crate) fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str> {
    value[member]
        .as_str()
        .with_context(|| format!("the answer has no text `{member}`: {value}"))
}
