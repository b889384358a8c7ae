//! The matrix.

use chrono::{DateTime, Utc};
use leptos::prelude::*;
use toolgate_api::permissions::{
    HowGranted, PermissionCandidate, PermissionCell, PermissionMatrix, PermissionRow,
};

use super::add::AddMember;
use super::edit::GrantEditor;
use super::effective::{ByPerson, ByTool};
use super::unused::Unused;
use crate::api::{in_project, with_query};
use crate::browser::{iso, stamp};
use crate::components::{Badge, NamesOf, SectionHead, Tabs, Tone, csv_button};
use crate::contract_words::contract_word;
use crate::features::tools::Exact;
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, part, text_memo};
use crate::routes::PageKind;
use crate::session::{Permission, Session};
use crate::url::{UrlParam, project_in_path};

/// What the page shows, chosen by its address.
const VIEWS: [(&str, &str); 4] = [
    ("grants", marked("Grants")),
    ("tool", marked("Who can call a tool")),
    ("person", marked("What a holder can call")),
    ("unused", marked("Not used")),
];

/// Principals against groups.
#[component]
pub(crate) fn PermissionsPage() -> impl IntoView {
    let project = project_in_path();
    let session = Session::get();
    let chosen = UrlParam::new("principal");
    let group = UrlParam::new("group");
    let cursor = UrlParam::new("cursor");
    let view = UrlParam::new("view");
    let address = text_memo(move || {
        if matches!(view.get().as_str(), "tool" | "person" | "unused") {
            return String::new();
        }
        with_query(
            in_project(&project.get(), &["permissions"]),
            &[("group", &group.get()), ("cursor", &cursor.get())],
        )
    });
    let loaded = Loaded::new(move || address.get());
    let open = Callback::new(move |principal: String| chosen.push(&principal));
    let adding = RwSignal::new(false);
    let newcomer = RwSignal::new(None);
    let add = move |candidate: PermissionCandidate| {
        let name = (!candidate.granted).then(|| (candidate.principal.clone(), candidate.username));
        newcomer.set(name);
        chosen.push(&candidate.principal);
    };
    let next = move || {
        loaded
            .read::<PermissionMatrix>()
            .and_then(|matrix| matrix.next_cursor)
    };
    view! {
        <SectionHead section=PageKind::Permissions text=t("Roles manage, groups call. A grant of a group covers its children; * covers everything.")>
            <When test=move || session.may(&project.get(), Permission::ManageAccess)>
                <button type="button" class="button button-primary" on:click=move |_| adding.set(true)>
                    {t("Add a member")}
                </button>
            </When>
        </SectionHead>
        <Tabs
            param=view
            name=t("Views of the permissions")
            choices=&VIEWS
        />
        {part(move || match view.get().as_str() {
            "tool" => view! { <ByTool project open /> }.into_any(),
            "person" => view! { <ByPerson project /> }.into_any(),
            "unused" => view! { <Unused project open /> }.into_any(),
            _ => {
                view! {
                    <div class="filters">
                        <Exact id="permission-group" label=t("Group and its children") param=group names=NamesOf::Groups />
                        {csv_button("permissions.csv", move || file(loaded))}
                    </div>
                    {loaded.placeholder(t("the permissions"))}
                    {part(move || loaded.read::<PermissionMatrix>().map(|matrix| table(matrix, open)).into_any())}
                }
                    .into_any()
            }
        })}
        <When test=move || loaded.is_there() && (next().is_some() || !cursor.get().is_empty())>
            <p class="more row">
                <When test=move || !cursor.get().is_empty()>
                    <button type="button" class="button" on:click=move |_| cursor.push("")>
                        {t("First page")}
                    </button>
                </When>
                <When test=move || next().is_some()>
                    <button
                        type="button"
                        class="button"
                        on:click=move |_| cursor.push(&untrack(next).unwrap_or_default())
                    >
                        {t("Next page")}
                    </button>
                </When>
            </p>
        </When>
        <AddMember project open=adding on_chosen=add />
        <GrantEditor project chosen newcomer on_changed=move |()| loaded.reload() />
    }
}

