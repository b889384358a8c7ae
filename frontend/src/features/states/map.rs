//! The whole drawing in a corner, with the part that is seen. It repeats what the drawing shows, so assistive technology skips it.

use leptos::html;
use leptos::prelude::*;
use toolgate_api::states::StateGraph;

use super::layout::{BOX_HEIGHT, BOX_WIDTH, Layout};
use super::lens::{Lens, tenths};
use crate::reactive::When;

/// The map; shown while not all is seen. A click brings that place to the middle.
pub(super) fn map(layout: &Layout, graph: &StateGraph, lens: Lens) -> AnyView {
    let (width, height) = (layout.width, layout.height);
    let places: Vec<(i32, i32)> = graph
        .states
        .iter()
        .filter_map(|state| layout.place(&state.name))
        .collect();
    let frame = NodeRef::<html::Div>::new();
    let go = move |event: leptos::ev::PointerEvent| {
        event.stop_propagation();
        let Some(bounds) = frame
            .get_untracked()
            .map(|frame| frame.get_bounding_client_rect())
        else {
            return;
        };
        let right = (f64::from(event.client_x()) - bounds.left()) / bounds.width();
        let down = (f64::from(event.client_y()) - bounds.top()) / bounds.height();
        lens.center((right * f64::from(width), down * f64::from(height)));
    };
    let seen = move |side: usize| {
        let part = lens.seen.get();
        format!("{}e-1", part.get(side).map_or(0, |length| tenths(*length)))
    };
    view! {
        <When test=move || lens.is_partial()>
            <div
                class="graph-map"
                aria-hidden="true"
                node_ref=frame
                style:aspect-ratio=format!("{width} / {height}")
                on:pointerdown=go
            >
                <svg viewBox=format!("0 0 {width} {height}") preserveAspectRatio="none">
                    {places
                        .iter()
                        .map(|(x, y)| view! { <rect x=*x y=*y width=BOX_WIDTH height=BOX_HEIGHT rx="10"></rect> })
                        .collect::<Vec<_>>()}
                    <rect
                        class="graph-seen"
                        x=move || seen(0)
                        y=move || seen(1)
                        width=move || seen(2)
                        height=move || seen(3)
                    ></rect>
                </svg>
            </div>
        </When>
    }
    .into_any()
}
