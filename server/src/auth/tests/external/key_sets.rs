//! How an issuer's keys are fetched, kept and replaced.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};
use url::Url;

use super::{claims, config, header, set, simple};
use crate::auth::external::{FetchError, JwksFetch};
use crate::auth::tests::fixtures::{Document, Signer, at, authenticator, directory, rows, verdict};

#[tokio::test]
async fn a_thousand_unknown_key_ids_cost_at_most_two_fetches() {
    let (signer, document, authenticator) = simple();
    let directory = directory(&rows());
    let tokens: Vec<_> = (0..1000)
        .map(|n| signer.token(&header("EdDSA", &format!("x{n}")), &claims()))
        .collect();
    let verdicts = join_all(
        tokens
            .iter()
            .map(|token| verdict(&authenticator, &directory, token, at(0))),
    )
    .await;
    assert!(verdicts.iter().all(|verdict| *verdict == "unknown_key_id"));
    assert_eq!(document.fetched(), 1);
    // Over 29 seconds more, also with keys that are known by now.
    for (n, token) in tokens.iter().enumerate() {
        let now = at(i64::try_from(n % 30).unwrap());
        assert_eq!(
            verdict(&authenticator, &directory, token, now).await,
            "unknown_key_id"
        );
    }
    assert_eq!(document.fetched(), 1);
    assert_eq!(
        verdict(&authenticator, &directory, &tokens[0], at(30)).await,
        "unknown_key_id"
    );
    assert_eq!(document.fetched(), 2);
}

#[tokio::test]
async fn a_rotation_is_picked_up_and_ends_the_old_key() {
    let (old, document, authenticator) = simple();
    let directory = directory(&rows());
    let old_token = old.token(&header("EdDSA", "k1"), &claims());
    assert_eq!(verdict(&authenticator, &directory, &old_token, at(0)).await, "ok");

    let new = Signer::ec();
    document.set(Ok(set(&[new.jwk("k2")])));
    let new_token = new.token(&header("ES256", "k2"), &claims());
    assert_eq!(
        verdict(&authenticator, &directory, &new_token, at(29)).await,
        "unknown_key_id"
    );
    assert_eq!(
        verdict(&authenticator, &directory, &new_token, at(30)).await,
        "ok"
    );
    // The old token is remembered as verified, but its key is gone.
    assert_eq!(
        verdict(&authenticator, &directory, &old_token, at(31)).await,
        "unknown_key_id"
    );
    assert_eq!(document.fetched(), 2);
}

#[tokio::test]
async fn another_key_under_the_same_id_ends_remembered_tokens() {
    let (old, document, authenticator) = simple();
    let directory = directory(&rows());
    let token = old.token(&header("EdDSA", "k1"), &claims());
    assert_eq!(verdict(&authenticator, &directory, &token, at(0)).await, "ok");
    document.set(Ok(set(&[Signer::ed().jwk("k1")])));
    assert_eq!(verdict(&authenticator, &directory, &token, at(599)).await, "ok");
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(600)).await,
        "unknown_key_id",
        "after ten minutes it is asked again"
    );
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(601)).await,
        "bad_signature"
    );
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_keeps_its_known_keys_for_a_day() {
    let (signer, document, authenticator) = simple();
    let directory = directory(&rows());
    let token = signer.token(&header("EdDSA", "k1"), &claims());
    assert_eq!(verdict(&authenticator, &directory, &token, at(0)).await, "ok");

    let day = 24 * 3600;
    let failures = [
        (700, Err(FetchError::Transport("refused".to_owned()))),
        (800, Err(FetchError::Status(302))),
        (900, Ok(json!({"error": "maintenance"}))),
        (1000, Ok(json!({"keys": [], "padding": "x".repeat(300_000)}))),
        (600 + day - 1, Err(FetchError::TooLarge)),
    ];
    for (n, (seconds, answer)) in failures.into_iter().enumerate() {
        document.set(answer);
        assert_eq!(
            verdict(&authenticator, &directory, &token, at(seconds)).await,
            "ok",
            "after {seconds} s"
        );
        assert_eq!(document.fetched(), n + 2);
        // Within the minimum interval it is not asked again.
        assert_eq!(
            verdict(&authenticator, &directory, &token, at(seconds)).await,
            "ok",
            "after {seconds} s"
        );
        assert_eq!(document.fetched(), n + 2);
    }
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(600 + day)).await,
        "keys_unavailable"
    );

    document.set(Ok(set(&[signer.jwk("k1")])));
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(600 + day + 30)).await,
        "ok",
        "and it recovers"
    );
}

#[tokio::test]
async fn an_emptied_key_set_is_taken_at_its_word() {
    let (signer, document, authenticator) = simple();
    let directory = directory(&rows());
    let token = signer.token(&header("EdDSA", "k1"), &claims());
    assert_eq!(verdict(&authenticator, &directory, &token, at(0)).await, "ok");
    document.set(Ok(set(&[])));
    assert_eq!(
        verdict(&authenticator, &directory, &token, at(600)).await,
        "unknown_key_id"
    );
}

/// Answers when it is let.
struct Gate {
    document: Document,
    entered: Notify,
    open: Semaphore,
}

#[async_trait]
impl JwksFetch for Gate {
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        self.entered.notify_one();
        self.open.acquire().await.unwrap().forget();
        self.document.fetch(url).await
    }
}

#[tokio::test]
async fn a_caller_that_hangs_up_does_not_stop_the_fetch() {
    let signer = Signer::ed();
    let gate = Arc::new(Gate {
        document: Document::new(set(&[signer.jwk("k1")])),
        entered: Notify::new(),
        open: Semaphore::new(0),
    });
    let authenticator = Arc::new(authenticator(vec![config()], &gate));
    let directory = directory(&rows());
    let token = signer.token(&header("EdDSA", "k1"), &claims());

    let first = tokio::spawn({
        let (authenticator, directory, token) =
            (Arc::clone(&authenticator), Arc::clone(&directory), token.clone());
        async move { verdict(&authenticator, &directory, &token, at(0)).await }
    });
    gate.entered.notified().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    gate.open.add_permits(1);
    assert_eq!(verdict(&authenticator, &directory, &token, at(1)).await, "ok");
    assert_eq!(gate.document.fetched(), 1);
}

#[tokio::test]
async fn while_one_asks_for_fresh_keys_the_others_use_the_old() {
    let signer = Signer::ed();
    let gate = Arc::new(Gate {
        document: Document::new(set(&[signer.jwk("k1")])),
        entered: Notify::new(),
        open: Semaphore::new(1),
    });
    let authenticator = Arc::new(authenticator(vec![config()], &gate));
    let directory = directory(&rows());
    let token = signer.token(&header("EdDSA", "k1"), &claims());
    assert_eq!(verdict(&authenticator, &directory, &token, at(0)).await, "ok");
    gate.entered.notified().await;

    let asking = tokio::spawn({
        let (authenticator, directory, token) =
            (Arc::clone(&authenticator), Arc::clone(&directory), token.clone());
        async move { verdict(&authenticator, &directory, &token, at(700)).await }
    });
    gate.entered.notified().await;
    assert_eq!(verdict(&authenticator, &directory, &token, at(700)).await, "ok");
    gate.open.add_permits(1);
    assert_eq!(asking.await.unwrap(), "ok");
    assert_eq!(gate.document.fetched(), 2);
}
