//! How the endpoints for clients fail: by the codes of OAuth, not by problems.

use crate::gateway::Problem;

/// An error code (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OauthError {
    /// A parameter is missing, repeated or malformed.
    InvalidRequest,
    /// The client is not known.
    InvalidClient,
    /// The code or token is not valid, or is another client's.
    InvalidGrant,
    /// A grant type other than those of the metadata.
    UnsupportedGrantType,
    /// A response type other than `code`.
    UnsupportedResponseType,
    /// No address of an MCP endpoint of this server.
    InvalidTarget,
    /// The user refused.
    AccessDenied,
    /// A redirection address that is not taken.
    InvalidRedirectUri,
    /// Other metadata that is not taken.
    InvalidClientMetadata,
    /// Too many requests.
    SlowDown,
    /// A fault of the server.
    ServerError,
}

impl OauthError {
    /// As it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::SlowDown => "slow_down",
            Self::ServerError => "server_error",
        }
    }
}

/// An error with its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub error: OauthError,
    /// What is wrong and how to correct it.
    pub description: String,
    /// Seconds to wait, after too many requests.
    pub retry_after_s: Option<u32>,
}

impl Fault {
    /// An error with its explanation.
    #[must_use]
    pub fn new(error: OauthError, description: impl Into<String>) -> Self {
        Self {
            error,
            description: description.into(),
            retry_after_s: None,
        }
    }

    /// Too many requests.
    #[must_use]
    pub fn slow_down(seconds: u32) -> Self {
        Self {
            retry_after_s: Some(seconds),
            ..Self::new(
                OauthError::SlowDown,
                format!("Too many requests. Try again in {seconds} s."),
            )
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::new(OauthError::ServerError, problem.detail().to_owned())
    }
}

impl From<toolgate_store::StoreError> for Fault {
    fn from(error: toolgate_store::StoreError) -> Self {
        Problem::from(error).into()
    }
}
