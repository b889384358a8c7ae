//! Queue names of tool services and the bus subjects that they mean (tool services specification, "Tool Service
//! Configuration").
//!
//! The specification writes Pulsar topics; the bus here is NATS. `non-persistent://a/b/c` is the core subject `a.b.c`,
//! `persistent://a/b/c` is the same subject in a JetStream stream, and a plain subject is taken as it is.

use thiserror::Error;

use super::report::shown;
use super::subject::SubjectError;
use crate::ids::ProjectId;

const LONGEST: usize = 255;
const SHAPE: &str = "write non-persistent://tg/<project>/<name>, or the subject tg.<project>.<name>";
const PROJECT: &str = "{project_id}";

/// A queue of a tool service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Its subject on the bus.
    pub subject: String,
    /// Whether its messages are kept in a JetStream stream until they are read.
    pub persistent: bool,
}

impl Queue {
    /// Reads a queue's name.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn parse(name: &str) -> Result<Self, SubjectError> {
        let (rest, separator, persistent) = match name.split_once("://") {
            Some(("non-persistent", rest)) => (rest, '/', false),
            Some(("persistent", rest)) => (rest, '/', true),
            Some((scheme, _)) => {
                let message = format!("{} is none of persistent and non-persistent", shown(scheme));
                return Err(refused(message));
            }
            None => (name, if name.contains('/') { '/' } else { '.' }, false),
        };
        if rest.is_empty() || rest.len() > LONGEST {
            return Err(refused(format!("a queue's name has 1 to {LONGEST} characters")));
        }
        let tokens: Vec<&str> = rest.split(separator).collect();
        for token in &tokens {
            if let Some(fault) = token_fault(token) {
                return Err(refused(format!("{} is not a queue: {fault}", shown(name))));
            }
        }
        if tokens[0].starts_with('_') {
            let message = format!(
                "{} is not a queue: names that begin with _ belong to the bus",
                shown(name)
            );
            return Err(refused(message));
        }
        Ok(Self {
            subject: tokens.join("."),
            persistent,
        })
    }
}

fn token_fault(token: &str) -> Option<String> {
    if token.is_empty() {
        return Some("it has an empty part".to_owned());
    }
    let bad = token
        .chars()
        .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?;
    Some(match bad {
        '*' | '>' => "wildcards are not allowed".to_owned(),
        '$' => "names with $ belong to the bus".to_owned(),
        other => format!("the character {other:?} is not allowed"),
    })
}

fn refused(message: String) -> SubjectError {
    SubjectError {
        message,
        hint: SHAPE.to_owned(),
    }
}

/// Which subjects the tool services of a project may use, as the operator lists them. In a pattern `*` is any one token, a
/// final `>` one or more, and `{project_id}` the project's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectRules(Vec<Vec<String>>);

/// A pattern of subjects is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{pattern:?} is not a pattern of subjects: {fault}")]
pub struct PatternError {
    pattern: String,
    fault: &'static str,
}

impl SubjectRules {
    /// What holds unless the operator says something else: the project's own subjects, and its UTP tool commands and events.
    /// Separated by commas.
    pub const DEFAULT: &str =
        "tg.{project_id}.>,cg.*.{project_id}.*.cmd.tool.>,cg.*.{project_id}.*.evt.tool.>";

