//! Which tests failed and what they said: repeated before the summary, because a log is often read from its end.

use std::sync::{Mutex, MutexGuard, PoisonError};

static FAILURES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Lines of each failure that are repeated.
const LINES: usize = 12;

fn failures() -> MutexGuard<'static, Vec<String>> {
    FAILURES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes failed tests, each with the first lines of what it said.
pub(super) fn note(found: impl IntoIterator<Item = String>) {
    failures().extend(found);
}

/// All that failed, in the order in which it was noted.
pub(super) fn all() -> Vec<String> {
    failures().clone()
}

/// The reports of Rust's test programs: `---- name stdout ----` and what follows.
pub(super) fn of_programs(text: &str) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("---- ") && line.ends_with(" ----") {
            inside = true;
            found.push(vec![line]);
        } else if line.starts_with("failures:") || line.starts_with("test result: ") {
            inside = false;
        } else if let (true, Some(report)) = (inside && !line.is_empty(), found.last_mut()) {
            report.push(line);
        }
    }
    found.into_iter().map(shortened).collect()
}

/// The `not ok` lines of programs that report in TAP, each with what is indented below it.
pub(super) fn of_tap(text: &str) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let result = line.trim_start();
        if result.starts_with("not ok ") {
            inside = true;
            found.push(vec![line]);
        } else if result.starts_with("ok ") || result.starts_with("# Subtest") {
            inside = false;
        } else if let (true, Some(report)) = (inside, found.last_mut()) {
            report.push(line);
        }
    }
    found.into_iter().map(shortened).collect()
}

fn shortened(mut lines: Vec<&str>) -> String {
    lines.truncate(LINES);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_of_rust_are_named_with_what_they_said() {
        let text = "test a::works ... ok\ntest a::breaks ... FAILED\n\nfailures:\n\n---- a::breaks stdout ----\n\n\
            thread 'a::breaks' panicked at src/a.rs:1:1:\nleft is not right\n\n\nfailures:\n    a::breaks\n\n\
            test result: FAILED. 1 passed; 1 failed\n";
        assert_eq!(
            of_programs(text),
            ["---- a::breaks stdout ----\nthread 'a::breaks' panicked at src/a.rs:1:1:\nleft is not right"]
        );
    }

    #[test]
    fn failed_tests_of_node_are_named_with_what_they_said() {
        let text = "# Subtest: signs in\nok 1 - signs in\n  ---\n  duration_ms: 1\n  ...\n# Subtest: signs out\n\
            not ok 2 - signs out\n  ---\n  error: 'still signed in'\n  ...\n1..2\n";
        let found = of_tap(text);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("not ok 2 - signs out\n  ---\n  error: 'still signed in'"),
            "{found:?}"
        );
    }
}
