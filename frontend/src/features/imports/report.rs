//! What an import would do, or did; and what has to be said before it does it.

use std::time::Duration;

use leptos::prelude::*;
use toolgate_api::imports::{DescriptionFormat, ImportOutcome, ImportReport, ImportedOperation};

use super::badges::{format_name, outcome_badge};
use super::change::change_view;
use super::choose::{about, name_of};
use crate::action::Action;
use crate::api::{Ask, json_of};
use crate::browser::element;
use crate::components::{EditorHandle, Faults, Field, TextInput};
use crate::expectations;
use crate::language::{t, tf};
use crate::reactive::{When, part};
use crate::routes::Page;
use crate::words::counted;

/// The id of the heading of a report.
const HEADING: &str = "import-report";

/// A verdict that is looked at before it becomes true.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    /// What the server said last.
    pub(crate) report: RwSignal<Option<ImportReport>>,
    /// Asking, and doing it.
    pub(crate) action: Action,
    /// Whether tools that are in the way are taken in.
    pub(crate) adopt: RwSignal<bool>,
    note: RwSignal<String>,
    ignored: RwSignal<bool>,
}

impl Verdict {
    /// Nothing was asked yet.
    pub(crate) fn new() -> Self {
        Self {
            report: RwSignal::new(None),
            action: Action::new(),
            adopt: RwSignal::new(false),
            note: RwSignal::new(String::new()),
            ignored: RwSignal::new(false),
        }
    }

    /// Forgets it: it is about something else.
    pub(crate) fn forget(self) {
        self.report.set(None);
        self.ignored.set(false);
        self.action.error.set(None);
    }

    /// The parameters of the query that ask for a verdict, or for doing it.
    pub(crate) fn query(self, dry_run: bool) -> Vec<(&'static str, String)> {
        let word = |is_set: bool| if is_set { "true".to_owned() } else { String::new() };
        let note = self.note.get_untracked().trim().to_owned();
        vec![
            ("dry_run", word(dry_run)),
            ("adopt", word(self.adopt.get_untracked())),
            ("note", if dry_run { String::new() } else { note }),
            (
                "ignore_policy_tests",
                word(self.ignored.get_untracked() && !dry_run),
            ),
        ]
    }

    /// Sends the request and keeps the report; `then` gets it.
    pub(crate) fn send(self, ask: Ask, then: impl FnOnce(ImportReport) + 'static) {
        self.action.send(ask, move |answer| {
            if let Some(report) = self.action.read::<ImportReport>(&answer) {
                self.report.set(Some(report.clone()));
                if !report.dry_run {
                    // What was pressed is gone now; the focus goes to what came of it, once that is drawn.
                    set_timeout(focus_heading, Duration::ZERO);
                }
                then(report);
            }
        });
    }

    /// Whether there is a verdict on what has not been done yet, reactively.
    pub(crate) fn is_asked(self) -> bool {
        self.report
            .with(|report| report.as_ref().is_some_and(|report| report.dry_run))
    }

    /// Whether there is a verdict that can be made true, reactively.
    pub(crate) fn is_ready(self) -> bool {
        let is_verdict = self.report.with(|report| {
            let verdict = report.as_ref().filter(|report| report.dry_run);
            verdict.is_some_and(|report| !breaks(report) || self.ignored.get())
        });
        is_verdict && !self.action.busy.get()
    }

    /// The report, and the fields that doing it takes. `on_adopt` runs when tools in the way are to be taken in, or not; `on_prefix`
    /// gets the prefix with which none is in the way.
    pub(crate) fn view(
        self,
        project: Memo<String>,
        handle: EditorHandle,
        on_adopt: Callback<()>,
        on_prefix: Callback<String>,
    ) -> AnyView {
        let has = move |check: fn(&ImportReport) -> bool| {
            move || {
                self.report.with(|report| {
                    report
                        .as_ref()
                        .is_some_and(|report| report.dry_run && check(report))
                })
            }
        };
        let in_the_way = |report: &ImportReport| {
            let outcomes = [ImportOutcome::Taken, ImportOutcome::Adopted];
            report
                .operations
                .iter()
                .any(|one| outcomes.contains(&one.outcome))
        };
        view! {
            <p class="muted" role="status">
                {move || self.action.busy.get().then_some(t("Reading the source, and comparing it…"))}
            </p>
            {self.action.refusal(handle)}
            {part(move || self.report.with(|report| report.as_ref().map(|report| report_view(&project.get(), report, handle))).into_any())}
            {part(move || {
                let suggested = self.report.with(|report| {
                    report.as_ref().filter(|report| report.dry_run)?.suggested_prefix.clone()
                });
                clash(suggested, on_prefix)
            })}
            <When test=has(in_the_way)>
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || self.adopt.get()
                        on:change=move |event| {
                            self.adopt.set(event_target_checked(&event));
                            on_adopt.run(());
                        }
                    />
                    {t("Take tools that are in the way into the import, as they are")}
                </label>
            </When>
            {expectations::escape(t("Import it all the same, although policy tests would fail"), self.ignored, has(breaks))}
            <When test=has(|_| true)>
                <Field id="import-note" label=t("Note") help=t("Why, for those who read the history later.")>
                    <TextInput id="import-note" value=self.note max="500" />
                </Field>
            </When>
        }
        .into_any()
    }
}

