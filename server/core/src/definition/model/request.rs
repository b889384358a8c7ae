//! `options.http.request`: where each argument goes in the request, in the terms of OpenAPI's Parameter, Media Type and
//! Encoding Objects.
//!
//! What is absent has OpenAPI's default, so that a definition says only what is unusual.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A request whose every part is named: nothing is sent that is not here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpRequest {
    /// Everything outside the body, in the order in which it is sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<RequestParameter>,
    /// The body; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<RequestBody>,
}

/// One parameter of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestParameter {
    /// Its name in the request.
    pub name: String,
    /// Where it is sent.
    #[serde(rename = "in")]
    pub location: ParameterLocation,
    /// The argument with its value; absent: the argument of the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// How lists and objects are written; absent: `simple` in paths and headers, `form` in queries and cookies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<ParameterStyle>,
    /// Whether each member is written separately; absent: only with the styles `form` and `cookie`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    /// Whether reserved characters of addresses are sent as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_reserved: bool,
    /// Instead of a style: the value is written as a document of this media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

impl RequestParameter {
    /// The argument with its value.
    #[must_use]
    pub fn argument(&self) -> &str {
        self.argument.as_deref().unwrap_or(&self.name)
    }

    /// The style, stated or by default.
    #[must_use]
    pub fn style(&self) -> ParameterStyle {
        self.style.unwrap_or(match self.location {
            ParameterLocation::Path | ParameterLocation::Header => ParameterStyle::Simple,
            ParameterLocation::Query | ParameterLocation::Querystring | ParameterLocation::Cookie => {
                ParameterStyle::Form
            }
        })
    }

    /// Whether each member is written separately, stated or by default.
    #[must_use]
    pub fn explode(&self) -> bool {
        self.explode.unwrap_or_else(|| self.style().explodes())
    }
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterLocation {
    /// In place of `{name}` in the path.
    Path,
    /// In the query.
    Query,
    /// As the whole query.
    Querystring,
    /// As a header.
    Header,
    /// In the `Cookie` header.
    Cookie,
}

impl ParameterLocation {
    /// Every location, as definitions write them.
    pub const ALL: [(&'static str, Self); 5] = [
        ("path", Self::Path),
        ("query", Self::Query),
        ("querystring", Self::Querystring),
        ("header", Self::Header),
        ("cookie", Self::Cookie),
    ];

    /// As definitions write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Querystring => "querystring",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    /// The styles that OpenAPI has for it.
    #[must_use]
    pub fn styles(self) -> &'static [ParameterStyle] {
        use ParameterStyle::{
            Cookie, DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited,
        };
        match self {
            Self::Path => &[Simple, Label, Matrix],
            Self::Query => &[Form, SpaceDelimited, PipeDelimited, DeepObject],
            Self::Querystring => &[],
            Self::Header => &[Simple],
            Self::Cookie => &[Form, Cookie],
        }
    }
}

/// How lists and objects are written (OpenAPI, "Style Values").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterStyle {
    /// `;color=blue`
    Matrix,
    /// `.blue`
    Label,
    /// `blue`
    Simple,
    /// `color=blue`
    Form,
    /// `color=blue%20black`
    SpaceDelimited,
    /// `color=blue%7Cblack`
    PipeDelimited,
    /// `color%5BR%5D=100`
    DeepObject,
    /// `color=blue; color=black`, nothing escaped.
    Cookie,
}

impl ParameterStyle {
    /// Every style, as definitions write them.
    pub const ALL: [(&'static str, Self); 8] = [
        ("matrix", Self::Matrix),
        ("label", Self::Label),
        ("simple", Self::Simple),
        ("form", Self::Form),
        ("spaceDelimited", Self::SpaceDelimited),
        ("pipeDelimited", Self::PipeDelimited),
        ("deepObject", Self::DeepObject),
        ("cookie", Self::Cookie),
    ];

    /// As definitions write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::Label => "label",
            Self::Simple => "simple",
            Self::Form => "form",
            Self::SpaceDelimited => "spaceDelimited",
            Self::PipeDelimited => "pipeDelimited",
            Self::DeepObject => "deepObject",
            Self::Cookie => "cookie",
        }
    }

    /// Whether members are written for themselves unless a description says otherwise.
    #[must_use]
    pub fn explodes(self) -> bool {
        matches!(self, Self::Form | Self::Cookie)
    }
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestBody {
    /// Its media type, which also says how it is written; absent: `application/json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The argument that is the whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// A body of bytes is sent as the text that its argument is: the upstream reads base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_text: bool,
    /// Instead of `argument`: an object of property to argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// How single properties of a form are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encoding: BTreeMap<String, PartEncoding>,
}

impl RequestBody {
    /// The media type, stated or by default.
    #[must_use]
    pub fn content_type(&self) -> &str {
        self.content_type.as_deref().unwrap_or("application/json")
    }
}

/// How one property of a form is written.
///
/// With `style`, `explode` or `allow_reserved` it is written like a query parameter, else as a document of its media
/// type: texts and numbers as text, objects as JSON, lists item by item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEncoding {
    /// The media type, or several and ranges with commas between, of which a file chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Whether the value is a file: base64, or an object of `base64`, `filename` and `content_type`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
    /// As for a query parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<ParameterStyle>,
    /// As for a query parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    /// As for a query parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_reserved: Option<bool>,
    /// Further headers of the part, with constant values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl PartEncoding {
    /// Whether the property is written like a query parameter.
    #[must_use]
    pub fn is_styled(&self) -> bool {
        self.style.is_some() || self.explode.is_some() || self.allow_reserved.is_some()
    }
}
