//! Signing in, with a second factor where the user has one: one-time passwords by time (RFC 6238).
//!
//! What changes a second factor is proven by password and code, not by a sign-in that is there already: a cookie that was
//! taken changes nothing.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use qrcode::QrCode;
use qrcode::render::svg;
use secrecy::{ExposeSecret, SecretString};
use toolgate_api::ErrorCode;
use toolgate_api::second_factor::SecondFactorSetup;
use toolgate_store::rows::UserRow;
use totp_rs::{Builder, Secret, Totp};

use super::access::{self, Actor};
use super::entry::Origin;
use super::sign_ins::{Tried, too_many, try_password};
use super::users::{of_server, what};
use crate::auth::guesses::Attempt;
use crate::auth::identity::Identity;
use crate::auth::recovery_code;
use crate::gateway::{Gateway, Problem};
use crate::secrets::second_factor::{open, seal};

/// Bytes of a shared secret: the 160 bits that RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// Who the codes are for, as authenticators show it.
const ISSUER: &str = "Toolgate";
/// Digits of a code.
const DIGITS: usize = 6;

/// A user and password, and a code of the second factor.
pub struct Given {
    /// The user's name.
    pub username: String,
    /// The password.
    pub password: SecretString,
    /// The code.
    pub code: String,
}

/// Lets a user sign in by password, and by code where the user has a second factor.
///
/// # Errors
/// 401 when password or code are wrong or the code is missing; 429 after too many wrong ones.
pub async fn sign_in(
    gateway: &Gateway,
    address: Option<IpAddr>,
    username: &str,
    password: SecretString,
    code: Option<&str>,
) -> Result<Arc<UserRow>, Problem> {
    let (user, attempt) = by_password(gateway, address, username, password).await?;
    let missing = match (user.second_factor_at, code) {
        (None, _) if user.second_factor_required => Some(Problem::new(
            ErrorCode::SecondFactorSetupRequired,
            "You have to sign in with a second factor. Set it up with an authenticator app first.",
        )),
        (None, _) => None,
        (Some(_), None) => Some(Problem::new(
            ErrorCode::SecondFactorRequired,
            "Enter the code that your authenticator app shows, or a recovery code.",
        )),
        (Some(_), Some(code)) => {
            use_code(gateway, address, &user, code).await?;
            None
        }
    };
    gateway.sign_ins.succeeded(&attempt, gateway.clock.now());
    missing.map_or(Ok(user), Err)
}

/// Begins to set up a second factor: a new secret, which counts once a code confirms it.
///
/// # Errors
/// As [`sign_in`]; 409 when the user has a second factor.
pub async fn begin(
    gateway: &Arc<Gateway>,
    origin: &Origin,
    username: &str,
    password: SecretString,
) -> Result<SecondFactorSetup, Problem> {
    let (user, attempt) = by_password(gateway, origin.address, username, password).await?;
    gateway.sign_ins.succeeded(&attempt, gateway.clock.now());
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret).map_err(|error| Problem::internal(&error))?;
    let setup = setup(&user, &secret)?;
    let row = seal(user.id, &secret, &gateway.keyring).map_err(|error| Problem::internal(&error))?;
    let (store, id, now) = (gateway.store.clone(), user.id, gateway.clock.now());
    recorded(gateway, origin, &user, "second_factor_begun", async move {
        match store.propose_second_factor(id, &row, now).await? {
            true => Ok(()),
            false => Err(Problem::new(
                ErrorCode::Conflict,
                "You have a second factor already. Remove it first.",
            )),
        }
    })
    .await?;
    Ok(setup)
}

/// Confirms a second factor by a code. It counts from now on; the recovery codes are shown this once.
///
/// # Errors
/// As [`sign_in`]; 409 when there is nothing to confirm.
pub async fn confirm(
    gateway: &Arc<Gateway>,
    origin: &Origin,
    given: Given,
) -> Result<(Arc<UserRow>, Vec<String>), Problem> {
    let (user, attempt) = by_password(gateway, origin.address, &given.username, given.password).await?;
    let row = gateway.store.second_factor(user.id).await?;
    let nothing = || {
        let detail = "There is no second factor to confirm. Begin to set one up first.";
        Problem::new(ErrorCode::Conflict, detail)
    };
    let Some(row) = row.filter(|row| row.confirmed_at.is_none()) else {
        gateway.sign_ins.succeeded(&attempt, gateway.clock.now());
        return Err(nothing());
    };
    let secret = open(user.id, &row, &gateway.keyring).map_err(|error| Problem::internal(&error))?;
    let now = gateway.clock.now();
    let step = step_of(&user, &secret, &given.code, now.timestamp())?;
    let step = step.ok_or_else(|| wrong_code(gateway, origin.address))?;
    gateway.sign_ins.succeeded(&attempt, now);
    let (codes, digests) = recovery_codes()?;
    let (store, id) = (gateway.store.clone(), user.id);
    recorded(gateway, origin, &user, "second_factor_confirmed", async move {
        match store.confirm_second_factor(id, step, &digests, now).await? {
            true => Ok(()),
            false => Err(nothing()),
        }
    })
    .await?;
    Ok((user, codes))
}

