//! What went wrong between the request and the head of the answer.

use std::error::Error;
use std::io;

use rustls::{CertificateError, InvalidMessage};
use toolgate_api::ErrorCode;

use super::client::SendError;
use crate::egress::connector::ConnectError;
use crate::failure::Failure;

/// Whether another try on a fresh connection may go better.
pub(crate) fn may_pass(error: &SendError) -> bool {
    match find::<ConnectError>(error) {
        Some(ConnectError::Refused { .. } | ConnectError::Resolve { .. }) => true,
        // A second time-out would only use up the caller's time.
        Some(ConnectError::Forbidden { .. } | ConnectError::Timeout { .. }) => false,
        None => find::<rustls::Error>(error).is_none() && !is_parse(error),
    }
}

/// The failure for the caller. Texts of the HTTP library are not passed on: they may quote what was sent.
pub(crate) fn failure(error: &SendError) -> Failure {
    if let Some(connect) = find::<ConnectError>(error) {
        let code = match connect {
            ConnectError::Forbidden { .. } => ErrorCode::EgressDenied,
            ConnectError::Resolve { .. } | ConnectError::Refused { .. } | ConnectError::Timeout { .. } => {
                ErrorCode::UpstreamUnavailable
            }
        };
        return Failure::new(code, connect.to_string());
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return Failure::new(ErrorCode::UpstreamUnavailable, insecure(tls));
    }
    if is_parse(error) {
        return Failure::new(
            ErrorCode::UpstreamInvalid,
            "the upstream's answer is not valid HTTP",
        );
    }
    Failure::new(
        ErrorCode::UpstreamUnavailable,
        "the upstream closed the connection before it answered; whether it acted is unknown",
    )
}

/// Why there is no secure connection, with what helps where people can do something about it.
fn insecure(error: &rustls::Error) -> String {
    use rustls::Error::{InvalidCertificate, InvalidMessage as Message};
    let why = match error {
        InvalidCertificate(CertificateError::UnknownIssuer) => {
            "its certificate comes from an authority that this machine does not trust; add the authority to the \
             certificates that the machine trusts"
        }
        InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "its certificate has expired"
        }
        InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "its certificate is not valid yet; is the clock of this machine right?"
        }
        InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name than that of the URL",
        Message(InvalidMessage::InvalidContentType) => {
            "it does not speak TLS there; should the URL begin with http://?"
        }
        other => &other.to_string(),
    };
    format!("no secure connection to the upstream: {why}")
}

fn is_parse(error: &SendError) -> bool {
    find::<hyper::Error>(error).is_some_and(|error| error.is_parse() && !error.is_incomplete_message())
}

/// The first error of a type in the chain of causes, also inside I/O errors, which hide theirs.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        current = inner
            .map(|inner| inner as &(dyn Error + 'static))
            .or_else(|| error.source());
    }
    None
}
