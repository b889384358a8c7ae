//! Texts of forms: lines of names and values, and at which field a fault is shown.

use std::collections::BTreeMap;

use toolgate_api::Diagnostic;

use crate::api::ApiError;

/// What is wrong at a place of the definition, as the server says.
pub(crate) fn fault(error: Option<&ApiError>, place: &str) -> Option<String> {
    let here = error?
        .diagnostics()
        .iter()
        .filter_map(|fault| Some((inside(fault)?.strip_prefix(place)?, fault)));
    let texts: Vec<String> = here
        .map(|(rest, fault)| {
            let name = rest.trim_start_matches('/');
            let name = if name.is_empty() {
                String::new()
            } else {
                format!("{name}: ")
            };
            let hint = fault.hint.as_ref().map(|hint| format!(" ({hint})"));
            format!("{name}{}{}", fault.message, hint.unwrap_or_default())
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Where in the definition of a server a fault is: in a document of servers, the definition is under its name.
fn inside(fault: &Diagnostic) -> Option<&str> {
    let pointer = fault.pointer.as_deref()?;
    let Some(below) = pointer.strip_prefix("/mcpServers/") else {
        return Some(pointer);
    };
    below.find('/').map(|at| &below[at..])
}

/// Names and values, one a line.
pub(crate) fn lines(entries: &BTreeMap<String, String>, sign: &str) -> String {
    let lines: Vec<String> = entries
        .iter()
        .map(|(name, value)| format!("{name}{sign}{value}"))
        .collect();
    lines.join("\n")
}

/// The names and values of lines. A line without the sign is a name, which the server refuses where it is none.
pub(crate) fn entries(text: &str, sign: char) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in words(text) {
        let (name, value) = line.split_once(sign).unwrap_or((&line, ""));
        found.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    found
}

/// The lines that are not empty.
pub(crate) fn words(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use toolgate_api::Diagnostic;

    use super::{entries, inside, lines, words};

    #[test]
    fn lines_become_names_and_values_and_lines_again() {
        let found = entries(" A: b: c \n\nX-Region:eu\nbare", ':');
        assert_eq!(lines(&found, ": "), "A: b: c\nX-Region: eu\nbare: ");
        assert_eq!(words("-y\n\n a b \n"), ["-y", "a b"]);
    }

    #[test]
    fn a_fault_is_found_in_a_definition_and_in_a_document() {
        for (pointer, expected) in [
            ("/url", Some("/url")),
            ("/mcpServers/a/headers/Host", Some("/headers/Host")),
            ("/mcpServers/a", None),
        ] {
            let fault = Diagnostic::error("no").at_pointer(pointer);
            assert_eq!(inside(&fault), expected, "{pointer}");
        }
    }
}
