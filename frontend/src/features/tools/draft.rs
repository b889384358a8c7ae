//! What was typed and not saved, kept in this tab: it outlives a session that ends and a page that is left.

use serde_json::Value;

use crate::api::{object, parse};
use crate::browser::{recall, remember};

/// An unsaved definition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    /// The tag of the revision that it began from.
    pub(super) etag: String,
    /// That revision.
    pub(super) base: String,
    /// The definition.
    pub(super) text: String,
}

impl Draft {
    /// The draft that is kept under a key.
    pub(super) fn kept(key: &str) -> Option<Self> {
        Self::read(&parse(&recall(key)?).ok()?)
    }

    /// Keeps it.
    pub(super) fn keep(&self, key: &str) {
        remember(key, Some(&self.write().to_string()));
    }

    /// Keeps nothing any more.
    pub(super) fn forget(key: &str) {
        remember(key, None);
    }

    fn read(kept: &Value) -> Option<Self> {
        let part = |name: &str| kept[name].as_str().map(str::to_owned);
        Some(Self {
            etag: part("etag")?,
            base: part("base")?,
            text: part("text")?,
        })
    }

    fn write(&self) -> Value {
        object(vec![
            ("etag", self.etag.as_str().into()),
            ("base", self.base.as_str().into()),
            ("text", self.text.as_str().into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Draft;

    #[test]
    fn a_draft_comes_back_as_it_was() {
        let draft = Draft {
            etag: "\"3\"".to_owned(),
            base: "name: a\n".to_owned(),
            text: "name: a\ngroup: [\"x\"]\n".to_owned(),
        };
        assert_eq!(Draft::read(&draft.write()), Some(draft));
        assert_eq!(Draft::read(&json!({"etag": 1})), None);
    }
}