/// Replaces the recovery codes of a user. The new ones are shown this once.
///
/// # Errors
/// As [`sign_in`]; 409 when the user has no second factor.
pub async fn renew_codes(
    gateway: &Arc<Gateway>,
    origin: &Origin,
    given: Given,
) -> Result<Vec<String>, Problem> {
    let user = proven(gateway, origin, given).await?;
    let (codes, digests) = recovery_codes()?;
    let (store, id) = (gateway.store.clone(), user.id);
    recorded(gateway, origin, &user, "recovery_codes_replaced", async move {
        Ok(store.replace_recovery_codes(id, &digests).await?)
    })
    .await?;
    Ok(codes)
}

/// Removes the user's own second factor.
///
/// # Errors
/// As [`sign_in`]; 403 when the user has to have one; 409 when there is none.
pub async fn remove_own(gateway: &Arc<Gateway>, origin: &Origin, given: Given) -> Result<(), Problem> {
    let user = proven(gateway, origin, given).await?;
    let identity = Identity::by_password(&user, gateway.clock.now());
    let actor = Actor {
        identity: &identity,
        origin,
    };
    if user.second_factor_required {
        let refusal = Problem::new(
            ErrorCode::Forbidden,
            "An administrator requires a second factor of you. It can be replaced by one who removes it for you.",
        );
        let opening = of_server(gateway, actor, what("second_factor_removed", &user));
        return Err(access::refused(gateway, opening, refusal).await?);
    }
    remove(gateway, actor, &user).await
}

/// Removes the second factor of a user.
///
/// # Errors
/// 404 when there is none.
pub async fn remove(gateway: &Arc<Gateway>, actor: Actor<'_>, user: &UserRow) -> Result<(), Problem> {
    let openings = vec![of_server(gateway, actor, what("second_factor_removed", user))];
    tracing::info!(user = %user.id, by = %actor.identity.principal.id, "a second factor is removed");
    let (store, id) = (gateway.store.clone(), user.id);
    access::carry_out(gateway, openings, async move {
        match store.remove_second_factor(id).await? {
            true => Ok(()),
            false => Err(Problem::not_found("second factor of this user")),
        }
    })
    .await
}

/// A user by password. The attempt counts as failed until it is said to have succeeded.
async fn by_password(
    gateway: &Gateway,
    address: Option<IpAddr>,
    username: &str,
    password: SecretString,
) -> Result<(Arc<UserRow>, Attempt), Problem> {
    let user = gateway.snapshots.now().directory.user_by_name(username).cloned();
    let Tried { matches, attempt } =
        try_password(gateway, address, username, user.as_deref(), password).await?;
    match user {
        Some(user) if matches && user.disabled_at.is_none() => Ok((user, attempt)),
        user => {
            if matches {
                gateway.sign_ins.succeeded(&attempt, gateway.clock.now());
            }
            // What was typed as the name may be a password: only the id of a user is logged.
            let user = user.map(|user| tracing::field::display(user.id));
            tracing::info!(user, "sign-in refused");
            gateway.observer.refused_sign_in(address, gateway.clock.now());
            Err(Problem::new(
                ErrorCode::Unauthenticated,
                "The user name or the password is wrong.",
            ))
        }
    }
}

/// A user by password and a code of a second factor that counts.
async fn proven(gateway: &Gateway, origin: &Origin, given: Given) -> Result<Arc<UserRow>, Problem> {
    let (user, attempt) = by_password(gateway, origin.address, &given.username, given.password).await?;
    let used = match user.second_factor_at {
        Some(_) => use_code(gateway, origin.address, &user, &given.code).await,
        None => Err(Problem::new(ErrorCode::Conflict, "You have no second factor.")),
    };
    if user.second_factor_at.is_none() || used.is_ok() {
        gateway.sign_ins.succeeded(&attempt, gateway.clock.now());
    }
    used.map(|()| user)
}

