//! One session: its status, what happened in it, and what it can do next.

use leptos::prelude::*;
use toolgate_api::sessions::{Session, SessionTools};

use super::columns::status;
use super::live::live;
use super::timeline::timeline;
use crate::action::Action;
use crate::api::{Ask, in_project, with_query};
use crate::browser::stamp;
use crate::components::{Badge, Confirm, Dialog, Placement, Tags, TimeAgo, Toasts, Tone, fact, facts};
use crate::language::t;
use crate::loaded::Loaded;
use crate::paged::Paged;
use crate::reactive::{When, condition, part, text_memo};
use crate::routes::{Page, PageKind};
use crate::session::{Permission, Session as Account};
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
    let session = Account::get();
    let reads_record = condition(move || session.may(&project.get(), Permission::ReadAudit));
    let address = move |parts: &[&str]| match chosen.get() {
        id if id.is_empty() => String::new(),
        id => in_project(&project.get(), &[&["sessions", id.as_str()], parts].concat()),
    };
    let loaded = Loaded::new(move || address(&[]));
    let is_own = condition(move || {
        let owner = loaded.read::<Session>().map(|session| session.principal_id);
        owner.is_some() && owner == session.me().map(|me| me.id)
    });
    // Only its principal can ask as the session; others ask the simulator.
    let tools = Loaded::new(move || {
        if is_own.get() {
            address(&["tools"])
        } else {
            String::new()
        }
    });
    let record = move |parts: &[&str]| match chosen.get() {
        id if id.is_empty() || !reads_record.get() => String::new(),
        id => with_query(in_project(&project.get(), parts), &[("session_id", &id)]),
    };
    let happened = Paged::new(move || {
        if reads_record.get() {
            record(&["audit"])
        } else {
            address(&["transitions"])
        }
    });
    let news = live(text_memo(move || record(&["audit", "stream"])), move || {
        happened.reload();
        loaded.reload();
        tools.reload();
    });
    let ending = Action::new();
    let toasts = Toasts::get();
    let asking = RwSignal::new(false);
    let end = move |()| {
        let path = in_project(&project.get_untracked(), &["sessions", &chosen.get_untracked()]);
        ending.send(Ask::delete(path).if_match("*"), move |_| {
            asking.set(false);
            toasts.done(t("The session has ended."));
            loaded.reload();
            on_ended.run(());
        });
    };
    let is_running = move || {
        let session = loaded.read::<Session>();
        session.is_some_and(|session| status(&session).0 == Tone::Good)
    };
    let may_end =
        move || is_running() && (is_own.get() || session.may(&project.get(), Permission::ManageAccess));
    let link = move |section: PageKind, name: &str| {
        Page::of_project(project.get(), section).path() + "?" + name + "=" + &chosen.get()
    };
    view! {
        <Dialog open title=t("Session") placement=Placement::Drawer>
            <div class="dialog-body">
                {loaded.placeholder(t("the session"))}
                {part(move || loaded.read::<Session>().map(about).into_any())}
                <section class="stack">
                    <div class="row">
                        <h3>{t("What happened")}</h3>
                        {news.badge()}
                    </div>
                    {timeline(project, happened, reads_record)}
                </section>
                <When test=move || is_own.get()>
                    <section class="stack">
                        <h3>{t("What it can call now")}</h3>
                        {part(move || {
                            tools
                                .read::<SessionTools>()
                                .map(|tools| {
                                    let names: Vec<_> = tools.items.into_iter().map(|tool| tool.name).collect();
                                    view! { <Tags names none=t("Nothing in this state") /> }
                                })
                                .into_any()
                        })}
                    </section>
                </When>
            </div>
            <footer class="dialog-foot">
                <a class="button" href=move || link(PageKind::Simulator, "session")>
                    {t("What it can call, and why")}
                </a>
                <When test=move || reads_record.get()>
                    <a class="button" href=move || link(PageKind::Records, "session_id")>
                        {t("Its records")}
                    </a>
                </When>
                <When test=may_end>
                    <button
                        type="button"
                        class="button button-danger"
                        on:click=move |_| {
                            ending.error.set(None);
                            asking.set(true);
                        }
                    >
                        {t("End the session")}
                    </button>
                </When>
            </footer>
            <Confirm open=asking title=t("End the session?") verb=t("End it") action=ending on_confirm=end>
                <p>{t("Its caller can make no further call in it. It cannot be opened again; what happened in it stays on the record.")}</p>
            </Confirm>
        </Dialog>
    }
}

fn about(session: Session) -> AnyView {
    let (tone, text) = status(&session);
    let mut lines = vec![
        fact(
            t("State"),
            view! { <span class="row"><span class="tag tag-accent">{session.state}</span><Badge tone text /></span> },
        ),
        fact(t("Who"), session.principal_name),
        fact(t("Groups"), view! { <Tags names=session.requested_groups /> }),
        fact(t("Moves"), session.version - 1),
        fact(t("Opened"), view! { <TimeAgo at=session.created_at /> }),
        fact(t("Expires"), stamp(session.expires_at)),
        fact(t("Session"), view! { <code>{session.id.to_string()}</code> }),
    ];
    if let Some(label) = session.label {
        lines.insert(0, fact(t("Label"), label));
    }
    facts(lines)
}
