//! Names of tools: the operation's id, or made from method and path.
//!
//! A name depends on its own operation alone, unless two operations want the same one: then each has a mark of its
//! method and path. So a name stays when the description is sorted differently. A prefix distinguishes the tools of
//! one source from those of another.

use std::collections::HashMap;

use super::operation::Operation;
use crate::definition::names::RESERVED;

/// Longest name that every model's interface takes.
const LONGEST: usize = 64;
/// Characters of a mark, with the underscore before it.
const MARK: usize = 7;

/// What a name is made from.
#[derive(Debug, Clone, Copy)]
pub struct Named<'o> {
    /// The operation's id, where it has one.
    pub id: Option<&'o str>,
    /// Its method.
    pub method: &'o str,
    /// Its path.
    pub path: &'o str,
}

/// Longest prefix of names, in characters.
pub const LONGEST_PREFIX: usize = 32;
/// Longest prefix that is suggested, without its underscore and number.
const LONGEST_SUGGESTED: usize = 20;

/// Why a text cannot begin the names of tools; `None` when it can. Empty, it is no prefix.
#[must_use]
pub fn prefix_fault(prefix: &str) -> Option<String> {
    let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if prefix.chars().count() > LONGEST_PREFIX {
        return Some(format!("must not have more than {LONGEST_PREFIX} characters"));
    }
    if !prefix.chars().all(is_named) || prefix.starts_with(['_', '-']) {
        return Some(
            "must have letters, digits, `_` and `-` only, and begin with a letter or digit".to_owned(),
        );
    }
    None
}

/// A prefix made of the name of a source with which none of the operations is called like a tool that is there.
#[must_use]
pub fn suggested_prefix<'o>(
    api: &str,
    operations: &(impl Iterator<Item = &'o Operation> + Clone),
    is_taken: impl Fn(&str) -> bool,
) -> Option<String> {
    let word = api
        .split(|c: char| !c.is_ascii_alphanumeric())
        .find(|word| !word.is_empty())
        .unwrap_or("api")
        .to_ascii_lowercase();
    let word = cut(&word, LONGEST_SUGGESTED);
    let mut prefixes = std::iter::once(format!("{word}_")).chain((2..100).map(|n| format!("{word}{n}_")));
    let is_free = |prefix: &String| {
        let mut names = operations
            .clone()
            .map(|one| format!("{prefix}{}", one.plain_name));
        names.all(|name| !is_taken(&name))
    };
    prefixes.find(is_free)
}

/// One name for each operation, all different, each beginning with the prefix.
#[must_use]
pub fn assign(operations: &[Named<'_>], prefix: &str) -> Vec<String> {
    let wishes: Vec<String> = operations
        .iter()
        .map(|operation| format!("{prefix}{}", wish(operation)))
        .collect();
    let mut wanted: HashMap<String, usize> = HashMap::new();
    for wish in &wishes {
        *wanted.entry(wish.to_ascii_lowercase()).or_default() += 1;
    }
    let mut taken: HashMap<String, usize> = HashMap::new();
    operations
        .iter()
        .zip(wishes)
        .map(|(operation, wish)| {
            let clashes = wanted[&wish.to_ascii_lowercase()] > 1 || RESERVED.contains(&wish.as_str());
            let name = if clashes || wish.len() > LONGEST {
                marked(&wish, operation)
            } else {
                wish
            };
            // Two marks are the same once in millions of names; two equal operations, always.
            let times = taken.entry(name.to_ascii_lowercase()).or_default();
            *times += 1;
            if *times > 1 {
                format!("{}_{times}", cut(&name, LONGEST - 4))
            } else {
                name
            }
        })
        .collect()
}

/// The name by itself: letters, digits, `_` and `-`.
fn wish(operation: &Named<'_>) -> String {
    let says_something = |name: &String| name.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let from_id = operation.id.map(plain).filter(says_something);
    from_id.unwrap_or_else(|| {
        let path = operation.path.replace('{', "by_").replace('}', "");
        plain(&format!("{}_{path}", operation.method.to_ascii_lowercase()))
    })
}

fn plain(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').to_owned()
}

fn marked(wish: &str, operation: &Named<'_>) -> String {
    // FNV-1a, because a mark must be the same in every version of this program.
    let text = format!("{} {}", operation.method, operation.path);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{}_{:06x}", cut(wish, LONGEST - MARK), hash & 0x00ff_ffff)
}

fn cut(name: &str, longest: usize) -> &str {
    name[..name.len().min(longest)].trim_end_matches('_')
}
