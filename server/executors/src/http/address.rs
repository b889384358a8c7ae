//! Addresses of definitions: the base, and the fixed parts of a path.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use url::Url;

use crate::egress::parse_exact;
use crate::failure::Failure;

/// Everything but the unreserved characters of RFC 3986.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Reads the base URL of a definition.
pub(crate) fn base_url(text: &str) -> Result<Url, Failure> {
    let url = parse_exact(text).map_err(|error| Failure::misconfigured(format!("`base_url`: {error}")))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Failure::misconfigured(
            "`base_url` has no query and no fragment: use `query`",
        ));
    }
    Ok(url)
}

/// The path with a slash in front, or nothing.
pub(crate) fn slashed(path: &str) -> String {
    if path.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

/// Checks the fixed parts of a path.
pub(crate) fn literal_path(path: &str) -> Result<(), Failure> {
    let lowered = path.to_ascii_lowercase().replace("%2e", ".");
    if path.contains(['?', '#', '\\']) || path.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Failure::misconfigured(
            "`path` holds no query, fragment, backslash or space: use `query`",
        ));
    }
    if lowered.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(Failure::misconfigured("`path` holds no `.` or `..` segment"));
    }
    Ok(())
}
