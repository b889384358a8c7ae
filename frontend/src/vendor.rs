//! What comes from kept packages: the editor and the charts of `frontend/vendor`, loaded where they are first used.

use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{HtmlElement, HtmlTextAreaElement};

#[wasm_bindgen]
extern "C" {
    /// The bundle of editors and differences; an [`EditorBundle`].
    #[wasm_bindgen(catch, js_namespace = toolgate, js_name = editor)]
    pub(crate) async fn load_editor() -> Result<JsValue, JsValue>;

    /// The bundle of charts; a [`ChartBundle`].
    #[wasm_bindgen(catch, js_namespace = toolgate, js_name = charts)]
    pub(crate) async fn load_charts() -> Result<JsValue, JsValue>;

    pub(crate) type EditorBundle;

    /// Puts an editor in place of a plain field; `options` are JSON.
    #[wasm_bindgen(method)]
    pub(crate) fn mount(
        this: &EditorBundle,
        parent: &HtmlElement,
        field: &HtmlTextAreaElement,
        options: &str,
        on_change: &Closure<dyn FnMut(String)>,
    ) -> Mounted;

    /// Shows a difference; `options` are JSON.
    #[wasm_bindgen(method)]
    pub(crate) fn compare(this: &EditorBundle, parent: &HtmlElement, options: &str) -> Mounted;

    pub(crate) type ChartBundle;

    /// Draws a chart; `options` are JSON. The functions get seconds since 1970: the range that was dragged, and a point with
    /// the number of its series.
    #[wasm_bindgen(method)]
    pub(crate) fn draw(
        this: &ChartBundle,
        parent: &HtmlElement,
        options: &str,
        on_range: &Closure<dyn FnMut(f64, f64)>,
        on_point: &Closure<dyn FnMut(f64, usize)>,
    ) -> Mounted;

    /// What was put into the page. Only editors have more than `destroy`.
    pub(crate) type Mounted;

    /// Makes an editor read-only or not.
    #[wasm_bindgen(method)]
    pub(crate) fn permit(this: &Mounted, readonly: bool);

    /// Shows another text in an editor.
    #[wasm_bindgen(method)]
    pub(crate) fn write(this: &Mounted, text: &str);

    /// Offers names as values in an editor; they are JSON.
    #[wasm_bindgen(method)]
    pub(crate) fn offer(this: &Mounted, names: &str);

    /// Marks faults in an editor; they are JSON.
    #[wasm_bindgen(method)]
    pub(crate) fn mark(this: &Mounted, faults: &str);

    /// Replaces the word at a line and column of an editor, both from 1.
    #[wasm_bindgen(method)]
    pub(crate) fn fix(this: &Mounted, line: u32, column: u32, by: &str);

    /// Puts an editor's cursor at a line and column, both from 1.
    #[wasm_bindgen(method)]
    pub(crate) fn jump(this: &Mounted, line: u32, column: u32);

    /// Takes it off the page.
    #[wasm_bindgen(method)]
    pub(crate) fn destroy(this: &Mounted);
}
