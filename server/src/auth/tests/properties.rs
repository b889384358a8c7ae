//! No text whatsoever makes the authenticator panic or lets a stranger in.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::fixtures::{Signer, at, base64url, directory, key_row, own_only, project, rows, verdict};
use crate::auth::api_key::mint;
use crate::auth::authenticator::Authenticator;
use crate::auth::directory::Directory;

struct Stage {
    runtime: Runtime,
    authenticator: Authenticator,
    directory: Arc<Directory>,
    signer: Signer,
    kid: String,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let mut rows = rows();
    rows.keys.push(key_row(1, &mint().unwrap(), &project(1, "one")));
    Stage {
        runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
        authenticator: own_only(),
        directory: directory(&rows),
        signer: Signer::own(&rows.signing_keys[0]),
        kid: rows.signing_keys[0].kid.clone(),
    }
});

fn refused(credential: &str) -> bool {
    let stage = &*STAGE;
    stage
        .runtime
        .block_on(verdict(&stage.authenticator, &stage.directory, credential, at(0)))
        != "ok"
}

proptest! {
    #[test]
    fn any_text_is_refused(text in any::<String>()) {
        prop_assert!(refused(&text));
    }

    #[test]
    fn any_text_after_the_mark_of_a_key_is_refused(text in any::<String>()) {
        let credential = format!("tgk_{text}");
        prop_assert!(refused(&credential));
    }

    #[test]
    fn any_three_parts_are_refused(header in any::<Vec<u8>>(), claims in any::<Vec<u8>>(), signature in any::<Vec<u8>>()) {
        let credential = format!("{}.{}.{}", base64url(header), base64url(claims), base64url(signature));
        prop_assert!(refused(&credential));
    }

    #[test]
    fn any_signed_payload_without_our_claims_is_refused(claims in any::<String>(), iss in any::<bool>()) {
        let header = format!(r#"{{"alg":"EdDSA","typ":"at+jwt","kid":"{}"}}"#, STAGE.kid);
        let claims = if iss { serde_json::json!({"iss": "https://gate.test", "sub": claims}).to_string() } else { claims };
        let token = STAGE.signer.token(&header, &claims);
        prop_assert!(refused(&token));
    }
}
