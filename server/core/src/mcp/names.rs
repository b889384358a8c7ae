//! Names that leave room for the prefixes of clients.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Longest name in characters. Clients put `mcp__<server>__` in front, and model APIs take 64.
pub const MAX_NAME: usize = 40;

/// Hexadecimal digits that a shortened name ends with; the second number where the first leaves two names alike.
const DIGITS: [usize; 2] = [8, 16];

/// The names of a project's tools as clients see them. A name with at most 40 letters, digits, `_` and `-` stays as it is.
/// Another one is cut, and ends with a hash of the whole name: it depends on no other tool, unless two would be alike.
#[derive(Debug, Default)]
pub struct NameTable {
    listed: HashMap<String, String>,
    names: HashMap<String, String>,
}

impl NameTable {
    /// For the names of a project's tools, in a stable order. No two are the same.
    pub fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut table = Self::default();
        let mut kept = HashSet::new();
        let mut changed = Vec::new();
        for name in names {
            if fits(name) {
                kept.insert(name);
            } else {
                changed.push(name);
            }
        }
        for name in changed {
            let is_free =
                |listed: &String| !kept.contains(listed.as_str()) && !table.names.contains_key(listed);
            let by_hash = DIGITS.into_iter().map(|digits| shortened(name, digits, 0));
            let by_number = (1..).map(|number| shortened(name, DIGITS[1], number));
            if let Some(listed) = by_hash.chain(by_number).find(is_free) {
                table.names.insert(listed.clone(), name.to_owned());
                table.listed.insert(name.to_owned(), listed);
            }
        }
        table
    }

    /// What clients call a tool.
    #[must_use]
    pub fn listed<'n>(&'n self, name: &'n str) -> &'n str {
        self.listed.get(name).map_or(name, String::as_str)
    }

    /// The tool that a client means. A tool's own name is understood too.
    #[must_use]
    pub fn name<'n>(&'n self, listed: &'n str) -> &'n str {
        self.names.get(listed).map_or(listed, String::as_str)
    }
}

fn fits(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_allowed)
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The beginning of a name, and so many digits of its hash.
fn shortened(name: &str, digits: usize, number: u64) -> String {
    let hash = format!("{:016x}", hash(name).wrapping_add(number));
    let kept = name.chars().map(|c| if is_allowed(c) { c } else { '_' });
    let mut listed: String = kept.take(MAX_NAME - 1 - digits).collect();
    listed.push('_');
    listed.push_str(&hash[..digits]);
    listed
}

/// FNV-1a: the same on every machine and in every version.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A key of `properties` that providers accept: 1-64 letters, digits, `_`, `.` and `-`.
pub(super) fn property(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let allowed = |c: char| is_allowed(c) || c == '.';
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    let kept: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if (1..=LONGEST).contains(&kept.len()) {
        return Cow::Owned(kept);
    }
    let kept: String = kept.chars().take(LONGEST - 1 - DIGITS[0]).collect();
    Cow::Owned(format!("{kept}_{:08x}", hash(name) >> 32))
}
