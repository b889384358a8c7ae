//! The keys of the auth callout: that which signs permissions, and that which requests and answers are encrypted with.

use nkeys::{KeyPair, XKey};
use secrecy::ExposeSecret;

use crate::config::AuthCalloutConfig;

/// What this server signs and decrypts with.
pub(super) struct Keys {
    pub(super) issuer: KeyPair,
    /// The account that programs are placed in.
    pub(super) account: String,
    curve: Option<XKey>,
}

impl Keys {
    /// The keys of the settings; `None` without a seed.
    pub(super) fn of(config: &AuthCalloutConfig) -> anyhow::Result<Option<Self>> {
        let Some(seed) = &config.issuer_seed else {
            return Ok(None);
        };
        let curve = config.xkey_seed.as_ref();
        Ok(Some(Self {
            issuer: KeyPair::from_seed(seed.expose_secret())?,
            account: config.account.clone(),
            curve: curve
                .map(|seed| XKey::from_seed(seed.expose_secret()))
                .transpose()?,
        }))
    }

    /// What a request says.
    pub(super) fn open(&self, payload: &[u8], server: Option<&str>) -> Result<String, String> {
        let text = match (&self.curve, server) {
            (None, None) => payload.to_vec(),
            (Some(curve), Some(server)) => {
                let server = XKey::from_public_key(server).map_err(|error| error.to_string())?;
                curve.open(payload, &server).map_err(|error| {
                    format!("nats.auth_callout.xkey_seed is not the `xkey` of the NATS server: {error}")
                })?
            }
            (Some(_), None) => {
                return Err(
                    "the NATS server does not encrypt; set its `xkey`, or remove nats.auth_callout.xkey_seed"
                        .to_owned(),
                );
            }
            (None, Some(_)) => {
                return Err("the NATS server encrypts; set nats.auth_callout.xkey_seed".to_owned());
            }
        };
        String::from_utf8(text).map_err(|_| "the request is no text".to_owned())
    }

    /// The answer, for the server that asked only.
    pub(super) fn seal(&self, answer: &[u8], server: Option<&str>) -> Result<Vec<u8>, String> {
        let (Some(curve), Some(server)) = (&self.curve, server) else {
            return Ok(answer.to_vec());
        };
        let server = XKey::from_public_key(server).map_err(|error| error.to_string())?;
        curve.seal(answer, &server).map_err(|error| error.to_string())
    }
}
