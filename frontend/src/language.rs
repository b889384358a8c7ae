//! The language of the dashboard.
//!
//! Every text is written in English where it is used, and looked up in the catalogue of the reader's language
//! (`frontend/languages/`). English needs no catalogue. `boot.js` chooses the language and loads its catalogue before the
//! module starts, so a text never changes while a page is open.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Display;

use wasm_bindgen::JsValue;

#[cfg(test)]
mod catalogues;

/// Texts by their English ones.
type Catalogue = BTreeMap<String, String>;

thread_local! {
    static CATALOGUE: OnceCell<&'static Catalogue> = const { OnceCell::new() };
}

/// A text in the reader's language; in English where the catalogue lacks it.
pub(crate) fn t(english: &'static str) -> &'static str {
    found(english).unwrap_or(english)
}

/// Marks a text of a constant, which [`t`] translates where it is used.
pub(crate) const fn marked(english: &'static str) -> &'static str {
    english
}

/// What the catalogue has for a text that is known at run time only, such as a label of a form's schema.
pub(crate) fn found(english: &str) -> Option<&'static str> {
    catalogue().get(english).map(String::as_str)
}

/// A text with values in it, in the reader's language: `tf!("Delete {name}?", name)`, `tf!("{n} of {all}", n = 1, all)`.
macro_rules! tf {
    ($english:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::language::filled(
            $crate::language::t($english),
            &[$((stringify!($name), &$crate::language::value!($name $(= $value)?))),*],
        )
    };
}
macro_rules! value {
    ($name:ident) => {
        $name
    };
    ($name:ident = $value:expr) => {
        $value
    };
}
pub(crate) use {tf, value};

/// A template with its `{name}` replaced by the values. A name that is not given stays as it is.
pub(crate) fn filled(template: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, after))
        });
        match known {
            Some((value, after)) => {
                filled.push_str(&value.to_string());
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

fn catalogue() -> &'static Catalogue {
    CATALOGUE.with(|catalogue| *catalogue.get_or_init(|| Box::leak(Box::new(loaded().unwrap_or_default()))))
}

/// What `boot.js` has loaded. None for English, and where no browser is.
fn loaded() -> Option<Catalogue> {
    if cfg!(not(target_arch = "wasm32")) {
        return None;
    }
    let get = |object: &JsValue, name: &str| js_sys::Reflect::get(object, &name.into()).ok();
    let texts = get(&get(&js_sys::global(), "toolgate")?, "texts")?.as_string()?;
    serde_json::from_str(&texts).ok()
}

#[cfg(test)]
mod tests {
    use super::{filled, t};

    #[test]
    fn a_text_without_a_catalogue_is_english() {
        assert_eq!(t("Save"), "Save");
    }

    #[test]
    fn values_are_put_where_their_names_are() {
        let (name, count) = ("search", 3);
        assert_eq!(tf!("{count} calls of {name}", count, name), "3 calls of search");
        assert_eq!(tf!("{name}, {name}", name = "{x}"), "{x}, {x}");
    }

    #[test]
    fn a_brace_that_is_no_name_stays() {
        assert_eq!(filled("{\"a\": {b}} {", &[("b", &1)]), "{\"a\": 1} {");
    }
}
