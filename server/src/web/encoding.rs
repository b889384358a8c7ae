//! Which of the stored encodings of a file a client gets (RFC 9110 section 12.5.3).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;

/// A stored encoding, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encoding {
    /// Brotli.
    Brotli,
    /// Gzip.
    Gzip,
    /// As it is.
    Identity,
}

impl Encoding {
    /// The name in `Content-Encoding`; none for the file as it is.
    pub(super) fn token(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// The smallest of the two compressed forms that the client accepts, or the file as it is.
///
/// A client's own order of preference is not followed: among the forms it accepts, the smallest is the best for it.
/// A client that refuses even the file as it is gets that, which the specification permits.
pub(super) fn choose(headers: &HeaderMap) -> Encoding {
    let accepts = |token: &str| {
        let mut by_name = None;
        let mut by_star = None;
        for offer in headers
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok())
        {
            for part in offer.split(',') {
                let mut fields = part.split(';').map(str::trim);
                let name = fields.next().unwrap_or_default();
                let refused = fields.any(|field| {
                    field
                        .to_ascii_lowercase()
                        .strip_prefix("q=")
                        .is_some_and(|q| q.parse::<f32>() == Ok(0.0))
                });
                if name.eq_ignore_ascii_case(token) {
                    by_name = Some(!refused);
                } else if name == "*" {
                    by_star = Some(!refused);
                }
            }
        }
        by_name.or(by_star).unwrap_or(false)
    };
    if accepts("br") {
        Encoding::Brotli
    } else if accepts("gzip") {
        Encoding::Gzip
    } else {
        Encoding::Identity
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::browser("gzip, deflate, br, zstd", Encoding::Brotli)]
    #[case::gzip_only("gzip", Encoding::Gzip)]
    #[case::upper_case("GZIP", Encoding::Gzip)]
    #[case::unknown_only("zstd", Encoding::Identity)]
    #[case::identity("identity", Encoding::Identity)]
    #[case::empty("", Encoding::Identity)]
    #[case::anything("*", Encoding::Brotli)]
    #[case::refused_by_name("br;q=0, *", Encoding::Gzip)]
    #[case::refused_with_decimals("br; q=0.000, gzip; q=0.5", Encoding::Gzip)]
    #[case::weighed("br;q=0.1, gzip;q=1", Encoding::Brotli)]
    #[case::all_refused("*;q=0", Encoding::Identity)]
    #[case::nonsense(";;q=,,br;q=x", Encoding::Brotli)]
    fn chooses_the_smallest_accepted_form(#[case] accept: &'static str, #[case] expected: Encoding) {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accept))]);
        assert_eq!(choose(&headers), expected);
    }

    #[test]
    fn without_the_header_the_file_is_sent_as_it_is() {
        assert_eq!(choose(&HeaderMap::new()), Encoding::Identity);
    }
}
