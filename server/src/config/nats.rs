//! The message bus.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;
use toolgate_core::definition::queue::SubjectRules;
use toolgate_executors::{BusAuth, BusConfig, BusTls};

/// Messages of one subscription that may wait to be read.
const WAITING: usize = 65_536;

/// How the message bus (NATS) is reached, and what tool services may use of it. There is none without `url`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatsConfig {
    /// The servers: `nats://host[:port]` or `tls://host[:port]`.
    pub url: Vec<String>,
    /// The user name, with `password`.
    #[serde(default)]
    pub user: Option<String>,
    /// The password of `user`.
    #[serde(default)]
    pub password: Option<SecretString>,
    /// A credentials file (a token and the seed that signs for it).
    #[serde(default)]
    pub credentials_file: Option<PathBuf>,
    /// The seed of an nkey.
    #[serde(default)]
    pub nkey_seed: Option<SecretString>,
    /// Whether a server without TLS is refused.
    pub require_tls: bool,
    /// Authorities of servers' certificates besides those of the system, in PEM.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The certificate of this client in PEM, with `key_file`.
    #[serde(default)]
    pub cert_file: Option<PathBuf>,
    /// The key of `cert_file`.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// The subjects that the tool services of a project may use; `{project_id}` is the project's id.
    pub subjects: Vec<String>,
    /// Who may connect to the bus, where its servers ask Toolgate.
    pub auth_callout: AuthCalloutConfig,
}

/// The servers of the bus ask Toolgate who may connect (auth callout), if there is a seed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthCalloutConfig {
    /// The seed of the account that signs permissions: the `issuer` of the servers.
    #[serde(default)]
    pub issuer_seed: Option<SecretString>,
    /// The account of the bus that programs are placed in; that of Toolgate's own user.
    pub account: String,
    /// The seed of the curve key that requests and answers are encrypted with: the `xkey` of the servers.
    #[serde(default)]
    pub xkey_seed: Option<SecretString>,
}

impl NatsConfig {
    /// How the bus is reached; `None` when there is none.
    ///
    /// # Errors
    /// The setting that is wrong, and why.
    pub fn bus(&self) -> Result<Option<BusConfig>, (&'static str, String)> {
        let subjects =
            SubjectRules::parse(&self.subjects).map_err(|error| ("nats.subjects", error.to_string()))?;
        let tls = BusTls {
            required: self.require_tls,
            ca_file: self.ca_file.clone(),
            client: both(
                ("nats.cert_file", self.cert_file.clone()),
                ("nats.key_file", self.key_file.clone()),
            )?,
        };
        let auth = self.auth()?;
        Ok((!self.url.is_empty()).then(|| BusConfig {
            servers: self.url.clone(),
            auth,
            tls,
            subjects,
            capacity: WAITING,
        }))
    }

    fn auth(&self) -> Result<BusAuth, (&'static str, String)> {
        let password = both(
            ("nats.user", self.user.clone()),
            ("nats.password", self.password.clone()),
        )?;
        let ways = [
            password.map(|(user, password)| ("nats.user", BusAuth::Password(user, password))),
            self.nkey_seed
                .clone()
                .map(|seed| ("nats.nkey_seed", BusAuth::Nkey(seed))),
            self.credentials_file
                .clone()
                .map(|path| ("nats.credentials_file", BusAuth::CredentialsFile(path))),
        ];
        let mut ways = ways.into_iter().flatten();
        let Some((_, auth)) = ways.next() else {
            return Ok(BusAuth::None);
        };
        match ways.next() {
            None => Ok(auth),
            Some((second, _)) => Err((
                second,
                "set one of nats.user with nats.password, nats.nkey_seed and nats.credentials_file"
                    .to_owned(),
            )),
        }
    }
}

/// Two settings of which neither means anything without the other.
fn both<A, B>(
    (first, one): (&'static str, Option<A>),
    (second, other): (&'static str, Option<B>),
) -> Result<Option<(A, B)>, (&'static str, String)> {
    match (one, other) {
        (Some(one), Some(other)) => Ok(Some((one, other))),
        (None, None) => Ok(None),
        (Some(_), None) => Err((first, format!("set {second} too"))),
        (None, Some(_)) => Err((second, format!("set {first} too"))),
    }
}
