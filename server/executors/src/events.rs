//! Taking a stream of server-sent events apart into whole events.
//!
//! Events stay line by line as they came (only line ends become `\n`), so that names, ids, comments and retry times reach
//! the reader (WHATWG HTML, section 9.2).

use std::mem;

use bytes::Bytes;

/// Takes a stream of bytes apart into events.
pub struct EventSplitter {
    /// The event so far: whole lines, each with its `\n`.
    event: Vec<u8>,
    /// The line so far.
    line: Vec<u8>,
    /// Whether the last byte was `\r`, so that a `\n` belongs to it.
    after_cr: bool,
    /// Whether nothing has come yet, so that a byte order mark may.
    at_start: bool,
    limit: usize,
}

/// An event is larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLarge;

impl EventSplitter {
    /// For events of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            event: Vec::new(),
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            limit,
        }
    }

    /// Takes in a part; adds the events that it completes to `out`, each with the empty line at its end.
    ///
    /// # Errors
    /// When an event is too large; the stream cannot be used any further then.
    pub fn push(&mut self, part: &[u8], out: &mut Vec<Bytes>) -> Result<(), EventTooLarge> {
        for &byte in part {
            let follows_cr = mem::take(&mut self.after_cr);
            match byte {
                b'\n' if follows_cr => {}
                b'\n' => self.end_line(out),
                b'\r' => {
                    self.after_cr = true;
                    self.end_line(out);
                }
                _ => self.line.push(byte),
            }
            if self.event.len() + self.line.len() > self.limit {
                return Err(EventTooLarge);
            }
        }
        Ok(())
    }

    /// What is left when the stream has ended: an event that its sender did not close. Browsers drop such a rest; here it is
    /// passed on closed, because it is all there is.
    #[must_use]
    pub fn finish(mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut out);
        }
        self.end_line(&mut out);
        out.pop()
    }

    fn end_line(&mut self, out: &mut Vec<Bytes>) {
        let mut line = mem::take(&mut self.line);
        if mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if !line.is_empty() {
            self.event.append(&mut line);
            self.event.push(b'\n');
        } else if !self.event.is_empty() {
            let mut event = mem::take(&mut self.event);
            event.push(b'\n');
            out.push(event.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn split(parts: &[&[u8]]) -> Vec<String> {
        let mut splitter = EventSplitter::new(100);
        let mut out = Vec::new();
        for part in parts {
            splitter.push(part, &mut out).expect("small events");
        }
        out.extend(splitter.finish());
        out.iter()
            .map(|event| String::from_utf8_lossy(event).into_owned())
            .collect()
    }

    #[rstest]
    #[case::lf("data: a\n\ndata: b\n\n", &["data: a\n\n", "data: b\n\n"])]
    #[case::crlf("data: a\r\n\r\ndata: b\r\n\r\n", &["data: a\n\n", "data: b\n\n"])]
    #[case::cr("data: a\r\rdata: b\r\r", &["data: a\n\n", "data: b\n\n"])]
    #[case::all_fields("id: 7\nevent: x\nretry: 5\ndata: 1\ndata:2\n\n", &["id: 7\nevent: x\nretry: 5\ndata: 1\ndata:2\n\n"])]
    #[case::comment(": hi\n\n", &[": hi\n\n"])]
    #[case::many_empty_lines("\n\n\ndata: a\n\n\n\n", &["data: a\n\n"])]
    #[case::byte_order_mark("\u{feff}data: a\n\n", &["data: a\n\n"])]
    #[case::not_closed("data: a\n\ndata: b\n", &["data: a\n\n", "data: b\n\n"])]
    #[case::in_the_middle_of_a_line("data: a", &["data: a\n\n"])]
    #[case::nothing("", &[])]
    fn events(#[case] stream: &str, #[case] expected: &[&str]) {
        assert_eq!(split(&[stream.as_bytes()]), expected);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut splitter = EventSplitter::new(10);
        let mut out = Vec::new();
        assert_eq!(splitter.push(b"data: 1\n\ndata: 2\n\n", &mut out), Ok(()));
        assert_eq!(splitter.push(b"data: 12345", &mut out), Err(EventTooLarge));
        assert_eq!(out.len(), 2);
    }

    proptest! {
        /// However a stream is cut into parts, the events are the same.
        #[test]
        fn cuts_do_not_matter(stream in "[ab:\r\n ]{0,60}", cuts in prop::collection::vec(0..60_usize, 0..6)) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(split(&parts), split(&[bytes]));
        }
    }
}
