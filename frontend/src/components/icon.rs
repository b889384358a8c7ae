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
    /// Figures over time.
    Overview,
    /// A tool.
    Tool,
    /// Sends files in.
    Upload,
    /// Takes something in.
    Import,
    /// Things that belong together.
    Group,
    /// Places with a way between them.
    State,
    /// Protection.
    Shield,
    /// A key.
    Key,
    /// Runs something.
    Play,
    /// Goes from step to step.
    Session,
    /// Something to read.
    Book,
    /// A list of entries.
    Record,
    /// Calls for attention.
    Bell,
    /// How much of something.
    Gauge,
    /// Closed to everyone.
    Lock,
    /// Can be set.
    Settings,
    /// Connects.
    Plug,
    /// Machines that answer.
    Server,
    /// Shows the navigation.
    Menu,
    /// Closes.
    Close,
    /// Something new.
    Plus,
    /// Halts.
    Pause,
    /// Less of something.
    Minus,
    /// All of something at once.
    Fit,
}

impl Symbol {
    /// How it is drawn.
    pub(super) fn path(self) -> &'static str {
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
            Self::Overview => "M3.5 16.5h13M5.5 13.5v-4M10 13.5v-9M14.5 13.5v-6",
            Self::Tool => {
                "M12.5 3.5a4 4 0 0 0-4.2 5.6L3.5 13.9a1.6 1.6 0 0 0 2.6 2.6l4.8-4.8a4 4 0 0 0 5.3-5l-2.5 2.5-2.4-.6-.6-2.4 2.5-2.5Z"
            }
            Self::Upload => "M10 13V3.5M6 7.5l4-4 4 4M3.5 13v2.5A1 1 0 0 0 4.5 16.5h11a1 1 0 0 0 1-1V13",
            Self::Import => "M10 3v9.5M6 8.5l4 4 4-4M3.5 13v2.5a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1V13",
            Self::Group => "M3.5 3.5h5v5h-5ZM11.5 3.5h5v5h-5ZM3.5 11.5h5v5h-5ZM11.5 11.5h5v5h-5Z",
            Self::State => {
                "M5.5 8a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 5.5 8ZM14.5 16.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM7.5 5.7H12a2.5 2.5 0 0 1 2.5 2.5V12"
            }
            Self::Shield => "M10 2.8 4 5v4.6c0 3.6 2.5 6.2 6 7.6 3.5-1.4 6-4 6-7.6V5l-6-2.2Z",
            Self::Key => "M7.3 13.8a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2ZM10.9 10.2h6.3v3M14 10.2v2.2",
            Self::Play => "M6 4v12l10-6L6 4Z",
            Self::Session => {
                "M3.5 6h6.8a2.7 2.7 0 0 1 0 5.4H8.2a2.6 2.6 0 0 0 0 5.2h8.3M14 14.2l2.6 2.4-2.6 2.3"
            }
            Self::Book => {
                "M10 5.5C8.3 4.3 6 3.8 3.5 4v11.5c2.5-.2 4.8.3 6.5 1.5 1.7-1.2 4-1.7 6.5-1.5V4c-2.5-.2-4.8.3-6.5 1.5ZM10 5.5V17"
            }
            Self::Record => "M4 4.5h12M4 8.2h12M4 11.9h12M4 15.6h7",
            Self::Bell => {
                "M10 3a4.6 4.6 0 0 0-4.6 4.6c0 4.4-1.9 5.9-1.9 5.9h13s-1.9-1.5-1.9-5.9A4.6 4.6 0 0 0 10 3ZM8.4 16.4a1.8 1.8 0 0 0 3.2 0"
            }
            Self::Gauge => "M3.4 14.6a7.2 7.2 0 1 1 13.2 0M10 11.5l3.4-3.6",
            Self::Lock => "M5 9h10v7.5H5ZM7 9V6.6a3 3 0 0 1 6 0V9",
            Self::Settings => {
                "M3.5 6h7M15 6h1.5M3.5 14H5M9.5 14h7M12.7 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM7.2 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z"
            }
            Self::Plug => "M7 3v4M13 3v4M5 7h10v2.5a5 5 0 0 1-10 0V7ZM10 14.5V17.5",
            Self::Server => {
                "M3.5 3.5h13v5.5h-13ZM3.5 11h13v5.5h-13ZM6.3 6.2h.1M6.3 13.8h.1M9.5 6.2h4.3M9.5 13.8h4.3"
            }
            Self::Menu => "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
            Self::Close => "m5 5 10 10M15 5 5 15",
            Self::Plus => "M10 4v12M4 10h12",
            Self::Minus => "M4 10h12",
            Self::Fit => "M7.5 3.5h-4v4M12.5 3.5h4v4M7.5 16.5h-4v-4M12.5 16.5h4v-4",
            Self::Pause => "M7 4.5v11M13 4.5v11",
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
