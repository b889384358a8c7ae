//! Which characters of a value are percent-encoded (RFC 3986, RFC 6570 sections 1.5 and 3.2.3, WHATWG forms).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode_byte, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// With reserved characters as they are, but for those that would end the path or its segment.
const RESERVED_IN_PATH: &AsciiSet = &STRICT
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
/// With reserved characters as they are, but for those that would begin another parameter, mean a blank, or end the
/// query: a value must not become something else than a value.
const RESERVED_IN_QUERY: &AsciiSet = &RESERVED_IN_PATH.add(b'&').add(b'+').remove(b'/').remove(b'?');

/// How a text is escaped at one place of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// Everything that could mean something.
    Strict,
    /// `allow_reserved` in a path.
    ReservedInPath,
    /// `allow_reserved` in a query or form.
    ReservedInQuery,
    /// `application/x-www-form-urlencoded`: a blank is a plus.
    Form,
    /// Not at all.
    None,
}

impl Escape {
    /// Appends a text.
    pub(super) fn write(self, out: &mut String, text: &str) {
        match self {
            Self::Strict => out.extend(utf8_percent_encode(text, STRICT)),
            Self::ReservedInPath => keeping_triples(out, text, RESERVED_IN_PATH),
            Self::ReservedInQuery => keeping_triples(out, text, RESERVED_IN_QUERY),
            Self::Form => out.extend(url::form_urlencoded::byte_serialize(text.as_bytes())),
            Self::None => out.push_str(text),
        }
    }
}

/// Reserved expansion passes `%41` on and escapes a `%` that begins no such triple.
fn keeping_triples(out: &mut String, text: &str, set: &'static AsciiSet) {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.extend(utf8_percent_encode(&rest[..at], set));
        let is_triple = rest.as_bytes()[at + 1..]
            .first_chunk::<2>()
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        out.push_str(if is_triple { "%" } else { percent_encode_byte(b'%') });
        rest = &rest[at + 1..];
    }
    out.extend(utf8_percent_encode(rest, set));
}
