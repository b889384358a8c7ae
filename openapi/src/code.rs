//! The one list of error codes: name, HTTP status, meaning, and whether trying again can help.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:literal, $retry:literal, $title:literal;)*) => {
        /// A stable error code. Clients branch on it; the text beside it is for people.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The code as it is written in answers, records and metrics.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status of a problem with this code.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Whether the same request may succeed later without being changed.
            #[must_use]
            pub const fn retryable(self) -> bool {
                match self { $(Self::$variant => $retry,)* }
            }

            /// A short title, the same for every occurrence (RFC 9457 section 3.1.3).
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    /// The request could not be read: bad JSON, a bad path or query, a missing header.
    MalformedRequest = "malformed_request", 400, false, "The request could not be read";
    /// No credential, or one that is not valid (any more).
    Unauthenticated = "unauthenticated", 401, false, "Sign in or send a valid key";
    /// The password is right; a code of the user's second factor is missing.
    SecondFactorRequired = "second_factor_required", 401, false, "A code of the second factor is needed";
    /// The password is right; the user has to set up a second factor before signing in.
    SecondFactorSetupRequired = "second_factor_setup_required", 401, false, "A second factor has to be set up first";
    /// The caller's role does not allow this operation.
    Forbidden = "forbidden", 403, false, "Your role does not allow this";
    /// The tool uses the caller's own account at another service, and none is connected or can be.
    AccountRequired = "account_required", 403, false, "Connect your account first";
    /// The request asks for groups that the caller was not granted.
    InsufficientToolGroups = "insufficient_tool_groups", 403, false, "Insufficient permissions for requested tool groups";
    /// The tool is disabled.
    ToolDisabled = "tool_disabled", 403, false, "The tool is disabled";
    /// The tool is in none of the requested groups.
    ToolNotInGroups = "tool_not_in_groups", 403, false, "The tool is in none of the requested groups";
    /// The tool is not open in the current workflow state.
    ToolNotInState = "tool_not_in_state", 403, false, "The tool is not available in the current state";
    /// The tool is reachable only through groups whose condition does not hold now, or cannot be evaluated.
    GroupClosed = "group_closed", 403, false, "The group is closed now";
    /// The project requires sessions, and the request names none.
    SessionRequired = "session_required", 403, false, "This project requires a session";
    /// The project does not let a new session begin in this state.
    StartStateNotAllowed = "start_state_not_allowed", 403, false, "No session may begin in this state";
    /// A browser request came from another site.
    CrossSite = "cross_site", 403, false, "Cross-site requests are refused";
    /// Nothing here, or nothing the caller may know of.
    NotFound = "not_found", 404, false, "Not found";
    /// The project has no such tool.
    ToolNotFound = "tool_not_found", 404, false, "The tool does not exist";
    /// The path exists but not with this method.
    MethodNotAllowed = "method_not_allowed", 405, false, "Method not allowed";
    /// None of the offered representations is acceptable.
    NotAcceptable = "not_acceptable", 406, false, "No acceptable representation";
    /// The body did not arrive in time.
    RequestTimeout = "request_timeout", 408, true, "The request did not arrive in time";
    /// The thing to create exists already.
    Conflict = "conflict", 409, false, "Already exists";
    /// The selection holds another number of tools than the caller expects.
    SelectionChanged = "selection_changed", 409, false, "The selection is another one";
    /// Two changes of the same place have to be decided between.
    MergeConflict = "merge_conflict", 409, false, "Two changes contradict each other; a decision is needed";
    /// Something still refers to the thing to remove.
    InUse = "in_use", 409, false, "Still in use";
    /// The change would break an expectation that the project has stored as a policy test.
    PolicyTestFailed = "policy_test_failed", 409, false, "A policy test would fail";
    /// At least one principal that may manage this must remain.
    LastAdministrator = "last_administrator", 409, false, "The last administrator cannot be removed";
    /// A call with this idempotency key is still running.
    IdempotencyInProgress = "idempotency_in_progress", 409, true, "A request with this Idempotency-Key is in progress";
    /// The session has ended or expired.
    SessionEnded = "session_ended", 410, false, "The session has ended";
    /// The resource changed since the caller read it.
    PreconditionFailed = "precondition_failed", 412, false, "The resource has changed";
    /// The body is larger than the limit.
    PayloadTooLarge = "payload_too_large", 413, false, "The body is too large";
    /// The content type is not one this operation reads.
    UnsupportedMediaType = "unsupported_media_type", 415, false, "Unsupported content type";
    /// A request for another host than this server answers for.
    MisdirectedRequest = "misdirected_request", 421, false, "This server does not answer for that host";
    /// The request was read but its content is not valid.
    InvalidRequest = "invalid_request", 422, false, "The content is not valid";
    /// A definition has errors; nothing was stored.
    InvalidDefinition = "invalid_definition", 422, false, "The definition has errors";
    /// The arguments do not fit the tool's schema.
    InvalidArguments = "invalid_arguments", 422, false, "The arguments do not fit the tool's schema";
    /// The idempotency key was used before with another request.
    IdempotencyMismatch = "idempotency_mismatch", 422, false, "This Idempotency-Key was used with another request";
    /// `If-Match` is required here.
    PreconditionRequired = "precondition_required", 428, false, "If-Match is required";
    /// Too many requests.
    RateLimited = "rate_limited", 429, true, "Too many requests";
    /// Too many calls run at the same time.
    ConcurrencyLimited = "concurrency_limited", 429, true, "Too many calls at the same time";
    /// The project or the caller has as many active sessions as it may have.
    TooManySessions = "too_many_sessions", 429, true, "Too many sessions";
    /// The request headers are too large.
    HeadersTooLarge = "headers_too_large", 431, false, "The request headers are too large";
    /// The session moved while the call ran; the result is valid, the move was not applied.
    StateConflict = "state_conflict", 409, false, "The state moved meanwhile";
    /// The tool exists but cannot run now: nothing executes its kind, its breaker is open, or its environment is incomplete.
    ToolUnavailable = "tool_unavailable", 503, true, "The tool cannot run now";
    /// The upstream refused Toolgate's credential.
    UpstreamAuth = "upstream_auth", 502, false, "The upstream refused the credential";
    /// The upstream asks to slow down.
    UpstreamRateLimited = "upstream_rate_limited", 502, true, "The upstream limits the rate";
    /// The upstream has no credit left for this account.
    UpstreamQuota = "upstream_quota", 502, false, "The upstream account has no credit left";
    /// The upstream refused the request itself.
    UpstreamRejected = "upstream_rejected", 502, false, "The upstream refused the request";
    /// The upstream is not reachable or failed.
    UpstreamUnavailable = "upstream_unavailable", 502, true, "The upstream is unavailable";
    /// The upstream answered something that cannot be used: too large, broken, wrongly encoded.
    UpstreamInvalid = "upstream_invalid", 502, false, "The upstream's answer cannot be used";
    /// The destination is not on the egress allow-list or its address is forbidden.
    EgressDenied = "egress_denied", 502, false, "The destination is not allowed";
    /// The call did not finish in time.
    Timeout = "timeout", 504, true, "The call did not finish in time";
    /// The caller disconnected before the call finished.
    Cancelled = "cancelled", 499, true, "The call was cancelled";
    /// The server stopped while the call ran; whether the upstream acted is unknown.
    Interrupted = "interrupted", 503, false, "The call was interrupted by a restart";
    /// Executing the tool failed.
    ExecutionFailed = "execution_failed", 502, false, "Executing the tool failed";
    /// The record could not be written, so nothing was executed.
    AuditUnavailable = "audit_unavailable", 503, true, "The record cannot be written; nothing was executed";
    /// The server has no key to encrypt secrets with.
    SecretsNotConfigured = "secrets_not_configured", 503, false, "Secrets are not configured";
    /// The server is starting, stopping or over its limits.
    Unavailable = "unavailable", 503, true, "The server cannot answer now";
    /// A fault of this server; the request id finds it in the log.
    Internal = "internal", 500, true, "Internal error";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
