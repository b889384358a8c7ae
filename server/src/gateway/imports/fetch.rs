//! Fetching a description, through the same conditions as the requests of tools.

use std::time::Duration;

use bytes::Bytes;
use toolgate_api::ErrorCode;
use toolgate_core::openapi_import::MAX_BYTES;
use toolgate_core::redact;
use toolgate_executors::egress::parse_exact;
use toolgate_executors::{Failure, FetchLimits};

use crate::gateway::server_snapshot::ProjectState;
use crate::gateway::{Gateway, Problem};

/// How long a description may take to come.
const WITHIN: Duration = Duration::from_secs(20);
/// What is asked for.
const ACCEPT: &str =
    "application/vnd.oai.openapi, application/json, application/yaml, text/yaml;q=0.9, text/plain;q=0.5";

/// The description at an address.
///
/// # Errors
/// 400 when the address carries a credential; why there is no description, as for a tool's request.
pub(super) async fn description(
    gateway: &Gateway,
    project: &ProjectState,
    url: &str,
) -> Result<Bytes, Problem> {
    check(url)?;
    let limits = FetchLimits {
        within: WITHIN,
        max_bytes: MAX_BYTES,
        accept: ACCEPT,
        is_document: is_description,
    };
    let fetched = gateway
        .executors
        .fetch(url, project.egress.origins(), limits)
        .await;
    Ok(fetched.map_err(|failure| problem(&failure))?.body)
}

/// An address is kept and shown, so no credential may be in it.
fn check(url: &str) -> Result<(), Problem> {
    let malformed = |detail: String| Problem::new(ErrorCode::MalformedRequest, detail);
    let url = parse_exact(url).map_err(|error| malformed(format!("`url` cannot be fetched: {error}.")))?;
    let named = url.query_pairs().find(|(name, _)| redact::is_secret_name(name));
    match named {
        None => Ok(()),
        Some((name, _)) => Err(malformed(format!(
            "The query parameter `{}` of `url` looks like a credential, which would be kept and shown. Fetch the description \
             yourself and send it.",
            name.chars().take(80).collect::<String>()
        ))),
    }
}

/// Whether a media type may be that of a description; many servers know no better than text.
fn is_description(media_type: &str) -> bool {
    let of_data = |subtype: &str| {
        matches!(
            subtype,
            "json" | "yaml" | "x-yaml" | "vnd.yaml" | "vnd.oai.openapi" | "octet-stream"
        ) || subtype.ends_with("+json")
            || subtype.ends_with("+yaml")
    };
    match media_type.split_once('/') {
        None => media_type.is_empty(),
        Some(("text", subtype)) => matches!(subtype, "plain" | "yaml" | "x-yaml" | "vnd.yaml"),
        Some(("application", subtype)) => of_data(subtype),
        Some(_) => false,
    }
}

fn problem(failure: &Failure) -> Problem {
    failed("The description could not be fetched", failure)
}

/// A source that could not be read.
pub(in crate::gateway) fn failed(what: &str, failure: &Failure) -> Problem {
    let mut detail = format!("{what}: {}.", failure.message);
    if let Some(said) = &failure.upstream_message {
        detail.push_str(&format!(" It said: {said}"));
    }
    if let Some(status) = failure.upstream_status {
        detail.push_str(&format!(" The answer had the status {status}."));
    }
    let mut error = Problem::new(failure.code, detail).remedy(failure.remedy.clone());
    if !failure.retryable {
        error = error.final_();
    }
    match failure.retry_after_s {
        Some(seconds) => error.retry_after(seconds),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_no_descriptions() {
        for good in [
            "",
            "application/json",
            "application/vnd.oai.openapi+json",
            "application/x-yaml",
            "text/plain",
            "application/octet-stream",
        ] {
            assert!(is_description(good), "{good}");
        }
        for bad in [
            "text/html",
            "image/png",
            "application/xml",
            "json",
            "application/pdf",
        ] {
            assert!(!is_description(bad), "{bad}");
        }
    }

    #[test]
    fn an_address_carries_no_credential() {
        assert!(check("https://a.example/openapi.json?version=2").is_ok());
        for bad in [
            "https://user:pass@a.example/",
            "https://a.example/?api_key=1",
            "https://a.example/?access-token=1",
            "ftp://a.example/",
            "a.example",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
