//! The reactive building blocks, boxed: a generic one is compiled for every closure, and browsers would load each.

use leptos::prelude::*;

/// A remembered text.
pub(crate) fn text_memo(make: impl Fn() -> String + Send + Sync + 'static) -> Memo<String> {
    fn boxed(make: Box<dyn Fn() -> String + Send + Sync>) -> Memo<String> {
        Memo::new(move |_| make())
    }
    boxed(Box::new(make))
}

/// A remembered condition.
pub(crate) fn condition(check: impl Fn() -> bool + Send + Sync + 'static) -> Memo<bool> {
    fn boxed(check: Box<dyn Fn() -> bool + Send + Sync>) -> Memo<bool> {
        Memo::new(move |_| check())
    }
    boxed(Box::new(check))
}

/// A text that follows others.
pub(crate) fn text(make: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    fn boxed(make: Box<dyn Fn() -> String + Send + Sync>) -> Signal<String> {
        Signal::derive(make)
    }
    boxed(Box::new(make))
}

/// Something that is done now, and again whenever what it reads has changed.
pub(crate) fn effect(work: impl Fn() + 'static) {
    fn boxed(work: Box<dyn Fn()>) {
        Effect::new(move |_| work());
    }
    boxed(Box::new(work));
}

/// A part of the page that is made again whenever what it reads has changed.
pub(crate) fn part(make: impl Fn() -> AnyView + Send + Sync + 'static) -> AnyView {
    fn boxed(make: Box<dyn Fn() -> AnyView + Send + Sync>) -> AnyView {
        (move || make()).into_any()
    }
    boxed(Box::new(make))
}

/// Shown while a condition holds; made again only when the condition begins to hold.
#[component]
pub(crate) fn When(
    /// The condition.
    #[prop(into)]
    test: Signal<bool>,
    /// What is there.
    children: ChildrenFn,
) -> impl IntoView {
    let holds = condition(move || test.get());
    part(move || if holds.get() { children() } else { ().into_any() })
}
