//! Where one is signed in, and ending it.

use leptos::prelude::*;
use toolgate_api::profile::{EndedSignIns, SignIn, SignIns};

use crate::action::Action;
use crate::api::{Ask, Body};
use crate::browser::stamp;
use crate::components::{Badge, Confirm, TimeAgo, Toasts, Tone};
use crate::language::{t, tf};
use crate::loaded::Loaded;
use crate::reactive::{When, condition, part};
use crate::words::counted;

const PATH: &str = "/auth/sign-ins";

/// The section.
#[component]
pub(super) fn SignInsPanel() -> impl IntoView {
    let loaded = Loaded::new(|| PATH.to_owned());
    let [one, all] = [(); 2].map(|()| Action::new());
    let asking = RwSignal::new(false);
    let toasts = Toasts::get();
    let has_others = condition(move || loaded.read::<SignIns>().is_some_and(|list| list.items.len() > 1));
    let end = Callback::new(move |id: String| {
        one.send(Ask::post(format!("{PATH}/{id}/end"), Body::None), move |_| {
            toasts.done(t("The sign-in has ended."));
            loaded.reload();
        });
    });
    let end_others = move |()| {
        all.send(
            Ask::post(format!("{PATH}/end-others"), Body::None),
            move |answer| {
                asking.set(false);
                let ended = all.read::<EndedSignIns>(&answer).map_or(0, |answer| answer.ended);
                toasts.done(tf!("{count} ended.", count = counted(ended, "sign-in")));
                loaded.reload();
            },
        );
    };
    view! {
        <section class="panel stack" aria-labelledby="profile-sign-ins">
            <div class="row row-spread">
                <h2 id="profile-sign-ins">{t("Sign-ins")}</h2>
                <When test=has_others>
                    <button type="button" class="button" on:click=move |_| asking.set(true)>
                        {t("Sign out everywhere else")}
                    </button>
                </When>
            </div>
            {loaded.placeholder(t("your sign-ins"))}
            {one.outcome()}
            {part(move || loaded.read::<SignIns>().map(|list| table(list.items, end)).into_any())}
        </section>
        <Confirm
            open=asking
            title=t("Sign out everywhere else?")
            verb=t("Sign out")
            action=all
            on_confirm=end_others
        >
            <p>{t("Every other browser and program that is signed in as you has to sign in again. Keys and connected clients stay.")}</p>
        </Confirm>
    }
}

fn table(items: Vec<SignIn>, end: Callback<String>) -> AnyView {
    let rows: Vec<_> = items.into_iter().map(|item| row(item, end)).collect();
    view! {
        <div class="table-wrap">
            <table class="table" role="table">
                <caption class="visually-hidden">{t("sign-ins")}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        {[t("Browser"), t("Address"), t("Signed in"), t("Until"), t("Actions")]
                            .into_iter()
                            .map(|title| view! { <th scope="col" role="columnheader">{title}</th> })
                            .collect::<Vec<_>>()}
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(item: SignIn, end: Callback<String>) -> AnyView {
    let browser = item.browser.unwrap_or_else(|| t("unknown").to_owned());
    let way = item
        .way
        .map(|way| view! { <span class="muted">{tf!(" by {way}", way)}</span> });
    let act = if item.current {
        view! { <Badge tone=Tone::Good text=t("this one") /> }.into_any()
    } else {
        let id = item.id.to_string();
        let label = tf!(
            "Sign out: {browser}, {time}",
            browser,
            time = stamp(item.created_at)
        );
        view! {
            <button
                type="button"
                class="button button-small"
                aria-label=label
                on:click=move |_| end.run(id.clone())
            >
                {t("Sign out")}
            </button>
        }
        .into_any()
    };
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                <span>{browser}{way}</span>
            </th>
            <td role="cell" data-label=t("Address")>
                <span class="mono">{item.address.unwrap_or_else(|| t("unknown").to_owned())}</span>
            </td>
            <td role="cell" data-label=t("Signed in")>
                <TimeAgo at=item.created_at />
            </td>
            <td role="cell" data-label=t("Until")>
                {stamp(item.expires_at)}
            </td>
            <td role="cell" data-label=t("Actions")>
                {act}
            </td>
        </tr>
    }
    .into_any()
}
