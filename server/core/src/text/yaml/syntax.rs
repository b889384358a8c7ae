//! Why a text is not YAML, and what its author probably meant.

use granit_parser::{ErrorKind, ScanError};

use crate::text::limits::Limits;

/// Line and column of a fault, both from 1. A tab that must not be there is found after what was read last.
pub(super) fn place(error: &ScanError, text: &str) -> (usize, usize) {
    let marker = error.marker();
    let is_after = matches!(
        error.kind(),
        ErrorKind::TabInPlainScalar | ErrorKind::TabAtBlockScalarStart
    );
    let rest = marker.byte_offset().and_then(|at| text.get(at..));
    if let Some(rest) = rest.filter(|_| is_after)
        && let Some((before, _)) = rest.split_once('\t')
        && let Some((between, last)) = before.rsplit_once('\n')
    {
        let line = marker.line() + 1 + between.matches('\n').count();
        return (line, last.chars().count() + 1);
    }
    (marker.line().max(1), marker.col() + 1)
}

/// The message and the hint for a fault of the syntax; the hint is empty when there is none to give.
pub(super) fn explain(error: &ScanError, limits: &Limits) -> (String, &'static str) {
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return (limits.too_deep(), limits.if_deep);
    }
    let hint = match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "indent with spaces, not tabs",
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            "quote a text that contains \": \""
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::InvalidQuotedScalarIndent => "close the quote",
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofFlowSequence => "close the bracket",
        ErrorKind::UnexpectedCharacter { .. } => "quote a text that begins with a special character",
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => {
            "check the indentation of this line and the one before"
        }
        _ => "",
    };
    (format!("the YAML cannot be read: {}", error.info()), hint)
}
