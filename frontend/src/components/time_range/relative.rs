//! Ends of a range as they are in the address: `now`, `now-24h`, or a time in RFC 3339.

/// Milliseconds of the units that an end may be given in.
const UNITS: [(char, i64); 4] = [
    ('m', 60_000),
    ('h', 3_600_000),
    ('d', 86_400_000),
    ('w', 604_800_000),
];

/// How many milliseconds before now an end is; nothing for one that is not relative.
pub(super) fn before_now(end: &str) -> Option<i64> {
    let rest = end.strip_prefix("now")?;
    if rest.is_empty() {
        return Some(0);
    }
    let rest = rest.strip_prefix('-')?;
    let unit = rest.chars().last()?;
    let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let count: i64 = rest[..rest.len() - unit.len_utf8()].parse().ok()?;
    (1..=100_000).contains(&count).then_some(count * length)
}

#[cfg(test)]
mod tests {
    use super::before_now;

    #[test]
    fn ends_are_read() {
        for (end, expected) in [
            ("now", Some(0)),
            ("now-15m", Some(900_000)),
            ("now-24h", Some(86_400_000)),
            ("now-7d", Some(604_800_000)),
            ("now-2w", Some(1_209_600_000)),
            ("now-", None),
            ("now-0h", None),
            ("now--1h", None),
            ("now+1h", None),
            ("now-1y", None),
            ("now-1é", None),
            ("2026-01-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(before_now(end), expected, "{end}");
        }
    }
}
