//! Which configurations of issuers are accepted.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::principal::Role;
use url::Url;

use super::{IDP, config};
use crate::auth::authenticator::{AuthSettings, Authenticator};
use crate::auth::external::{IssuerConfig, JwksFetch};
use crate::auth::tests::fixtures::{Document, ISSUER};

#[test]
fn a_configuration_that_would_weaken_the_checks_is_refused() {
    type Change = fn(&mut IssuerConfig);
    let url = |text: &str| Url::parse(text).unwrap();
    let table: [(&str, Change, Option<&str>); 10] = [
        ("control", |_| (), None),
        ("no audience", |c| c.audience.clear(), Some("audience is empty")),
        (
            "no algorithm",
            |c| c.algorithms.clear(),
            Some("algorithms is empty"),
        ),
        ("no type", |c| c.types.clear(), Some("types is empty")),
        ("our own issuer", |c| c.issuer = ISSUER.to_owned(), Some("own")),
        (
            "http",
            |c| c.jwks_url = Url::parse("http://127.0.0.1/keys").unwrap(),
            Some("not https"),
        ),
        (
            "user info",
            |c| c.jwks_url = Url::parse("https://u:p@idp.test/").unwrap(),
            Some("password"),
        ),
        (
            "a file",
            |c| c.jwks_url = Url::parse("file:///etc/passwd").unwrap(),
            Some("not https"),
        ),
        (
            "http, allowed",
            |c| {
                c.allow_http = true;
                c.jwks_url = Url::parse("http://127.0.0.1:9/keys").unwrap();
            },
            None,
        ),
        (
            "http to elsewhere, allowed",
            |c| {
                c.allow_http = true;
                c.jwks_url = Url::parse("http://idp.test/keys").unwrap();
            },
            Some("loopback"),
        ),
    ];
    let fetch: Arc<dyn JwksFetch> = Arc::new(Document::new(json!({})));
    let settings = |issuers| AuthSettings {
        issuer: ISSUER.to_owned(),
        audience: "toolgate".to_owned(),
        access_ttl: std::time::Duration::from_secs(60),
        issuers,
    };
    for (name, change, expected) in table {
        let mut changed = config();
        change(&mut changed);
        let error = Authenticator::new(settings(vec![changed]), &fetch)
            .err()
            .map(|error| error.to_string());
        match (&error, expected) {
            (None, None) => {}
            (Some(error), Some(expected)) => assert!(error.contains(expected), "{name}: {error}"),
            _ => panic!("{name}: {error:?}"),
        }
    }
    let twice = settings(vec![
        config(),
        IssuerConfig {
            jwks_url: url("https://other.test/"),
            ..config()
        },
    ]);
    assert!(Authenticator::new(twice, &fetch).is_err(), "one issuer twice");
}

#[test]
fn an_issuer_in_the_configuration_file_needs_three_settings_and_never_takes_a_shared_secret() {
    let minimal = json!({"issuer": IDP, "audience": "gate", "jwks_url": "https://idp.test/keys"});
    let config: IssuerConfig = serde_json::from_value(minimal.clone()).unwrap();
    assert_eq!(
        (config.groups_claim.as_str(), config.role, config.allow_http),
        ("groups", Role::Agent, false)
    );
    for (name, value) in [
        ("algorithms", json!(["HS256"])),
        ("algorithms", json!(["none"])),
        ("unknown", json!(1)),
    ] {
        let mut bad = minimal.clone();
        bad[name] = value;
        assert!(
            serde_json::from_value::<IssuerConfig>(bad.clone()).is_err(),
            "{bad}"
        );
    }
}
