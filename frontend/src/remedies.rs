//! What lifts a refusal: a button or a link for those who may, and who can do it for the others. Records, the form that
//! tries a tool, explanations and every refused request use this.

use leptos::prelude::*;
use toolgate_api::ErrorCode;
use toolgate_api::egress::ProjectEgress;
use toolgate_api::explain::{TestOutcome, ToolExplanation};
use toolgate_api::remedy::Remedy;

use crate::action::Action;
use crate::api::{ApiError, Ask, Body, in_project, with_query};
use crate::components::Toasts;
use crate::held_groups::holds;
use crate::language::{t, tf};
use crate::rare_parts::rare_part;
use crate::reactive::part;
use crate::routes::{Page, PageKind};
use crate::session::Session;
use crate::url::page_here;

/// Links of one kind that are shown at most.
const SHOWN: usize = 5;

/// A refusal, as far as its remedy depends on it. What is not known is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Refusal {
    /// Where it happened.
    pub(crate) project: String,
    /// Its code.
    pub(crate) code: Option<ErrorCode>,
    /// Who was refused, as the permissions name it.
    pub(crate) principal: String,
    /// The tool.
    pub(crate) tool: String,
    /// The state of the request.
    pub(crate) state: String,
    /// The groups that were asked for and not granted.
    pub(crate) missing_groups: Vec<String>,
    /// The states that the tool is open in.
    pub(crate) tool_states: Vec<String>,
    /// The groups whose conditions close the tool.
    pub(crate) closed_by: Vec<String>,
    /// The policy tests that a change would break.
    pub(crate) broken: Vec<String>,
    /// What the server names.
    pub(crate) remedy: Option<Remedy>,
}

impl Refusal {
    /// Of a refused request of the page that is shown: the person at the screen sent it.
    pub(crate) fn of_error(error: &ApiError) -> Self {
        let ApiError::Problem(problem) = error else {
            return Self::default();
        };
        let page = page_here();
        let on_tool = page.as_ref().filter(|page| page.kind() == PageKind::Tool);
        let broken = error.broken_policy_tests().iter();
        Self {
            project: page
                .as_ref()
                .and_then(Page::project)
                .unwrap_or_default()
                .to_owned(),
            code: Some(problem.code),
            tool: on_tool.map(|page| page.subject().to_owned()).unwrap_or_default(),
            missing_groups: problem.missing_groups.clone().unwrap_or_default(),
            broken: broken.map(|test| test.name.clone()).collect(),
            remedy: problem.remedy.clone(),
            ..Self::default()
        }
    }

    /// Of the test that an explanation failed; nothing when none did.
    pub(crate) fn of_explanation(project: &str, principal: &str, item: &ToolExplanation) -> Option<Self> {
        let failed = item
            .tests
            .iter()
            .find(|test| test.outcome == TestOutcome::Failed)?;
        let operands = failed.operands.clone().unwrap_or_default();
        let closed = operands.closed.unwrap_or_default();
        Some(Self {
            project: project.to_owned(),
            code: failed.code,
            principal: principal.to_owned(),
            tool: item.tool.clone(),
            state: item.state.before.clone(),
            missing_groups: operands.missing.unwrap_or_default(),
            tool_states: operands.tool_states.unwrap_or_default(),
            closed_by: closed.into_iter().map(|group| group.closed_by).collect(),
            broken: Vec::new(),
            remedy: failed.remedy.clone(),
        })
    }

    fn page(&self, kind: PageKind, query: &[(&str, &str)]) -> String {
        with_query(Page::of_project(self.project.clone(), kind).path(), query)
    }

    /// The page that asks for what was refused, with what is asked for filled in.
    fn ask_page(&self, what: &str, value: &str) -> String {
        self.page(PageKind::AccessRequests, &[(what, value)])
    }

