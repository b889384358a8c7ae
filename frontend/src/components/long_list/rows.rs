//! The rows of a long list that are on the page.

use std::sync::Arc;

use web_sys::{Element, HtmlElement};

use super::column::Column;
use crate::components::Markup;
use crate::components::list::UNREADABLE;
use crate::language::t;
use crate::paged::Item;

/// Writes the cells of one row; none, and nothing is written, when the item does not fit the contract.
pub(crate) type RowMarkup = Arc<dyn Fn(&Item, &mut Markup) -> Option<()> + Send + Sync>;

/// The present content of the list's body.
#[derive(Default)]
pub(super) struct Rows {
    first: usize,
    /// What each row shows; none while it waits for its item.
    digests: Vec<Option<u64>>,
    columns: Vec<Column>,
}

impl Rows {
    /// Makes the rows on the page those that are wanted, from the first one on. What is there already stays as it is.
    pub(super) fn show(
        &mut self,
        body: &HtmlElement,
        first: usize,
        wanted: &[Option<&Item>],
        columns: Vec<Column>,
        cells: &RowMarkup,
    ) {
        let last = first + wanted.len();
        let before = (self.first, self.first + self.digests.len());
        let mut kept = (before.0.max(first), before.1.min(last));
        // Other columns are other rows.
        if kept.0 >= kept.1 || columns != self.columns {
            body.set_inner_html("");
            kept = (first, first);
        } else {
            let remove = |row: Option<Element>| row.iter().for_each(Element::remove);
            (before.0..kept.0).for_each(|_| remove(body.first_element_child()));
            (kept.1..before.1).for_each(|_| remove(body.last_element_child()));
            self.renew(body, first, wanted, kept, cells);
        }
        insert(body, "afterbegin", first, &wanted[..kept.0 - first], cells);
        insert(body, "beforeend", kept.1, &wanted[kept.1 - first..], cells);
        if first != before.0 {
            let above = format!("calc({first} * var(--row))");
            // Refused only for names that are no properties.
            let _ = body.style().set_property("padding-top", &above);
        }
        self.first = first;
        self.digests = wanted.iter().map(|item| digest(*item)).collect();
        self.columns = columns;
    }

    /// Rewrites the rows that stay but now show something else.
    fn renew(
        &self,
        body: &HtmlElement,
        first: usize,
        wanted: &[Option<&Item>],
        kept: (usize, usize),
        cells: &RowMarkup,
    ) {
        let mut row = None;
        for at in kept.0..kept.1 {
            let item = wanted[at - first];
            row = match row {
                None => body.first_element_child(),
                Some(row) => Element::next_element_sibling(&row),
            };
            if digest(item) != self.digests[at - self.first]
                && let Some(row) = &row
            {
                let mut markup = Markup::default();
                content(item, cells, &mut markup);
                row.set_inner_html(markup.as_str());
            }
        }
    }
}

/// What a row shows, in short.
fn digest(item: Option<&Item>) -> Option<u64> {
    item.map(|item| item.digest)
}

/// Makes rows at an end of the body.
fn insert(body: &HtmlElement, end: &str, first: usize, items: &[Option<&Item>], cells: &RowMarkup) {
    if items.is_empty() {
        return;
    }
    let mut markup = Markup::default();
    for (at, item) in (first..).zip(items) {
        // The heading is the first row of all.
        markup
            .tags(r#"<div role="row" class="long-row" aria-rowindex=""#)
            .text(&(at + 2).to_string())
            .tags(r#"">"#);
        content(*item, cells, &mut markup);
        markup.tags("</div>");
    }
    // Refused only for places that there are none of.
    let _ = body.insert_adjacent_html(end, markup.as_str());
}

fn content(item: Option<&Item>, cells: &RowMarkup, markup: &mut Markup) {
    let Some(item) = item else {
        markup.tags(r#"<div role="cell" class="long-waiting"><span class="skeleton-bar"></span></div>"#);
        return;
    };
    if cells(item, markup).is_none() {
        markup
            .tags(r#"<div role="cell" class="long-waiting muted">"#)
            .text(t(UNREADABLE))
            .tags("</div>");
    }
}
