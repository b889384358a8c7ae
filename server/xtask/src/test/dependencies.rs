//! What may be in the dependency graph, and where.

use anyhow::{Result, bail};

use super::count::Tally;
use super::licences;
use crate::sh::Sh;

/// A crate that must not be compiled into some part of the workspace.
struct Ban {
    /// Which part: arguments of `cargo tree`.
    part: &'static str,
    /// Which crates.
    names: &'static [&'static str],
    /// Why.
    why: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        part: "--workspace",
        names: &["ring", "openssl-sys", "native-tls"],
        why: "one TLS and crypto back end (aws-lc-rs): a second one makes rustls panic at its first use",
    },
    Ban {
        part: "--workspace",
        names: &["serde_yaml", "tonic"],
        why: "archived, or a second way of doing the same",
    },
    Ban {
        part: "--package toolgate-core",
        names: &["tokio", "axum", "sqlx", "hyper", "reqwest"],
        why: "the core is pure: no I/O, no async",
    },
    Ban {
        part: "--package toolgate-store",
        names: &["axum", "reqwest"],
        why: "the store knows SQL and nothing of HTTP",
    },
    Ban {
        part: "--package toolgate-executors",
        names: &["axum", "sqlx"],
        why: "only the store knows SQL, only the server serves",
    },
    Ban {
        part: "--package toolgate-ui --target wasm32-unknown-unknown",
        names: &["tokio", "sqlx", "toolgate-core", "utoipa"],
        why: "the browser gets the contract and nothing of the server",
    },
];

/// Checks every ban and every licence.
pub(super) fn run() -> Result<Tally> {
    let mut tally = Tally::default();
    for ban in BANS {
        for name in ban.names {
            let users = users(ban.part, name)?;
            if users.is_empty() {
                tally = tally + Tally::PASSED;
            } else {
                println!(
                    "FAILED {name} is in the graph of {} ({}):\n{users}",
                    ban.part, ban.why
                );
                tally = tally + Tally::FAILED;
            }
        }
    }
    println!("  {} bans checked", tally.passed + tally.failed);
    Ok(tally + licences::run()?)
}

/// The tree of what brings a crate in; empty when nothing does.
fn users(part: &str, name: &str) -> Result<String> {
    let outcome = Sh::cargo(&format!("tree --quiet --edges normal {part} --invert {name}")).read_all()?;
    if outcome.status.success() || outcome.text.contains("did not match any packages") {
        let tree = if outcome.status.success() {
            outcome.text.trim()
        } else {
            ""
        };
        return Ok(tree.to_owned());
    }
    bail!("cargo tree failed for {name}: {}", outcome.text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_used_is_found_and_one_that_is_not_is_not() {
        assert!(
            users("--package xtask", "anyhow")
                .unwrap()
                .starts_with("anyhow v1")
        );
        assert_eq!(users("--package xtask", "there-is-no-such-crate").unwrap(), "");
        assert_eq!(users("--package toolgate-api", "anyhow").unwrap(), "");
    }
}
