//! What is asked of the simulator, and how an address says it.

use toolgate_api::audit::{AuditRecord, StateSource};
use toolgate_api::explain::ExplainRequest;

use crate::api::with_query;
use crate::browser::iso;
use crate::components::word;
use crate::language::marked;
use crate::routes::{Page, PageKind};

/// The groups that are asked for. Asking for none and not saying are different things.
pub(crate) const ASKS: [(&str, &str); 4] = [
    ("", marked("The default group")),
    ("these", marked("These groups")),
    ("held", marked("All that they hold")),
    ("nothing", marked("No group at all")),
];

/// The parameters of the address, in the order of [`Question::of`].
pub(super) const NAMES: [&str; 8] = [
    "principal",
    "ask",
    "group",
    "state",
    "tool",
    "session",
    "time",
    "within",
];

/// A question; what is not said is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Question {
    /// Who would call; empty is the person who asks.
    pub(crate) principal: String,
    /// A key of [`ASKS`].
    pub(crate) ask: String,
    /// The groups, separated by commas.
    pub(crate) groups: String,
    /// The workflow state.
    pub(crate) state: String,
    /// One tool; empty is every tool.
    pub(crate) tool: String,
    /// The session that the call would be made in; its groups, state and principal count then.
    pub(crate) session: String,
    /// When, in RFC 3339; empty is now.
    pub(crate) time: String,
    /// Whether a session in that state is supposed, where the project requires one; empty is no.
    pub(crate) within: String,
}

impl Question {
    /// From the values of [`NAMES`].
    pub(super) fn of(values: [String; 8]) -> Self {
        let [principal, ask, groups, state, tool, session, time, within] = values;
        let ask = if ask.is_empty() && !groups.is_empty() {
            "these".to_owned()
        } else {
            ask
        };
        Self {
            principal,
            ask,
            groups,
            state,
            tool,
            session,
            time,
            within,
        }
    }

    /// As the API takes it; `held` are the groups of the principal, for a question about all of them.
    pub(super) fn request(&self, held: Option<&[String]>) -> ExplainRequest {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let group = match self.ask.as_str() {
            "these" => Some(names(&self.groups)),
            "held" => Some(held.unwrap_or_default().to_vec()),
            "nothing" => Some(Vec::new()),
            _ => None,
        };
        let session_id = self.session.parse().ok();
        let in_session = session_id.is_some();
        ExplainRequest {
            tool: text(&self.tool),
            principal: text(&self.principal).filter(|_| !in_session),
            group: group.filter(|_| !in_session),
            state: text(&self.state).filter(|_| !in_session),
            session_id,
            assume_session: !in_session && !self.within.is_empty(),
            at: super::parse_time(&self.time),
            ..ExplainRequest::default()
        }
    }
}

/// Names that are separated by commas.
fn names(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Where the simulator shows why a record was decided as it was: the same caller, groups, state, tool and time.
pub(crate) fn why(project: &str, record: &AuditRecord) -> String {
    let principal = format!("{}:{}", word(&record.principal_kind), record.principal_id);
    let groups = record.requested_groups.join(",");
    let within = record.state_from == Some(StateSource::Session);
    with_query(
        Page::of_project(project.to_owned(), PageKind::Simulator).path(),
        &[
            ("principal", &principal),
            ("ask", if groups.is_empty() { "nothing" } else { "these" }),
            ("group", &groups),
            ("state", &record.state_before),
            ("tool", record.tool.as_deref().unwrap_or_default()),
            ("time", &iso(record.at)),
            ("within", if within { "yes" } else { "" }),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::Question;

    fn question(ask: &str, groups: &str) -> Question {
        Question::of(["", ask, groups, "", "", "", "", ""].map(str::to_owned))
    }

    #[test]
    fn not_saying_and_nothing_are_different() {
        let held = ["a".to_owned()];
        assert_eq!(question("", "").request(None).group, None);
        assert_eq!(question("nothing", "").request(None).group, Some(vec![]));
        assert_eq!(
            question("", "a, b").request(None).group,
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(
            question("held", "").request(Some(&held)).group,
            Some(held.to_vec())
        );
    }

    #[test]
    fn a_session_brings_its_own_groups_and_state() {
        let mut question = question("these", "a");
        question.state = "s".to_owned();
        question.session = "0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11".to_owned();
        let request = question.request(None);
        assert!(request.session_id.is_some() && request.group.is_none() && request.state.is_none());
    }
}