/// That names are taken, and the prefix with which none is.
pub(super) fn clash(suggested: Option<String>, on_prefix: Callback<String>) -> AnyView {
    let Some(prefix) = suggested else {
        return ().into_any();
    };
    let words = tf!("Use the prefix {prefix}", prefix);
    view! {
        <p class="note row" role="status">
            {t("Tools of this project have the names of some of these operations. With a prefix all of them can be imported. ")}
            <button type="button" class="button button-small" on:click=move |_| on_prefix.run(prefix.clone())>
                {words}
            </button>
        </p>
    }
    .into_any()
}

fn focus_heading() {
    if let Some(heading) = element(HEADING) {
        // Focus is a courtesy; a heading that refuses it is still read in order.
        let _ = heading.focus();
    }
}

fn breaks(report: &ImportReport) -> bool {
    report
        .policy_tests
        .as_ref()
        .is_some_and(|tests| tests.failed.iter().any(|test| test.holds_now))
}

/// The operations by what becomes of them; those of which nothing becomes are only counted.
fn report_view(project: &str, report: &ImportReport, handle: EditorHandle) -> AnyView {
    let heading = if report.dry_run {
        t("What importing would do")
    } else {
        t("Imported")
    };
    let is_server = report.import.format == DescriptionFormat::Mcp;
    let (same, others): (Vec<_>, Vec<_>) = report
        .operations
        .iter()
        .partition(|one| one.outcome == ImportOutcome::Unchanged);
    let items: Vec<_> = others
        .iter()
        .map(|one| operation(project, one, report.dry_run, is_server))
        .collect();
    let is_plain = items.is_empty();
    let faults = [report.problems.clone(), report.warnings.clone()].concat();
    let tests = report
        .policy_tests
        .as_ref()
        .map(|tests| expectations::outlook(&json_of(tests)));
    let (one_of_them, place) = if is_server {
        ("tool", t("at the server"))
    } else {
        ("operation", t("in the description"))
    };
    let counts = tf!(
        "{title} {version}, {format}: {count} of {total} {place}.",
        title = report.import.title,
        version = report.import.version,
        format = format_name(report.import.format),
        count = counted(report.operations.len(), one_of_them),
        total = report.total,
        place
    );
    view! {
        <section class="panel stack" aria-label=heading>
            <div class="row row-spread">
                <div>
                    <h2 id=HEADING tabindex="-1">
                        {heading}
                    </h2>
                    <p class="muted" role="status">
                        {counts}
                    </p>
                </div>
                {tests}
            </div>
            {(!faults.is_empty()).then(|| view! { <Faults faults handle /> })}
            {is_plain.then(|| view! { <p>{t("Nothing is new, and nothing has changed.")}</p> })}
            <ul class="operations">{items}</ul>
            {(!same.is_empty() && !is_plain)
                .then(|| view! { <p class="muted">{tf!("Unchanged: {count}.", count = counted(same.len(), one_of_them))}</p> })}
        </section>
    }
    .into_any()
}

fn operation(project: &str, one: &ImportedOperation, dry_run: bool, is_server: bool) -> AnyView {
    let is_there = !matches!(one.outcome, ImportOutcome::Refused | ImportOutcome::Deleted)
        && (!dry_run || one.outcome != ImportOutcome::New);
    let tool = if is_there {
        let href = Page::tool(project.to_owned(), one.tool.clone()).path();
        view! { <a class="tool-name" href=href>{one.tool.clone()}</a> }.into_any()
    } else {
        view! { <span class="tool-name">{one.tool.clone()}</span> }.into_any()
    };
    view! {
        <li>
            <div class="row">{name_of(one)} {tool} {outcome_badge(one.outcome, false)}</div>
            // What a server says of its tools is read by models: notes on it are not to be missed.
            {about(one, is_server)}
            {one.change.as_ref().map(|change| change_view(&one.tool, change, None))}
        </li>
    }
    .into_any()
}
