//! Every dependency's licence must be one that we allow knowingly.

use anyhow::{Context, Result};
use serde_json::Value;

use super::count::Tally;
use crate::sh::Sh;

/// Permissive licences, and file-level copyleft that asks nothing of unmodified use.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks every package that cargo resolved.
pub(super) fn run() -> Result<Tally> {
    let metadata = Sh::cargo("metadata --format-version 1 --locked").read()?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let mut refused = 0;
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        if !allowed(licence) {
            println!(
                "FAILED {} {}: the licence {licence:?} is not allowed",
                package["name"], package["version"]
            );
            refused += 1;
        }
    }
    println!(
        "  {} packages, {refused} with a licence that is not allowed",
        packages.len()
    );
    Ok(if refused == 0 {
        Tally::PASSED
    } else {
        Tally {
            passed: 0,
            failed: refused,
        }
    })
}

/// Whether an SPDX expression can be met with allowed licences alone. `/` is the old way to write OR.
fn allowed(expression: &str) -> bool {
    let text = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut position = 0;
    let verdict = any(&tokens, &mut position);
    verdict && position == tokens.len()
}

fn any(tokens: &[&str], position: &mut usize) -> bool {
    let mut verdict = every(tokens, position);
    while tokens.get(*position) == Some(&"OR") {
        *position += 1;
        // Both sides are read in any case, so that the position moves on.
        verdict = every(tokens, position) || verdict;
    }
    verdict
}

fn every(tokens: &[&str], position: &mut usize) -> bool {
    let mut verdict = one(tokens, position);
    while tokens.get(*position) == Some(&"AND") {
        *position += 1;
        verdict = one(tokens, position) && verdict;
    }
    verdict
}

fn one(tokens: &[&str], position: &mut usize) -> bool {
    let Some(token) = tokens.get(*position) else {
        return false;
    };
    *position += 1;
    if *token == "(" {
        let verdict = any(tokens, position);
        let closed = tokens.get(*position) == Some(&")");
        *position += 1;
        return verdict && closed;
    }
    if tokens.get(*position) == Some(&"WITH") {
        let exception = tokens.get(*position + 1).copied().unwrap_or_default();
        *position += 2;
        return ALLOWED.contains(&format!("{token} WITH {exception}").as_str());
    }
    ALLOWED.contains(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_judged_as_spdx_means_them() {
        for (expression, verdict) in [
            ("MIT", true),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR GPL-3.0-only) AND Unicode-3.0", true),
            ("MIT OR GPL-3.0-only AND AGPL-3.0-only", true),
            ("(MIT OR GPL-3.0-only) AND AGPL-3.0-only", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0 WITH Swift-exception", false),
            ("GPL-3.0-only", false),
            ("(MIT", false),
            ("", false),
        ] {
            assert_eq!(allowed(expression), verdict, "{expression}");
        }
    }
}
