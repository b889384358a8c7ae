//! The options of `curl` that make a request. The others are named in a note.

use percent_encoding::percent_decode_str;
use toolgate_api::Diagnostic;
use url::form_urlencoded;

use super::request::{Body, Part, Request};
use super::words;

/// What an option does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Method,
    Url,
    Header,
    Data,
    DataRaw,
    DataUrlencode,
    Json,
    Form,
    FormString,
    Upload,
    Get,
    Head,
    User,
    Bearer,
    Cookie,
    UserAgent,
    Referer,
    UrlQuery,
    MaxTime,
    /// It changes nothing of the request: what is shown, retried or kept.
    Nothing,
    /// The same, with a value.
    NothingOf,
    /// Left out, with a note.
    LeftOut(&'static str),
    /// The same, with a value.
    LeftOutOf(&'static str),
}

impl Effect {
    const fn takes_value(self) -> bool {
        !matches!(self, Self::Get | Self::Head | Self::Nothing | Self::LeftOut(_))
    }
}

const CERTIFICATES: &str = "certificates are always verified";
const OWN_CERTIFICATE: &str = "tools send no client certificates";
const ROUTE: &str = "the server decides how requests are routed";

/// Long name, short name (a space if there is none), effect.
const OPTIONS: &[(&str, char, Effect)] = &[
    ("request", 'X', Effect::Method),
    ("url", ' ', Effect::Url),
    ("header", 'H', Effect::Header),
    ("data", 'd', Effect::Data),
    ("data-ascii", ' ', Effect::Data),
    ("data-binary", ' ', Effect::Data),
    ("data-raw", ' ', Effect::DataRaw),
    ("data-urlencode", ' ', Effect::DataUrlencode),
    ("json", ' ', Effect::Json),
    ("form", 'F', Effect::Form),
    ("form-string", ' ', Effect::FormString),
    ("upload-file", 'T', Effect::Upload),
    ("get", 'G', Effect::Get),
    ("head", 'I', Effect::Head),
    ("user", 'u', Effect::User),
    ("oauth2-bearer", ' ', Effect::Bearer),
    ("cookie", 'b', Effect::Cookie),
    ("user-agent", 'A', Effect::UserAgent),
    ("referer", 'e', Effect::Referer),
    ("url-query", ' ', Effect::UrlQuery),
    ("max-time", 'm', Effect::MaxTime),
    ("silent", 's', Effect::Nothing),
    ("show-error", 'S', Effect::Nothing),
    ("verbose", 'v', Effect::Nothing),
    ("include", 'i', Effect::Nothing),
    ("show-headers", ' ', Effect::Nothing),
    ("location", 'L', Effect::Nothing),
    ("location-trusted", ' ', Effect::Nothing),
    ("fail", 'f', Effect::Nothing),
    ("fail-with-body", ' ', Effect::Nothing),
    ("compressed", ' ', Effect::Nothing),
    ("globoff", 'g', Effect::Nothing),
    ("no-buffer", 'N', Effect::Nothing),
    ("progress-bar", '#', Effect::Nothing),
    ("no-progress-meter", ' ', Effect::Nothing),
    ("remote-name", 'O', Effect::Nothing),
    ("basic", ' ', Effect::Nothing),
    ("anyauth", ' ', Effect::Nothing),
    ("path-as-is", ' ', Effect::Nothing),
    ("disable", 'q', Effect::Nothing),
    ("ipv4", '4', Effect::Nothing),
    ("ipv6", '6', Effect::Nothing),
    ("http1.0", '0', Effect::Nothing),
    ("http1.1", ' ', Effect::Nothing),
    ("http2", ' ', Effect::Nothing),
    ("http2-prior-knowledge", ' ', Effect::Nothing),
    ("http3", ' ', Effect::Nothing),
    ("tlsv1.2", ' ', Effect::Nothing),
    ("tlsv1.3", ' ', Effect::Nothing),
    ("output", 'o', Effect::NothingOf),
    ("output-dir", ' ', Effect::NothingOf),
    ("write-out", 'w', Effect::NothingOf),
    ("dump-header", 'D', Effect::NothingOf),
    ("cookie-jar", 'c', Effect::NothingOf),
    ("connect-timeout", ' ', Effect::NothingOf),
    ("max-redirs", ' ', Effect::NothingOf),
    ("retry", ' ', Effect::NothingOf),
    ("retry-delay", ' ', Effect::NothingOf),
    ("retry-max-time", ' ', Effect::NothingOf),
    ("insecure", 'k', Effect::LeftOut(CERTIFICATES)),
    ("cacert", ' ', Effect::LeftOutOf(CERTIFICATES)),
    ("capath", ' ', Effect::LeftOutOf(CERTIFICATES)),
    ("cert", 'E', Effect::LeftOutOf(OWN_CERTIFICATE)),
    ("key", ' ', Effect::LeftOutOf(OWN_CERTIFICATE)),
    ("proxy", 'x', Effect::LeftOutOf(ROUTE)),
    ("proxy-user", 'U', Effect::LeftOutOf(ROUTE)),
    ("resolve", ' ', Effect::LeftOutOf(ROUTE)),
    ("connect-to", ' ', Effect::LeftOutOf(ROUTE)),
    ("interface", ' ', Effect::LeftOutOf(ROUTE)),
    ("unix-socket", ' ', Effect::LeftOutOf(ROUTE)),
    ("digest", ' ', Effect::LeftOut("tools do not sign in by digest")),
    ("aws-sigv4", ' ', Effect::LeftOutOf("tools do not sign requests")),
    ("range", 'r', Effect::LeftOutOf("write it as a header")),
    ("config", 'K', Effect::LeftOutOf("no file is read")),
];

/// Whether a text is a command of `curl`.
pub(super) fn is_command(text: &str) -> bool {
    let first = text.split(char::is_whitespace).next().unwrap_or_default();
    let name = first.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "curl" | "curl.exe")
}