    /// The text and address of the page where the person at the screen, who holds some groups, can ask for those that
    /// were missing.
    fn ask_for_groups(&self, me: &str, held: &[String]) -> Option<(String, String)> {
        let is_mine = self.principal.is_empty() || self.principal == me;
        let missing = self.missing_groups.iter().filter(|group| !holds(held, group));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        let text = match self.code {
            _ if !is_mine || missing.is_empty() => return None,
            Some(ErrorCode::InsufficientToolGroups) => t("Ask for it").to_owned(),
            // They were meant for another principal, perhaps.
            Some(ErrorCode::Forbidden) => tf!("Ask for {groups} for yourself", groups = missing.join(", ")),
            _ => return None,
        };
        Some((text, self.ask_page("groups", &missing.join(","))))
    }

    /// Whether the person at the screen can lift it by following the link.
    fn may_lift(&self, session: Session, href: &str) -> bool {
        let may_grant = |group: &String| session.may_grant(&self.project, group);
        session.may_follow(href)
            && (self.code != Some(ErrorCode::InsufficientToolGroups)
                || self.missing_groups.iter().all(may_grant))
    }

    fn tool_page(&self) -> String {
        Page::tool(self.project.clone(), self.tool.clone()).path()
    }

    /// Texts and addresses, and who can do it where one may not follow them.
    fn links(&self, me: &str) -> (Vec<(String, String)>, &'static str) {
        let owner = t("An owner of the project can change this.");
        let grantors = t(
            "An owner of the project who holds these groups can grant them, and so can a system administrator.",
        );
        let one = |text: &str, href: String| vec![(text.to_owned(), href)];
        let about_tool = !self.tool.is_empty();
        match (&self.remedy, self.code) {
            (Some(Remedy::SetSecret { name }), _) => (
                one(
                    &tf!("Set the secret {name}", name),
                    self.page(PageKind::Secrets, &[("set", name)]),
                ),
                t("Those who manage the secrets of the project can set it."),
            ),
            (_, Some(ErrorCode::InsufficientToolGroups)) if !self.missing_groups.is_empty() => {
                let groups = self.missing_groups.join(",");
                let who = if self.principal.is_empty() {
                    me
                } else {
                    &self.principal
                };
                (
                    one(
                        &tf!("Grant {groups}", groups = self.missing_groups.join(", ")),
                        self.page(PageKind::Permissions, &[("principal", who), ("grant", &groups)]),
                    ),
                    grantors,
                )
            }
            // Granting is refused for groups that the granter does not hold.
            (_, Some(ErrorCode::Forbidden)) if !self.missing_groups.is_empty() => (Vec::new(), grantors),
            (_, Some(ErrorCode::ToolNotInGroups)) if about_tool => (
                one(
                    t("See its groups in the matrix"),
                    self.page(PageKind::Groups, &[("view", "matrix"), ("q", &self.tool)]),
                ),
                owner,
            ),
            (_, Some(ErrorCode::GroupClosed)) => {
                let groups = self.closed_by.iter().take(SHOWN);
                let link = |group: &String| {
                    (
                        tf!("Open the condition that closes {group}", group),
                        self.page(PageKind::Groups, &[("group", group)]),
                    )
                };
                (groups.map(link).collect(), owner)
            }
            (_, Some(ErrorCode::ToolNotInState)) if about_tool => {
                let states = self.tool_states.iter().filter(|state| *state != "*").take(SHOWN);
                let way = |state: &String| {
                    (
                        tf!("Tools that lead to {state}", state),
                        self.page(PageKind::States, &[("at", state)]),
                    )
                };
                let mut links: Vec<_> = states.map(way).collect();
                links.push((
                    t("See where it is open").to_owned(),
                    self.page(PageKind::States, &[("at", &self.state), ("edit", &self.tool)]),
                ));
                (links, t("Call a tool that leads to one of its states first."))
            }
            (_, Some(ErrorCode::RateLimited | ErrorCode::ConcurrencyLimited)) => {
                (one(t("See the limits"), self.page(PageKind::Limits, &[])), owner)
            }
            (_, Some(ErrorCode::PolicyTestFailed)) => {
                let tests = self.broken.iter().take(SHOWN);
                let open = |name: &String| {
                    (
                        tf!("Open the policy test {name}", name),
                        self.page(PageKind::PolicyTests, &[("test", name)]),
                    )
                };
                (tests.map(open).collect(), "")
            }
            (_, Some(ErrorCode::SessionRequired)) => (
                one(
                    t("See what the settings require"),
                    self.page(PageKind::Settings, &[]),
                ),
                "",
            ),
            (_, Some(ErrorCode::ToolDisabled)) if about_tool => {
                (one(t("Open the tool to enable it"), self.tool_page()), owner)
            }
            (None, Some(ErrorCode::ToolUnavailable | ErrorCode::EgressDenied)) if about_tool => (
                one(t("Open its definition"), self.tool_page() + "?tab=definition"),
                "",
            ),
            (_, Some(ErrorCode::ToolNotFound)) => {
                (one(t("List the tools"), self.page(PageKind::Tools, &[])), "")
            }
            _ => (Vec::new(), ""),
        }
    }
}

