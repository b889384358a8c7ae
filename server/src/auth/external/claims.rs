//! The claims of an external token.

use chrono::{DateTime, Utc};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolgate_core::policy::groups::GroupSet;

use super::config::IssuerConfig;
use crate::auth::error::Refusal;
use crate::auth::jws::{CLOCK_SKEW_S, present};

/// The longest `sub`, in characters: it becomes part of every record.
const MAX_SUBJECT_CHARS: usize = 255;

#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: Audience,
    sub: String,
    exp: NumericDate,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    iat: Option<NumericDate>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Seconds since 1970; fractions are cut off (RFC 7519, section 2).
struct NumericDate(i64);

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let whole = number.as_i64().or_else(|| {
            // Beyond 2^53 a float no longer holds whole seconds exactly; no real date is there.
            let seconds = number
                .as_f64()
                .filter(|seconds| seconds.abs() < 9_007_199_254_740_992.0)?;
            Some(seconds.floor() as i64)
        });
        whole
            .map(Self)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Other("a number out of range"), &"a date"))
    }
}

pub(super) struct Checked {
    pub(super) subject: String,
    pub(super) expires_at: DateTime<Utc>,
    /// The claims that this does not look at.
    pub(super) others: Map<String, Value>,
}

pub(super) fn check(claims: Claims, config: &IssuerConfig, now: DateTime<Utc>) -> Result<Checked, Refusal> {
    if claims.iss != config.issuer {
        return Err(Refusal::UnknownIssuer);
    }
    let meant = match &claims.aud {
        Audience::One(audience) => *audience == config.audience,
        Audience::Many(audiences) => audiences.contains(&config.audience),
    };
    if !meant {
        return Err(Refusal::WrongAudience);
    }
    let latest = now.timestamp() + CLOCK_SKEW_S;
    if [&claims.nbf, &claims.iat]
        .into_iter()
        .flatten()
        .any(|date| date.0 > latest)
    {
        return Err(Refusal::NotYetValid);
    }
    let expires_at =
        DateTime::from_timestamp(claims.exp.0, 0).ok_or(Refusal::BadClaims("exp is out of range"))?;
    let plain = !claims.sub.is_empty()
        && claims.sub.chars().count() <= MAX_SUBJECT_CHARS
        && !claims.sub.chars().any(char::is_control);
    if !plain {
        return Err(Refusal::BadClaims(
            "sub is empty, longer than 255 characters or not plain text",
        ));
    }
    Ok(Checked {
        subject: claims.sub,
        expires_at,
        others: claims.others,
    })
}

/// An absent claim grants nothing; one that cannot be read refuses the token, so that a mistake in the issuer's mapping
/// is seen.
///
/// # Errors
/// A claim of another shape.
pub(crate) fn groups(claim: Option<&Value>) -> Result<GroupSet, Refusal> {
    let fault = Refusal::BadClaims("the groups claim is neither an array of texts nor a text");
    let names: Vec<&str> = match claim {
        None => Vec::new(),
        Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
        Some(Value::Array(items)) => items
            .iter()
            .map(Value::as_str)
            .collect::<Option<Vec<_>>>()
            .ok_or(fault)?,
        Some(_) => return Err(fault),
    };
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}
