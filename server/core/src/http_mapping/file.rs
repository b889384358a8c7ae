//! Files among the arguments: base64, alone or with a name and a media type.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

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
            Value::Object(_) => (
                member("base64").ok_or("a file needs its content under \"base64\"")?,
                member("filename"),
                member("content_type"),
            ),
            _ => return Err("a file is base64 text, or an object with \"base64\""),
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
