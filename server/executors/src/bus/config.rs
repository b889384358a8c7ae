//! How the message bus is reached.

use std::path::PathBuf;

use secrecy::SecretString;
use toolgate_core::definition::queue::SubjectRules;

/// How the message bus is reached, and what tool services may use of it.
#[derive(Debug, Clone)]
pub struct BusConfig {
    /// The servers: `nats://host:port` or `tls://host:port`, without user names.
    pub servers: Vec<String>,
    /// How this client proves who it is.
    pub auth: BusAuth,
    /// How servers and this client prove themselves by certificates.
    pub tls: BusTls,
    /// Which subjects tool services may use.
    pub subjects: SubjectRules,
    /// Messages of one subscription that may wait to be read; what comes then is lost, and counted.
    pub capacity: usize,
}

/// How a client of the bus proves who it is.
#[derive(Debug, Clone)]
pub enum BusAuth {
    /// Not at all.
    None,
    /// By a name and a password.
    Password(String, SecretString),
    /// By the seed of an nkey.
    Nkey(SecretString),
    /// By a credentials file: a token and the seed that signs for it.
    CredentialsFile(PathBuf),
}

/// Certificates.
#[derive(Debug, Clone, Default)]
pub struct BusTls {
    /// Whether a server without TLS is refused.
    pub required: bool,
    /// The authorities that servers' certificates may come from, besides those of the system; PEM.
    pub ca_file: Option<PathBuf>,
    /// The certificate of this client and its key; PEM.
    pub client: Option<(PathBuf, PathBuf)>,
}
