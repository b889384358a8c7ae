//! What an administrator pastes to begin a tool: a URL, a `curl` command, or the address of an API description.
//!
//! `words` splits a command as a shell would, `curl` reads its options, `request` is what both kinds of text come to,
//! `address` takes a URL apart, and `draft` makes a definition of it: `arguments` are its parameters, `sent` says where
//! they go, and `secrets` names its credentials. Nothing is executed, expanded or fetched. Credentials never become part
//! of the definition: it names secrets, and their values come beside it.

mod address;
mod arguments;
mod curl;
mod draft;
mod request;
mod secrets;
mod sent;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use serde_json::{Map, Value};
use toolgate_api::Diagnostic;

/// Longest text that is read, in bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// What a pasted text is.
#[derive(Debug)]
pub enum Pasted {
    /// One request: a tool.
    Tool(Box<Draft>),
    /// The address of an API description, which is imported.
    Description(String),
}

/// A definition to begin with.
#[derive(Debug)]
pub struct Draft {
    /// The definition, as an upload takes it.
    pub definition: Value,
    /// The pasted values, as arguments of a first call.
    pub arguments: Map<String, Value>,
    /// The credentials of the text.
    pub credentials: Vec<Credential>,
    /// What was left out or read otherwise than it was written.
    pub notes: Vec<Diagnostic>,
}

/// A credential of a pasted text.
pub struct Credential {
    /// The name of the secret that the definition refers to.
    pub secret: String,
    /// Where it is sent, in words.
    pub place: String,
    /// The value; `None` if the text has a placeholder, such as `$TOKEN`.
    pub value: Option<String>,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("secret", &self.secret)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Which names are taken in the project.
#[derive(Clone, Copy)]
pub struct Taken<'a> {
    /// Whether there is a tool of a name.
    pub tool: &'a dyn Fn(&str) -> bool,
    /// Whether there is a secret of a name.
    pub secret: &'a dyn Fn(&str) -> bool,
}

/// Reads a pasted text.
///
/// # Errors
/// Why it is neither a URL nor a `curl` command.
pub fn read(text: &str, taken: Taken<'_>) -> Result<Pasted, Diagnostic> {
    if text.len() > MAX_BYTES {
        return Err(Diagnostic::error(format!(
            "the text has more than {} KiB",
            MAX_BYTES >> 10
        )));
    }
    let text = text.trim();
    // A shell's prompt is often copied too.
    let text = text.strip_prefix("$ ").unwrap_or(text).trim_start();
    if text.is_empty() {
        return Err(Diagnostic::error("the text is empty").hint("paste a URL or a curl command"));
    }
    if curl::is_command(text) {
        return draft::of(curl::read(text)?, taken).map(|draft| Pasted::Tool(Box::new(draft)));
    }
    if text.contains(char::is_whitespace) {
        return Err(
            Diagnostic::error("the text is neither one URL nor a curl command").hint(
                "paste https://api.example.com/users/7, or a command that begins with curl; YAML and JSON definitions \
                 belong on the page Upload",
            ),
        );
    }
    let request = request::Request::of_url(text);
    if address::is_description(&request.url) {
        return Ok(Pasted::Description(request.url));
    }
    draft::of(request, taken).map(|draft| Pasted::Tool(Box::new(draft)))
}
