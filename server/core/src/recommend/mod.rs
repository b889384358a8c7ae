//! Which tools fit a question (tool group specification, section 11.3): BM25 over what their definitions say.
//!
//! Scores are absolute. A score is the share of the best possible match: 0 when no word is in common, towards 1 when
//! every significant word of the question is prominent in the tool's texts. Words that no tool knows lower it. So a
//! score means the same in every project and for every question, and a poor best match looks poor.

mod rank;
mod tokens;

use std::collections::HashMap;

use bm25::{Embedding, Scorer, TokenEmbedding};
use serde_json::Value;

pub use rank::{Found, FoundGroup, Ranking, RecommendationQuestion, rank};

use crate::snapshot::{CompiledTool, ProjectSnapshot};

/// How fast further repetitions of a word count less.
const K1: f32 = 1.2;
/// How much longer texts are held against a tool.
const B: f32 = 0.75;

/// The weight of a word, by the text it is in.
const NAME: f32 = 3.0;
const GROUP: f32 = 1.5;
const DESCRIPTION: f32 = 1.0;
const PARAMETER: f32 = 1.0;
const PARAMETER_DESCRIPTION: f32 = 0.5;
/// Parameters are followed so deep.
const DEPTH: usize = 3;

/// The texts of one snapshot's tools, ready to be searched. Making it reads every definition; asking it reads only the
/// tools that have a word in common with the question.
pub struct Index {
    words: HashMap<Box<str>, u32>,
    /// How many tools have each word.
    spread: Vec<u32>,
    scorer: Scorer<u32, u32>,
    tools: usize,
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
    /// Reads all definitions of a snapshot.
    #[must_use]
    pub fn build(snapshot: &ProjectSnapshot) -> Self {
        let mut words: HashMap<Box<str>, u32> = HashMap::new();
        let mut spread = Vec::new();
        let documents: Vec<Vec<(u32, f32)>> = snapshot
            .tools()
            .iter()
            .map(|tool| {
                let mut weights: HashMap<u32, f32> = HashMap::new();
                collect(tool, |weight, text| {
                    for word in tokens::words(text)
                        .into_iter()
                        .filter(|word| !tokens::is_stop_word(word))
                    {
                        let next = u32::try_from(words.len()).unwrap_or(u32::MAX);
                        let id = *words.entry(word.into_boxed_str()).or_insert(next);
                        *weights.entry(id).or_default() += weight;
                    }
                });
                weights.into_iter().collect()
            })
            .collect();
        spread.resize(words.len(), 0);
        let length = |document: &[(u32, f32)]| document.iter().map(|(_, weight)| weight).sum::<f32>();
        let total: f32 = documents.iter().map(|document| length(document)).sum();
        #[expect(clippy::cast_precision_loss, reason = "an average needs no more")]
        let average = (total / documents.len().max(1) as f32).max(1.0);
        let tools = documents.len();
        let mut scorer = Scorer::new();
        for (position, document) in (0_u32..).zip(documents) {
            let long = 1.0 - B + B * length(&document) / average;
            let embedding = document
                .into_iter()
                .map(|(word, weight)| {
                    spread[word as usize] += 1;
                    TokenEmbedding {
                        index: word,
                        value: weight * (K1 + 1.0) / (weight + K1 * long),
                    }
                })
                .collect();
            scorer.upsert(&position, Embedding(embedding));
        }
        Self {
            words,
            spread,
            scorer,
            tools,
        }
    }

    /// The tools that have a word in common with a question, best first; equal ones by name.
    #[must_use]
    pub fn search(&self, question: &str) -> Vec<Match> {
        let asked = tokens::question(question);
        let known: Vec<TokenEmbedding> = asked
            .iter()
            .filter_map(|word| self.words.get(word.as_str()))
            .map(|&index| TokenEmbedding { index, value: 1.0 })
            .collect();
        // Every word that no tool knows counts like the rarest there could be.
        let best: f64 = asked
            .iter()
            .map(|word| {
                let spread = self
                    .words
                    .get(word.as_str())
                    .map_or(0, |&id| self.spread[id as usize]);
                self.rarity(spread) * f64::from(K1 + 1.0)
            })
            .sum();
        if known.is_empty() || best <= 0.0 {
            return Vec::new();
        }
        let mut matches: Vec<Match> = self
            .scorer
            .matches(&Embedding(known))
            .into_iter()
            .map(|found| Match {
                position: found.id as usize,
                score: (f64::from(found.score) / best).clamp(0.0, 1.0),
            })
            .collect();
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
        matches
    }

    /// The words of a question that a tool's texts have.
    #[must_use]
    pub fn common_words(&self, question: &str, tool: &CompiledTool) -> Vec<String> {
        let mut own = std::collections::HashSet::new();
        collect(tool, |_, text| own.extend(tokens::words(text)));
        let mut asked = tokens::question(question);
        asked.retain(|word| own.contains(word));
        asked
    }

    /// What BM25 makes of the number of tools that have a word: the rarer, the more it counts.
    fn rarity(&self, spread: u32) -> f64 {
        let spread = f64::from(spread);
        #[expect(clippy::cast_precision_loss, reason = "a logarithm needs no more")]
        let tools = self.tools as f64;
        (1.0 + (tools - spread + 0.5) / (spread + 0.5)).ln()
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("tools", &self.tools)
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

/// Every text of a tool that callers may see, with what its words count.
fn collect(tool: &CompiledTool, mut add: impl FnMut(f32, &str)) {
    add(NAME, tool.name());
    add(DESCRIPTION, &tool.definition.description);
    tool.groups.iter().for_each(|group| add(GROUP, group));
    parameters(&tool.read_shown_parameters(), DEPTH, &mut add);
}

fn parameters(schema: &Value, depth: usize, add: &mut impl FnMut(f32, &str)) {
    if depth == 0 {
        return;
    }
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        add(PARAMETER, name);
        for key in ["title", "description"] {
            if let Some(text) = property.get(key).and_then(Value::as_str) {
                add(PARAMETER_DESCRIPTION, text);
            }
        }
        parameters(property, depth - 1, add);
        if let Some(items) = property.get("items") {
            parameters(items, depth - 1, add);
        }
    }
}

#[cfg(test)]
mod tests;
