//! The tokens of the auth callout: JWTs that NATS signs by nkeys (`ed25519-nkey`), which no general library for JWTs writes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chrono::{DateTime, Utc};
use nkeys::KeyPair;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::permissions::Permissions;

const ALGORITHM: &str = "ed25519-nkey";
const AUDIENCE: &str = "nats-authorization-request";
/// Bytes of a request.
const LONGEST: usize = 64 * 1024;

/// What a server of the bus asks.
pub(super) struct Asked {
    /// The key that the server has made for the connection.
    user_nkey: String,
    /// The id of the server.
    server: String,
    pub(super) user: String,
    pub(super) password: SecretString,
    /// Where the program connects from.
    pub(super) address: String,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    nats: Request,
}

#[derive(Deserialize)]
struct Request {
    user_nkey: String,
    server_id: Server,
    #[serde(default)]
    client_info: ClientInfo,
    #[serde(default)]
    connect_opts: ConnectOptions,
}

#[derive(Deserialize)]
struct Server {
    id: String,
}

#[derive(Default, Deserialize)]
struct ClientInfo {
    #[serde(default)]
    host: String,
}

#[derive(Default, Deserialize)]
struct ConnectOptions {
    #[serde(default)]
    user: String,
    #[serde(default)]
    pass: String,
}

impl Asked {
    /// Reads a request, whose server has signed it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(token: &str) -> Result<Self, String> {
        if token.len() > LONGEST {
            return Err("the request is too long".to_owned());
        }
        let (signed, signature) = token.rsplit_once('.').ok_or("the request is no token")?;
        let (head, body) = signed.split_once('.').ok_or("the request is no token")?;
        let head: Value = part(head)?;
        if head["alg"] != ALGORITHM {
            return Err("the request has another algorithm".to_owned());
        }
        let claims: Claims = part(body)?;
        if claims.aud != AUDIENCE {
            return Err("the token is no request".to_owned());
        }
        let signature = BASE64.decode(signature).map_err(|error| error.to_string())?;
        let server = KeyPair::from_public_key(&claims.iss).map_err(|error| error.to_string())?;
        server
            .verify(signed.as_bytes(), &signature)
            .map_err(|error| format!("the request is not signed by its server: {error}"))?;
        let Request {
            user_nkey,
            server_id,
            client_info,
            connect_opts,
        } = claims.nats;
        Ok(Self {
            user_nkey,
            server: server_id.id,
            user: connect_opts.user,
            password: connect_opts.pass.into(),
            address: client_info.host,
        })
    }
}

fn part<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// What a program gets.
pub(super) struct Granted {
    pub(super) name: String,
    pub(super) account: String,
    pub(super) expires_at: DateTime<Utc>,
    pub(super) permissions: Permissions,
}

/// The answer to a request: the permissions of a user, or why there are none.
///
/// # Errors
/// The key cannot sign.
pub(super) fn response(
    issuer: &KeyPair,
    asked: &Asked,
    granted: Result<Granted, &str>,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<String, String> {
    let mut body = json!({"type": "authorization_response", "version": 2});
    match granted {
        Ok(granted) => body["jwt"] = user(issuer, asked, &granted, id, now)?.into(),
        Err(why) => body["error"] = why.into(),
    }
    let claims = json!({
        "jti": id, "iat": now.timestamp(), "iss": issuer.public_key(), "sub": asked.user_nkey, "aud": asked.server,
        "nats": body,
    });
    sign(issuer, &claims)
}

fn user(
    issuer: &KeyPair,
    asked: &Asked,
    granted: &Granted,
    id: Uuid,
    now: DateTime<Utc>,
) -> Result<String, String> {
    const UNLIMITED: i64 = -1;
    let mut body = serde_json::to_value(&granted.permissions).map_err(|error| error.to_string())?;
    for limit in ["subs", "data", "payload"] {
        body[limit] = UNLIMITED.into();
    }
    body["type"] = "user".into();
    body["version"] = 2.into();
    let claims = json!({
        "jti": id, "iat": now.timestamp(), "exp": granted.expires_at.timestamp(), "iss": issuer.public_key(),
        "sub": asked.user_nkey, "aud": granted.account, "name": granted.name, "nats": body,
    });
    sign(issuer, &claims)
}

fn sign(issuer: &KeyPair, claims: &Value) -> Result<String, String> {
    let head = json!({"typ": "JWT", "alg": ALGORITHM});
    let signed = format!(
        "{}.{}",
        BASE64.encode(head.to_string()),
        BASE64.encode(claims.to_string())
    );
    let signature = issuer
        .sign(signed.as_bytes())
        .map_err(|error| error.to_string())?;
    Ok(format!("{signed}.{}", BASE64.encode(signature)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(server: &KeyPair, audience: &str) -> String {
        let claims = json!({
            "iss": server.public_key(), "aud": audience,
            "nats": {
                "user_nkey": "UUSER", "server_id": {"id": "NSERVER"}, "client_info": {"host": "10.0.0.7"},
                "connect_opts": {"user": "alice", "pass": "secret"}, "type": "authorization_request", "version": 2,
            },
        });
        sign(server, &claims).expect("signed")
    }

    #[test]
    fn a_request_is_read_only_as_its_server_has_signed_it() {
        let server = KeyPair::new_server();
        let asked = Asked::read(&request(&server, AUDIENCE)).expect("a request");
        assert_eq!(
            (asked.user.as_str(), asked.address.as_str()),
            ("alice", "10.0.0.7")
        );

        let genuine = request(&server, AUDIENCE);
        let (signed, _) = genuine.rsplit_once('.').expect("parts");
        let other = KeyPair::new_server().sign(signed.as_bytes()).expect("signed");
        let forged = format!("{signed}.{}", BASE64.encode(other));
        for (token, why) in [
            (forged, "not signed by its server"),
            (request(&server, "other"), "no request"),
            ("a.b".to_owned(), "no token"),
            ("x".repeat(LONGEST + 1), "too long"),
        ] {
            let refused = Asked::read(&token).err().expect("refused");
            assert!(refused.contains(why), "{refused}");
        }
    }
}
