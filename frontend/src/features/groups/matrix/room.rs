//! How much room the names of the tools have.

/// Height of a line in pixels, as the style sheet has it; a row has as much besides its lines.
pub(super) const LINE: i32 = 18;
/// Width of a character in pixels, about.
const CHARACTER: i32 = 9;
/// Characters that are beside each other at least.
const NARROWEST: usize = 12;

/// How many characters of a name are beside each other on a page of so many pixels, of which names take three fifths at
/// most, and how many lines the longest name takes then.
pub(super) fn lines(longest: usize, page: i32) -> (usize, i32) {
    let fitting = usize::try_from(page * 3 / 5 / CHARACTER).unwrap_or(0);
    let beside = longest.clamp(1, fitting.max(NARROWEST));
    let lines = longest.div_ceil(beside).max(1);
    (beside, i32::try_from(lines).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn names_have_the_room_that_they_take_and_further_lines_beyond_it() {
        for (longest, page, expected) in [
            (0, 1500, (1, 1)),
            (20, 1500, (20, 1)),
            (90, 1500, (90, 1)),
            (128, 1500, (100, 2)),
            (44, 288, (19, 3)),
            (44, 0, (12, 4)),
        ] {
            assert_eq!(lines(longest, page), expected, "{longest} on {page}");
        }
    }
}
