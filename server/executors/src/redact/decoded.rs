//! What a text says when its percent-encoding or its JSON escapes are undone, in whatever mixture of encoded and plain
//! characters, upper and lower case.

use std::ops::Range;

/// How often encodings within encodings are undone: `%252F` is `/` encoded twice.
pub(super) const LEVELS: usize = 2;

/// What finds something in bytes.
type Find<'a> = &'a dyn Fn(&[u8]) -> Vec<Range<usize>>;

/// Where something is found in a text or in what the text says decoded, as places in the text itself.
pub(super) fn find_all(text: &[u8], levels: usize, find: Find<'_>) -> Vec<Range<usize>> {
    let mut found = find(text);
    if levels == 0 {
        return found;
    }
    let decoders: [(u8, Decoder); 3] = [(b'%', percent), (b'+', form), (b'\\', json)];
    for (sign, decoder) in decoders {
        if !text.contains(&sign) {
            continue;
        }
        let mut decoded = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            rest = &rest[decoder(rest, &mut decoded)..];
        }
        if decoded != text {
            found.extend(translated(text, decoder, find_all(&decoded, levels - 1, find)));
        }
    }
    found
}

/// Appends what the beginning of a text says, and answers how many bytes that was.
type Decoder = fn(&[u8], &mut Vec<u8>) -> usize;

/// Places in what a text says as places in the text.
fn translated(text: &[u8], decoder: Decoder, mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if found.is_empty() {
        return found;
    }
    found.sort_unstable_by_key(|place| place.start);
    let mut places = vec![0..text.len(); found.len()];
    let (mut at, mut said, mut first) = (0, Vec::new(), 0);
    while at < text.len() {
        let before = said.len();
        let end = at + decoder(&text[at..], &mut said);
        for (place, found) in places[first..].iter_mut().zip(&found[first..]) {
            if found.start >= said.len() {
                break;
            }
            if (before..said.len()).contains(&found.start) {
                place.start = at;
            }
            if (before + 1..=said.len()).contains(&found.end) {
                place.end = end;
            }
        }
        while found.get(first).is_some_and(|found| found.end <= before) {
            first += 1;
        }
        at = end;
    }
    places
}

/// RFC 3986, section 2.1.
fn percent(text: &[u8], said: &mut Vec<u8>) -> usize {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    match (text[0], digit(1), digit(2)) {
        (b'%', Some(high), Some(low)) => {
            said.push(u8::try_from(high * 16 + low).unwrap_or_default());
            3
        }
        (byte, ..) => {
            said.push(byte);
            1
        }
    }
}

/// As forms are encoded, where `+` is a space.
fn form(text: &[u8], said: &mut Vec<u8>) -> usize {
    if text[0] == b'+' {
        said.push(b' ');
        return 1;
    }
    percent(text, said)
}

/// RFC 8259, section 7.
fn json(text: &[u8], said: &mut Vec<u8>) -> usize {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (character, length) = match (text[0], text.get(1)) {
        (b'\\', Some(b'u')) => match (unit(0), unit(6)) {
            (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => (
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
                12,
            ),
            (Some(unit), _) => (char::from_u32(unit), 6),
            (None, _) => (None, 1),
        },
        (b'\\', Some(escaped)) => {
            let character = match escaped {
                b'n' => Some('\n'),
                b'r' => Some('\r'),
                b't' => Some('\t'),
                b'b' => Some('\u{8}'),
                b'f' => Some('\u{c}'),
                b'"' | b'\\' | b'/' => Some(char::from(*escaped)),
                _ => None,
            };
            (character, 2)
        }
        _ => (None, 1),
    };
    match character {
        Some(character) => {
            said.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            length
        }
        None => {
            said.push(text[0]);
            1
        }
    }
}
