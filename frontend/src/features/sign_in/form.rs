//! The sign-in form.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::ErrorCode;
use toolgate_api::auth::{LoginRequest, SignInWay, SignInWays};

use super::TypedAhead;
use crate::api::{ApiError, Ask, Body};
use crate::browser;
use crate::components::{Icon, ProblemPanel, Symbol, ThemeSwitch};
use crate::language::{t, tf};
use crate::rare_parts::set_up_second_factor;
use crate::reactive::{effect, part};
use crate::routes;
use crate::theme::Theme;

/// Name, password and the button; the markup equals the server's form, so that taking it over is not seen.
#[component]
pub(crate) fn SignInForm(
    /// What was typed into the server's form.
    typed: TypedAhead,
) -> impl IntoView {
    let TypedAhead {
        username: typed_name,
        password: typed_password,
        in_password,
    } = typed;
    let username = NodeRef::<html::Input>::new();
    let password = NodeRef::<html::Input>::new();
    let busy = RwSignal::new(false);
    let failed = RwSignal::new(None::<ApiError>);
    let code = NodeRef::<html::Input>::new();
    let needs_code = RwSignal::new(false);
    let setting_up = RwSignal::new(None::<LoginRequest>);
    let refused = move || failed.with(|error| error.as_ref().is_some_and(ApiError::is_unauthenticated));

    effect(move || {
        let field = if in_password {
            password.get()
        } else {
            username.get()
        };
        if let Some(field) = field {
            // The field is on the page, so it takes the focus.
            let _ = field.focus();
        }
    });

    effect(move || {
        if let Some(field) = code.get() {
            // The field has just come, so it takes the focus.
            let _ = field.focus();
        }
    });
    let after = || routes::after_sign_in(parameter("next").as_deref());
    let enter = move || browser::leave_to(&after());
    let ways = RwSignal::new(Vec::<SignInWay>::new());
    spawn_local(async move {
        // Without an answer there is the form.
        if let Ok(answer) = Ask::get("/auth/sign-in").send().await
            && let Ok(found) = answer.read::<SignInWays>()
        {
            ways.set(found.items);
        }
    });
    let way = move |way: SignInWay| {
        let href = format!("/auth/sign-in/{}?next={}", way.id, browser::encode(&after()));
        view! {
            <a class="button button-wide" href=href rel="external">
                {tf!("Sign in with {way}", way = way.title)}
            </a>
        }
    };

    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let (Some(name_field), Some(password_field)) = (username.get_untracked(), password.get_untracked())
        else {
            return;
        };
        if busy.get_untracked() {
            return;
        }
        let request = LoginRequest {
            username: name_field.value(),
            password: password_field.value(),
            code: code.get_untracked().map(|field| field.value()),
        };
        busy.set(true);
        failed.set(None);
        spawn_local(async move {
            match Ask::post("/auth/login", Body::json(&request)).send().await {
                Ok(_) => {
                    password_field.set_value("");
                    enter();
                }
                Err(error) => {
                    busy.set(false);
                    match error.code() {
                        Some(ErrorCode::SecondFactorRequired) => needs_code.set(true),
                        Some(ErrorCode::SecondFactorSetupRequired) => setting_up.set(Some(request)),
                        _ => {
                            let refused = error.is_unauthenticated();
                            failed.set(Some(error));
                            if refused {
                                code.get_untracked()
                                    .map_or_else(|| password_field.select(), |field| field.select());
                            }
                        }
                    }
                }
            }
        });
    };

    let form = move || {
        view! {
        <form class="form" method="post" on:submit=submit aria-busy=move || busy.get().to_string()>
            {(parameter("reason").as_deref() == Some("ended"))
                .then(|| view! { <p class="note" role="status">{t("Your session has ended. Sign in to go on.")}</p> })}
            <div class="field">
                <label for="username">{t("User name")}</label>
                <input
                    id="username"
                    class="input"
                    name="username"
                    type="text"
                    autocomplete="username"
                    autocapitalize="none"
                    spellcheck="false"
                    required
                    maxlength="64"
                    value=typed_name.clone()
                    node_ref=username
                />
            </div>
            <div class="field">
                <label for="password">{t("Password")}</label>
                <input
                    id="password"
                    class="input"
                    name="password"
                    type="password"
                    autocomplete="current-password"
                    required
                    maxlength="1024"
                    prop:value=typed_password.clone()
                    node_ref=password
                    aria-invalid=move || refused().then_some("true")
                    aria-describedby=move || refused().then_some("sign-in-refused")
                />
            </div>
            {part(move || {
                needs_code
                    .get()
                    .then(|| {
                        view! {
                            <div class="field">
                                <label for="code">{t("Code")}</label>
                                <input
                                    id="code"
                                    class="input mono"
                                    name="code"
                                    type="text"
                                    autocomplete="one-time-code"
                                    spellcheck="false"
                                    required
                                    maxlength="32"
                                    node_ref=code
                                    aria-describedby="code-help"
                                />
                                <p class="field-help" id="code-help">
                                    {t("From your authenticator app, or a recovery code.")}
                                </p>
                            </div>
                        }
                    })
                    .into_any()
            })}
            <div>
                <div class="form-outcome" aria-live="assertive">
                    {move || {
                        failed
                            .get()
                            .map(|error| {
                                if error.is_unauthenticated() {
                                    view! {
                                        <p class="field-error" id="sign-in-refused">
                                            <Icon symbol=Symbol::Alert />
                                            {error.detail()}
                                        </p>
                                    }
                                        .into_any()
                                } else {
                                    view! { <ProblemPanel error /> }.into_any()
                                }
                            })
                    }}
                </div>
                <button type="submit" class="button button-primary button-wide" aria-disabled=move || busy.get().to_string()>
                    {move || if busy.get() { t("Signing in…") } else { t("Sign in") }}
                </button>
            </div>
            {part(move || {
                let ways: Vec<_> = ways.get().into_iter().map(way).collect();
                (!ways.is_empty()).then(|| view! { <div class="sign-in-ways">{ways}</div> }).into_any()
            })}
        </form>
        }
        .into_any()
    };
    let theme = RwSignal::new(Theme::remembered());
    let choose = move |chosen: Theme| {
        theme.set(chosen);
        chosen.apply();
    };
    view! {
        {part(move || match setting_up.get() {
            Some(user) => {
                view! {
                    <p class="note" role="status">{t("An administrator requires a second factor of you. Set it up to sign in.")}</p>
                    {set_up_second_factor(user, Callback::new(move |()| enter()))}
                }
                    .into_any()
            }
            None => form(),
        })}
        <ThemeSwitch id="theme" chosen=theme on_choose=choose />
    }
}

/// A parameter of this page's address.
fn parameter(name: &str) -> Option<String> {
    let search = window().location().search().ok()?;
    let search = web_sys::UrlSearchParams::new_with_str(&search).ok()?;
    search.get(name)
}
