//! Line icons, drawn on a 20 by 20 grid. They repeat what text beside them says, so assistive technology skips them.

use leptos::prelude::*;

/// Which icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// The product's mark: a gate.
    Gate,
    /// Something unfolds below.
    ChevronDown,
    /// Copies to the clipboard.
    Copy,
    /// Done, or the current choice.
    Check,
    /// Looks for something.
    Search,
    /// Something went wrong.
    Alert,
    /// A person.
    Person,
    /// Leaves.
    SignOut,
    /// Tries again.
    Retry,
    /// Leads on.
    Arrow,
    /// A box that holds nothing yet.
    Empty,
}

impl Symbol {
    fn path(self) -> &'static str {
        match self {
            Self::Gate => "M4 17V9a6 6 0 0 1 12 0v8M10 8v9M7 11.5h6",
            Self::ChevronDown => "m6 8 4 4 4-4",
            Self::Copy => {
                "M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7Z"
            }
            Self::Check => "m4.5 10.5 3.5 3.5 7.5-8",
            Self::Search => "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM13.5 13.5 17 17",
            Self::Alert => "M10 7v4M10 13.8v.2M10 2.8 1.8 16.8h16.4L10 2.8Z",
            Self::Person => "M10 10a3.3 3.3 0 1 0 0-6.6 3.3 3.3 0 0 0 0 6.6ZM3.8 17a6.2 6.2 0 0 1 12.4 0",
            Self::SignOut => {
                "M8 3.5H5A1.5 1.5 0 0 0 3.5 5v10A1.5 1.5 0 0 0 5 16.5h3M12.5 13.5 16 10l-3.5-3.5M16 10H8"
            }
            Self::Retry => "M16.5 10a6.5 6.5 0 1 1-2-4.7L16.5 7M16.5 3v4h-4",
            Self::Arrow => "M4 10h12M11.5 5.5 16 10l-4.5 4.5",
            Self::Empty => "M3 11.5 5.5 4h9l2.5 7.5M3 11.5V16h14v-4.5M3 11.5h4l1 2h4l1-2h4",
        }
    }
}

/// An icon in the colour of the text around it.
#[component]
pub(crate) fn Icon(
    /// Which one.
    symbol: Symbol,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
            <path d=symbol.path()></path>
        </svg>
    }
}
