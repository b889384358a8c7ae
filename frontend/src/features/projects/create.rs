//! Making a project.

use leptos::prelude::*;
use toolgate_api::projects::CreateProject;

use super::store::Projects;
use crate::action::Action;
use crate::api::{Ask, Body};
use crate::components::{Field, FormDialog, TextInput};
use crate::language::t;
use crate::reactive::effect;
use crate::routes::{Page, PageKind};
use crate::url::Navigator;

/// The dialog. It leads to the new project.
#[component]
pub(super) fn CreateProjectDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let name = RwSignal::new(String::new());
    let id = RwSignal::new(String::new());
    let imports = RwSignal::new(false);
    let action = Action::new();
    let projects = Projects::get();
    let navigator = Navigator::new();
    // The id follows the name until it is typed itself.
    let suggested = StoredValue::new(String::new());
    effect(move || {
        let next = slug(&name.get());
        if id.get_untracked() == suggested.get_value() {
            suggested.set_value(next.clone());
            id.set(next);
        }
    });
    let create = move |()| {
        let request = CreateProject {
            id: id.get_untracked(),
            name: Some(name.get_untracked().trim().to_owned()).filter(|name| !name.is_empty()),
        };
        action.send(Ask::post("/projects", Body::json(&request)), move |_| {
            open.set(false);
            projects.list.reload();
            if imports.get_untracked() {
                let upload = Page::of_project(request.id, PageKind::Upload).path();
                navigator.go(&format!("{upload}?view=project"));
            } else {
                navigator.go(&Page::of_project(request.id, PageKind::Overview).path());
            }
        });
    };
    let ready = Signal::derive(move || id.with(|id| !id.is_empty()));
    view! {
        <FormDialog open title=t("New project") verb=t("Create the project") action ready on_submit=create>
            <Field id="project-name" label=t("Name") help=t("For people.")>
                <TextInput id="project-name" value=name placeholder=t("Research assistant") max="200" />
            </Field>
            <Field
                id="project-id"
                label=t("Id")
                help=t("In addresses, and never to be changed: small letters, digits and hyphens, beginning with a letter.")
            >
                <TextInput id="project-id" value=id mono=true max="63" />
            </Field>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || imports.get()
                    on:change=move |event| imports.set(event_target_checked(&event))
                />
                {t("Continue with importing a file of another project")}
            </label>
        </FormDialog>
    }
}

/// An id made from a name: letters and digits in small, everything else as single hyphens.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars() {
        if letter.is_ascii_lowercase() || (letter.is_ascii_digit() && !slug.is_empty()) {
            slug.push(letter);
        } else if letter.is_ascii_uppercase() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(63);
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_become_ids() {
        for (name, id) in [
            ("Research assistant", "research-assistant"),
            ("  2 Fast -- 4 you! ", "fast-4-you"),
            ("Ünicode", "nicode"),
            ("", ""),
            ("- -", ""),
        ] {
            assert_eq!(slug(name), id, "{name}");
        }
        assert_eq!(slug(&"a".repeat(99)).len(), 63);
    }
}
