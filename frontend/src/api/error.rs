//! What can go wrong with a request, in words for people.

use toolgate_api::policy_tests::BrokenPolicyTest;
use toolgate_api::{Diagnostic, ErrorCode, Problem};

use crate::language::{t, tf};

/// Why a request gave no usable answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ApiError {
    /// The server answered with a problem.
    Problem(Box<Problem>),
    /// An error status without a problem body, for example from a proxy in between.
    Status {
        /// The HTTP status code.
        status: u16,
        /// The server's id of the request, when it sent one.
        request_id: Option<String>,
    },
    /// The server was not reached.
    Network,
    /// The server did not answer in time.
    Timeout,
    /// The answer was not what the contract says.
    Unreadable(String),
    /// A part of the dashboard itself did not come.
    NotLoaded,
}

impl ApiError {
    /// Whether one must sign in (again).
    pub(crate) fn is_unauthenticated(&self) -> bool {
        match self {
            Self::Problem(problem) => problem.code == ErrorCode::Unauthenticated,
            Self::Status { status, .. } => *status == 401,
            _ => false,
        }
    }

    /// The code of the problem, if the server answered with one.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Problem(problem) => Some(problem.code),
            _ => None,
        }
    }

    /// Whether what was asked for does not exist.
    pub(crate) fn is_absent(&self) -> bool {
        match self {
            Self::Problem(problem) => problem.status == 404,
            Self::Status { status, .. } => *status == 404,
            _ => false,
        }
    }

    /// A short heading.
    pub(crate) fn title(&self) -> String {
        match self {
            // The role is the reason of a refusal with this code only where no groups are named.
            Self::Problem(problem)
                if problem.code == ErrorCode::Forbidden && problem.missing_groups.is_some() =>
            {
                t("You cannot grant more than you hold").to_owned()
            }
            Self::Problem(problem) => problem.title.clone(),
            Self::Status { status, .. } => tf!("The server answered with status {status}", status),
            Self::Network => t("The server cannot be reached").to_owned(),
            Self::Timeout => t("The server did not answer in time").to_owned(),
            Self::Unreadable(_) => t("The answer could not be read").to_owned(),
            Self::NotLoaded => t("The page could not be loaded").to_owned(),
        }
    }

    /// What happened and what to do about it.
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Problem(problem) => problem.detail.clone(),
            Self::Status { .. } => {
                t("The answer did not come from Toolgate itself. A proxy in between may be at fault.")
                    .to_owned()
            }
            Self::Network => {
                t("Check your connection and that Toolgate is running, then try again.").to_owned()
            }
            Self::Timeout => t("It may be busy. Try again in a moment.").to_owned(),
            Self::Unreadable(reason) => {
                tf!(
                    "This page may be older than the server; reload it. ({reason})",
                    reason
                )
            }
            Self::NotLoaded => {
                t("Try again; if it still fails, reload: the server may have been updated meanwhile.")
                    .to_owned()
            }
        }
    }

    /// The id that finds the request in the server's log.
    pub(crate) fn request_id(&self) -> Option<String> {
        match self {
            Self::Problem(problem) => Some(problem.request_id.clone()).filter(|id| !id.is_empty()),
            Self::Status { request_id, .. } => request_id.clone(),
            _ => None,
        }
    }

    /// The stored expectations that a change would break.
    pub(crate) fn broken_policy_tests(&self) -> &[BrokenPolicyTest] {
        match self {
            Self::Problem(problem) => problem.broken_policy_tests.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// Every single fault that the server found.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Problem(problem) => &problem.errors,
            _ => &[],
        }
    }
}

impl From<gloo_net::Error> for ApiError {
    fn from(error: gloo_net::Error) -> Self {
        match error {
            gloo_net::Error::JsError(error) if error.name == "TimeoutError" => Self::Timeout,
            gloo_net::Error::JsError(_) => Self::Network,
            other => Self::Unreadable(other.to_string()),
        }
    }
}
