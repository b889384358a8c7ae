//! The dashboard as the browser gets it: it compiles, and it stays small.

use anyhow::Result;

use super::count::Tally;
use crate::package;
use crate::ui;

/// Bytes on the wire (brotli) by the ending of the plain name: what people wait for on a slow line.
const BUDGETS: &[(&str, u64)] = &[(".wasm", 350_000), (".js", 25_000), (".css", 20_000)];

/// Compiles, packages, and weighs.
pub(super) fn run() -> Result<Tally> {
    let folder = ui::run()?;
    let sizes: Vec<_> = package::sizes(&folder)?
        .into_iter()
        .map(|(name, size)| (name, size.brotli))
        .collect();
    let mut tally = Tally::PASSED;
    for (ending, limit, total) in weigh(&sizes) {
        let verdict = if total <= limit { "ok" } else { "TOO LARGE" };
        println!("  {ending:<6} {total:>8} of {limit} bytes  {verdict}");
        tally = tally
            + if total <= limit {
                Tally::PASSED
            } else {
                Tally::FAILED
            };
    }
    Ok(tally)
}

fn weigh(sizes: &[(String, u64)]) -> impl Iterator<Item = (&'static str, u64, u64)> {
    BUDGETS.iter().map(|&(ending, limit)| {
        let total = sizes
            .iter()
            .filter(|(name, _)| name.ends_with(ending))
            .map(|(_, size)| size)
            .sum();
        (ending, limit, total)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_kind_are_weighed_together() {
        let sizes = [
            ("app.js".to_owned(), 20_000),
            ("boot.js".to_owned(), 6_000),
            ("main.css".to_owned(), 1),
        ];
        let weighed: Vec<_> = weigh(&sizes).collect();
        assert_eq!(
            weighed,
            [
                (".wasm", 350_000, 0),
                (".js", 25_000, 26_000),
                (".css", 20_000, 1)
            ]
        );
    }
}
