//! The second factor of one's own sign-ins: setting it up, new recovery codes, removing it.

use leptos::prelude::*;
use toolgate_api::auth::LoginRequest;
use toolgate_api::second_factor::{ProveSecondFactor, RecoveryCodes};

use crate::api::Body;
use crate::components::{Dialog, DialogFoot, Field, TextInput, Toasts};
use crate::language::t;
use crate::reactive::{effect, part};
use crate::second_factor::{Attempt, SetUpSecondFactor, recovery_codes};
use crate::session::Session;

/// What the dialog shows.
#[derive(Clone, PartialEq)]
enum Stage {
    /// Password, and code where there is a second factor.
    Ask,
    /// The authenticator's secret and its first code.
    SetUp,
    /// New recovery codes.
    Codes(Vec<String>),
}

/// The dialog.
#[component]
pub(crate) fn SecondFactorDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let session = Session::get();
    let toasts = Toasts::get();
    let [password, code] = [(); 2].map(|()| RwSignal::new(String::new()));
    let stage = RwSignal::new(Stage::Ask);
    let attempt = Attempt::new();
    effect(move || {
        if !open.get() {
            password.set(String::new());
            code.set(String::new());
            attempt.error.set(None);
            stage.set(Stage::Ask);
        }
    });
    let name = move || session.me().map(|me| me.name).unwrap_or_default();
    // What was changed here since the server was asked who is signed in.
    let changed = RwSignal::new(None::<bool>);
    let has_one = move || {
        changed
            .get()
            .unwrap_or_else(|| session.me().is_some_and(|me| me.second_factor))
    };
    let proof = move || {
        Body::json(&ProveSecondFactor {
            username: untrack(name),
            password: password.get_untracked(),
            code: code.get_untracked(),
        })
    };
    let done = Callback::new(move |()| open.set(false));
    let set_up = Callback::new(move |()| {
        changed.set(Some(true));
        open.set(false);
    });
    let renew = move |_| {
        attempt.send(
            "/auth/second-factor/recovery-codes",
            proof(),
            move |answer| match answer.read::<RecoveryCodes>() {
                Ok(answer) => stage.set(Stage::Codes(answer.recovery_codes)),
                Err(error) => attempt.error.set(Some(error)),
            },
        );
    };
    let remove = move |_| {
        attempt.send("/auth/second-factor/remove", proof(), move |_| {
            toasts.done(t(
                "Your second factor is removed. The password alone signs you in.",
            ));
            changed.set(Some(false));
            open.set(false);
        });
    };
    let ask = move || {
        let filled = move || {
            password.with(|text| !text.is_empty())
                && (!has_one() || code.with(|text| !text.trim().is_empty()))
        };
        let disabled = move || attempt.busy.get() || !filled();
        view! {
            <form on:submit=move |event| {
                event.prevent_default();
                if !untrack(has_one) {
                    stage.set(Stage::SetUp);
                }
            }>
                <div class="dialog-body">
                    <p>
                        {move || {
                            if has_one() {
                                t("You sign in with your password and a code of your authenticator app.")
                            } else {
                                t("With a second factor, signing in takes your password and a code of an authenticator app on your phone.")
                            }
                        }}
                    </p>
                    <Field id="factor-password" label=t("Password")>
                        <TextInput id="factor-password" value=password kind="password" autocomplete="current-password" />
                    </Field>
                    {part(move || {
                        has_one()
                            .then(|| {
                                view! {
                                    <Field id="factor-present" label=t("Code") help=t("From the app, or a recovery code.")>
                                        <TextInput id="factor-present" value=code mono=true max="32" autocomplete="one-time-code" />
                                    </Field>
                                }
                            })
                            .into_any()
                    })}
                    {attempt.outcome()}
                </div>
                <DialogFoot open>
                    {part(move || {
                        if has_one() {
                            view! {
                                <button type="button" class="button" disabled=disabled on:click=renew>
                                    {t("New recovery codes")}
                                </button>
                                <button type="button" class="button button-danger" disabled=disabled on:click=remove>
                                    {t("Remove the second factor")}
                                </button>
                            }
                                .into_any()
                        } else {
                            view! {
                                <button type="submit" class="button button-primary" disabled=disabled>
                                    {t("Continue")}
                                </button>
                            }
                                .into_any()
                        }
                    })}
                </DialogFoot>
            </form>
        }
        .into_any()
    };
    view! {
        <Dialog open title=t("Second factor")>
            {part(move || match stage.get() {
                Stage::Ask => ask(),
                Stage::SetUp => {
                    let user = LoginRequest {
                        username: untrack(name),
                        password: password.get_untracked(),
                        code: None,
                    };
                    view! {
                        <div class="dialog-body">
                            <SetUpSecondFactor user on_done=set_up />
                        </div>
                    }
                        .into_any()
                }
                Stage::Codes(codes) => {
                    view! { <div class="dialog-body">{recovery_codes(&codes, done)}</div> }.into_any()
                }
            })}
        </Dialog>
    }
}