/// The remedies of a refusal; nothing when none is known. `on_lifted` is called when one was applied in place.
pub(crate) fn remedies(refusal: &Refusal, on_lifted: Option<Callback<()>>) -> AnyView {
    if refusal.project.is_empty() {
        return ().into_any();
    }
    let refusal = refusal.clone();
    rare_part(None, move |parts| (parts.remedies)(&refusal, on_lifted))
}

/// The same, once its code is here.
pub(crate) fn shown(refusal: &Refusal, on_lifted: Option<Callback<()>>) -> AnyView {
    if let Some(Remedy::AllowHost { origin }) = &refusal.remedy {
        let ask = refusal.ask_page("host", origin);
        return allow_host(refusal.project.clone(), origin.clone(), ask, on_lifted);
    }
    let session = Session::get();
    let me = untrack(|| session.me()).map(|me| format!("user:{}", me.id));
    let me = me.unwrap_or_default();
    let (links, others) = refusal.links(&me);
    let links: Vec<_> = links
        .into_iter()
        .filter(|(_, href)| untrack(|| refusal.may_lift(session, href)))
        .map(|(text, href)| link(text, href))
        .collect();
    if links.is_empty() {
        let held = untrack(|| session.membership(&refusal.project)).map(|held| held.groups);
        let ask = refusal.ask_for_groups(&me, &held.unwrap_or_default());
        let ask = ask.map(|(text, href)| link(text, href));
        let others = (!others.is_empty()).then(|| view! { <div class="muted">{others}</div> });
        return view! { {others} {ask} }.into_any();
    }
    view! { <div class="row">{links}</div> }.into_any()
}

/// Leads to a remedy.
fn link(text: String, href: String) -> AnyView {
    view! { <a class="button button-small" href=href>{text}</a> }.into_any()
}

/// Adds an origin to the egress list of a project; then `then`.
pub(crate) fn allow_origin(action: Action, project: String, origin: String, then: Callback<()>) {
    let toasts = Toasts::get();
    let path = in_project(&project, &["egress"]);
    action.send(Ask::get(path.clone()), move |answer| {
        let Some(mut list) = action.read::<ProjectEgress>(&answer) else {
            return;
        };
        list.hosts.push(origin.clone());
        let ask = Ask::put(path, Body::json(&list)).if_match(answer.etag);
        action.send(ask, move |_| {
            toasts.done(tf!("The tools of this project may reach {origin}.", origin));
            then.run(());
        });
    });
}

