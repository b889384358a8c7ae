//! The second factor of a sign-in: one-time passwords by time (RFC 6238), and recovery codes.

use serde::{Deserialize, Serialize};

use crate::auth::LoginResponse;

/// A user who wants to set up a second factor.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BeginSecondFactor {
    /// The user's name.
    #[cfg_attr(feature = "utoipa", schema(example = "ada", min_length = 1, max_length = 64))]
    pub username: String,
    /// The user's password.
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 1, max_length = 1024))]
    pub password: String,
}

/// A user with a code of the second factor.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProveSecondFactor {
    /// The user's name.
    #[cfg_attr(feature = "utoipa", schema(example = "ada", min_length = 1, max_length = 64))]
    pub username: String,
    /// The user's password.
    #[cfg_attr(feature = "utoipa", schema(example = "correct horse battery staple", format = Password, min_length = 1, max_length = 1024))]
    pub password: String,
    /// Six digits from the authenticator, or a recovery code where one counts.
    #[cfg_attr(
        feature = "utoipa",
        schema(example = "492039", min_length = 1, max_length = 32)
    )]
    pub code: String,
}

/// What an authenticator needs to make codes. It counts when it is confirmed by a code.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SecondFactorSetup {
    /// The shared secret in Base32, to type it.
    #[cfg_attr(feature = "utoipa", schema(example = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))]
    pub secret: String,
    /// The same as an `otpauth:` address, with issuer and user name.
    #[cfg_attr(
        feature = "utoipa",
        schema(
            example = "otpauth://totp/Toolgate:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Toolgate"
        )
    )]
    pub uri: String,
    /// The same as a picture to scan: a `data:` address of an SVG image with a QR code.
    #[cfg_attr(feature = "utoipa", schema(example = "data:image/svg+xml;base64,PHN2Zz4="))]
    pub qr_code: String,
}

/// Codes that each sign in once without the authenticator. They are shown this once, and take the place of earlier ones.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RecoveryCodes {
    /// The codes.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["f3k9-2mzq-81xc"]), max_items = 10))]
    pub recovery_codes: Vec<String>,
}

/// A second factor that counts from now on: the recovery codes, and a sign-in with it.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SecondFactorConfirmed {
    /// Codes that each sign in once without the authenticator. They are shown this once.
    #[cfg_attr(feature = "utoipa", schema(example = json!(["f3k9-2mzq-81xc"]), max_items = 10))]
    pub recovery_codes: Vec<String>,
    /// A sign-in, as from `/auth/login`.
    pub sign_in: LoginResponse,
}

/// Says the type's name and nothing of what is in it.
macro_rules! debug_without_secrets {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug_without_secrets!(
    BeginSecondFactor,
    ProveSecondFactor,
    SecondFactorSetup,
    RecoveryCodes,
    SecondFactorConfirmed
);
