//! Setting up the second factor of a sign-in: the secret for the authenticator, its first code, the recovery codes.
//!
//! It is proven by the password, so it works before signing in too, where there is no session.

use leptos::prelude::*;
use leptos::task::spawn_local;
use toolgate_api::auth::LoginRequest;
use toolgate_api::second_factor::{
    BeginSecondFactor, ProveSecondFactor, SecondFactorConfirmed, SecondFactorSetup,
};

use crate::api::{ApiError, Ask, Body};
use crate::components::{CodeBlock, Field, ProblemPanel, TextInput};
use crate::language::t;
use crate::reactive::part;

/// A request whose refusal does not end the session that there may be: a wrong password or code is refused with 401.
#[derive(Clone, Copy)]
pub(crate) struct Attempt {
    /// Whether it is under way.
    pub(crate) busy: RwSignal<bool>,
    /// Why the last one failed.
    pub(crate) error: RwSignal<Option<ApiError>>,
}

impl Attempt {
    /// Nothing was tried yet.
    pub(crate) fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            error: RwSignal::new(None),
        }
    }

    /// Sends a body unless one is under way; `then` gets the answer.
    pub(crate) fn send(
        self,
        path: &'static str,
        body: Body,
        then: impl FnOnce(crate::api::Answer) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.error.set(None);
        spawn_local(async move {
            let answer = Ask::post(path, body).send().await;
            // The page may have been left meanwhile.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(answer) => then(answer),
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    /// The error of the last attempt, if it failed.
    pub(crate) fn outcome(self) -> AnyView {
        part(move || {
            self.error
                .get()
                .map(|error| view! { <ProblemPanel error /> })
                .into_any()
        })
    }
}

/// The codes, to be kept, and the button that goes on.
pub(crate) fn recovery_codes(codes: &[String], on_done: Callback<()>) -> AnyView {
    let text = codes.join("\n");
    view! {
        <div class="form">
            <p>
                {t("Keep these recovery codes in a safe place. Each signs in once without the authenticator app. They are shown this once.")}
            </p>
            <CodeBlock caption=t("Recovery codes") text />
            <div>
                <button type="button" class="button button-primary" on:click=move |_| on_done.run(())>
                    {t("I have saved the codes")}
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// Sets up a second factor for a user whose password is known.
#[component]
pub(crate) fn SetUpSecondFactor(
    /// User name and password.
    user: LoginRequest,
    /// The codes were saved. The answer has brought a sign-in.
    #[prop(into)]
    on_done: Callback<()>,
) -> impl IntoView {
    let attempt = Attempt::new();
    let setup = RwSignal::new(None::<SecondFactorSetup>);
    let codes = RwSignal::new(None::<Vec<String>>);
    let code = RwSignal::new(String::new());
    let begin = Body::json(&BeginSecondFactor {
        username: user.username.clone(),
        password: user.password.clone(),
    });
    attempt.send("/auth/second-factor", begin, move |answer| match answer.read() {
        Ok(answer) => setup.set(Some(answer)),
        Err(error) => attempt.error.set(Some(error)),
    });
    let user = StoredValue::new(user);
    let confirm = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let body = user.with_value(|user| {
            Body::json(&ProveSecondFactor {
                username: user.username.clone(),
                password: user.password.clone(),
                code: code.get_untracked(),
            })
        });
        attempt.send("/auth/second-factor/confirm", body, move |answer| match answer
            .read::<SecondFactorConfirmed>()
        {
            Ok(confirmed) => codes.set(Some(confirmed.recovery_codes)),
            Err(error) => attempt.error.set(Some(error)),
        });
    };
    let asked = move || {
        let Some(setup) = setup.get() else {
            return attempt.outcome();
        };
        view! {
            <form class="form" on:submit=confirm>
                <p>{t("Scan this code with an authenticator app, and enter the six digits that it shows.")}</p>
                <img class="qr-code" src=setup.qr_code width="200" height="200" alt=t("QR code for an authenticator app") />
                <CodeBlock caption=t("Or type this secret") text=setup.secret />
                <Field id="factor-code" label=t("Code")>
                    <TextInput id="factor-code" value=code mono=true max="32" autocomplete="one-time-code" />
                </Field>
                {attempt.outcome()}
                <div>
                    <button
                        type="submit"
                        class="button button-primary"
                        disabled=move || attempt.busy.get() || code.with(|code| code.trim().is_empty())
                    >
                        {t("Confirm")}
                    </button>
                </div>
            </form>
        }
        .into_any()
    };
    part(move || match codes.get() {
        Some(codes) => recovery_codes(&codes, on_done),
        None => asked(),
    })
}
