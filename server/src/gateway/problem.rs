//! How a use case fails, free of the protocol that answers it: `api/error.rs` maps it to HTTP.

use std::borrow::Cow;

use toolgate_api::calls::CallError;
use toolgate_api::policy_tests::BrokenPolicyTest;
use toolgate_api::remedy::Remedy;
use toolgate_api::{Diagnostic, ErrorCode, Problem as ProblemBody};
use toolgate_core::counted::counted;
use toolgate_core::ids::CallId;
use toolgate_core::redact::without_user_info;
use toolgate_store::StoreError;

/// Faults that one problem names at most, as the document says.
const MAX_ERRORS: usize = 1000;

/// A problem to answer with, and the cause that only the log sees.
#[derive(Debug)]
pub struct Problem {
    body: Box<ProblemBody>,
    retry_after_s: Option<u32>,
}

impl Problem {
    /// A problem with a code and a sentence that says what happened and how to correct it.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            body: Box::new(ProblemBody {
                type_: format!("urn:toolgate:problem:{code}"),
                title: code.title().to_owned(),
                status: code.status(),
                detail: detail.into(),
                code,
                retryable: code.retryable(),
                request_id: String::new(),
                errors: Vec::new(),
                missing_groups: None,
                broken_policy_tests: None,
                connect_url: None,
                call_id: None,
                upstream_status: None,
                upstream_message: None,
                upstream_answer: None,
                remedy: None,
            }),
            retry_after_s: None,
        }
    }

    /// The failure of a tool as a problem of its own.
    pub fn of_failure(failure: CallError) -> Self {
        let mut error = Self::new(failure.code, failure.message);
        error.body.retryable = failure.retryable;
        error.body.upstream_status = failure.upstream_status;
        error.body.upstream_message = failure.upstream_message;
        error.body.upstream_answer = failure.upstream_answer;
        error.body.remedy = failure.remedy;
        error.retry_after_s = failure.retry_after_s;
        error
    }

    /// A fault of ours: the log gets the cause, the client a fixed text.
    pub fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        log_cause("internal fault", cause);
        Self::new(
            ErrorCode::Internal,
            "The server failed to answer. The request id finds the cause in its log.",
        )
    }

    /// The same text for what is absent and what may not be known.
    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(
            ErrorCode::NotFound,
            format!("There is no {what} that you may see."),
        )
    }

    /// Adds every single fault with its place.
    #[must_use]
    pub fn errors(mut self, errors: Vec<Diagnostic>) -> Self {
        self.body.errors = errors;
        self.body.errors.truncate(MAX_ERRORS);
        self
    }

    /// Adds the groups that were asked for but not granted.
    #[must_use]
    pub fn missing_groups(mut self, groups: Vec<String>) -> Self {
        self.body.missing_groups = Some(groups);
        self
    }

    /// Adds the expectations that the change would break.
    #[must_use]
    pub fn broken_policy_tests(mut self, broken: Vec<BrokenPolicyTest>) -> Self {
        self.body.broken_policy_tests = Some(broken);
        self
    }

    /// Adds where the caller connects the account.
    #[must_use]
    pub fn connect_url(mut self, url: String) -> Self {
        self.body.connect_url = Some(url);
        self
    }

    /// Adds the record's id.
    #[must_use]
    pub fn call_id(mut self, id: CallId) -> Self {
        self.body.call_id = Some(id.0);
        self
    }

    /// Adds what lifts it, where that is one known thing.
    #[must_use]
    pub fn remedy(mut self, remedy: Option<Remedy>) -> Self {
        self.body.remedy = remedy;
        self
    }

    /// Says that the same request cannot succeed later, against the code's usual meaning.
    #[must_use]
    pub fn final_(mut self) -> Self {
        self.body.retryable = false;
        self
    }

    /// Adds `Retry-After`, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The seconds after which the same request may succeed, if known.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u32> {
        self.retry_after_s
    }

    /// The problem as it travels; the log gets nothing.
    #[must_use]
    pub fn into_body(self, request_id: &str) -> ProblemBody {
        let mut body = *self.repeatable().body;
        request_id.clone_into(&mut body.request_id);
        body
    }

    /// Itself without the users and passwords of addresses that a request named.
    fn repeatable(mut self) -> Self {
        let errors = self.body.errors.iter_mut();
        let texts = errors.flat_map(|error| std::iter::once(&mut error.message).chain(error.hint.as_mut()));
        for text in texts.chain([&mut self.body.detail]) {
            if let Cow::Owned(clean) = without_user_info(text) {
                *text = clean;
            }
        }
        self
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.body.retryable
    }

    /// The groups that were asked for but not granted.
    #[must_use]
    pub fn groups_missing(&self) -> &[String] {
        self.body.missing_groups.as_deref().unwrap_or_default()
    }

    /// What happened, and how to correct it.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.body.detail
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.body.code
    }
}

/// What a refusal of something written says, whose faults are listed in `errors`.
#[must_use]
pub fn faults_in(what: &str, count: usize) -> String {
    let faults = counted(count, "fault");
    format!("{faults} in the {what}; nothing was stored. `errors` names each with its place.")
}

/// A fault on one line: where, what, and what to do.
#[must_use]
pub fn in_words(fault: &Diagnostic) -> String {
    let mut text = match fault.pointer.as_deref() {
        None | Some("") => fault.message.clone(),
        Some(pointer) => format!("{pointer}: {}", fault.message),
    };
    if let Some(hint) = &fault.hint {
        text.push_str(" (");
        text.push_str(hint);
        text.push(')');
    }
    text
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => {
                log_cause("store unavailable", &error);
                Self::new(
                    ErrorCode::Unavailable,
                    "The database does not answer. Try again shortly.",
                )
                .retry_after(1)
            }
            StoreError::LastAdministrator { what } => Self::new(
                ErrorCode::LastAdministrator,
                format!("After this, {what} would have no administrator. Appoint another one first."),
            ),
            _ => Self::internal(&error),
        }
    }
}

/// Logs an error with its whole chain.
fn log_cause(what: &str, cause: &(dyn std::error::Error + 'static)) {
    let mut chain = cause.to_string();
    let mut source = cause.source();
    while let Some(next) = source {
        chain.push_str(": ");
        chain.push_str(&next.to_string());
        source = next.source();
    }
    tracing::error!(cause = chain, "{what}");
}