/// Reads a command.
///
/// # Errors
/// When it cannot be split into words, or names no address.
pub(super) fn read(text: &str) -> Result<Request, Diagnostic> {
    if text.contains("^\"") || text.contains("^\n") || text.contains("^\r") {
        return Err(Diagnostic::error("the command is written for cmd.exe")
            .hint("in the browser choose \"Copy as cURL (bash)\""));
    }
    let split = words::split(text)?;
    let mut command = Command::default();
    let mut words = split.words.into_iter().skip(1);
    let mut only_addresses = false;
    while let Some(word) = words.next() {
        if word == "--" {
            only_addresses = true;
        } else if let Some(name) = word.strip_prefix("--").filter(|_| !only_addresses) {
            long(&mut command, name, &mut words);
        } else if let Some(letters) = word
            .strip_prefix('-')
            .filter(|letters| !letters.is_empty() && !only_addresses)
        {
            short(&mut command, letters, &mut words);
        } else {
            command.address(&word);
        }
    }
    if let Some(end) = split.ended_by {
        let end = if end == '\n' {
            "the end of the line".to_owned()
        } else {
            format!("`{end}`")
        };
        command.left_out(format!("what follows {end} was not read"));
    }
    command.finish()
}

fn long(command: &mut Command, name: &str, words: &mut impl Iterator<Item = String>) {
    let name = name.to_ascii_lowercase();
    let known = OPTIONS.iter().find(|(known, ..)| *known == name);
    match known {
        Some((_, _, effect)) if effect.takes_value() => {
            command.apply(&format!("--{name}"), *effect, words.next());
        }
        Some((_, _, effect)) => command.apply(&format!("--{name}"), *effect, None),
        None => command.unknown(&format!("--{name}")),
    }
}

/// Letters may be written together, and the value after the last one: `-sXPOST`.
fn short(command: &mut Command, letters: &str, words: &mut impl Iterator<Item = String>) {
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        let Some((_, _, effect)) = OPTIONS
            .iter()
            .find(|(_, known, _)| *known == letter && letter != ' ')
        else {
            command.unknown(&name);
            continue;
        };
        if !effect.takes_value() {
            command.apply(&name, *effect, None);
            continue;
        }
        let value = &letters[at + letter.len_utf8()..];
        let value = if value.is_empty() {
            words.next()
        } else {
            Some(value.to_owned())
        };
        command.apply(&name, *effect, value);
        return;
    }
}

/// A command while it is read.
#[derive(Default)]
struct Command {
    request: Request,
    has_address: bool,
    data: Vec<String>,
    json: String,
    has_json: bool,
    reads_file: bool,
    parts: Vec<Part>,
    in_query: bool,
    query: Vec<String>,
}

impl Command {
    fn left_out(&mut self, what: impl Into<String>) {
        self.request.notes.push(Diagnostic::warning(what));
    }

    fn unknown(&mut self, name: &str) {
        let shown: String = name.chars().take(40).collect();
        self.left_out(format!("the option {shown} is not known and was left out"));
    }

    fn address(&mut self, text: &str) {
        if self.has_address {
            self.left_out("only the first address was read");
            return;
        }
        self.has_address = true;
        self.request.set_url(text);
    }

    fn header(&mut self, name: &str, value: impl Into<String>) {
        self.request.headers.push((name.to_owned(), value.into()));
    }

