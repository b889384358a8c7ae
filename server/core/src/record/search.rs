//! What a search text means: the same in both databases, because neither of them interprets it.
//!
//! A text is made of words: runs of letters and digits (Unicode), compared without regard to case. Everything else
//! separates words, so `web-search` is two. A search text is made of terms, separated by spaces or wrapped in double quotes;
//! a term finds a text that has its words one after the other, and with a `*` at its end the last word may go on. A record
//! is found when every term finds one of its texts.

use serde_json::Value;
use thiserror::Error;
use toolgate_api::audit::AuditRecord;

use super::has_payloads;

/// Terms of one search at most.
pub const MAX_TERMS: usize = 16;

/// Why a search text cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SearchFault {
    /// It has no letter and no digit.
    #[error("it has no word to look for")]
    Empty,
    /// It has more than [`MAX_TERMS`].
    #[error("it has more than {MAX_TERMS} terms")]
    TooMany,
}

/// Where a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchScope {
    /// In the tool, the principal's name, the requested and missing groups, the states and the code.
    Metadata,
    /// In arguments and context too. What a record of administration holds is found by every reader.
    Payloads,
}

/// Words to find in records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    terms: Vec<Term>,
    scope: SearchScope,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// At least one, in lower case.
    words: Vec<String>,
    /// Whether the last word may go on.
    open: bool,
}

impl Search {
    /// Reads a search text.
    ///
    /// # Errors
    /// When there is nothing to look for, or too much.
    pub fn parse(text: &str, scope: SearchScope) -> Result<Self, SearchFault> {
        let mut terms = Vec::new();
        // Parts between quotes have odd numbers; a quote that is not closed reaches to the end.
        for (number, part) in text.split('"').enumerate() {
            if number % 2 == 1 {
                terms.extend(Term::parse(part));
            } else {
                terms.extend(part.split_whitespace().filter_map(Term::parse));
            }
        }
        match terms.len() {
            0 => Err(SearchFault::Empty),
            1..=MAX_TERMS => Ok(Self { terms, scope }),
            _ => Err(SearchFault::TooMany),
        }
    }

    /// Whether every term finds something in the record.
    #[must_use]
    pub fn finds(&self, record: &AuditRecord) -> bool {
        let mut open: Vec<&Term> = self.terms.iter().collect();
        let mut look = |text: &str| {
            let found = words(text);
            open.retain(|term| !term.finds(&found));
            open.is_empty()
        };
        let code = record.code.map_or("", |code| code.as_str());
        let named = [
            record.tool.as_deref().unwrap_or_default(),
            &record.principal_name,
            &record.state_before,
            record.state_after.as_deref().unwrap_or_default(),
            code,
        ];
        if named.into_iter().any(&mut look) {
            return true;
        }
        let groups = record.requested_groups.iter().chain(&record.missing_groups);
        if groups.map(String::as_str).any(&mut look) {
            return true;
        }
        (self.scope == SearchScope::Payloads || !has_payloads(record.action))
            && [&record.arguments, &record.context]
                .into_iter()
                .flatten()
                .any(|payload| any_text(payload, &mut look))
    }
}

impl Term {
    fn parse(text: &str) -> Option<Self> {
        let words = words(text);
        let open = text.trim_end().ends_with('*');
        (!words.is_empty()).then_some(Self { words, open })
    }

    fn finds(&self, text: &[String]) -> bool {
        text.windows(self.words.len()).any(|window| {
            let mut pairs = window.iter().zip(&self.words).rev();
            let last = pairs.next().is_some_and(|(word, wanted)| {
                word == wanted || (self.open && word.starts_with(wanted.as_str()))
            });
            last && pairs.all(|(word, wanted)| word == wanted)
        })
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Shows every name and value of a JSON document until one is enough.
fn any_text(value: &Value, look: &mut impl FnMut(&str) -> bool) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => look(if *truth { "true" } else { "false" }),
        Value::Number(number) => look(&number.to_string()),
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, look)),
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| look(name) || any_text(member, look)),
    }
}
