//! Bus subjects of tools: `cg.{ver}.{project}.{channel}.cmd.tool.{target}.{suffix}` (tool development guide, 3.2).

use thiserror::Error;

use super::report::shown;
use crate::ids::ProjectId;

/// What a subject may leave to the call.
pub const VARIABLES: [&str; 3] = ["project_id", "channel_id", "agent_id"];

const SHAPE: &str =
    "write cg.v1r4.{project_id}.{channel_id}.cmd.tool.<target>.<suffix>, or cmd.tool.<target>";
const LONGEST: usize = 255;

/// Why a subject is refused, and how to correct it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SubjectError {
    /// What is wrong.
    pub message: String,
    /// How to correct it.
    pub hint: String,
}

/// Checks a tool's `target_subject`: well-formed, a tool command, of this project.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(text: &str, project: &ProjectId) -> Result<(), SubjectError> {
    let refuse = |message: String, hint: &str| {
        Err(SubjectError {
            message,
            hint: hint.to_owned(),
        })
    };
    if text.is_empty() || text.len() > LONGEST {
        return refuse(format!("a subject has 1 to {LONGEST} characters"), SHAPE);
    }
    let tokens: Vec<&str> = text.split('.').collect();
    for token in &tokens {
        if let Err(message) = check_token(token) {
            return refuse(format!("{} is not a subject: {message}", shown(text)), SHAPE);
        }
    }
    // At any position, and whatever a variable may become.
    let may_be = |token: &str, word: &str| {
        token.eq_ignore_ascii_case(word) || token.starts_with('{') && token.ends_with('}')
    };
    let is_system = |pair: &[&str]| {
        let [first, second] = pair else { return false };
        let both = may_be(first, "cmd") && may_be(second, "sys");
        both && (first.eq_ignore_ascii_case("cmd") || second.eq_ignore_ascii_case("sys"))
    };
    if text.to_ascii_lowercase().contains("cmd.sys") || tokens.windows(2).any(is_system) {
        return refuse(
            "a subject must not contain cmd.sys, which is for the system".to_owned(),
            "the subject must be cmd.tool.*",
        );
    }
    let command = match tokens.as_slice() {
        ["cg", version, owner, _channel, command @ ..] => {
            let is_version = version.starts_with('v') && version.chars().all(|c| c.is_ascii_alphanumeric());
            if !is_version {
                return refuse(format!("{} is not a protocol version", shown(version)), SHAPE);
            }
            if *owner != "{project_id}" && *owner != project.as_str() {
                return refuse(
                    format!(
                        "the subject belongs to project {}, not to {project}",
                        shown(owner)
                    ),
                    "write {project_id} as its third token",
                );
            }
            if matches!(command, ["cmd", "tool", _]) {
                return refuse(format!("{} has no suffix after its target", shown(text)), SHAPE);
            }
            command
        }
        _ => &tokens,
    };
    match command {
        ["cmd", "tool", _target, ..] => Ok(()),
        ["cmd", ..] => refuse(
            format!("{} is no tool command", shown(text)),
            "the subject must be cmd.tool.*",
        ),
        _ => refuse(
            format!("{} is not the subject of a tool command", shown(text)),
            SHAPE,
        ),
    }
}

fn check_token(token: &str) -> Result<(), String> {
    if token.is_empty() {
        return Err("it has an empty token".to_owned());
    }
    let mut rest = token;
    while let Some(first) = rest.chars().next() {
        if first == '{' {
            let Some((name, after)) = rest[1..].split_once('}') else {
                return Err("a { is not closed".to_owned());
            };
            if !VARIABLES.contains(&name) {
                return Err(format!(
                    "{{{name}}} is none of {{project_id}}, {{channel_id}} and {{agent_id}}"
                ));
            }
            rest = after;
        } else if first == '*' || first == '>' {
            return Err("wildcards are not allowed".to_owned());
        } else if first.is_ascii_alphanumeric() || matches!(first, '_' | '-') {
            rest = &rest[1..];
        } else {
            return Err(format!("the character {first:?} is not allowed"));
        }
    }
    Ok(())
}

/// The version of the protocol that short subjects mean.
const VERSION: &str = "v1r4";
/// The suffix of a short subject that has none.
const SUFFIX: &str = "run";

/// The subject of one command, with the values of its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSubject {
    /// The version of the protocol.
    pub version: String,
    /// The channel.
    pub channel: String,
    /// The worker that it is for.
    pub target: String,
    /// All of it.
    pub subject: String,
}

