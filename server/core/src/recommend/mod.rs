//! Which tools fit a question (tool group specification, section 11.3): BM25 over what their definitions say.
//!
//! Scores are absolute. A score is the share of the best possible match: 0 when no word is in common, towards 1 when
//! every significant word of the question is prominent in the tool's texts. Words that no tool knows lower it. So a
//! score means the same in every project and for every question, and a poor best match looks poor.

pub(crate) mod document;
mod rank;
mod tokens;

use std::collections::HashMap;

pub use rank::{Found, FoundGroup, Ranking, RecommendationQuestion, rank};

use crate::snapshot::{CompiledTool, ProjectSnapshot};
use document::{WordHash, hash};

/// How fast further repetitions of a word count less.
const K1: f32 = 1.2;
/// How much longer texts are held against a tool.
const B: f32 = 0.75;

/// The texts of one snapshot's tools, ready to be searched. Making it reads the definitions that no earlier index has read;
/// asking it reads only the tools that have a word in common with the question.
pub struct Index {
    /// Which tools have each word: their positions in the snapshot, and the word's weight in their texts.
    tools: HashMap<WordHash, Vec<(u32, f32)>>,
    /// For each tool how much longer its texts are than those of the others, as it counts against it.
    long: Vec<f32>,
}

/// A tool that has a word in common with a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its position in the snapshot.
    pub position: usize,
    /// From above 0 to below 1.
    pub score: f64,
}

impl Index {
    /// Indexes the tools of a snapshot.
    #[must_use]
    pub fn build(snapshot: &ProjectSnapshot) -> Self {
        let mut tools: HashMap<WordHash, Vec<(u32, f32)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(snapshot.tools().len());
        for (position, tool) in (0_u32..).zip(snapshot.tools()) {
            let document = tool.document();
            lengths.push(document.length);
            for &(word, weight) in &document.words {
                tools.entry(word).or_default().push((position, weight));
            }
        }
        let total: f32 = lengths.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "an average needs no more")]
        let average = (total / lengths.len().max(1) as f32).max(1.0);
        let long = lengths.into_iter().map(|length| 1.0 - B + B * length / average);
        Self {
            tools,
            long: long.collect(),
        }
    }

    /// The tools that have a word in common with a question, best first; equal ones by name.
    #[must_use]
    pub fn search(&self, question: &str) -> Vec<Match> {
        let mut scores = vec![0.0; self.long.len()];
        let mut best = 0.0;
        for word in tokens::question(question) {
            let tools = self.tools.get(&hash(&word)).map_or(&[][..], Vec::as_slice);
            // A word that no tool knows counts like the rarest there could be.
            let rarity = self.rarity(tools.len());
            best += rarity * f64::from(K1 + 1.0);
            for &(position, weight) in tools {
                let at = position as usize;
                scores[at] += rarity * f64::from(weight * (K1 + 1.0) / (weight + K1 * self.long[at]));
            }
        }
        let found = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
        let mut matches: Vec<Match> = found
            .map(|(position, score)| Match {
                position,
                score: (score / best).clamp(0.0, 1.0),
            })
            .collect();
        matches.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
        matches
    }

    /// The words of a question that a tool's texts have.
    #[must_use]
    pub fn common_words(question: &str, tool: &CompiledTool) -> Vec<String> {
        let mut asked = tokens::question(question);
        asked.retain(|word| tool.document().has(word));
        asked
    }

    /// What BM25 makes of the number of tools that have a word: the rarer, the more it counts.
    fn rarity(&self, spread: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a logarithm needs no more")]
        let (tools, spread) = (self.long.len() as f64, spread as f64);
        (1.0 + (tools - spread + 0.5) / (spread + 0.5)).ln()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("tools", &self.long.len())
            .field("words", &self.tools.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
