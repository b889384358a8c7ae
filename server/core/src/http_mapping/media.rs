//! What a media type says about how a value is written.

/// How a body or a part is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// As JSON text.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// As it is, in UTF-8.
    Text,
    /// The bytes of a base64 text.
    Binary,
}

impl MediaKind {
    /// The kind of a media type; `None` for those whose structure is not known here.
    #[must_use]
    pub fn of(media_type: &str) -> Option<Self> {
        let essence = essence(media_type);
        let (kind, subtype) = essence.split_once('/')?;
        let suffixed = |suffix: &str| {
            subtype == suffix
                || subtype
                    .strip_suffix(suffix)
                    .is_some_and(|rest| rest.ends_with('+'))
        };
        Some(match kind {
            "application" if subtype == "x-www-form-urlencoded" => Self::Form,
            "multipart" if subtype == "form-data" => Self::Multipart,
            "multipart" => return None,
            _ if suffixed("json") => Self::Json,
            "text" => Self::Text,
            _ if suffixed("xml") || suffixed("yaml") => Self::Text,
            "application"
                if matches!(
                    subtype,
                    "javascript" | "graphql" | "sql" | "x-yaml" | "x-ndjson" | "jsonl" | "jsonpath" | "toml"
                ) =>
            {
                Self::Text
            }
            _ => Self::Binary,
        })
    }
}

/// `type/subtype` in lower case, without parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The first media type of a list that is no range.
pub(super) fn first_concrete(list: &str) -> Option<&str> {
    list.split(',')
        .map(str::trim)
        .find(|item| !item.contains('*') && item.contains('/'))
}

/// Whether a media type is in a list of media types and ranges.
pub(super) fn allows(list: &str, media_type: &str) -> bool {
    let wanted = essence(media_type);
    list.split(',').map(essence).any(|item| {
        item == wanted
            || item == "*/*"
            || item
                .strip_suffix("/*")
                .is_some_and(|kind| wanted.split('/').next() == Some(kind))
    })
}

/// Whether a text is a media type that is valid in a header: type, subtype and parameters in visible ASCII.
#[must_use]
pub fn is_media_type(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}
