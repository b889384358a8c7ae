//! What the attributes of serde say.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Path, Result, Token};

/// Functions of `deserialize_with` that only refuse what is never read here: structs from lists, texts from numbers.
const REFUSERS: &[&str] = &["object", "text"];

/// What is said about a type.
#[derive(Default)]
pub(crate) struct Container {
    /// Absent fields have the values of the type's default.
    pub(crate) default: bool,
    /// The field that says which variant it is.
    pub(crate) tag: Option<LitStr>,
    /// How words are made of the names of variants.
    pub(crate) rename_all: Option<Case>,
}

impl Container {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut container = Self::default();
        each(attributes, |name, meta| {
            match name {
                "default" => container.default = is_bare(meta)?,
                "tag" => container.tag = Some(text(meta)?),
                "rename_all" => container.rename_all = Some(Case::read(&text(meta)?)?),
                // A newer server may tell more than this page knows.
                "deny_unknown_fields" => {}
                _ => return Err(unknown(meta, name)),
            }
            Ok(())
        })?;
        Ok(container)
    }
}

/// What is said about a field.
#[derive(Default)]
pub(crate) struct Field {
    /// Its name in JSON, where it is not its own.
    pub(crate) rename: Option<LitStr>,
    /// It may be absent.
    pub(crate) default: bool,
    /// Its fields stand beside those of the struct.
    pub(crate) flatten: bool,
    /// Says whether it is left out.
    pub(crate) skip_if: Option<Path>,
}

impl Field {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut field = Self::default();
        each(attributes, |name, meta| {
            match name {
                "rename" => field.rename = Some(text(meta)?),
                "default" => field.default = is_bare(meta)?,
                "flatten" => field.flatten = true,
                "skip_serializing_if" => field.skip_if = Some(text(meta)?.parse()?),
                "deserialize_with" => is_refuser(meta)?,
                _ => return Err(unknown(meta, name)),
            }
            Ok(())
        })?;
        Ok(field)
    }
}

/// Refuses every attribute.
pub(crate) fn none(attributes: &[Attribute]) -> Result<()> {
    each(attributes, |name, meta| Err(unknown(meta, name)))
}

/// How a word is written.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Kebab,
}

impl Case {
    fn read(text: &LitStr) -> Result<Self> {
        match text.value().as_str() {
            "snake_case" => Ok(Self::Snake),
            "kebab-case" => Ok(Self::Kebab),
            other => Err(syn::Error::new(text.span(), format!("{other} is not known here"))),
        }
    }

    /// The word for a variant.
    pub(crate) fn word(self, variant: &str) -> String {
        let mut word = String::new();
        for letter in variant.chars() {
            if letter.is_ascii_uppercase() && !word.is_empty() {
                word.push(match self {
                    Self::Snake => '_',
                    Self::Kebab => '-',
                });
            }
            word.push(letter.to_ascii_lowercase());
        }
        word
    }
}

fn each(
    attributes: &[Attribute],
    mut take: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes {
        if attribute.path().is_ident("serde") {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string);
                take(&name.unwrap_or_default(), &meta)
            })?;
        }
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

/// Only the default of the type is known, not one of a function.
fn is_bare(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if meta.input.peek(Token![=]) {
        return Err(meta.error("a function for the default is not known here"));
    }
    Ok(true)
}

fn is_refuser(meta: &ParseNestedMeta<'_>) -> Result<()> {
    let path: Path = text(meta)?.parse()?;
    match path.segments.last() {
        Some(name) if REFUSERS.iter().any(|known| name.ident == known) => Ok(()),
        _ => Err(meta.error(format!(
            "the function is not known here; known are {}, or others that change nothing but what is refused",
            REFUSERS.join(" and ")
        ))),
    }
}

fn unknown(meta: &ParseNestedMeta<'_>, name: &str) -> syn::Error {
    meta.error(format!("the attribute {name} of serde is not known here"))
}
