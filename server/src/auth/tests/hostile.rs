//! Tokens that pretend to be ours, each with its verdict.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;
use toolgate_store::rows::SigningKeyRow;
use uuid::Uuid;

use super::fixtures::{AUDIENCE, ISSUER, Signer, TTL_S, at, base64url, user_id, with};

/// What it is, the token, and the label of its refusal or `ok`.
pub(super) type Row = (&'static str, String, &'static str);

fn header(kid: &str) -> String {
    json!({"alg": "EdDSA", "typ": "at+jwt", "kid": kid}).to_string()
}

fn claims() -> String {
    let (iat, exp) = (at(0).timestamp(), at(TTL_S).timestamp());
    let (sub, jti) = (user_id(2).to_string(), Uuid::from_u128(77).to_string());
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": sub, "jti": jti, "iat": iat, "exp": exp}).to_string()
}

/// Texts in the header: only the first row is one that we would write.
pub(super) fn header_rows(key: &SigningKeyRow) -> Vec<Row> {
    let (signer, good, claims) = (Signer::own(key), header(&key.kid), claims());
    let header = |from: &str, to: &str| signer.token(&with(&good, from, to), &claims);
    let added = |member: &str| signer.token(&with(&good, "{", &format!("{{{member},")), &claims);
    let jwk = Signer::ed().jwk(&key.kid);
    vec![
        ("control", signer.token(&good, &claims), "ok"),
        ("alg none", header("\"EdDSA\"", "\"none\""), "wrong_algorithm"),
        ("alg None", header("\"EdDSA\"", "\"None\""), "wrong_algorithm"),
        ("alg HS256", header("\"EdDSA\"", "\"HS256\""), "wrong_algorithm"),
        ("alg RS256", header("\"EdDSA\"", "\"RS256\""), "wrong_algorithm"),
        ("alg ES256", header("\"EdDSA\"", "\"ES256\""), "wrong_algorithm"),
        (
            "alg in lower case",
            header("\"EdDSA\"", "\"eddsa\""),
            "wrong_algorithm",
        ),
        ("alg empty", header("\"EdDSA\"", "\"\""), "wrong_algorithm"),
        ("alg a number", header("\"EdDSA\"", "1"), "malformed"),
        ("alg null", header("\"EdDSA\"", "null"), "malformed"),
        ("alg an array", header("\"EdDSA\"", "[\"EdDSA\"]"), "malformed"),
        ("alg missing", header("\"alg\":\"EdDSA\",", ""), "wrong_algorithm"),
        ("alg twice", added("\"alg\":\"none\""), "malformed"),
        ("alg twice, escaped", added("\"\\u0061lg\":\"none\""), "malformed"),
        ("typ JWT", header("at+jwt", "JWT"), "wrong_type"),
        (
            "typ of an identity token",
            header("at+jwt", "id+jwt"),
            "wrong_type",
        ),
        ("typ in upper case", header("at+jwt", "AT+JWT"), "wrong_type"),
        ("typ missing", header("\"typ\":\"at+jwt\",", ""), "wrong_type"),
        ("typ a number", header("\"at+jwt\"", "7"), "malformed"),
        (
            "kid missing",
            header(&format!(",\"kid\":\"{}\"", key.kid), ""),
            "unknown_key_id",
        ),
        ("kid unknown", header(&key.kid, "other"), "unknown_key_id"),
        ("kid empty", header(&key.kid, ""), "unknown_key_id"),
        ("kid a path", header(&key.kid, "../../dev/null"), "unknown_key_id"),
        (
            "kid a query",
            header(&key.kid, "x' UNION SELECT 'y"),
            "unknown_key_id",
        ),
        (
            "kid a number",
            header(&format!("\"{}\"", key.kid), "0"),
            "malformed",
        ),
        ("kid twice", added("\"kid\":\"other\""), "malformed"),
        ("crit empty", added("\"crit\":[]"), "critical"),
        ("crit unknown", added("\"crit\":[\"x\"],\"x\":1"), "critical"),
        ("crit b64", added("\"crit\":[\"b64\"],\"b64\":false"), "critical"),
        ("crit no array", added("\"crit\":\"exp\""), "critical"),
        (
            "jku",
            added("\"jku\":\"https://evil.test/jwks.json\""),
            "malformed",
        ),
        ("jwk", added(&format!("\"jwk\":{jwk}")), "malformed"),
        (
            "x5u",
            added("\"x5u\":\"https://evil.test/cert.pem\""),
            "malformed",
        ),
        ("x5c", added("\"x5c\":[\"MIIB\"]"), "malformed"),
        ("b64 without crit", added("\"b64\":false"), "malformed"),
        ("zip", added("\"zip\":\"DEF\""), "malformed"),
        ("header an array", signer.token("[]", &claims), "malformed"),
        ("header a text", signer.token("\"alg\"", &claims), "malformed"),
        ("header empty", signer.token("", &claims), "malformed"),
        (
            "header not UTF-8",
            with(
                &signer.token(&good, &claims),
                &base64url(&good),
                &base64url([0xff, 0xfe]),
            ),
            "malformed",
        ),
        (
            "header nested deeply",
            signer.token(&"[".repeat(3000), &claims),
            "malformed",
        ),
    ]
}