    fn apply(&mut self, name: &str, effect: Effect, value: Option<String>) {
        let value = match (effect.takes_value(), value) {
            (true, None) => {
                self.left_out(format!("the option {name} has no value and was left out"));
                return;
            }
            (_, value) => value.unwrap_or_default(),
        };
        match effect {
            Effect::Method => self.request.method = Some(value.to_ascii_uppercase()),
            Effect::Url => self.address(&value),
            Effect::Header => match value.split_once(':') {
                Some((name, text)) => self.header(name.trim(), text.trim()),
                // `-H "X-Empty;"` sends an empty header.
                None => self.header(value.trim_end_matches(';').trim(), ""),
            },
            Effect::Data if value.starts_with('@') => self.reads_file = true,
            Effect::Data | Effect::DataRaw => self.data.push(value),
            Effect::DataUrlencode => match encoded(&value) {
                Some(text) => self.data.push(text),
                None => self.reads_file = true,
            },
            Effect::Json => {
                self.has_json = true;
                if value.starts_with('@') {
                    self.reads_file = true;
                } else {
                    self.json.push_str(&value);
                }
            }
            Effect::Form | Effect::FormString => {
                let (name, text) = value.split_once('=').unwrap_or((&value, ""));
                let is_file = effect == Effect::Form && text.starts_with(['@', '<']);
                self.parts.push(Part {
                    name: name.to_owned(),
                    value: (!is_file).then(|| text.to_owned()),
                });
            }
            Effect::Upload => {
                self.reads_file = true;
                self.request.method.get_or_insert_with(|| "PUT".to_owned());
            }
            Effect::Get => self.in_query = true,
            Effect::Head => self.request.method = Some("HEAD".to_owned()),
            Effect::User => self.request.user = Some(value),
            Effect::Bearer => self.header("Authorization", format!("Bearer {value}")),
            Effect::Cookie if value.contains('=') => self.header("Cookie", value),
            Effect::Cookie => self.left_out("the cookies of a file were not read"),
            Effect::UserAgent => self.header("User-Agent", value),
            Effect::Referer => self.header("Referer", value),
            Effect::UrlQuery => self.query.extend(encoded(value.trim_start_matches('+'))),
            Effect::MaxTime => {
                let seconds = value
                    .parse::<f64>()
                    .ok()
                    .filter(|seconds| (0.001..=600.0).contains(seconds));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "between 1 and 600 000"
                )]
                let ms = seconds.map(|seconds| (seconds * 1000.0) as u64);
                self.request.timeout_ms = ms;
            }
            Effect::Nothing | Effect::NothingOf => {}
            Effect::LeftOut(why) | Effect::LeftOutOf(why) => {
                self.left_out(format!("the option {name} was left out: {why}"));
            }
        }
    }

    fn finish(mut self) -> Result<Request, Diagnostic> {
        if !self.has_address {
            return Err(Diagnostic::error("the command has no address").hint("paste the whole command"));
        }
        let posts = !self.data.is_empty() || self.has_json || !self.parts.is_empty() || self.reads_file;
        let data = self.data.join("&");
        if self.in_query {
            self.query.extend((!data.is_empty()).then_some(data.clone()));
        }
        if !self.query.is_empty() {
            let url = self.request.url.split('#').next().unwrap_or_default().to_owned();
            let joint = if url.contains('?') { '&' } else { '?' };
            self.request.url = format!("{url}{joint}{}", self.query.join("&"));
        }
        if self.has_json && self.request.header("content-type").is_none() {
            self.header("Content-Type", "application/json");
        }
        if self.has_json && self.request.header("accept").is_none() {
            self.header("Accept", "application/json");
        }
        if self.reads_file {
            self.left_out("no file is read: its content is an argument");
        }
        self.request.body = if self.in_query {
            Body::None
        } else if !self.parts.is_empty() {
            Body::Parts(self.parts)
        } else if self.has_json && !self.reads_file {
            Body::Text(self.json)
        } else if !self.data.is_empty() {
            Body::Text(data)
        } else if self.reads_file {
            Body::File
        } else {
            Body::None
        };
        if self.request.method.is_none() && posts && !self.in_query {
            self.request.method = Some("POST".to_owned());
        }
        Ok(self.request)
    }
}

/// The value of `--data-urlencode`: `name=text`, `=text` or `text`; nothing for a file.
fn encoded(value: &str) -> Option<String> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    match value.split_once('=') {
        Some(("", text)) => Some(encode(text)),
        Some((name, text)) => Some(format!("{name}={}", encode(text))),
        None if value.contains('@') => None,
        None => Some(encode(value)),
    }
}

/// The pairs of a form or query, decoded.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}
