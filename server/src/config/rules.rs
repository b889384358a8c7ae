//! What the texts of settings must be.

use std::net::SocketAddr;

use nkeys::{KeyPair, KeyPairType, XKey};
use toolgate_core::definition::queue::SubjectRules;
use url::Url;

use super::env::PREFIX;
use super::keys::{KEYS, Key};
use crate::middleware::host::HostPattern;
use crate::middleware::{TrustedProxies, cors};

type Verdict = Result<(), String>;

pub(super) fn address(text: &str) -> Verdict {
    (text.parse::<SocketAddr>().map(drop))
        .map_err(|_| format!("{text:?} is not an address and a port, such as 127.0.0.1:8080"))
}

pub(super) fn url(text: &str) -> Verdict {
    read_url(text).map(drop)
}

fn read_url(text: &str) -> Result<Url, String> {
    Url::parse(text).map_err(|error| format!("{error}; write a URL such as https://tools.example.com"))
}

pub(super) fn public_url(text: &str) -> Verdict {
    let url = read_url(text)?;
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "it must begin with http:// or https://"
    } else if url.host().is_none() {
        "it names no host"
    } else if !url.username().is_empty() || url.password().is_some() {
        "it must hold no user name or password"
    } else if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        "it must be scheme, host and port only: the server is at the root of its host"
    } else {
        return Ok(());
    };
    Err(problem.to_owned())
}

pub(super) fn host(text: &str) -> Verdict {
    HostPattern::parse(text).map(drop)
}

pub(super) fn proxy(text: &str) -> Verdict {
    TrustedProxies::parse(&[text.to_owned()]).map(drop)
}

pub(super) fn origin(text: &str) -> Verdict {
    cors::origin(text).map(drop)
}

pub(super) fn database(text: &str) -> Verdict {
    let known = ["sqlite:", "postgres://", "postgresql://"];
    (known.iter().any(|scheme| text.starts_with(scheme)).then_some(()))
        .ok_or_else(|| "it must begin with \"sqlite:\" or \"postgres://\"".to_owned())
}

pub(super) fn username(text: &str) -> Verdict {
    ((!text.trim().is_empty() && text.len() <= 64).then_some(()))
        .ok_or_else(|| "it must have 1 to 64 bytes".to_owned())
}

pub(super) fn not_empty(text: &str) -> Verdict {
    (!text.is_empty())
        .then_some(())
        .ok_or_else(|| "it must not be empty".to_owned())
}

pub(super) fn log_filter(text: &str) -> Verdict {
    (crate::telemetry::logs::filter(text).map(drop)).map_err(|error| error.to_string())
}

pub(super) fn log_format(text: &str) -> Verdict {
    (matches!(text, "text" | "json").then_some(())).ok_or_else(|| format!("{text:?} is none of text, json"))
}

pub(super) fn bus_server(text: &str) -> Verdict {
    let shape = "write nats://host:port or tls://host:port";
    // The text may hold a password, so it is not shown.
    let url = Url::parse(text).map_err(|_| format!("a server is no address: {shape}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must hold no user name or password: set nats.user and nats.password".to_owned());
    }
    let is_server =
        matches!(url.scheme(), "nats" | "tls") && url.host_str().is_some_and(|host| !host.is_empty());
    is_server
        .then_some(())
        .ok_or_else(|| format!("{text:?} is no NATS server: {shape}"))
}

pub(super) fn bus_subject(text: &str) -> Verdict {
    (SubjectRules::parse(&[text]).map(drop)).map_err(|error| error.to_string())
}

pub(super) fn account_seed(text: &str) -> Verdict {
    let pair = KeyPair::from_seed(text).ok();
    (pair.filter(|pair| pair.key_pair_type() == KeyPairType::Account))
        .map(drop)
        .ok_or_else(|| {
            "it must be the seed of an account, SA...: make one by `nsc generate nkey --account`".to_owned()
        })
}

pub(super) fn curve_seed(text: &str) -> Verdict {
    (XKey::from_seed(text).map(drop)).map_err(|_| {
        "it must be the seed of a curve key, SX...: make one by `nsc generate nkey --curve`".to_owned()
    })
}

pub(super) fn tool_env(name: &str) -> Verdict {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if !first || !bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(format!("{name:?} is not the name of a variable"));
    }
    let secret = |key: &Key| key.is_secret() && key.variable() == name;
    if !name.starts_with(PREFIX) && KEYS.iter().any(secret) {
        return Err(format!(
            "{name} is a secret of the server itself: no definition may use it"
        ));
    }
    Ok(())
}