/// The button that adds an origin to the project's egress list, for system administrators.
fn allow_host(project: String, origin: String, ask: String, on_lifted: Option<Callback<()>>) -> AnyView {
    let session = Session::get();
    let action = Action::new();
    let is_allowed = RwSignal::new(false);
    let (project, origin) = (StoredValue::new(project), StoredValue::new(origin));
    let add = move |_| {
        let then = Callback::new(move |()| {
            is_allowed.set(true);
            if let Some(lifted) = on_lifted {
                lifted.run(());
            }
        });
        allow_origin(action, project.get_value(), origin.get_value(), then);
    };
    part(move || {
        let origin = origin.get_value();
        if is_allowed.get() {
            return view! { <div class="muted" role="status">{tf!("{origin} is allowed now. Call again.", origin)}</div> }
                .into_any();
        }
        if !session.is_system_admin() {
            return view! {
                <div class="muted">{tf!("A system administrator can allow {origin} in the settings.", origin)}</div>
                {link(t("Ask for it").to_owned(), ask.clone())}
            }
            .into_any();
        }
        view! {
            <div class="stack-small">
                <p class="row">
                    <button
                        type="button"
                        class="button button-small"
                        aria-disabled=move || action.busy.get().to_string()
                        on:click=add
                    >
                        {tf!("Allow {origin}", origin)}
                    </button>
                    <span class="muted">{t("Every tool of this project may then connect to it.")}</span>
                </p>
                {action.outcome()}
            </div>
        }
        .into_any()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: ErrorCode) -> Refusal {
        Refusal {
            project: "demo".to_owned(),
            code: Some(code),
            tool: "publish".to_owned(),
            state: "found".to_owned(),
            ..Refusal::default()
        }
    }

    #[test]
    fn each_refusal_leads_to_what_lifts_it() {
        let table = [
            (
                Refusal {
                    missing_groups: vec!["writing".to_owned(), "*".to_owned()],
                    principal: "service_key:7".to_owned(),
                    ..refused(ErrorCode::InsufficientToolGroups)
                },
                "/ui/projects/demo/permissions?principal=service_key%3A7&grant=writing%2C*",
            ),
            (
                Refusal {
                    missing_groups: vec!["writing".to_owned()],
                    ..refused(ErrorCode::InsufficientToolGroups)
                },
                "/ui/projects/demo/permissions?principal=user%3A1&grant=writing",
            ),
            (
                Refusal {
                    remedy: Some(Remedy::SetSecret {
                        name: "KEY".to_owned(),
                    }),
                    ..refused(ErrorCode::ToolUnavailable)
                },
                "/ui/projects/demo/secrets?set=KEY",
            ),
            (
                Refusal {
                    tool_states: vec!["summed-up".to_owned()],
                    ..refused(ErrorCode::ToolNotInState)
                },
                "/ui/projects/demo/states?at=summed-up",
            ),
            (
                Refusal {
                    broken: vec!["no-writing".to_owned()],
                    ..refused(ErrorCode::PolicyTestFailed)
                },
                "/ui/projects/demo/policy-tests?test=no-writing",
            ),
            (refused(ErrorCode::RateLimited), "/ui/projects/demo/limits"),
            (
                refused(ErrorCode::ToolDisabled),
                "/ui/projects/demo/tools/publish",
            ),
        ];
        for (refusal, href) in table {
            let (links, _) = refusal.links("user:1");
            let first = links.first().map(|(_, href)| href.as_str());
            assert_eq!(first, Some(href), "{refusal:?}");
        }
        assert_eq!(refused(ErrorCode::Internal).links("user:1").0, []);
    }

    #[test]
    fn who_was_refused_can_ask() {
        let refusal = Refusal {
            missing_groups: vec!["writing".to_owned(), "a/b".to_owned()],
            principal: "user:1".to_owned(),
            ..refused(ErrorCode::InsufficientToolGroups)
        };
        let href = |refusal: &Refusal, me: &str, held: &[&str]| {
            let held: Vec<_> = held.iter().map(|group| (*group).to_owned()).collect();
            refusal.ask_for_groups(me, &held).map(|(_, href)| href)
        };
        assert_eq!(
            href(&refusal, "user:1", &[]).as_deref(),
            Some("/ui/projects/demo/access-requests?groups=writing%2Ca%2Fb")
        );
        assert_eq!(href(&refusal, "user:2", &[]), None, "only for oneself");
        let grant = Refusal {
            missing_groups: refusal.missing_groups,
            ..refused(ErrorCode::Forbidden)
        };
        assert_eq!(
            href(&grant, "user:2", &["a"]).as_deref(),
            Some("/ui/projects/demo/access-requests?groups=writing"),
            "what is held until a time only is not asked for"
        );
        assert_eq!(href(&refused(ErrorCode::ToolNotFound), "user:1", &[]), None);
    }
}
