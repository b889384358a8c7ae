//! Why a text is not YAML, and what its author probably meant.

use granit_parser::{ErrorKind, ScanError};

use super::node::MAX_DEPTH;

/// The message and the hint for a fault of the syntax; the hint is empty when there is none to give.
pub(super) fn explain(error: &ScanError) -> (String, &'static str) {
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return (
            format!("nested more than {MAX_DEPTH} levels deep"),
            "definitions are flat; check for unclosed brackets or wrong indentation",
        );
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
