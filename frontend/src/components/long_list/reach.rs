//! Which rows a long list has on the page, and how it gets there in steps that no frame is too short for.

/// Rows that are ready above and below those in sight.
const SPARE: usize = 8;
/// The rows on the page change in steps of this many.
const STEP: usize = 2;
/// Rows that are made at once, as long as frames are of the length they should have; the rest waits for the next frame, so
/// that no task is long.
const AT_ONCE: std::ops::RangeInclusive<usize> = 1..=4;
/// Frames shorter than this have room for a row more, in milliseconds.
const SHORT: i64 = 20;
/// Frames longer than this have far too many rows.
const LONG: i64 = 36;

/// The first row and the one behind the last.
pub(super) type Range = (usize, usize);

/// The rows to have ready of so many, when `above` pixels of them are above the window's upper edge, and the first in sight.
pub(super) fn in_sight(above: f64, inner: f64, height: f64, total: usize) -> (Range, usize) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "neither negative nor beyond the rows of a page"
    )]
    let whole = |pixels: f64| (pixels.max(0.0) / height) as usize;
    let seen = whole(above);
    let first = seen.saturating_sub(SPARE) / STEP * STEP;
    let last = (seen + whole(inner) + SPARE) / STEP * STEP + STEP;
    ((first.min(total), last.min(total)), seen.min(total))
}

/// How many rows the next frame has room for, when the last one took so many milliseconds.
pub(super) fn paced(at_once: usize, took: i64) -> usize {
    let next = match took {
        ..SHORT => at_once + 1,
        SHORT..=LONG => at_once,
        // After a pause nothing is known.
        1000.. => return at_once,
        _ => at_once / 2,
    };
    next.clamp(*AT_ONCE.start(), *AT_ONCE.end())
}

/// The next step from the rows that are there to those that are wanted: what is there stays, and a few are added, from the
/// first in sight on when nothing is there.
pub(super) fn toward(now: Range, wanted: Range, seen: usize, at_once: usize) -> Range {
    let (mut first, mut last) = (now.0.max(wanted.0), now.1.min(wanted.1));
    if first >= last {
        (first, last) = (seen, seen);
    }
    let below = (wanted.1 - last).min(at_once);
    let above = (first - wanted.0).min(at_once - below);
    (first - above, last + below)
}

/// Where the rows end that may be made in the next frame, of those that were read: no more than so many are new in the range.
pub(super) fn made_until(ready: usize, range: Range, read: usize, at_once: usize) -> usize {
    let last = range.1.min(read);
    if ready >= last {
        ready
    } else {
        (ready.max(range.0) + at_once).min(last)
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, LONG, SHORT, SPARE, STEP, in_sight, made_until, paced, toward};

    #[test]
    fn only_what_is_near_is_wanted() {
        assert_eq!(in_sight(-200.0, 600.0, 60.0, 10_000), ((0, 10 + SPARE + STEP), 0));
        let ((first, last), seen) = in_sight(60_000.0, 600.0, 60.0, 10_000);
        assert!(first <= 1000 - SPARE && first > 1000 - SPARE - STEP, "{first}");
        assert!(last >= 1010 + SPARE, "{last}");
        assert_eq!((first % STEP, seen), (0, 1000));
        assert_eq!(in_sight(0.0, 600.0, 60.0, 3), ((0, 3), 0));
        assert_eq!(in_sight(60_000.0, 600.0, 60.0, 3), ((3, 3), 3));
    }

    #[test]
    fn what_was_read_is_made_row_by_row() {
        // Nothing was read yet, or everything is made.
        assert_eq!(made_until(15, (0, 30), 0, 3), 15);
        assert_eq!(made_until(30, (0, 30), 200, 3), 30);
        assert_eq!(made_until(40, (0, 30), 200, 3), 40);
        // Rows that were waiting, at the place that is seen.
        assert_eq!(made_until(15, (0, 30), 200, 3), 18);
        assert_eq!(made_until(15, (100, 130), 200, 3), 103);
        assert_eq!(made_until(103, (100, 130), 104, 3), 104);
    }

    #[test]
    fn slow_frames_get_fewer_rows() {
        let (least, most) = AT_ONCE.into_inner();
        assert_eq!(paced(3, SHORT - 1), 4);
        assert_eq!(paced(3, SHORT), 3);
        assert_eq!(paced(3, LONG), 3);
        assert_eq!(paced(4, LONG + 1), 2);
        assert_eq!(paced(3, i64::MAX), 3);
        assert_eq!((paced(least, LONG + 1), paced(most, 0)), (least, most));
    }

    #[test]
    fn what_is_wanted_is_reached_in_small_steps() {
        for (start, wanted, seen) in [
            ((0, 30), (0, 30), 0),
            ((0, 0), (0, 30), 0),
            ((0, 30), (4, 34), 12),
            ((0, 30), (500, 540), 508),
            ((500, 540), (0, 3), 0),
        ] {
            let (mut now, mut steps) = (start, 0);
            while now != wanted {
                let next = toward(now, wanted, seen, 3);
                let kept = now.1.min(next.1).saturating_sub(now.0.max(next.0));
                assert!(next.1 - next.0 - kept <= 3, "{now:?} to {next:?}");
                assert!(next.0 <= seen && seen < next.1, "{now:?} to {next:?}");
                assert_ne!(next, now);
                (now, steps) = (next, steps + 1);
                assert!(steps < 30);
            }
        }
    }
}
