//! What a tool's texts say, as words with weights.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use serde_json::Value;

use super::tokens;

/// The weight of a word, by the text it is in.
const NAME: f32 = 3.0;
const GROUP: f32 = 1.5;
const DESCRIPTION: f32 = 1.0;
const PARAMETER: f32 = 1.0;
const PARAMETER_DESCRIPTION: f32 = 0.5;
/// Parameters are followed so deep.
const DEPTH: usize = 3;

/// A word by its hash, which is the same in the whole process.
pub(super) type WordHash = u64;

pub(super) fn hash(word: &str) -> WordHash {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(word)
}

/// The texts of a tool that callers may see.
pub(crate) struct Texts<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) groups: &'a [String],
    /// The JSON Schema of the arguments.
    pub(crate) parameters: &'a Value,
}

impl Texts<'_> {
    /// Every text, with what its words count.
    fn each(&self, mut add: impl FnMut(f32, &str)) {
        add(NAME, self.name);
        add(DESCRIPTION, self.description);
        self.groups.iter().for_each(|group| add(GROUP, group));
        parameters(self.parameters, DEPTH, &mut add);
    }
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

/// The words of a tool's texts that say something.
#[derive(Debug)]
pub(crate) struct Document {
    /// Each word once, with the sum of its weights, in the order of the hashes.
    pub(super) words: Box<[(WordHash, f32)]>,
    /// The sum of all weights.
    pub(super) length: f32,
}

impl Document {
    /// Reads texts.
    pub(crate) fn new(texts: &Texts<'_>) -> Self {
        let mut weights: HashMap<WordHash, f32> = HashMap::new();
        texts.each(|weight, text| {
            for word in tokens::words(text) {
                if !tokens::is_stop_word(&word) {
                    *weights.entry(hash(&word)).or_default() += weight;
                }
            }
        });
        let mut words: Box<[_]> = weights.into_iter().collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        Self {
            length: words.iter().map(|(_, weight)| weight).sum(),
            words,
        }
    }

    /// Whether it has a word.
    pub(super) fn has(&self, word: &str) -> bool {
        let hash = hash(word);
        self.words.binary_search_by_key(&hash, |(word, _)| *word).is_ok()
    }
}
