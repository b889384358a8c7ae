//! The one request that a text describes.

use toolgate_api::Diagnostic;

/// A request as it was written, before anything is made of it.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Request {
    /// The method, if it was named.
    pub(super) method: Option<String>,
    /// The address, with a scheme.
    pub(super) url: String,
    /// Headers in their order.
    pub(super) headers: Vec<(String, String)>,
    /// The content.
    pub(super) body: Body,
    /// `user:password`, if it was given apart from the headers.
    pub(super) user: Option<String>,
    /// How long the request may take.
    pub(super) timeout_ms: Option<u64>,
    /// What was left out.
    pub(super) notes: Vec<Diagnostic>,
}

/// The content of a request.
#[derive(Default, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing.
    #[default]
    None,
    /// A text.
    Text(String),
    /// Text that a file has, which is not read.
    File,
    /// Parts of a form, `multipart/form-data`.
    Parts(Vec<Part>),
}

/// A part of a form.
#[derive(PartialEq, Eq)]
pub(super) struct Part {
    /// The name of the field.
    pub(super) name: String,
    /// Its value; `None` for a file, which is not read.
    pub(super) value: Option<String>,
}

impl Request {
    /// A request by GET.
    pub(super) fn of_url(text: &str) -> Self {
        let mut request = Self::default();
        request.set_url(text);
        request
    }

    /// Takes the address; one without a scheme gets one.
    pub(super) fn set_url(&mut self, text: &str) {
        if text.contains("://") {
            self.url = text.to_owned();
            return;
        }
        let is_local = ["localhost", "127.", "[::1]"]
            .iter()
            .any(|host| text.starts_with(host));
        let scheme = if is_local { "http" } else { "https" };
        self.url = format!("{scheme}://{text}");
        self.notes.push(Diagnostic::warning(format!(
            "the address has no scheme: {scheme}:// was added"
        )));
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}
