//! Finding sections by words.

use toolgate_api::help::HelpSection;

use super::library::{Guide, Section, guides};

/// Most sections found.
const MOST: usize = 30;
/// Characters of an excerpt.
const EXCERPT: usize = 160;

/// The sections that have every word of a question, those with the words in the heading first. Without words every guide.
#[must_use]
pub fn search(question: &str) -> Vec<HelpSection> {
    let words: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, HelpSection)> = Vec::new();
    for guide in guides() {
        let sections = if words.is_empty() {
            guide.sections.get(..1)
        } else {
            Some(&guide.sections[..])
        };
        for section in sections.unwrap_or_default() {
            found.extend(rank(guide, section, &words).map(|rank| (rank, shown(guide, section, &words))));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, section)| section).take(MOST).collect()
}

/// How many words are not in the headings, less those that are in the heading itself; nothing when a word is nowhere. Lower is better.
fn rank(guide: &Guide, section: &Section, words: &[String]) -> Option<usize> {
    let [heading, title, text] =
        [&section.heading, &guide.title, &section.text].map(|text| text.to_lowercase());
    let mut rank = 0;
    for word in words {
        rank += match () {
            () if heading.contains(word.as_str()) => 0,
            () if title.contains(word.as_str()) => 1,
            () if text.contains(word.as_str()) => 2,
            () => return None,
        };
    }
    Some(rank)
}

fn shown(guide: &Guide, section: &Section, words: &[String]) -> HelpSection {
    let anchor = match section.anchor.as_str() {
        "" => String::new(),
        anchor => format!("#{anchor}"),
    };
    HelpSection {
        guide: guide.title.clone(),
        heading: section.heading.clone(),
        path: format!("/help/{}{anchor}", guide.name),
        excerpt: excerpt(&section.text, words),
    }
}

/// The text around the first word, else its beginning.
fn excerpt(text: &str, words: &[String]) -> String {
    let lower = text.to_lowercase();
    let at = words
        .iter()
        .find_map(|word| lower.find(word.as_str()))
        .unwrap_or(0);
    // Lower case may be of another length than the text; the place is near enough then.
    let before = lower.get(..at).map_or(0, |before| before.chars().count());
    let start = before.saturating_sub(EXCERPT / 4);
    let body: String = text.chars().skip(start).take(EXCERPT).collect();
    let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
    if start > 0 { format!("…{body}") } else { body }
}