/// Texts in the payload, all signed with the right key.
pub(super) fn claim_rows(key: &SigningKeyRow) -> Vec<Row> {
    let (signer, header, good) = (Signer::own(key), header(&key.kid), claims());
    let claims = |from: &str, to: &str| signer.token(&header, &with(&good, from, to));
    let added = |member: &str| signer.token(&header, &with(&good, "{", &format!("{{{member},")));
    let (sub, iat, exp) = (
        user_id(2).to_string(),
        at(0).timestamp().to_string(),
        at(TTL_S).timestamp().to_string(),
    );
    let date = |seconds: i64| at(seconds).timestamp().to_string();
    vec![
        ("unknown claim", added("\"role\":\"owner\""), "ok"),
        (
            "iss missing",
            claims(&format!("\"iss\":\"{ISSUER}\","), ""),
            "bad_claims",
        ),
        (
            "iss an array",
            claims(&format!("\"{ISSUER}\""), &format!("[\"{ISSUER}\"]")),
            "bad_claims",
        ),
        (
            "iss an object",
            claims(&format!("\"{ISSUER}\""), "{}"),
            "bad_claims",
        ),
        ("iss null", claims(&format!("\"{ISSUER}\""), "null"), "bad_claims"),
        (
            "iss foreign",
            claims(ISSUER, "https://evil.test"),
            "unknown_issuer",
        ),
        (
            "iss with a slash",
            claims(ISSUER, &format!("{ISSUER}/")),
            "unknown_issuer",
        ),
        (
            "iss in upper case",
            claims(ISSUER, "HTTPS://GATE.TEST"),
            "unknown_issuer",
        ),
        ("iss twice", added("\"iss\":\"https://evil.test\""), "malformed"),
        (
            "aud missing",
            claims(&format!("\"aud\":\"{AUDIENCE}\","), ""),
            "bad_claims",
        ),
        ("aud foreign", claims(AUDIENCE, "other"), "wrong_audience"),
        ("aud longer", claims(AUDIENCE, "toolgate2"), "wrong_audience"),
        (
            "aud an array",
            claims(&format!("\"{AUDIENCE}\""), &format!("[\"{AUDIENCE}\"]")),
            "bad_claims",
        ),
        ("aud twice", added("\"aud\":\"other\""), "malformed"),
        ("sub empty", claims(&sub, ""), "bad_claims"),
        (
            "sub missing",
            claims(&format!("\"sub\":\"{sub}\","), ""),
            "bad_claims",
        ),
        ("sub a number", claims(&format!("\"{sub}\""), "2"), "bad_claims"),
        ("sub in braces", claims(&sub, &format!("{{{sub}}}")), "bad_claims"),
        (
            "sub without hyphens",
            claims(&sub, &sub.replace('-', "")),
            "bad_claims",
        ),
        (
            "sub nobody",
            claims(&sub, &user_id(99).to_string()),
            "unknown_user",
        ),
        (
            "sub twice",
            added(&format!("\"sub\":\"{}\"", user_id(1))),
            "malformed",
        ),
        (
            "sub twice, escaped",
            added(&format!("\"s\\u0075b\":\"{}\"", user_id(1))),
            "malformed",
        ),
        (
            "jti missing",
            claims(&format!("\"jti\":\"{}\",", Uuid::from_u128(77)), ""),
            "bad_claims",
        ),
        (
            "jti empty",
            claims(&Uuid::from_u128(77).to_string(), ""),
            "bad_claims",
        ),
        (
            "exp missing",
            claims(&format!(",\"exp\":{exp}"), ""),
            "bad_claims",
        ),
        ("exp null", claims(&exp, "null"), "bad_claims"),
        ("exp a text", claims(&exp, &format!("\"{exp}\"")), "bad_claims"),
        ("exp a float", claims(&exp, &format!("{exp}.5")), "bad_claims"),
        ("exp huge", claims(&exp, "99999999999999999999"), "bad_claims"),
        ("exp beyond floats", claims(&exp, "1e999"), "bad_claims"),
        (
            "exp the largest",
            claims(&exp, &i64::MAX.to_string()),
            "bad_claims",
        ),
        ("exp negative", claims(&exp, "-1"), "bad_claims"),
        ("exp before iat", claims(&exp, &date(-1)), "bad_claims"),
        ("exp too far", claims(&exp, &date(TTL_S + 1)), "bad_claims"),
        ("exp twice", added("\"exp\":1"), "malformed"),
        (
            "expired",
            with_dates(&signer, &header, &good, &date(-TTL_S), &date(0)),
            "expired",
        ),
        (
            "about to expire",
            with_dates(&signer, &header, &good, &date(1 - TTL_S), &date(1)),
            "ok",
        ),
        (
            "iat missing",
            claims(&format!("\"iat\":{iat},"), ""),
            "bad_claims",
        ),
        ("iat a text", claims(&iat, &format!("\"{iat}\"")), "bad_claims"),
        ("iat true", claims(&iat, "true"), "bad_claims"),
        ("iat an object", claims(&iat, "{}"), "bad_claims"),
        (
            "iat the smallest",
            claims(&iat, &i64::MIN.to_string()),
            "bad_claims",
        ),
        (
            "iat skewed",
            with_dates(&signer, &header, &good, &date(30), &date(31)),
            "ok",
        ),
        (
            "iat in the future",
            with_dates(&signer, &header, &good, &date(31), &date(32)),
            "not_yet_valid",
        ),
        ("nbf now", added(&format!("\"nbf\":{iat}")), "ok"),
        (
            "nbf in the future",
            added(&format!("\"nbf\":{}", date(31))),
            "not_yet_valid",
        ),
        ("nbf a text", added("\"nbf\":\"0\""), "bad_claims"),
        ("nbf null", added("\"nbf\":null"), "bad_claims"),
        ("payload an array", signer.token(&header, "[]"), "malformed"),
        ("payload empty", signer.token(&header, ""), "malformed"),
        (
            "payload two objects",
            signer.token(&header, &format!("{good}{{}}")),
            "malformed",
        ),
        (
            "payload a nested token",
            signer.token(&header, &signer.token(&header, &good)),
            "malformed",
        ),
        (
            "names that are no text",
            signer.token(&header, &with(&good, "\"iss\"", "iss")),
            "malformed",
        ),
    ]
}

