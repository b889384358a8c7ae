//! Files among the arguments: base64, alone or with a name and a media type; or an address, whose content must be put there
//! before the request is written.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const FOR_ADDRESSES: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// A file that a caller gave.
pub(super) struct File<'v> {
    pub(super) bytes: Vec<u8>,
    pub(super) filename: Option<&'v str>,
    pub(super) content_type: Option<&'v str>,
}

impl<'v> File<'v> {
    /// Reads base64 text, or an object of `base64`, `filename` and `content_type` as results of tools have it.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence about the argument.
    pub(super) fn read(value: &'v Value) -> Result<Self, &'static str> {
        let member = |name: &str| value.get(name).and_then(Value::as_str);
        let (text, filename, content_type) = match value {
            Value::String(text) => (text.as_str(), None, None),
            Value::Object(members) if members.contains_key("url") => {
                return Err("a file has its content under \"base64\", or an address under \"url\", not both");
            }
            Value::Object(_) => (
                member("base64")
                    .ok_or("a file needs its content under \"base64\", or its address under \"url\"")?,
                member("filename"),
                member("content_type"),
            ),
            _ => return Err("a file is base64 text, or an object with \"base64\" or \"url\""),
        };
        let bytes = PLAIN
            .decode(text)
            .or_else(|_| FOR_ADDRESSES.decode(text))
            .map_err(|_| "the file is not valid base64")?;
        if let Some(content_type) = content_type
            && (!super::media::is_media_type(content_type) || content_type.contains('*'))
        {
            return Err("the file's \"content_type\" is no media type");
        }
        Ok(Self {
            bytes,
            filename,
            content_type,
        })
    }
}

/// A file that a caller has given by its address.
#[derive(Debug)]
pub struct LinkedFile<'a> {
    /// Its place in the arguments, as a JSON pointer.
    pub pointer: String,
    value: &'a mut Value,
}

impl<'a> LinkedFile<'a> {
    /// Adds what of a value is an address: the value itself, or items of a list.
    pub(super) fn find(pointer: &str, value: &'a mut Value, found: &mut Vec<Self>) {
        let is_link =
            |value: &Value| value.get("url").is_some_and(Value::is_string) && value.get("base64").is_none();
        match value {
            Value::Array(items) => {
                let linked = items.iter_mut().enumerate().filter(|(_, item)| is_link(item));
                found.extend(linked.map(|(at, value)| Self {
                    pointer: format!("{pointer}/{at}"),
                    value,
                }));
            }
            value if is_link(value) => found.push(Self {
                pointer: pointer.to_owned(),
                value,
            }),
            _ => {}
        }
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        self.value.get("url").and_then(Value::as_str).unwrap_or_default()
    }

    /// Puts the content in its place. What the caller says about the file goes before what its server says.
    pub fn resolve(self, content: &[u8], filename: Option<&str>, content_type: Option<&str>) {
        let mut file = json!({ "base64": base64::engine::general_purpose::STANDARD.encode(content) });
        for (name, wanted) in [("filename", filename), ("content_type", content_type)] {
            match (self.value.get_mut(name), wanted) {
                (Some(given), _) => file[name] = given.take(),
                (None, Some(wanted)) => file[name] = wanted.into(),
                (None, None) => {}
            }
        }
        *self.value = file;
    }
}
