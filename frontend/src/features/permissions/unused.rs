//! Grants with groups that nothing asked for in 90 days, and taking these groups away.

use leptos::prelude::*;
use toolgate_api::permissions::{GrantTerms, UnusedGrant, UnusedGrants};

use crate::action::Action;
use crate::api::{Ask, Body, in_project, with_query};
use crate::components::{Confirm, EmptyState, Symbol, TimeAgo, Toasts, csv_button, table};
use crate::contract_words::contract_word;
use crate::expectations;
use crate::language::{marked, t, tf};
use crate::loaded::Loaded;
use crate::reactive::{part, text};
use crate::session::{Permission, Session};
use crate::undo;

const COLUMNS: [&str; 4] = [
    marked("Who"),
    marked("Groups that are not used"),
    marked("Granted"),
    marked("Change"),
];

/// The list.
#[component]
pub(super) fn Unused(
    /// The project's id.
    project: Memo<String>,
    /// Shows the grant of a principal.
    open: Callback<String>,
) -> impl IntoView {
    let session = Session::get();
    let toasts = Toasts::get();
    let loaded = Loaded::new(move || in_project(&project.get(), &["permissions", "unused"]));
    let may_change = move || session.may(&project.get(), Permission::ManageAccess);
    let chosen = RwSignal::new(None::<UnusedGrant>);
    let [asking, ignored] = [(); 2].map(|()| RwSignal::new(false));
    let action = Action::new();
    toasts.on_undo(move || loaded.reload());
    let ask = Callback::new(move |grant: UnusedGrant| {
        chosen.set(Some(grant));
        ignored.set(false);
        action.error.set(None);
        asking.set(true);
    });
    let remove = move |()| {
        let Some(grant) = chosen.get_untracked() else {
            return;
        };
        let path = in_project(&project.get_untracked(), &["permissions", &grant.principal]);
        let change = with_query(path.clone(), &[expectations::ignoring(ignored)]);
        let request = Ask::put(change, Body::json(&without(&grant))).if_match(grant.etag.clone());
        action.send(request, move |answer| {
            asking.set(false);
            loaded.reload();
            let back = Ask::put(path, Body::json(&grant.grant)).if_match(answer.etag);
            let done = tf!(
                "Removed {groups} from {name}.",
                groups = names(&grant),
                name = grant.name
            );
            undo::offer(toasts, session, done, back);
        });
    };
    let title = text(move || {
        chosen.with(|grant| {
            let grant = grant.as_ref();
            grant.map_or_else(String::new, |grant| {
                tf!(
                    "Remove {groups} from {name}?",
                    groups = names(grant),
                    name = grant.name
                )
            })
        })
    });
    view! {
        <div class="stack">
            <div class="filters">{csv_button("unused-grants.csv", move || file(loaded))}</div>
            <p class="muted">
                {t("Groups that were granted more than 90 days ago and that their holder has not asked for since, neither in a call nor in a question what is available. ")}
                <a href="/help/permissions#grants-that-are-not-used" rel="external" target="_blank" aria-label=t("Learn more about grants that are not used")>
                    {t("Learn more")}
                </a>
            </p>
            {loaded.placeholder(t("the grants"))}
            {part(move || {
                loaded.read::<UnusedGrants>().map(|found| rows(found, may_change(), open, ask)).into_any()
            })}
        </div>
        <Confirm open=asking title verb=t("Remove") action on_confirm=remove>
            <p>{t("The role and the other groups stay. Calls that ask for these groups are refused from now on, in running sessions too.")}</p>
            {expectations::escape(
                t("Remove them all the same, although policy tests would fail"),
                ignored,
                move || action.error.with(expectations::refused),
            )}
        </Confirm>
    }
}

fn rows(
    found: UnusedGrants,
    may_change: bool,
    open: Callback<String>,
    ask: Callback<UnusedGrant>,
) -> AnyView {
    if found.items.is_empty() {
        return view! {
            <EmptyState
                symbol=Symbol::Key
                title=t("Every grant is in use")
                text=t("Each group that was granted more than 90 days ago was asked for since then.")
            />
        }
        .into_any();
    }
    let rows: Vec<_> = found
        .items
        .into_iter()
        .map(|grant| row(grant, may_change, open, ask))
        .collect();
    view! {
        {found.more.then(|| view! { <p class="note">{t("The first 1000 grants are shown.")}</p> })}
        {table(t("Grants that are not used"), &COLUMNS.map(t), rows)}
    }
    .into_any()
}

fn row(grant: UnusedGrant, may_change: bool, open: Callback<String>, ask: Callback<UnusedGrant>) -> AnyView {
    let groups: Vec<_> = grant
        .unused
        .iter()
        .map(|group| {
            let last = match group.last_used_at {
                Some(at) => view! { {t("last used ")} <TimeAgo at=at /> }.into_any(),
                None => t("never used").into_any(),
            };
            view! {
                <li>
                    <span class="mono">{group.group.clone()}</span>
                    <span class="muted">" " {last}</span>
                </li>
            }
        })
        .collect();
    let (principal, name, at) = (grant.principal.clone(), grant.name.clone(), grant.granted_at);
    let label = tf!("Remove {groups} from {name}", groups = names(&grant), name);
    let kind = contract_word(&grant.kind).replace('_', " ");
    let button = may_change.then(|| {
        view! {
            <button type="button" class="button button-danger" aria-label=label on:click=move |_| ask.run(grant.clone())>
                {t("Remove")}
            </button>
        }
    });
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                <button type="button" class="fault-place" data-row="" on:click=move |_| open.run(principal.clone())>
                    {name}
                </button>
                " "
                <span class="muted">{kind}</span>
            </th>
            <td role="cell" data-label=t(COLUMNS[1])>
                <ul>{groups}</ul>
            </td>
            <td role="cell" data-label=t(COLUMNS[2])>
                <TimeAgo at=at />
            </td>
            <td role="cell" data-label=t(COLUMNS[3])>{button}</td>
        </tr>
    }
    .into_any()
}

/// The unused groups of a grant in a sentence.
fn names(grant: &UnusedGrant) -> String {
    let names: Vec<&str> = grant.unused.iter().map(|group| group.group.as_str()).collect();
    match names.as_slice() {
        [one, two, three, rest @ ..] if rest.len() > 1 => {
            tf!(
                "{one}, {two}, {three} and {count} more",
                one,
                two,
                three,
                count = rest.len()
            )
        }
        all => all.join(", "),
    }
}

/// The grant without its unused groups.
fn without(grant: &UnusedGrant) -> GrantTerms {
    let mut terms = grant.grant.clone();
    let is_unused = |name: &str| grant.unused.iter().any(|group| group.group == name);
    terms.groups.retain(|granted| !is_unused(&granted.group));
    terms
}

/// The list for a file, a row for each group.
fn file(loaded: Loaded) -> Vec<Vec<String>> {
    let mut rows = vec![
        [t("Principal"), t("Name"), t("Group"), t("Last used")]
            .map(str::to_owned)
            .to_vec(),
    ];
    let found = untrack(|| loaded.read::<UnusedGrants>());
    for grant in found.map(|found| found.items).unwrap_or_default() {
        rows.extend(grant.unused.iter().map(|group| {
            let last = group.last_used_at.map(crate::browser::iso).unwrap_or_default();
            vec![
                grant.principal.clone(),
                grant.name.clone(),
                group.group.clone(),
                last,
            ]
        }));
    }
    rows
}
