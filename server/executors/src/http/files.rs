//! Files that callers give by their address: fetched before the request is made that they are part of.

use std::sync::Arc;

use http::{HeaderMap, header};
use percent_encoding::percent_decode_str;
use tokio::time::Instant;
use toolgate_core::http_mapping::LinkedFile;
use url::Url;

use super::fetch::{self, FetchLimits};
use super::send::Sender;
use crate::egress::Origins;
use crate::failure::Failure;

/// Files of one call.
const MOST: usize = 16;
/// Characters of a file name.
const LONGEST_NAME: usize = 255;

/// Puts the content of each file into the arguments. The addresses pass the same gates as a tool's, and no credential goes
/// there. All files together have `max_bytes` at most.
///
/// # Errors
/// As for fetching, with the place of the argument.
pub(crate) async fn resolve(
    sender: &Sender,
    files: Vec<LinkedFile<'_>>,
    origins: Option<Arc<Origins>>,
    max_bytes: usize,
    deadline: Instant,
) -> Result<(), Failure> {
    if files.len() > MOST {
        return Err(Failure::arguments(format!(
            "{}: more than {MOST} files are given by their address",
            files[MOST].pointer
        )));
    }
    let mut left = max_bytes;
    for file in files {
        let limits = FetchLimits {
            within: deadline.saturating_duration_since(Instant::now()),
            max_bytes: left,
            accept: "*/*",
            is_document: |_| true,
        };
        let fetched = fetch::fetch(sender, file.url(), origins.clone(), limits)
            .await
            .map_err(|failure| Failure {
                message: format!("{}: the file at the address: {}", file.pointer, failure.message),
                ..failure
            })?;
        left = left.saturating_sub(fetched.body.len());
        let content_type = Some(fetched.media_type.as_str()).filter(|kind| !kind.is_empty());
        file.resolve(&fetched.body, fetched.filename.as_deref(), content_type);
    }
    Ok(())
}

/// The name of a file: what its server says (RFC 6266), or else the end of its address.
pub(super) fn filename(headers: &HeaderMap, url: &Url) -> Option<String> {
    let said = headers
        .get(header::CONTENT_DISPOSITION)
        .and_then(|value| value.to_str().ok())
        .and_then(disposed);
    let last = || {
        let segment = url.path_segments()?.next_back()?;
        percent_decode_str(segment).decode_utf8().ok().map(Into::into)
    };
    said.or_else(last).and_then(|name| plain(&name))
}

/// The name in a `Content-Disposition`; one with its characters encoded goes first.
fn disposed(value: &str) -> Option<String> {
    let parameters = || parameters(value).into_iter();
    let encoded = parameters().find_map(|(name, text)| {
        let (charset, text) = text.split_once('\'')?;
        let (_language, text) = text.split_once('\'')?;
        let known = name.eq_ignore_ascii_case("filename*") && charset.eq_ignore_ascii_case("utf-8");
        known
            .then(|| percent_decode_str(text).decode_utf8().ok().map(Into::into))
            .flatten()
    });
    encoded.or_else(|| {
        parameters().find_map(|(name, text)| name.eq_ignore_ascii_case("filename").then_some(text))
    })
}

/// The parameters after the first semicolon, with quotes taken off.
fn parameters(value: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let mut text = String::new();
        if let Some(quoted) = after.strip_prefix('"') {
            let mut chars = quoted.char_indices();
            let mut end = quoted.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                    c => text.push(c),
                }
            }
            rest = &quoted[end..];
        } else {
            let end = after.find(';').unwrap_or(after.len());
            text.push_str(after[..end].trim());
            rest = &after[end..];
        }
        found.push((name.trim_matches([';', ' ', '\t']), text));
        rest = rest.trim_start().trim_start_matches(';');
    }
    found
}

/// Without folders and control characters; `None` when nothing is left.
fn plain(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NAME)
        .collect();
    (!plain.is_empty() && plain != "." && plain != "..").then_some(plain)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::address("", "https://a.example/x/caf%C3%A9.png?y=z.pdf", Some("caf\u{e9}.png"))]
    #[case::folder("", "https://a.example/x/", None)]
    #[case::root("", "https://a.example", None)]
    #[case::token("attachment; filename=a.png", "https://a.example/b", Some("a.png"))]
    #[case::quoted(
        "attachment; size=7; filename=\"a \\\"b\\\"; c.png\" ; x=y",
        "https://a.example/b",
        Some("a \"b\"; c.png")
    )]
    #[case::encoded(
        "inline; filename=\"e.png\"; filename*=UTF-8'en'%E2%82%AC.png",
        "https://a.example/b",
        Some("\u{20ac}.png")
    )]
    #[case::charset("inline; filename*=x''y; filename=z", "https://a.example/b", Some("z"))]
    #[case::folders(
        "attachment; filename=\"../../etc/passwd\"",
        "https://a.example/b",
        Some("passwd")
    )]
    #[case::other_folders(
        "attachment; filename=\"c:\\\\x\\\\y.txt\"",
        "https://a.example/b",
        Some("y.txt")
    )]
    #[case::dots("attachment; filename=..", "https://a.example/b", None)]
    #[case::unclosed("attachment; filename=\"a", "https://a.example/b", Some("a"))]
    #[case::nothing("attachment", "https://a.example/b", Some("b"))]
    fn names_of_files(#[case] disposition: &'static str, #[case] url: &str, #[case] expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        if !disposition.is_empty() {
            headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
        }
        let url = Url::parse(url).expect("an address");
        assert_eq!(filename(&headers, &url).as_deref(), expected);
    }

    #[test]
    fn a_name_holds_no_line_break_and_has_an_end() {
        let url = Url::parse(&format!("https://a.example/a%0D%0A{}", "x".repeat(1000))).expect("an address");
        let name = filename(&HeaderMap::new(), &url).expect("a name");
        assert_eq!((name.len(), name.starts_with("axx")), (LONGEST_NAME, true));
    }
}
