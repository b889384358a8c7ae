//! What the grants come to, both ways: who can call a tool, and what a holder can call.

use leptos::prelude::*;
use toolgate_api::permissions::PermissionMatrix;
use toolgate_api::tool_uses::ToolUses;

use crate::api::in_project;
use crate::browser::stamp;
use crate::components::{EmptyState, NamesOf, Select, Symbol, Tags, csv_button, table};
use crate::contract_words::contract_word;
use crate::features::simulator::{Question, Simulation};
use crate::features::tools::Exact;
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{effect, part};
use crate::url::UrlParam;

/// Who can call the tool that the address names.
#[component]
pub(super) fn ByTool(
    /// The project's id.
    project: Memo<String>,
    /// Shows the grant of a holder.
    open: Callback<String>,
) -> impl IntoView {
    let tool = UrlParam::new("tool");
    let uses = Loaded::new(move || match tool.get() {
        name if name.is_empty() => String::new(),
        name => in_project(&project.get(), &["tools", &name, "uses"]),
    });
    view! {
        <div class="filters">
            <Exact id="effective-tool" label=t("Tool") param=tool names=NamesOf::Tools />
            {part(move || if uses.is_there() { csv_button("who-can-call.csv", move || file(uses)) } else { ().into_any() })}
        </div>
        {part(move || {
            if tool.get().is_empty() {
                return view! {
                    <EmptyState
                        symbol=Symbol::Tool
                        title=t("Which tool?")
                        text=t("Type its name to see everybody who holds one of its groups, through which one, and until when.")
                    />
                }
                    .into_any();
            }
            uses.placeholder(t("who can call it"))
        })}
        {part(move || uses.read::<ToolUses>().map(|uses| callers(uses, open)).into_any())}
    }
}

fn callers(uses: ToolUses, open: Callback<String>) -> AnyView {
    let Some(principals) = uses.principals else {
        return view! { <p class="note">{t("Only roles that may read the record see who holds its groups.")}</p> }
            .into_any();
    };
    if principals.is_empty() {
        return view! { <p class="note">{t("No grant includes one of its groups.")}</p> }.into_any();
    }
    let rows: Vec<_> = principals
        .into_iter()
        .map(|holder| {
            let until = holder.expires_at.map(|at| tf!("until {time}", time = stamp(at)));
            let role = holder.role.map(|role| contract_word(&role));
            let principal = holder.principal;
            view! {
                <tr role="row">
                    <th scope="row" role="rowheader">
                        <button type="button" class="fault-place" on:click=move |_| open.run(principal.clone())>
                            {holder.name}
                        </button>
                    </th>
                    <td role="cell" data-label=t("Role")>{role}</td>
                    <td role="cell" data-label=t("Through")>
                        <Tags names=holder.via />
                    </td>
                    <td role="cell" data-label=t("Ends")>{until.unwrap_or_else(|| t("never").to_owned())}</td>
                </tr>
            }
        })
        .collect();
    view! {
        {table(t("Who can call it"), &[t("Who"), t("Role"), t("Through"), t("Ends")], rows)}
        <p class="muted">{t("As far as conditions of groups and the state of the workflow let them.")}</p>
    }
    .into_any()
}

fn file(uses: Loaded) -> Vec<Vec<String>> {
    let mut rows = vec![
        [t("Principal"), t("Name"), t("Role"), t("Through"), t("Ends")]
            .map(str::to_owned)
            .to_vec(),
    ];
    let holders = untrack(|| uses.read::<ToolUses>()).and_then(|uses| uses.principals);
    rows.extend(holders.unwrap_or_default().into_iter().map(|holder| {
        vec![
            holder.principal,
            holder.name,
            holder.role.map(|role| contract_word(&role)).unwrap_or_default(),
            holder.via.join(" "),
            holder.expires_at.map(stamp).unwrap_or_default(),
        ]
    }));
    rows
}

/// What the principal that the address names can call with everything it holds.
#[component]
pub(super) fn ByPerson(
    /// The project's id.
    project: Memo<String>,
) -> impl IntoView {
    let [who, state] = ["who", "state"].map(UrlParam::new);
    let people = Loaded::new(move || in_project(&project.get(), &["permissions"]) + "?limit=200");
    let simulation = Simulation::new(project);
    effect(move || {
        let principal = who.get();
        let state = state.get();
        if !principal.is_empty() {
            simulation.ask(Question {
                principal,
                state,
                ask: "held".to_owned(),
                ..Question::default()
            });
        }
    });
    let options = Signal::derive(move || {
        let mut all = vec![(String::new(), t("Choose a person or key").to_owned())];
        if let Some(matrix) = people.read::<PermissionMatrix>() {
            all.extend(matrix.items.into_iter().map(|row| {
                let kind = contract_word(&row.kind).replace('_', " ");
                (row.principal, format!("{} ({kind})", row.name))
            }));
        }
        all
    });
    view! {
        <div class="filters">
            <Select
                id="effective-who"
                name=t("Who")
                value=who.signal()
                options
                on_change=move |chosen: String| who.push(&chosen)
            />
            <Exact id="effective-state" label=t("In the state") param=state names=NamesOf::States />
        </div>
        {people.problem()}
        {part(move || {
            if who.get().is_empty() {
                view! {
                    <EmptyState
                        symbol=Symbol::Person
                        title=t("Whose tools?")
                        text=t("Choose a person or key to see every tool that they can call with all their groups, and why the others are hidden.")
                    />
                }
                    .into_any()
            } else {
                simulation.view()
            }
        })}
    }
}