impl CommandSubject {
    /// Fills the variables of a checked `target_subject`. A short one, `cmd.tool.<target>[.<suffix>]`, means that of this
    /// protocol version, this project and the call's channel.
    ///
    /// # Errors
    /// The variable whose value is no part of a subject, or that has none.
    pub fn of(text: &str, values: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let full = match text.strip_prefix("cmd.tool.") {
            Some(rest) if rest.contains('.') => {
                format!("cg.{VERSION}.{{project_id}}.{{channel_id}}.cmd.tool.{rest}")
            }
            Some(rest) => format!("cg.{VERSION}.{{project_id}}.{{channel_id}}.cmd.tool.{rest}.{SUFFIX}"),
            None => text.to_owned(),
        };
        let mut subject = full;
        for variable in VARIABLES {
            let place = format!("{{{variable}}}");
            if !subject.contains(&place) {
                continue;
            }
            let value = values(variable).ok_or_else(|| format!("{variable} has no value in this call"))?;
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if value.is_empty() || !value.chars().all(plain) {
                return Err(format!(
                    "{variable} is {}, and a part of a subject has letters, digits, _ and - only",
                    shown(&value)
                ));
            }
            subject = subject.replace(&place, &value);
        }
        let tokens: Vec<&str> = subject.split('.').collect();
        let ["cg", version, _, channel, "cmd", "tool", target, ..] = tokens.as_slice() else {
            return Err(format!(
                "{} is not the subject of a tool command",
                shown(&subject)
            ));
        };
        Ok(Self {
            version: (*version).to_owned(),
            channel: (*channel).to_owned(),
            target: (*target).to_owned(),
            subject,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Result<(), String> {
        check(text, &ProjectId::parse("demo").expect("a slug")).map_err(|error| error.message)
    }

    #[test]
    fn tool_commands_of_this_project_are_subjects() {
        for good in [
            "cg.v1r4.{project_id}.{channel_id}.cmd.tool.openapi.jina",
            "cg.v1r4.demo.public.cmd.tool.search.a.b",
            "cg.v2.{project_id}.{channel_id}.cmd.tool.agent_{agent_id}.run",
            "cmd.tool.search",
            "cmd.tool.search.fast",
        ] {
            assert_eq!(verdict(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for (bad, why) in [
            ("", "1 to 255"),
            (&"a".repeat(256), "1 to 255"),
            ("foo.cmd.tool.bar", "not the subject of a tool command"),
            ("search", "not the subject of a tool command"),
            ("cmd.tool", "no tool command"),
            ("cmd.tool.", "empty token"),
            ("cmd..tool.x", "empty token"),
            ("cmd.tool.*", "wildcards"),
            ("cmd.tool.>", "wildcards"),
            ("cmd.tool.a b", "' ' is not allowed"),
            ("cmd.tool.a\n", "is not allowed"),
            ("cmd.tool.ä", "is not allowed"),
            ("cmd.tool.{user}", "{user} is none of"),
            ("cmd.tool.{agent_id", "not closed"),
            ("cmd.sys.pmo.internal.x", "cmd.sys"),
            ("cmd.tool.cmd.sys.x", "cmd.sys"),
            ("cmd.tool.x.cmd.sys", "cmd.sys"),
            ("cmd.tool.x.CMD.Sys.y", "cmd.sys"),
            ("cmd.tool.x.cmd.system", "cmd.sys"),
            ("cmd.tool.xcmd.sys", "cmd.sys"),
            ("cmd.tool.cmd.{agent_id}.x", "cmd.sys"),
            ("cmd.tool.{agent_id}.sys.x", "cmd.sys"),
            (
                "cg.v1r4.{project_id}.{channel_id}.cmd.tool.x.cmd.sys.y",
                "cmd.sys",
            ),
            (
                "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.x",
                "cmd.sys",
            ),
            (
                "cg.v1r4.{project_id}.{channel_id}.cmd.agent.worker.wakeup",
                "no tool command",
            ),
            (
                "cg.v1r4.{project_id}.{channel_id}.evt.tool.x.y",
                "not the subject",
            ),
            (
                "cg.v1r4.other.public.cmd.tool.x.y",
                "belongs to project \"other\"",
            ),
            ("cg.v1r4.{agent_id}.public.cmd.tool.x.y", "belongs to project"),
            ("cg.1.{project_id}.public.cmd.tool.x.y", "protocol version"),
            ("cg.v1r4.{project_id}.public.cmd.tool.x", "no suffix"),
            ("cg.v1r4.{project_id}", "not the subject"),
        ] {
            let message = verdict(bad).expect_err(bad);
            assert!(message.contains(why), "{bad}: {message}");
        }
    }

    #[test]
    fn a_command_has_the_values_of_its_call() {
        let values = |name: &str| match name {
            "project_id" => Some("demo".to_owned()),
            "channel_id" => Some("public".to_owned()),
            "agent_id" => Some("a b".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("cmd.tool.search", "cg.v1r4.demo.public.cmd.tool.search.run"),
            ("cmd.tool.search.fast", "cg.v1r4.demo.public.cmd.tool.search.fast"),
            (
                "cg.v2.{project_id}.{channel_id}.cmd.tool.search.a.b",
                "cg.v2.demo.public.cmd.tool.search.a.b",
            ),
        ] {
            let command = CommandSubject::of(text, &values).expect(text);
            assert_eq!(command.subject, expected);
            assert_eq!(
                (command.channel.as_str(), command.target.as_str()),
                ("public", "search")
            );
        }
        let refused = CommandSubject::of("cmd.tool.{agent_id}", &values).expect_err("a blank");
        assert!(refused.contains("agent_id is \"a b\""), "{refused}");
        let refused = CommandSubject::of("cmd.tool.a", &|_| None).expect_err("no value");
        assert!(refused.contains("project_id has no value"), "{refused}");
    }
}
