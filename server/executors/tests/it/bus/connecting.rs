//! How the bus is reached, and what happens while it is not.

use secrecy::SecretString;
use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_executors::{Bus, BusAuth, BusConfig};

use super::support::{Harness, JOKES, plain, tool};
use crate::nats::Nats;

/// A key pair that no account has.
const SEED: &str = "SUAE6HUL4RROMPOI7AP7ZWJQ3ESW3RCOACP4E6RTCX5UNYVZ3YYI4L2NOA";
const PUBLIC: &str = "UCKAPLL5AO2WIROCFSBX6S62MLCDAJ6SCLYRZ2LAWKHI7SUFI3ALCJ3C";

#[tokio::test]
async fn a_server_that_is_away_refuses_calls_and_takes_them_when_it_is_back() {
    let mut nats = Nats::start();
    let bus = Harness::new(&nats).await;
    let tool = tool(&json!({}), &json!({}));
    nats.stop();
    bus.until_connected(false).await;
    for refused in [
        bus.call(&tool, json!({})).await.expect_err("no connection"),
        bus.foresee(&tool).expect_err("no connection"),
    ] {
        assert_eq!(
            (refused.code, refused.retryable),
            (ErrorCode::ToolUnavailable, true)
        );
        assert!(
            refused.message.contains("no connection to the message bus"),
            "{refused:?}"
        );
    }
    nats.run();
    bus.until_connected(true).await;
    // The other side reconnects by itself too.
    let mut jokes = bus.service(JOKES).await;
    let result = bus.answered(&mut jokes, &tool, r#"{"response": "again"}"#).await;
    assert_eq!(result, Ok(json!("again")));
    assert_eq!(bus.report().connects, 2);
}

#[tokio::test]
async fn a_server_that_starts_later_is_connected_to_then() {
    let mut nats = Nats::start();
    nats.stop();
    let bus = Bus::connect(plain(&nats))
        .await
        .expect("no server is needed to begin");
    let report = bus.report();
    assert_eq!((report.connected, report.servers), (false, vec![nats.url()]));
    nats.run();
    super::soon(async {
        while !bus.is_connected() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_proves_who_it_is_by_a_password_or_a_key() {
    let secret = |text: &str| SecretString::from(text);
    let users =
        format!("authorization {{users: [{{user: gate, password: open-sesame}}, {{nkey: {PUBLIC}}}]}}");
    let nats = Nats::with(&users);
    let ways = [
        BusAuth::Password("gate".to_owned(), secret("open-sesame")),
        BusAuth::Nkey(secret(SEED)),
    ];
    for auth in ways {
        let options = async_nats::ConnectOptions::with_user_and_password("gate".into(), "open-sesame".into());
        let client = options.connect(nats.url()).await.expect("connected");
        let how = BusConfig { auth, ..plain(&nats) };
        let bus = Harness::with(how, client).await;
        assert!(bus.report().connected);
    }
    let wrong = BusConfig {
        auth: BusAuth::Password("gate".to_owned(), secret("wrong")),
        ..plain(&nats)
    };
    let bus = Bus::connect(wrong).await.expect("it is tried for ever");
    let said = super::soon(async {
        loop {
            if let Some(error) = bus.report().last_error {
                return error;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(said.to_lowercase().contains("authorization"), "{said}");
    assert!(!bus.is_connected());
}

#[tokio::test]
async fn credentials_that_cannot_be_read_are_said_at_the_start() {
    let nats = Nats::start();
    let how = BusConfig {
        auth: BusAuth::CredentialsFile("/no/such.creds".into()),
        ..plain(&nats)
    };
    let error = Bus::connect(how).await.err().expect("no file");
    assert!(error.to_string().contains("/no/such.creds"), "{error}");
}
