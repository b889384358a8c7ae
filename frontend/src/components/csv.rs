//! A table as a file that spreadsheets open.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser::encode;
use crate::language::t;

/// A button that downloads rows of cells; they are made when it is pressed.
pub(crate) fn csv_button(file: &'static str, rows: impl Fn() -> Vec<Vec<String>> + 'static) -> AnyView {
    let rows: Box<dyn Fn() -> Vec<Vec<String>>> = Box::new(rows);
    view! {
        <button type="button" class="button" on:click=move |_| download(file, &rows())>
            {t("CSV")}
        </button>
    }
    .into_any()
}

/// Lets the browser store rows of cells as a file.
pub(super) fn download(file: &str, rows: &[Vec<String>]) {
    let text: String = rows.iter().map(|row| line(row)).collect();
    let link = document().create_element("a").ok();
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        // The names of these attributes are valid, so they are taken.
        let _ = link.set_attribute("href", &format!("data:text/csv;charset=utf-8,{}", encode(&text)));
        let _ = link.set_attribute("download", file);
        link.click();
    }
}

/// One row by RFC 4180. A cell that a spreadsheet would take for a formula begins with a quote.
fn line(cells: &[String]) -> String {
    let mut line = String::new();
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        line.push('"');
        if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            line.push('\'');
        }
        line.push_str(&cell.replace('"', "\"\""));
        line.push('"');
    }
    line.push_str("\r\n");
    line
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let cells = ["a,b", "say \"hi\"", "=1+1", ""].map(str::to_owned);
        assert_eq!(line(&cells), "\"a,b\",\"say \"\"hi\"\"\",\"'=1+1\",\"\"\r\n");
    }
}
