//! One session: where it stands, how it came there, and what it can do next.

use leptos::prelude::*;
use toolgate_api::sessions::{Session, SessionTools, SessionTransition};

use super::page::standing;
use crate::action::Action;
use crate::api::{Ask, in_project};
use crate::browser::stamp;
use crate::components::{Badge, Dialog, Icon, Placement, Symbol, Tags, TimeAgo, Toasts, Tone, fact, facts};
use crate::loaded::Loaded;
use crate::paged::{Item, Paged};
use crate::reactive::{When, part};
use crate::routes::{Page, Section};
use crate::url::UrlParam;

/// The drawer with the session that the address names.
#[component]
pub(super) fn SessionDetail(
    /// The project's id.
    project: Memo<String>,
    /// The session's id.
    chosen: UrlParam,
    /// It was ended.
    #[prop(into)]
    on_ended: Callback<()>,
) -> impl IntoView {
    let open = chosen.drawer();
    let address = move |part: &'static str| {
        move || match chosen.get() {
            id if id.is_empty() => String::new(),
            id if part.is_empty() => in_project(&project.get(), &["sessions", &id]),
            id => in_project(&project.get(), &["sessions", &id, part]),
        }
    };
    let loaded = Loaded::new(address(""));
    let tools = Loaded::new(address("tools"));
    let moves = Paged::new(address("transitions"));
    let ending = Action::new();
    let toasts = Toasts::get();
    let end = move |_| {
        let path = in_project(&project.get_untracked(), &["sessions", &chosen.get_untracked()]);
        ending.send(Ask::delete(path).if_match("*"), move |_| {
            toasts.done("The session has ended.");
            loaded.reload();
            on_ended.run(());
        });
    };
    let way = move || {
        let items = moves.items.get();
        let steps: Vec<_> = items.iter().filter_map(Item::read::<SessionTransition>).collect();
        if steps.is_empty() {
            return vec![view! { <li class="muted">"It has not moved yet."</li> }.into_any()];
        }
        steps
            .into_iter()
            .map(|step| transition(&project.get(), step))
            .collect()
    };
    let is_running = move || {
        let session = loaded.read::<Session>();
        session.is_some_and(|session| standing(&session).0 == Tone::Good)
    };
    view! {
        <Dialog open title="Session" placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder("the session")}
                {part(move || loaded.read::<Session>().map(about).into_any())}
                <section class="stack">
                    <h3>"Way through the states"</h3>
                    <ol class="timeline">{way}</ol>
                </section>
                <section class="stack">
                    <h3>"What it can call now"</h3>
                    {move || {
                        tools
                            .read::<SessionTools>()
                            .map(|tools| {
                                let names: Vec<_> = tools.items.into_iter().map(|tool| tool.name).collect();
                                view! { <Tags names none="Nothing in this state" /> }
                            })
                    }}
                </section>
                {ending.outcome()}
            </div>
            <footer class="dialog-foot">
                <a
                    class="button"
                    href=move || Page::In(project.get(), Section::Records).path() + "?session_id=" + &chosen.get()
                >
                    "Its records"
                </a>
                <When test=is_running>
                    <button type="button" class="button button-danger" on:click=end>
                        "End the session"
                    </button>
                </When>
            </footer>
        </Dialog>
    }
}

fn about(session: Session) -> AnyView {
    let (tone, text) = standing(&session);
    let mut lines = vec![
        fact(
            "State",
            view! { <span class="row"><span class="tag tag-accent">{session.state}</span><Badge tone text /></span> },
        ),
        fact("Who", session.principal_name),
        fact("Groups", view! { <Tags names=session.requested_groups /> }),
        fact("Moves", session.version - 1),
        fact("Opened", view! { <TimeAgo at=session.created_at /> }),
        fact("Expires", stamp(session.expires_at)),
        fact("Session", view! { <code>{session.id.to_string()}</code> }),
    ];
    if let Some(label) = session.label {
        lines.insert(0, fact("Label", label));
    }
    facts(lines)
}

fn transition(project: &str, step: SessionTransition) -> AnyView {
    let record =
        Page::In(project.to_owned(), Section::Records).path() + "?record=" + &step.call_id.to_string();
    view! {
        <li>
            <span class="row">
                <span class="tag">{step.from}</span>
                <Icon symbol=Symbol::Arrow />
                <span class="tag tag-accent">{step.to}</span>
            </span>
            <span class="muted">
                "by " <a href=record class="mono">{step.tool}</a> ", " <TimeAgo at=step.at />
            </span>
        </li>
    }
    .into_any()
}
