//! Line by line: the difference of two texts, and joining two changes of one text.

/// Unchanged lines that are shown around a change.
const CONTEXT: usize = 3;
/// Pairs of changed lines that are compared; beyond it all of them count as replaced.
const MOST_PAIRS: usize = 4_000_000;

/// The unified difference of two texts, without file names; empty when they are equal.
pub(crate) fn diff(before: &str, after: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let all = steps(&old, &new);
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(all.len());
        all[from..to].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut text = String::new();
    let mut skipped = false;
    for (at, (sign, line)) in all.iter().enumerate() {
        if is_near(at) {
            if skipped && !text.is_empty() {
                text.push_str("@@\n");
            }
            skipped = false;
            text.push(*sign);
            text.push_str(line);
            text.push('\n');
        } else {
            skipped = true;
        }
    }
    text
}

/// Both changes of `base` in one text; nothing when they touch the same lines in different ways.
pub(super) fn merge(base: &str, mine: &str, theirs: &str) -> Option<String> {
    let (base, mine, theirs) = (lines(base), lines(mine), lines(theirs));
    let (in_mine, in_theirs) = (matches(&base, &mine), matches(&base, &theirs));
    let mut merged = Vec::new();
    let (mut b, mut m, mut t) = (0, 0, 0);
    // From one line that all three have to the next; behind the last one, the end.
    while b < base.len() || m < mine.len() || t < theirs.len() {
        let anchor = (b..base.len()).find_map(|at| Some((at, in_mine[at]?, in_theirs[at]?)));
        let (next_b, next_m, next_t) = anchor.unwrap_or((base.len(), mine.len(), theirs.len()));
        let (old, my, their) = (&base[b..next_b], &mine[m..next_m], &theirs[t..next_t]);
        if their == old || their == my {
            merged.extend_from_slice(my);
        } else if my == old {
            merged.extend_from_slice(their);
        } else {
            return None;
        }
        (b, m, t) = (next_b, next_m, next_t);
        if anchor.is_some() {
            merged.push(base[b]);
            (b, m, t) = (b + 1, m + 1, t + 1);
        }
    }
    let mut text = merged.join("\n");
    text.push('\n');
    Some(text)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Every line of both texts once, in order: kept (` `), removed (`-`), added (`+`).
fn steps<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let mut all = Vec::new();
    let mut at = 0;
    for (line, found) in old.iter().zip(matches(old, new)) {
        match found {
            Some(found) => {
                all.extend(new[at..found].iter().map(|line| ('+', *line)));
                all.push((' ', *line));
                at = found + 1;
            }
            None => all.push(('-', *line)),
        }
    }
    all.extend(new[at..].iter().map(|line| ('+', *line)));
    all
}

/// For each line of `old` its place in `new`, along a longest common subsequence.
fn matches(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; old.len()];
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = tail.take_while(|(old, new)| old == new).count();
    for (at, slot) in found.iter_mut().enumerate().take(head) {
        *slot = Some(at);
    }
    for back in 1..=tail {
        found[old.len() - back] = Some(new.len() - back);
    }
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if a.len() * b.len() > MOST_PAIRS {
        return found;
    }
    // The lengths of the longest common subsequences of all ends; one row and one column more than lines.
    let width = b.len() + 1;
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            found[head + i] = Some(head + j);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{diff, merge};

    const BASE: &str = "a\nb\nc\nd\ne\nf\n";

    #[test]
    fn equal_texts_differ_in_nothing() {
        assert_eq!(diff(BASE, BASE), "");
        assert_eq!(diff("", ""), "");
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        assert_eq!(diff(BASE, "a\nb\nc\nD\ne\nf\n"), " a\n b\n c\n-d\n+D\n e\n f\n");
        assert_eq!(diff("", "x\n"), "+x\n");
        assert_eq!(diff("x\n", ""), "-x\n");
    }

    #[test]
    fn far_changes_are_apart() {
        let before: String = (0..20).map(|at| format!("{at}\n")).collect();
        let after = before.replacen("0\n", "zero\n", 1).replace("19\n", "nineteen\n");
        assert_eq!(
            diff(&before, &after),
            "-0\n+zero\n 1\n 2\n 3\n@@\n 16\n 17\n 18\n-19\n+nineteen\n"
        );
    }

    #[test]
    fn changes_of_different_lines_are_joined() {
        for (mine, theirs, joined) in [
            ("a\nB\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", "a\nB\nc\nd\nE\nf\n"),
            ("a\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nf\ng\n", "a\nc\nd\ne\nf\ng\n"),
            ("0\na\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\n", "0\na\nb\nc\nd\ne\n"),
            (BASE, "x\n", "x\n"),
            ("x\n", BASE, "x\n"),
            ("same\n", "same\n", "same\n"),
        ] {
            assert_eq!(
                merge(BASE, mine, theirs).as_deref(),
                Some(joined),
                "{mine:?} {theirs:?}"
            );
        }
    }

    #[test]
    fn different_changes_of_the_same_lines_are_not_joined() {
        for (mine, theirs) in [
            ("a\nB\nc\nd\ne\nf\n", "a\nß\nc\nd\ne\nf\n"),
            // Neighbouring lines belong together.
            ("a\nB\nc\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n"),
            // One removes what the other changes.
            ("a\nd\ne\nf\n", "a\nB\nc\nd\ne\nf\n"),
            // Both add something else at the same place.
            ("a\nb\nc\nd\ne\nf\nmine\n", "a\nb\nc\nd\ne\nf\ntheirs\n"),
        ] {
            assert_eq!(merge(BASE, mine, theirs), None, "{mine:?} {theirs:?}");
        }
    }
}