fn table(matrix: PermissionMatrix, open: Callback<String>) -> AnyView {
    let heads: Vec<_> = matrix
        .groups
        .iter()
        .map(|group| view! { <th scope="col" class="mono">{group.clone()}</th> })
        .collect();
    let rows: Vec<_> = matrix
        .items
        .into_iter()
        .map(|row| matrix_row(row, &matrix.groups, open))
        .collect();
    let more = matrix
        .more_groups
        .then(|| view! { <p class="note">{t("There are more groups than are shown; choose one, and it is shown with its children.")}</p> });
    view! {
        <div class="stack">
            {more}
            <div class="matrix-wrap" tabindex="0" role="region" aria-label=t("Permissions")>
                <table class="matrix">
                    <caption class="visually-hidden">{t("Who holds which group")}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{t("Who")}</th>
                            <th scope="col">{t("Role")}</th>
                            {heads}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <p class="muted row">
                <Badge tone=Tone::Good text=t("✓ granted") />
                <Badge tone=Tone::Accent text=t("↑ through a parent or *") />
                <Badge tone=Tone::Bad text=t("× expired") />
            </p>
        </div>
    }
    .into_any()
}

/// What a cell says: how it looks, its sign, and the words.
fn cell_status(cell: &PermissionCell) -> (Tone, &'static str, String) {
    let (tone, sign, words) = match cell.how {
        HowGranted::Expired => (Tone::Bad, "×", t("expired")),
        HowGranted::Direct => (Tone::Good, "✓", t("granted")),
        HowGranted::Claim => (Tone::Good, "✓", t("brought by the issuer")),
        HowGranted::Parent | HowGranted::Any => (Tone::Accent, "↑", t("granted through another group")),
    };
    let via = cell
        .via
        .as_ref()
        .map(|via| format!(" ({via})"))
        .unwrap_or_default();
    let until = cell
        .expires_at
        .map(|at| tf!(" until {time}", time = stamp(at)))
        .unwrap_or_default();
    (tone, sign, format!("{words}{via}{until}"))
}

fn matrix_row(row: PermissionRow, groups: &[String], open: Callback<String>) -> AnyView {
    let cells: Vec<_> = groups
        .iter()
        .map(|group| {
            let Some(cell) = row.cells.iter().find(|cell| cell.group == *group) else {
                return view! { <td><span class="visually-hidden">{t("not granted")}</span></td> }.into_any();
            };
            let (tone, sign, words) = cell_status(cell);
            let end = cell.expires_at.map(day);
            let title = words.clone();
            view! {
                <td title=title>
                    <span aria-hidden="true" class=tone.class()>
                        {sign}
                    </span>
                    {end.map(|day| view! { <span aria-hidden="true" class="cell-end">{day}</span> })}
                    <span class="visually-hidden">{words}</span>
                </td>
            }
            .into_any()
        })
        .collect();
    let principal = row.principal.clone();
    let role = row
        .role
        .map_or_else(|| t("none").to_owned(), |role| contract_word(&role));
    let end = row.expires_at.map(|at| {
        view! {
            <span class="cell-end" title=stamp(at)>
                {t("until ")}
                {day(at)}
            </span>
        }
    });
    view! {
        <tr>
            <th scope="row">
                <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(principal.clone())>
                    {row.name}
                </button>
                " "
                <span class="muted">{contract_word(&row.source).replace('_', " ")}</span>
                {row.disabled.then(|| view! { <Badge tone=Tone::Bad text=t("disabled") /> })}
            </th>
            <td>{role} {end}</td>
            {cells}
        </tr>
    }
    .into_any()
}

/// The day of a point in time, UTC.
fn day(at: DateTime<Utc>) -> String {
    iso(at).chars().take(10).collect()
}

/// The matrix as it is shown, for a file.
fn file(loaded: Loaded) -> Vec<Vec<String>> {
    let Some(matrix) = untrack(|| loaded.read::<PermissionMatrix>()) else {
        return Vec::new();
    };
    let mut rows = vec![[t("Principal"), t("Name"), t("Role")].map(str::to_owned).to_vec()];
    rows[0].extend(matrix.groups.iter().cloned());
    for row in matrix.items {
        let mut line = vec![
            row.principal,
            row.name,
            row.role.map(|role| contract_word(&role)).unwrap_or_default(),
        ];
        line.extend(matrix.groups.iter().map(|group| {
            let cell = row.cells.iter().find(|cell| cell.group == *group);
            cell.map(|cell| cell_status(cell).2).unwrap_or_default()
        }));
        rows.push(line);
    }
    rows
}
