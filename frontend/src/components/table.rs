//! A table whose rows are all there.

use leptos::prelude::*;

/// The frame of a table: its name, the headings of its columns, and rows that were made for it. On narrow screens the style
/// sheet turns each row into a card, so the roles are written out.
pub(crate) fn table(what: &'static str, columns: &[&'static str], rows: impl IntoAny) -> AnyView {
    let heads: Vec<_> = columns
        .iter()
        .map(|title| view! { <th scope="col" role="columnheader">{*title}</th> })
        .collect();
    view! {
        <div class="table-wrap">
            <table class="table" role="table">
                <caption class="visually-hidden">{what}</caption>
                <thead role="rowgroup">
                    <tr role="row">{heads}</tr>
                </thead>
                <tbody role="rowgroup">{rows.into_any()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