fn with_dates(signer: &Signer, header: &str, claims: &str, iat: &str, exp: &str) -> String {
    let claims = with(claims, &at(0).timestamp().to_string(), iat);
    signer.token(header, &with(&claims, &at(TTL_S).timestamp().to_string(), exp))
}

/// Forged signatures and texts that are no compact token.
pub(super) fn shape_rows(key: &SigningKeyRow) -> Vec<Row> {
    let (signer, header, claims) = (Signer::own(key), header(&key.kid), claims());
    let good = signer.token(&header, &claims);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(&key.pkcs8).unwrap();
    let public = pair.public_key().as_ref().to_vec();
    let hmac = |secret: &[u8]| {
        let header = with(&header, "EdDSA", "HS256");
        let signed = format!("{}.{}", base64url(&header), base64url(&claims));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
        format!("{signed}.{}", base64url(tag))
    };
    let unsigned = format!(
        "{}.{}.",
        base64url(with(&header, "EdDSA", "none")),
        base64url(&claims)
    );
    let rsa = Signer::rsa().token(&with(&header, "EdDSA", "RS256"), &claims);
    // The last character of 64 bytes has four bits to spare; another character there may decode to the same bytes.
    let spare = format!(
        "{}{}",
        &good[..good.len() - 1],
        if good.ends_with('A') { 'B' } else { 'A' }
    );
    let other_claims = base64url(with(&claims, &user_id(2).to_string(), &user_id(1).to_string()));
    vec![
        ("none without a signature", unsigned, "wrong_algorithm"),
        ("HS256 with the public key", hmac(&public), "wrong_algorithm"),
        (
            "HS256 with the published x",
            hmac(base64url(&public).as_bytes()),
            "wrong_algorithm",
        ),
        (
            "HS256 with the published key",
            hmac(signer.jwk(&key.kid).to_string().as_bytes()),
            "wrong_algorithm",
        ),
        ("HS256 with nothing", hmac(b""), "wrong_algorithm"),
        ("RS256 with another's key", rsa, "wrong_algorithm"),
        (
            "another's key under our kid",
            Signer::ed().token(&header, &claims),
            "bad_signature",
        ),
        ("signature empty", format!("{signed}."), "bad_signature"),
        (
            "signature cut",
            format!("{signed}.{}", &signature[..80]),
            "bad_signature",
        ),
        (
            "signature longer",
            format!("{signed}.{signature}AAAA"),
            "bad_signature",
        ),
        (
            "signature of zeros",
            format!("{signed}.{}", base64url([0; 64])),
            "bad_signature",
        ),
        (
            "signature not base64url",
            format!("{signed}.{}", "!".repeat(86)),
            "bad_signature",
        ),
        ("signature padded", format!("{good}=="), "bad_signature"),
        ("signature with spare bits", spare, "bad_signature"),
        (
            "other claims, same signature",
            format!("{}.{other_claims}.{signature}", base64url(&header)),
            "bad_signature",
        ),
        ("white space before", format!(" {good}"), "malformed"),
        ("white space after", format!("{good} "), "bad_signature"),
        ("a line break after", format!("{good}\n"), "bad_signature"),
        ("a line break inside", with(&good, ".", ".\n"), "malformed"),
        ("a zero byte", with(&good, ".", "\0."), "malformed"),
        ("padded header", with(&good, ".", "=."), "malformed"),
        ("full-width dots", good.replace('.', "．"), "malformed"),
        ("look-alike letters", format!("е{}", &good[1..]), "malformed"),
        ("bearer twice", format!("Bearer {good}"), "malformed"),
        ("two tokens", format!("{good},{good}"), "malformed"),
        ("two parts", signed.to_owned(), "malformed"),
        ("four parts", format!("{good}.x"), "malformed"),
        (
            "five parts, encrypted",
            format!("{}.a.b.c.d", base64url("{\"alg\":\"dir\",\"enc\":\"A128GCM\"}")),
            "malformed",
        ),
        (
            "JSON form",
            json!({"payload": base64url(&claims), "signature": signature}).to_string(),
            "malformed",
        ),
        ("empty", String::new(), "malformed"),
        ("dots", "..".to_owned(), "malformed"),
        ("many dots", ".".repeat(8000), "malformed"),
        ("one byte too long", "a".repeat(8 * 1024 + 1), "too_long"),
        ("huge", "a.".repeat(1_000_000), "too_long"),
    ]
}