    /// Reads the patterns.
    ///
    /// # Errors
    /// The first one that is invalid.
    pub fn parse<T: AsRef<str>>(patterns: &[T]) -> Result<Self, PatternError> {
        let rules = patterns.iter().map(|pattern| {
            let pattern = pattern.as_ref();
            let refuse = |fault| {
                Err(PatternError {
                    pattern: pattern.to_owned(),
                    fault,
                })
            };
            let tokens: Vec<&str> = pattern.split('.').collect();
            if tokens.iter().any(|token| token.is_empty()) {
                return refuse("it has an empty token");
            }
            if tokens[..tokens.len() - 1].contains(&">") {
                return refuse("\">\" is only valid at the end");
            }
            if matches!(tokens[0], "*" | ">") || tokens[0].starts_with(['$', '_']) {
                return refuse(
                    "its first token must name whose subjects they are, such as tg.{project_id}.>",
                );
            }
            let plain = |token: &&str| {
                let token: &str = token;
                matches!(token, "*" | ">" | PROJECT) || token_fault(token).is_none()
            };
            if !tokens.iter().all(plain) {
                return refuse("a token is *, >, {project_id}, or letters, digits, _ and -");
            }
            Ok(tokens.into_iter().map(str::to_owned).collect())
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    /// The patterns with a project's id.
    #[must_use]
    pub fn of(&self, project: &ProjectId) -> Vec<String> {
        let token = |token: &String| match token.as_str() {
            PROJECT => project.to_string(),
            _ => token.clone(),
        };
        let pattern = |pattern: &Vec<String>| pattern.iter().map(token).collect::<Vec<_>>().join(".");
        self.0.iter().map(pattern).collect()
    }

    /// Whether a project's tool services may use a subject.
    #[must_use]
    pub fn allow(&self, project: &ProjectId, subject: &str) -> bool {
        self.0.iter().any(|pattern| fits(pattern, project, subject))
    }

    /// Checks a queue of a project's tool service.
    ///
    /// # Errors
    /// The subject is none of those that the project may use.
    pub fn check(&self, project: &ProjectId, queue: &Queue) -> Result<(), SubjectError> {
        if self.allow(project, &queue.subject) {
            return Ok(());
        }
        Err(SubjectError {
            message: format!(
                "the project {project} may not use the subject {}",
                shown(&queue.subject)
            ),
            hint: format!(
                "use a subject that fits one of {}, or have the operator add the subject to TOOLGATE_NATS_SUBJECTS",
                self.of(project).join(", ")
            ),
        })
    }
}

impl Default for SubjectRules {
    fn default() -> Self {
        let patterns: Vec<&str> = Self::DEFAULT.split(',').collect();
        Self::parse(&patterns).unwrap_or(Self(Vec::new()))
    }
}

fn fits(pattern: &[String], project: &ProjectId, subject: &str) -> bool {
    let mut tokens = subject.split('.');
    for expected in pattern {
        let Some(token) = tokens.next() else {
            return false;
        };
        match expected.as_str() {
            ">" => return true,
            "*" => {}
            PROJECT if token == project.as_str() => {}
            expected if token == expected => {}
            _ => return false,
        }
    }
    tokens.next().is_none()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("non-persistent://tg/request/joke", "tg.request.joke", false)]
    #[case("persistent://tg/request/joke", "tg.request.joke", true)]
    #[case("tg.request.joke", "tg.request.joke", false)]
    #[case("tg/request/joke", "tg.request.joke", false)]
    #[case("jokes", "jokes", false)]
    fn queue_names_map_to_subjects_by_one_rule(
        #[case] name: &str,
        #[case] subject: &str,
        #[case] persistent: bool,
    ) {
        let subject = subject.to_owned();
        assert_eq!(Queue::parse(name), Ok(Queue { subject, persistent }));
    }

    #[rstest]
    #[case("", "1 to 255")]
    #[case("non-persistent://", "1 to 255")]
    #[case("pulsar://tg/a", "none of persistent")]
    #[case("tg.*", "wildcards")]
    #[case("tg.>", "wildcards")]
    #[case("non-persistent://tg/>", "wildcards")]
    #[case("$SYS.REQ", "belong to the bus")]
    #[case("$JS.API.INFO", "belong to the bus")]
    #[case("persistent://$KV/cards", "belong to the bus")]
    #[case("_INBOX.abc", "belong to the bus")]
    #[case("_R_.abc", "belong to the bus")]
    #[case("tg..a", "empty part")]
    #[case("non-persistent://tg//a", "empty part")]
    #[case("non-persistent://tg/a.b", "'.' is not allowed")]
    #[case("tg.a b", "' ' is not allowed")]
    #[case("tg.a\r\nPUB x 1", "is not allowed")]
    #[case("tg.ä", "is not allowed")]
    fn what_is_no_queue_is_refused(#[case] name: &str, #[case] why: &str) {
        let error = Queue::parse(name).expect_err(name);
        assert!(error.message.contains(why), "{name}: {error}");
        assert_eq!(error.hint, SHAPE);
    }

    #[rstest]
    #[case("tg.demo.joke", true)]
    #[case("tg.demo.joke.fast", true)]
    #[case("cg.v1r4.demo.public.cmd.tool.search.run", true)]
    #[case("cg.v1r4.demo.public.evt.tool.search.done", true)]
    #[case("tg.demo", false)]
    #[case("tg.other.joke", false)]
    #[case("tg.request.joke", false)]
    #[case("cg.v1r4.other.public.cmd.tool.search.run", false)]
    #[case("cg.v1r4.demo.public.cmd.sys.pmo.x", false)]
    #[case("cg.v1r4.demo.public.cmd.agent.worker.wakeup", false)]
    #[case("joke", false)]
    fn by_default_a_project_has_its_own_subjects_only(#[case] subject: &str, #[case] allowed: bool) {
        let rules = SubjectRules::default();
        let project = ProjectId::parse("demo").expect("a slug");
        assert_eq!(rules.allow(&project, subject), allowed);
        let queue = Queue::parse(subject).expect("a queue");
        let refusal = rules.check(&project, &queue).err();
        assert_eq!(refusal.is_none(), allowed);
        if let Some(refusal) = refusal {
            assert!(refusal.hint.contains("tg.demo.>"), "{}", refusal.hint);
        }
    }

    #[rstest]
    #[case(">", "first token")]
    #[case("*.a", "first token")]
    #[case("$SYS.>", "first token")]
    #[case("_INBOX.>", "first token")]
    #[case("tg.>.a", "at the end")]
    #[case("tg..a", "empty")]
    #[case("tg.{channel_id}", "a token is")]
    fn a_pattern_must_say_whose_subjects_it_means(#[case] pattern: &str, #[case] why: &str) {
        let error = SubjectRules::parse(&[pattern]).expect_err(pattern);
        assert!(error.to_string().contains(why), "{error}");
    }
}
