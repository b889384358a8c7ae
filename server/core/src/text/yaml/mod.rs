//! Reads YAML: events of the parser become documents, in one of two modes.
//!
//! Definitions are read strictly: everything that they have no use for is refused. Duplicate keys, unknown tags,
//! unknown aliases and keys that are no strings are reported and reading goes on. Descriptions of APIs come from
//! elsewhere and are read patiently: keys may be numbers (the `200:` of responses), of a repeated key the last value
//! counts, tags are ignored, and a number that JSON does not have is a text. Faults of the syntax and exhausted
//! budgets end both. Aliases share their value, so that an amplification costs only the arithmetic of its weight.

mod quotes;
mod reader;
mod syntax;
pub(crate) mod writer;

use std::rc::Rc;

use granit_parser::{Event, Marker, Options, Parser, ScanError};

use self::reader::Reader;
use super::limits::{DESCRIPTION, Limits, UPLOAD};
use super::node::Node;
use super::report::{Place, Report, Spot};

/// What is refused beside faults of the syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything that a definition has no use for.
    Strict,
    /// What cannot be read at all.
    Patient,
}

impl Mode {
    const fn limits(self) -> &'static Limits {
        match self {
            Self::Strict => &UPLOAD,
            Self::Patient => &DESCRIPTION,
        }
    }
}

/// The documents of an upload of definitions; empty ones are left out.
pub(crate) fn read(text: &str, report: &mut Report) -> Vec<Rc<Node>> {
    read_as(Mode::Strict, text, report)
}

/// The first document of a description; `None` when it is empty.
pub(crate) fn read_patiently(text: &str, report: &mut Report) -> Option<Rc<Node>> {
    read_as(Mode::Patient, text, report).pop()
}

fn read_as(mode: Mode, text: &str, report: &mut Report) -> Vec<Rc<Node>> {
    let limits = mode.limits();
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: mode == Mode::Strict,
        // A little more than we allow, so that our own count comes first where it can.
        flow_nesting_limit: limits.depth + 2,
        block_nesting_limit: limits.depth + 2,
    };
    let (found, fault) = documents(text, &options, mode, report);
    let Some(fault) = fault else { return found };
    let Some(indented) = quotes::indent(text, &fault, &options) else {
        unreadable(&fault, text, limits, report);
        return found;
    };
    for line in indented.lines {
        let (message, hint) = quotes::WARNING;
        report.warning(&spot(position(line, 1)), message, hint);
    }
    let (found, fault) = documents(&indented.text, &options, mode, report);
    if let Some(fault) = fault {
        unreadable(&fault, &indented.text, limits, report);
    }
    found
}

/// What can be read, and the fault of the syntax at which it ends. Other faults are in the report.
fn documents(
    text: &str,
    options: &Options,
    mode: Mode,
    report: &mut Report,
) -> (Vec<Rc<Node>>, Option<ScanError>) {
    let mut reader = Reader::new(mode, report);
    for step in Parser::new_from_str_with_options(text, options.clone()) {
        let (event, span) = match step {
            Ok(step) => step,
            Err(fault) => return (reader.documents, Some(fault)),
        };
        let is_end = mode == Mode::Patient && matches!(event, Event::DocumentEnd);
        if reader.event(event, &span).is_err() || is_end {
            break;
        }
    }
    (reader.documents, None)
}

fn unreadable(fault: &ScanError, text: &str, limits: &Limits, report: &mut Report) {
    let (message, hint) = syntax::explain(fault, limits);
    let (line, column) = syntax::place(fault, text);
    report.error(&spot(position(line, column)), message, hint);
}

fn place(marker: &Marker) -> Place {
    position(marker.line().max(1), marker.col() + 1)
}

fn position(line: usize, column: usize) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        line: number(line),
        column: number(column),
    }
}

fn spot(place: Place) -> Spot {
    Spot {
        place: Some(place),
        pointer: None,
    }
}
