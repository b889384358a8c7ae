//! CSV (RFC 4180) that a spreadsheet may open.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

/// The header.
///
/// # Errors
/// Never in practice: memory is written to.
pub fn head(columns: &[&str]) -> std::io::Result<Vec<u8>> {
    let mut writer = csv_writer(Vec::new());
    writer.write_record(columns)?;
    finish(writer)
}

/// One row for each item: those of its members that the columns name.
///
/// # Errors
/// Never in practice: memory is written to.
pub fn rows<T: Serialize>(columns: &[&str], items: &[T]) -> std::io::Result<Vec<u8>> {
    let mut writer = csv_writer(Vec::with_capacity(items.len() * 512));
    for item in items {
        let fields = serde_json::to_value(item)?;
        for column in columns {
            writer.write_field(safe(&cell(fields.get(column))).as_bytes())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    finish(writer)
}

fn csv_writer(text: Vec<u8>) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(text)
}

fn finish(writer: csv::Writer<Vec<u8>>) -> std::io::Result<Vec<u8>> {
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// A value in one cell: texts as they are, lists and objects as JSON.
fn cell(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// Neutralizes what a spreadsheet would run as a formula, by a quote before it (ASVS 5.0, 1.2.10). A program that
/// reads the file takes one leading quote away before any of these.
fn safe(text: &str) -> Cow<'_, str> {
    // The wide forms are taken for the narrow ones by some programs.
    let starts = |first| {
        matches!(
            first,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '\0' | '＝' | '＋' | '－' | '＠'
        )
    };
    if text.starts_with(starts) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("=1+1", "'=1+1")]
    #[case("+1", "'+1")]
    #[case("-1", "'-1")]
    #[case("@SUM(A1)", "'@SUM(A1)")]
    #[case("\tx", "'\tx")]
    #[case("\rx", "'\rx")]
    #[case("\0x", "'\0x")]
    #[case("＝1", "'＝1")]
    #[case("'=1", "'=1")]
    #[case("a=1", "a=1")]
    #[case("", "")]
    fn cells_are_safe(#[case] text: &str, #[case] cell: &str) {
        assert_eq!(safe(text), cell);
    }
}
