//! What a change would do to the project's policy tests, as a dry run says, and the box by which it is made all the same.

use leptos::prelude::*;
use serde_json::Value;

use crate::api::ApiError;
use crate::components::{Badge, Tone};
use crate::language::tf;
use crate::reactive::When;
use crate::words::counted;

/// The names of the tests that a change would break, and of those that fail already and would still fail.
fn failed(tests: &Value) -> (Vec<String>, Vec<String>) {
    let (mut broken, mut failing) = (Vec::new(), Vec::new());
    for test in tests["failed"].as_array().into_iter().flatten() {
        let name = test["name"].as_str().unwrap_or_default().to_owned();
        if test["holds_now"] == true {
            broken.push(name);
        } else {
            failing.push(name);
        }
    }
    (broken, failing)
}

/// Whether a change would break a policy test, of the `policy_tests` of a dry run. One that fails already is not broken.
pub(crate) fn breaks(tests: &Value) -> bool {
    !failed(tests).0.is_empty()
}

/// Whether a change was refused because it would break a policy test.
pub(crate) fn refused(error: &Option<ApiError>) -> bool {
    error
        .as_ref()
        .is_some_and(|error| !error.broken_policy_tests().is_empty())
}

/// How the policy tests would come out, of the `policy_tests` of a dry run; nothing when it has none.
pub(crate) fn outlook(tests: &Value) -> AnyView {
    if tests.is_null() {
        return ().into_any();
    }
    let (broken, failing) = failed(tests);
    let (tone, text) = if broken.is_empty() {
        let passed = tests["passed"].as_i64().unwrap_or_default();
        let count = counted(passed, "policy test");
        let text = if passed == 1 {
            tf!("{count} holds", count)
        } else {
            tf!("{count} hold", count)
        };
        (Tone::Good, text)
    } else {
        let count = counted(broken.len(), "policy test");
        (Tone::Bad, tf!("{count} would fail", count))
    };
    let names: Vec<_> = broken.into_iter().map(|name| view! { <li>{name}</li> }).collect();
    view! {
        <div>
            <Badge tone text />
            {(!names.is_empty()).then(|| view! { <ul class="problem-faults">{names}</ul> })}
            {(!failing.is_empty())
                .then(|| view! { <p class="muted">{tf!("Fails already, before this change: {names}", names = failing.join(", "))}</p> })}
        </div>
    }
    .into_any()
}

/// The parameter of the query by which a change is made although it breaks policy tests.
pub(crate) fn ignoring(ignored: RwSignal<bool>) -> (&'static str, &'static str) {
    let value = if ignored.get_untracked() { "true" } else { "" };
    ("ignore_policy_tests", value)
}

/// The box by which a change is made although it breaks policy tests; there only while it would.
pub(crate) fn escape(
    words: &'static str,
    ignored: RwSignal<bool>,
    breaks: impl Fn() -> bool + Send + Sync + 'static,
) -> AnyView {
    fn boxed(words: &'static str, ignored: RwSignal<bool>, breaks: Signal<bool>) -> AnyView {
        view! {
            <When test=breaks>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || ignored.get()
                        on:change=move |event| ignored.set(event_target_checked(&event))
                    />
                    {words}
                </label>
            </When>
        }
        .into_any()
    }
    boxed(words, ignored, Signal::derive(breaks))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{breaks, failed};

    #[test]
    fn a_test_that_fails_already_is_not_broken() {
        let test = |name: &str, holds_now: bool| json!({"name": name, "holds_now": holds_now});
        assert!(!breaks(&json!(null)));
        assert!(!breaks(&json!({"passed": 1, "failed": [test("a", false)]})));
        let both = json!({"passed": 1, "failed": [test("a", false), test("b", true)]});
        assert!(breaks(&both));
        assert_eq!(failed(&both), (vec!["b".to_owned()], vec!["a".to_owned()]));
    }
}
