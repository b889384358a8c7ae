//! How the drawing is looked at: which part of it is seen, by buttons, wheel, pointer and keyboard.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::reactive::effect;

/// Pixels that the pointer may tremble in a click.
const TREMBLE: f64 = 4.0;

/// The smallest scale at which names are read with ease; a larger drawing is not shown whole at first.
const READABLE: f64 = 0.7;

/// Which part of the drawing is seen: left, top, width, height.
pub(super) type Part = [f64; 4];

/// How the drawing is looked at.
#[derive(Clone, Copy)]
pub(super) struct Lens {
    /// Everything.
    pub(super) whole: Part,
    /// What is seen of it.
    pub(super) seen: RwSignal<Part>,
    /// The element that it is seen in.
    pub(super) frame: NodeRef<html::Div>,
    /// Where the pointer was last, while it drags.
    pub(super) held: StoredValue<Option<(f64, f64)>>,
    /// Whether the press that ends now has moved the drawing, so that it is no click.
    pub(super) moved: StoredValue<bool>,
    /// Whether the view was chosen by hand; until then it goes by the size of the frame.
    chosen: StoredValue<bool>,
}

impl Lens {
    /// Shows the whole of a drawing of a size.
    pub(super) fn of(width: i32, height: i32) -> Self {
        let whole = [0.0, 0.0, f64::from(width), f64::from(height)];
        let lens = Self {
            whole,
            seen: RwSignal::new(whole),
            frame: NodeRef::new(),
            held: StoredValue::new(None),
            moved: StoredValue::new(false),
            chosen: StoredValue::new(false),
        };
        effect(move || {
            if lens.frame.get().is_some() {
                lens.begin();
            }
        });
        let resized = window_event_listener(ev::resize, move |_| lens.begin());
        on_cleanup(move || resized.remove());
        lens
    }

    /// The part that is seen, as the drawing takes it.
    pub(super) fn view_box(self) -> String {
        let [x, y, width, height] = self.seen.get().map(tenths);
        format!("{x}e-1 {y}e-1 {width}e-1 {height}e-1")
    }

    /// Whether not all of the drawing is seen.
    pub(super) fn is_partial(self) -> bool {
        let [x, y, width, height] = self.seen.get();
        x > 0.5 || y > 0.5 || x + width < self.whole[2] - 0.5 || y + height < self.whole[3] - 0.5
    }

    /// Brings a point of the drawing to the middle.
    pub(super) fn center(self, at: (f64, f64)) {
        let [_, _, width, height] = self.seen.get_untracked();
        self.show([at.0 - width / 2.0, at.1 - height / 2.0, width, height]);
    }

    /// Pixels per unit of the drawing, and the size and place of the frame.
    fn scale(self) -> Option<(f64, web_sys::DomRect)> {
        self.scale_of(self.seen.get_untracked())
    }

    /// The same when a part is seen.
    fn scale_of(self, [_, _, width, height]: Part) -> Option<(f64, web_sys::DomRect)> {
        let bounds = self.frame.get_untracked()?.get_bounding_client_rect();
        Some(((bounds.width() / width).min(bounds.height() / height), bounds))
    }

    /// Shows a part that was chosen by hand.
    pub(super) fn show(self, part: Part) {
        self.chosen.set_value(true);
        self.seen.set(part);
    }

    /// Shows a part that is `factor` times as large; what is at a point of the screen, else in the middle, stays there.
    pub(super) fn zoom(self, factor: f64, at: Option<(f64, f64)>) {
        let [x, y, width, height] = self.seen.get_untracked();
        // From everything twice over down to a few boxes.
        // `clamp` could panic with both bounds in words, and the code that writes such numbers is heavy.
        let factor = factor.max(200.0 / width).min(self.whole[2] * 2.0 / width);
        let (mut middle_x, mut middle_y) = (x + width / 2.0, y + height / 2.0);
        if let (Some((at_x, at_y)), Some((scale, bounds))) = (at, self.scale()) {
            middle_x += (at_x - bounds.left() - bounds.width() / 2.0) / scale;
            middle_y += (at_y - bounds.top() - bounds.height() / 2.0) / scale;
        }
        self.show([
            middle_x - (middle_x - x) * factor,
            middle_y - (middle_y - y) * factor,
            width * factor,
            height * factor,
        ]);
    }

    /// Shows the whole, or its left part if the whole would be too small to read, unless something else was chosen.
    fn begin(self) {
        let Some((scale, bounds)) = self.scale_of(self.whole) else {
            return;
        };
        if self.chosen.get_value() {
            return;
        }
        let mut part = self.whole;
        if scale > 0.0 && scale < READABLE {
            let [_, _, width, height] = self.whole;
            let most = [bounds.width() / READABLE, bounds.height() / READABLE];
            let down = ((height - most[1]) / 2.0).max(0.0);
            part = [0.0, down, most[0].min(width), most[1].min(height)];
        }
        self.seen.set(part);
    }

    fn pan(self, right: f64, down: f64) {
        let [x, y, width, height] = self.seen.get_untracked();
        self.show([x + right * width, y + down * height, width, height]);
    }

    pub(super) fn key(self, event: &ev::KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        match event.key().as_str() {
            "+" | "=" => self.zoom(0.8, None),
            "-" => self.zoom(1.25, None),
            "0" => self.show(self.whole),
            "ArrowLeft" => self.pan(-0.1, 0.0),
            "ArrowRight" => self.pan(0.1, 0.0),
            "ArrowUp" => self.pan(0.0, -0.1),
            "ArrowDown" => self.pan(0.0, 0.1),
            _ => return,
        }
        event.prevent_default();
    }

    pub(super) fn drag(self, event: &ev::PointerEvent) {
        let to = (f64::from(event.client_x()), f64::from(event.client_y()));
        let (Some(from), Some((scale, _))) = (self.held.get_value(), self.scale()) else {
            return;
        };
        if !self.moved.get_value() && (to.0 - from.0).abs().max((to.1 - from.1).abs()) < TREMBLE {
            return;
        }
        self.moved.set_value(true);
        self.held.set_value(Some(to));
        let [x, y, width, height] = self.seen.get_untracked();
        self.show([
            x - (to.0 - from.0) / scale,
            y - (to.1 - from.1) / scale,
            width,
            height,
        ]);
    }
}

/// A length in tenths. The drawing writes it with an exponent: the code that writes fractions is heavy.
pub(super) fn tenths(length: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "no drawing is that large")]
    let tenths = (length * 10.0) as i64;
    tenths
}
