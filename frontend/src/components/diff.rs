//! A difference of two texts: side by side or in one, and line by line with signs until what shows it is loaded.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;

use super::editor::Language;
use crate::api::object;
use crate::browser::{recall, remember};
use crate::language::t;
use crate::reactive::{When, effect, part};
use crate::vendor::{EditorBundle, Mounted, load_editor};

/// Where this tab remembers how differences are shown.
const KEPT: &str = "difference";
/// What it remembers of those in one text.
const INLINE: &str = "inline";
/// The least width of a window for two texts beside each other, in pixels.
const ROOM: f64 = 768.0;

/// Shows a unified diff.
#[component]
pub(crate) fn Diff(
    /// The diff as the server made it.
    text: String,
    /// Its name, where there is more than one on a page.
    #[prop(default = t("Difference").to_owned(), into)]
    name: String,
) -> impl IntoView {
    if text.is_empty() {
        return view! { <p class="muted">{t("No difference.")}</p> }.into_any();
    }
    let beside = RwSignal::new(has_room() && recall(KEPT).as_deref() != Some(INLINE));
    let host = NodeRef::<html::Div>::new();
    let bundle = RwSignal::new_local(None::<EditorBundle>);
    let shown = StoredValue::new_local(None::<Mounted>);
    let take_off = move || {
        if let Some(Some(view)) = shown.try_update_value(Option::take) {
            view.destroy();
        }
    };
    spawn_local(async move {
        // Without the bundle the lines remain.
        if let Ok(loaded) = load_editor().await {
            bundle.try_set(Some(loaded.unchecked_into()));
        }
    });
    let sides = StoredValue::new(sides(&text));
    let label = StoredValue::new(name.clone());
    effect(move || {
        let (Some(host), beside) = (host.get(), beside.get()) else {
            return;
        };
        take_off();
        let (before, after) = sides.get_value();
        let options = object(vec![
            ("label", label.get_value().into()),
            ("language", Language::Yaml.name().into()),
            ("before", before.into()),
            ("after", after.into()),
            ("beside", beside.into()),
        ]);
        let view = bundle.with(|bundle| {
            bundle
                .as_ref()
                .map(|bundle| bundle.compare(&host, &options.to_string()))
        });
        shown.set_value(view);
    });
    on_cleanup(take_off);
    let show = move |is_beside: bool| {
        remember(KEPT, (!is_beside).then_some(INLINE));
        beside.set(is_beside);
    };
    let choice = move |text: &'static str, is_beside: bool| {
        view! {
            <button
                type="button"
                class="button button-small"
                aria-pressed=move || (beside.get() == is_beside).to_string()
                on:click=move |_| show(is_beside)
            >
                {text}
            </button>
        }
    };
    let lines = StoredValue::new((text, name));
    view! {
        <div class="stack-small">
            <When test=move || bundle.with(Option::is_some)>
                <div class="row diff-mode" role="group" aria-label=t("How the difference is shown")>
                    {choice(t("Side by side"), true)}
                    {choice(t("Inline"), false)}
                </div>
                <div class="diff-view" node_ref=host></div>
            </When>
            {part(move || {
                let is_plain = bundle.with(Option::is_none);
                is_plain.then(|| lines.with_value(|(text, name)| plain(text, name))).into_any()
            })}
        </div>
    }
    .into_any()
}

/// Whether the window has room for two texts beside each other.
fn has_room() -> bool {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    width.is_none_or(|width| width >= ROOM)
}

/// The lines with their signs, so that colour is not the only difference.
fn plain(text: &str, name: &str) -> AnyView {
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !is_head(line))
        .map(|line| {
            let (class, sign, rest) = match line.as_bytes().first() {
                Some(b'+') => ("diff-line diff-added", "+", &line[1..]),
                Some(b'-') => ("diff-line diff-removed", "-", &line[1..]),
                Some(b'@') => ("diff-line muted", "", line),
                Some(b' ') => ("diff-line", "", &line[1..]),
                _ => ("diff-line", "", line),
            };
            view! {
                <div class=class>
                    <span>{sign}</span>
                    <span>{rest.to_owned()}</span>
                </div>
            }
        })
        .collect();
    view! {
        <div class="diff" tabindex="0" role="region" aria-label=name.to_owned()>
            {lines}
        </div>
    }
    .into_any()
}

fn is_head(line: &str) -> bool {
    line.starts_with("---") || line.starts_with("+++")
}

/// The text before and after, as far as a unified diff has them. What it leaves out is a line with dots.
fn sides(diff: &str) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for line in diff.lines().filter(|line| !is_head(line)) {
        let (in_before, in_after, rest) = match line.as_bytes().first() {
            Some(b'+') => (false, true, &line[1..]),
            Some(b'-') => (true, false, &line[1..]),
            // What comes before the first change needs no mark.
            Some(b'@') if before.is_empty() && after.is_empty() => continue,
            Some(b'@') => (true, true, "# …"),
            Some(b' ') => (true, true, &line[1..]),
            _ => (true, true, line),
        };
        for (is_in, side) in [(in_before, &mut before), (in_after, &mut after)] {
            if is_in {
                side.push_str(rest);
                side.push('\n');
            }
        }
    }
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::sides;

    #[test]
    fn both_sides_come_out_of_a_unified_diff() {
        let diff = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n name: a\n-group: x\n+group: y\n@@ -9 +9 @@\n-z: 1\n";
        assert_eq!(
            sides(diff),
            (
                "name: a\ngroup: x\n# …\nz: 1\n".to_owned(),
                "name: a\ngroup: y\n# …\n".to_owned()
            )
        );
    }
}
