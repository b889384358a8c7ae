//! A list that is read page by page: loading, failed, and ready with more to come.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::api::{ApiError, Ask, PAGE_SIZE, read_json, with_query};
use crate::reactive::{effect, text_memo};
use crate::session::Session;

/// The status of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Status {
    /// The first page is on its way; items of an earlier address may still be there.
    Loading,
    /// A further page is on its way.
    LoadingMore,
    /// Nothing is on its way.
    Ready,
    /// The last request failed; what was read before is kept.
    Failed(ApiError),
}

/// One item of a list, as it came. [`Item::read`] makes a value of the contract of it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Differs when the content does.
    pub(crate) digest: u64,
    text: Arc<str>,
}

/// A page of a list. The items stay text: most of them are not shown yet, and reading all of them takes longer than a
/// frame lasts. Whether an item fits the contract shows when it is read.
#[derive(Deserialize)]
struct Page {
    items: Vec<Item>,
    #[serde(default)]
    next_cursor: Option<String>,
    #[serde(default)]
    total: Option<usize>,
}

impl Page {
    fn read(text: &str) -> Result<Self, ApiError> {
        serde_json::from_str(text).map_err(|error| ApiError::Unreadable(error.to_string()))
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Ok(Self {
            digest: hasher.finish(),
            text: text.into(),
        })
    }
}

impl Item {
    /// Whether it has an id, as the server writes it.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        !id.is_empty() && self.text.contains(&format!("\"id\":\"{id}\""))
    }

    /// The item as a value of the contract; nothing when this page is older than the server.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        read_json(&self.text).ok()
    }
}

/// A list of the API: `{items, next_cursor}` at an address. A changed address starts again, and answers to an earlier
/// one are dropped. An empty address is not asked.
#[derive(Clone, Copy)]
pub(crate) struct Paged {
    /// What was read so far.
    pub(crate) items: RwSignal<Vec<Item>>,
    /// Its status.
    pub(crate) status: RwSignal<Status>,
    /// The address that `items` belong to; empty before the first answer.
    pub(crate) shown: RwSignal<String>,
    /// How many items match on all pages, when the server says so; else how many were read.
    pub(crate) total: RwSignal<usize>,
    address: Memo<String>,
    size: usize,
    next: RwSignal<Option<String>>,
    session: Session,
    run: StoredValue<u32>,
    asked: StoredValue<Option<String>>,
}

impl Paged {
    /// Reads the first page now and whenever the address changes.
    pub(crate) fn new(address: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self::make(text_memo(address), PAGE_SIZE)
    }

    /// The same with `size` items per page.
    pub(crate) fn sized(address: impl Fn() -> String + Send + Sync + 'static, size: usize) -> Self {
        Self::make(text_memo(address), size)
    }

    fn make(address: Memo<String>, size: usize) -> Self {
        let list = Self {
            items: RwSignal::new(Vec::new()),
            status: RwSignal::new(Status::Loading),
            shown: RwSignal::new(String::new()),
            total: RwSignal::new(0),
            address,
            size,
            next: RwSignal::new(None),
            session: Session::get(),
            run: StoredValue::new(0),
            asked: StoredValue::new(None),
        };
        effect(move || {
            address.track();
            list.reload();
        });
        list
    }

    /// Reads the first page again.
    pub(crate) fn reload(self) {
        self.request(None, Status::Loading);
    }

    /// Where it is read from.
    pub(crate) fn address(self) -> String {
        self.address.get_untracked()
    }

    /// Reads the next page.
    pub(crate) fn more(self) {
        if let Some(cursor) = self.next.get_untracked() {
            self.request(Some(cursor), Status::LoadingMore);
        }
    }

    /// Tries the last request again.
    pub(crate) fn retry(self) {
        match self.asked.get_value() {
            Some(cursor) => self.request(Some(cursor), Status::LoadingMore),
            None => self.reload(),
        }
    }

    /// Whether there is a further page, reactively.
    pub(crate) fn has_more(self) -> bool {
        self.next.with(Option::is_some)
    }

    /// Whether nothing is there, reactively.
    pub(crate) fn is_empty(self) -> bool {
        self.items.with(Vec::is_empty)
    }

    fn request(self, cursor: Option<String>, status: Status) {
        let run = self.run.get_value().wrapping_add(1);
        self.run.set_value(run);
        self.asked.set_value(cursor.clone());
        let address = self.address.get_untracked();
        if address.is_empty() {
            return;
        }
        self.status.set(status);
        let limit = self.size.to_string();
        let query = [
            ("limit", limit.as_str()),
            ("cursor", cursor.as_deref().unwrap_or_default()),
        ];
        let answer = Ask::get(with_query(address.clone(), &query)).send();
        spawn_local(async move {
            let answer = answer.await.and_then(|answer| Page::read(&answer.text));
            // The page may be gone, or a newer request may be under way.
            if self.run.try_get_value() != Some(run) {
                return;
            }
            match answer {
                Ok(page) => {
                    self.next.set(page.next_cursor);
                    if cursor.is_some() {
                        self.items.update(|all| all.extend(page.items));
                    } else {
                        self.items.set(page.items);
                    }
                    let read = self.items.with_untracked(Vec::len);
                    self.total.set(page.total.unwrap_or(read));
                    self.shown.set(address);
                    self.status.set(Status::Ready);
                }
                Err(error) => {
                    self.session.observe(&error);
                    self.status.set(Status::Failed(error));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Page;

    #[test]
    fn every_item_keeps_its_text() {
        let hard = r#"] } , " \ { [ é \" "items": [1]"#;
        let items = [
            json!({"a": hard, "b": [[], {}, [{"items": [hard]}]]}),
            json!({"number": 12345678901234567890.125}),
            json!(null),
        ];
        let page = json!({"before": {"items": [hard]}, "items": items, "next_cursor": hard, "total": 3});
        for text in [page.to_string(), format!("{page:#}")] {
            let read = Page::read(&text).expect("a page");
            assert_eq!(read.next_cursor.as_deref(), Some(hard));
            assert_eq!(read.total, Some(3));
            let read: Vec<Value> = read
                .items
                .into_iter()
                .map(|item| serde_json::from_str(&item.text).expect("an item"))
                .collect();
            assert_eq!(read, items);
        }
    }

    #[test]
    fn the_last_page_names_no_cursor() {
        let page = Page::read(r#"{"items": []}"#).expect("a page");
        assert!(page.items.is_empty());
        assert_eq!((page.next_cursor, page.total), (None, None));
    }

    #[test]
    fn an_answer_without_a_list_is_unreadable() {
        for text in ["", "[]", "{}", r#"{"items": {"items": [1]}}"#, r#"{"items": [1"#] {
            assert!(Page::read(text).is_err(), "{text}");
        }
    }
}
