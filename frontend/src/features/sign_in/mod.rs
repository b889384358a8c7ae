//! Signing in: takes over the form that the server rendered.

mod form;
mod typed_ahead;

pub(crate) use form::SignInForm;
pub(crate) use typed_ahead::TypedAhead;
