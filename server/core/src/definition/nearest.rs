//! "Did you mean ...?": the known word that is nearest to an unknown one.

/// The nearest candidate, if one is near enough to be what the author meant. Case, `-` and `_` do not count.
pub(super) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Longer texts are no typing slips, and the distance costs their square.
    if word.len() > 64 {
        return None;
    }
    let word = folded(word);
    let reach = 1 + word.len() / 4;
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &folded(candidate)), candidate))
        .filter(|&(distance, candidate)| distance <= reach && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The candidates in the order of their distance from a word, at most so many. Case, `-` and `_` do not count.
pub(crate) fn by_distance<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    most: usize,
) -> Vec<&'c str> {
    let word: Vec<char> = folded(word).into_iter().take(64).collect();
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (distance(&word, &folded(candidate)), candidate))
        .collect();
    found.sort_unstable();
    found
        .into_iter()
        .map(|(_, candidate)| candidate)
        .take(most)
        .collect()
}

fn folded(word: &str) -> Vec<char> {
    word.chars()
        .map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() })
        .collect()
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = [
            "name",
            "group",
            "state",
            "parameters",
            "available_in_states",
            "options",
        ];
        for (word, expected) in [
            ("grup", Some("group")),
            ("groups", Some("group")),
            ("gruop", Some("group")),
            ("Group", Some("group")),
            ("parameter", Some("parameters")),
            ("available-in-state", Some("available_in_states")),
            ("nmae", Some("name")),
            ("x", None),
            ("", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"group".repeat(100), known), None);
    }
}
