//! A whole list of the API as a file that spreadsheets open: all pages, with what is filtered.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::Toasts;
use super::csv::download;
use crate::api::{Answer, ApiError, Ask, parse, with_query};
use crate::language::{t, tf};
use crate::paged::Paged;

/// Items of a page.
const PAGE: &str = "200";
/// Pages that are read at most: what is larger is for the API.
const PAGES: usize = 500;

/// The button, which begins at once: it takes the place of one that was pressed. A column is a field of the items, in the order in which they have them.
pub(crate) fn list_csv(list: Paged, what: &'static str) -> AnyView {
    let busy = RwSignal::new(false);
    let toasts = Toasts::get();
    let read = move || {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let address = list.address();
        spawn_local(async move {
            let read = all(address).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match read {
                Ok(items) => download(&format!("{}.csv", what.replace(' ', "-")), &rows(&items)),
                Err(error) => toasts.failed(t("The list could not be read"), &error),
            }
        });
    };
    read();
    view! {
        <button
            type="button"
            class="button button-quiet button-small"
            aria-label=tf!("CSV of all {what}", what)
            disabled=move || busy.get()
            on:click=move |_| read()
        >
            {t("CSV")}
        </button>
    }
    .into_any()
}

async fn all(address: String) -> Result<Vec<Value>, ApiError> {
    let mut items = Vec::new();
    let mut cursor = String::new();
    for _ in 0..PAGES {
        let query = [("limit", PAGE), ("cursor", cursor.as_str())];
        let answer: Answer = Ask::get(with_query(address.clone(), &query)).send().await?;
        let mut page = parse(&answer.text)?;
        if let Value::Array(more) = page["items"].take() {
            items.extend(more);
        }
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    Ok(items)
}

/// The head and a row for each item.
fn rows(items: &[Value]) -> Vec<Vec<String>> {
    let mut columns: Vec<&str> = Vec::new();
    for name in items
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|item| item.keys())
    {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let head = columns.iter().map(|name| (*name).to_owned()).collect();
    let row = |item: &Value| columns.iter().map(|name| cell(&item[*name])).collect();
    [head].into_iter().chain(items.iter().map(row)).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => items
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rows;

    #[test]
    fn every_field_is_a_column() {
        let items = [
            json!({"count": 3, "groups": ["x", "y"], "name": "a"}),
            json!({"context": {"k": 1}, "name": "b", "note": null}),
        ];
        assert_eq!(
            rows(&items),
            [
                vec!["count", "groups", "name", "context", "note"],
                vec!["3", "x, y", "a", "", ""],
                vec!["", "", "b", "{\"k\":1}", ""],
            ]
        );
    }
}
