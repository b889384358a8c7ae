//! What took longest: single checks, test programs, and tests where their program says how long each took.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

fn times() -> MutexGuard<'static, Vec<(Duration, String)>> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes how long something took.
pub(super) fn note(took: Duration, what: impl Into<String>) {
    times().push((took, what.into()));
}

/// Runs a check and notes how long it took.
pub(super) fn timed<T>(what: &str, check: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = check();
    note(started.elapsed(), what);
    result
}

/// What took longest, the longest first.
pub(super) fn slowest(count: usize) -> Vec<(Duration, String)> {
    let mut all = times().clone();
    all.sort_by(|a, b| b.cmp(a));
    all.truncate(count);
    all
}

/// How long each of Rust's test programs took, by what `cargo test` prints.
pub(super) fn of_programs(text: &str) -> Vec<(Duration, String)> {
    let mut program = "a test program";
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some((_, running)) = line.split_once("Running ") {
            // `unittests src/lib.rs (target/debug/deps/toolgate-0123)`
            program = running.rsplit(['/', '(']).next().unwrap_or(running);
            program = program.rsplit_once('-').map_or(program, |(name, _)| name);
        } else if let Some((_, seconds)) = line.split_once("; finished in ")
            && let Ok(seconds) = seconds.trim_end_matches('s').parse()
        {
            found.push((Duration::from_secs_f64(seconds), format!("tests of {program}")));
        }
    }
    found
}

/// How long each test took, by what Node's test runner prints (TAP).
pub(super) fn of_node(text: &str) -> Vec<(Duration, String)> {
    let mut test = "";
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let result = line.strip_prefix("not ").unwrap_or(line);
        if let Some((_, name)) = result.strip_prefix("ok ").and_then(|rest| rest.split_once(" - ")) {
            test = name;
        } else if let Some(milliseconds) = line.strip_prefix("duration_ms: ")
            && let Ok(milliseconds) = milliseconds.parse::<f64>()
        {
            found.push((Duration::from_secs_f64(milliseconds / 1000.0), test.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_named_with_their_times() {
        let text = "     Running unittests src/lib.rs (target/debug/deps/toolgate_core-01ab)\n\
            test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s\n\
            \x20    Running tests/api/main.rs (target/debug/deps/api-02cd)\n\
            test result: FAILED. 5 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 61.25s\n";
        assert_eq!(
            of_programs(text),
            [
                (Duration::from_millis(1500), "tests of toolgate_core".to_owned()),
                (Duration::from_millis(61_250), "tests of api".to_owned())
            ]
        );
    }

    #[test]
    fn tests_of_node_are_named_with_their_times() {
        let text = "# Subtest: signs in\nok 1 - signs in\n  ---\n  duration_ms: 2500.5\n  ...\n\
            not ok 2 - signs out\n  ---\n  duration_ms: 100\n  ...\n# duration_ms 3000\n";
        assert_eq!(
            of_node(text),
            [
                (Duration::from_micros(2_500_500), "signs in".to_owned()),
                (Duration::from_millis(100), "signs out".to_owned())
            ]
        );
    }

    #[test]
    fn the_longest_come_first() {
        for (hours, what) in [(901, "b"), (903, "a"), (902, "c")] {
            note(Duration::from_secs(hours * 3600), what);
        }
        let names: Vec<String> = slowest(2).into_iter().map(|(_, what)| what).collect();
        assert_eq!(names, ["a", "c"]);
    }
}
