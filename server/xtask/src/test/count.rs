//! Counting what test programs report.

use std::ops::Add;
use std::time::Duration;

use super::{failures, times};
use crate::sh::Outcome;

/// How many checks passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Held.
    pub(super) passed: u64,
    /// Did not hold, or could not be tried.
    pub(super) failed: u64,
}

impl Tally {
    /// One check that held.
    pub(super) const PASSED: Self = Self { passed: 1, failed: 0 };
    /// One check that did not.
    pub(super) const FAILED: Self = Self { passed: 0, failed: 1 };

    /// Both counts, never "all well" for a program that failed: one that ends with an error but reports no failed
    /// test (it did not compile, or it crashed) counts as one failure, and so does one that reports nothing at all.
    fn of(self, outcome: &Outcome) -> Self {
        let silent = self.passed + self.failed == 0;
        if silent || (self.failed == 0 && !outcome.status.success()) {
            return self + Self { passed: 0, failed: 1 };
        }
        self
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
        }
    }
}

fn keep(found: Vec<(Duration, String)>) {
    for (took, what) in found {
        times::note(took, what);
    }
}

/// Sums the `test result:` lines of Rust's test programs.
pub(super) fn libtest(outcome: &Outcome) -> Tally {
    keep(times::of_programs(&outcome.text));
    failures::note(failures::of_programs(&outcome.text));
    let mut tally = Tally::default();
    for line in outcome.text.lines().filter(|line| line.contains("test result: ")) {
        tally.passed += number_before(line, " passed");
        tally.failed += number_before(line, " failed");
    }
    tally.of(outcome)
}

/// Sums the closing `# pass N` and `# fail N` lines of Node's test runner (TAP reporter).
pub(super) fn node(outcome: &Outcome) -> Tally {
    keep(times::of_node(&outcome.text));
    failures::note(failures::of_tap(&outcome.text));
    let number = |name: &str| -> u64 {
        outcome
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
            .sum()
    };
    let tally = Tally {
        passed: number("# pass "),
        failed: number("# fail ") + number("# cancelled "),
    };
    tally.of(outcome)
}

/// Counts the `ok` and `not ok` lines of a program that reports in TAP.
pub(super) fn tap(outcome: &Outcome) -> Tally {
    failures::note(failures::of_tap(&outcome.text));
    let count = |start: &str| {
        outcome
            .text
            .lines()
            .filter(|line| line.starts_with(start))
            .count() as u64
    };
    Tally {
        passed: count("ok "),
        failed: count("not ok "),
    }
    .of(outcome)
}

/// One for a tool that only says whether all is well.
pub(super) fn tool(outcome: &Outcome) -> Tally {
    if outcome.status.success() {
        Tally::PASSED
    } else {
        Tally::FAILED
    }
}

fn number_before(line: &str, word: &str) -> u64 {
    line.split_once(word)
        .and_then(|(before, _)| before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn outcome(text: &str, code: i32) -> Outcome {
        Outcome {
            text: text.to_owned(),
            status: ExitStatus::from_raw(code << 8),
        }
    }

    const RUST: &str = "running 5 tests\n\
        test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
        test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s\n";

    #[test]
    fn results_of_rust_tests_are_summed() {
        assert_eq!(
            libtest(&outcome(RUST, 101)),
            Tally {
                passed: 15,
                failed: 2
            }
        );
    }

    #[test]
    fn a_crash_after_passing_tests_is_a_failure() {
        let text = "test result: ok. 5 passed; 0 failed; 0 ignored\nerror: could not compile `x`\n";
        assert_eq!(libtest(&outcome(text, 101)), Tally { passed: 5, failed: 1 });
    }

    #[test]
    fn no_tests_at_all_is_a_failure() {
        for count in [libtest, node, tap] {
            assert_eq!(count(&outcome("nothing ran", 0)), Tally::FAILED);
        }
    }

    #[test]
    fn results_of_node_tests_are_read() {
        let text = "ok 1 - signs in\n# tests 4\n# pass 2\n# fail 1\n# cancelled 1\n# skipped 0\n";
        assert_eq!(node(&outcome(text, 1)), Tally { passed: 2, failed: 2 });
    }

    #[test]
    fn tap_lines_are_counted() {
        assert_eq!(
            tap(&outcome("ok 1 - a\nok 2 - b\nnot ok 3 - c\n# book\n", 1)),
            Tally { passed: 2, failed: 1 }
        );
    }

    #[test]
    fn a_tool_counts_one() {
        assert_eq!(tool(&outcome("", 0)), Tally::PASSED);
        assert_eq!(tool(&outcome("", 2)), Tally::FAILED);
    }
}