/// Uses a code of a user: each counts once. All codes of a user are counted together, wherever they come from, because a code is
/// short.
async fn use_code(
    gateway: &Gateway,
    address: Option<IpAddr>,
    user: &UserRow,
    code: &str,
) -> Result<(), Problem> {
    let now = gateway.clock.now();
    let counted = format!("second factor {}", user.id);
    let attempt = gateway
        .sign_ins
        .attempt(&counted, None, now)
        .map_err(|seconds| too_many("codes", seconds))?;
    let row = gateway.store.second_factor(user.id).await?;
    let Some(row) = row.filter(|row| row.confirmed_at.is_some()) else {
        return Err(wrong_code(gateway, address));
    };
    let used = if is_one_time_password(code) {
        let secret = open(user.id, &row, &gateway.keyring).map_err(|error| Problem::internal(&error))?;
        match step_of(user, &secret, code, now.timestamp())? {
            Some(step) => gateway.store.use_second_factor_step(user.id, step).await?,
            None => false,
        }
    } else {
        let digest = recovery_code::digest(code);
        let used = gateway.store.use_recovery_code(user.id, &digest, now).await?;
        if used {
            tracing::info!(user = %user.id, "a recovery code is used");
        }
        used
    };
    if !used {
        return Err(wrong_code(gateway, address));
    }
    gateway.sign_ins.succeeded(&attempt, now);
    Ok(())
}

fn wrong_code(gateway: &Gateway, address: Option<IpAddr>) -> Problem {
    gateway.observer.refused_sign_in(address, gateway.clock.now());
    Problem::new(
        ErrorCode::Unauthenticated,
        "The code is wrong or was used already. Wait for the next code of your authenticator app.",
    )
}

fn is_one_time_password(code: &str) -> bool {
    let digits = code.chars().filter(|letter| !letter.is_whitespace());
    digits.clone().count() == DIGITS && digits.clone().all(|letter| letter.is_ascii_digit())
}

/// The step of a code, if it is one of about now: one step before and after count too, for clocks that differ.
fn step_of(user: &UserRow, secret: &[u8], code: &str, at: i64) -> Result<Option<i64>, Problem> {
    let plain: String = code.chars().filter(|letter| !letter.is_whitespace()).collect();
    let step = totp(user, secret)?.check(&plain, at.unsigned_abs());
    Ok(step.and_then(|step| i64::try_from(step).ok()))
}

fn totp(user: &UserRow, secret: &[u8]) -> Result<Totp, Problem> {
    Builder::new()
        .with_secret(Secret::from(secret))
        .with_account_name(user.username.as_str())
        .with_issuer(Some(ISSUER))
        .build()
        .map_err(|error| Problem::internal(&error))
}

fn setup(user: &UserRow, secret: &[u8]) -> Result<SecondFactorSetup, Problem> {
    let uri = totp(user, secret)?
        .to_url()
        .map_err(|error| Problem::internal(&error))?;
    let code = QrCode::new(uri.as_bytes()).map_err(|error| Problem::internal(&error))?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
    Ok(SecondFactorSetup {
        secret: Secret::from(secret).to_base32(),
        uri,
        qr_code: format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture)),
    })
}

/// New recovery codes, and what is stored of them.
fn recovery_codes() -> Result<(Vec<String>, Vec<[u8; 32]>), Problem> {
    let mut codes = Vec::with_capacity(recovery_code::COUNT);
    let mut digests = Vec::with_capacity(recovery_code::COUNT);
    for _ in 0..recovery_code::COUNT {
        let minted = recovery_code::mint().map_err(|error| Problem::internal(&error))?;
        codes.push(minted.text.expose_secret().to_owned());
        digests.push(minted.digest);
    }
    Ok((codes, digests))
}

/// Does something to the user's own second factor, on the record of the server.
fn recorded(
    gateway: &Arc<Gateway>,
    origin: &Origin,
    user: &Arc<UserRow>,
    change: &str,
    work: impl Future<Output = Result<(), Problem>> + Send + 'static,
) -> impl Future<Output = Result<(), Problem>> + Send {
    let identity = Identity::by_password(user, gateway.clock.now());
    let actor = Actor {
        identity: &identity,
        origin,
    };
    let openings = vec![of_server(gateway, actor, what(change, user))];
    tracing::info!(user = %user.id, change, "a second factor is changed");
    access::carry_out(gateway, openings, work)
}
