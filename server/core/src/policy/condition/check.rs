//! Refuses what is outside the language of conditions, gives every part a type, and names every fault with its place.

use cel::common::ast::{CallExpr, Expr, LiteralValue, SelectExpr, SourceInfo, operators as op};
use cel::common::types::{CelInt, CelString};
use cel::{Context, IdedExpr, Value};
use toolgate_api::Diagnostic;

use super::types::{self, Kind};
use super::variables::{NO_EPOCH, VARIABLES};
use super::{ENVIRONMENT, shorten};

/// Operators, names and values of one condition at most.
const MAX_NODES: usize = 300;
/// Operators within operators at most: evaluating takes stack for each. `&&` and `||` side by side count little.
const MAX_DEPTH: usize = 16;
/// Items of a list at most.
const MAX_ITEMS: usize = 100;

/// Checks an expression; what comes back has each variable as one name.
pub(super) fn check(
    mut expression: IdedExpr,
    source: &str,
    positions: &SourceInfo,
) -> Result<IdedExpr, Vec<Diagnostic>> {
    let mut checker = Checker {
        source,
        positions,
        nodes: 0,
        depth: 0,
        faults: Vec::new(),
    };
    let kind = checker.kind(&mut expression);
    if let Some(kind) = kind
        && kind != Kind::Bool
    {
        let message = format!("the condition is a {}, not true or false", kind.word());
        checker.fault(&expression, message, "compare it with something");
    }
    if checker.faults.is_empty() {
        Ok(expression)
    } else {
        Err(checker.faults)
    }
}

struct Checker<'s> {
    source: &'s str,
    positions: &'s SourceInfo,
    nodes: usize,
    depth: usize,
    faults: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// The type of a part; `None` when a fault in it was reported.
    fn kind(&mut self, part: &mut IdedExpr) -> Option<Kind> {
        if self.depth == MAX_DEPTH {
            let message = format!("operators are nested deeper than {MAX_DEPTH}");
            return self.fault(part, message, "split the condition over several groups");
        }
        self.depth += 1;
        let kind = self.kind_of(part);
        self.depth -= 1;
        kind
    }

    fn kind_of(&mut self, part: &mut IdedExpr) -> Option<Kind> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            if self.nodes == MAX_NODES + 1 {
                let message = format!("the condition has more than {MAX_NODES} operators, names and values");
                self.fault(part, message, "split it over several groups");
            }
            return None;
        }
        match &mut part.expr {
            Expr::Literal(literal) => {
                let kind = match literal {
                    LiteralValue::Boolean(_) => Kind::Bool,
                    LiteralValue::Int(_) => Kind::Int,
                    LiteralValue::Double(_) => Kind::Double,
                    LiteralValue::String(_) => Kind::String,
                    LiteralValue::UInt(_) | LiteralValue::Bytes(_) | LiteralValue::Null => {
                        return self.fault(
                            part,
                            "null, bytes and unsigned numbers do not occur in conditions".to_owned(),
                            "use a string or a plain number",
                        );
                    }
                };
                Some(kind)
            }
            Expr::Ident(name) => {
                let name = name.clone();
                self.variable(part, name)
            }
            Expr::Select(select) => match qualified(select) {
                Some((name, false)) => self.variable(part, name),
                Some((name, true)) => self.presence(part, &name),
                None => self.fault(
                    part,
                    "only variables have fields".to_owned(),
                    "write for example context.agent_id",
                ),
            },
            Expr::Call(_) => self.call(part),
            Expr::Comprehension(_) => self.fault(
                part,
                "all, exists, exists_one, map and filter are not part of conditions".to_owned(),
                "compare with `in`, for example context.agent_id in ['a', 'b']",
            ),
            Expr::List(_) => self.fault(
                part,
                "a list may only stand to the right of `in`".to_owned(),
                "write for example context.agent_id in ['a', 'b']",
            ),
            Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => self.fault(
                part,
                "maps and messages do not occur in conditions".to_owned(),
                "use the variables now, load, context and principal",
            ),
        }
    }

    /// A variable, turned into one name.
    fn variable(&mut self, part: &mut IdedExpr, name: String) -> Option<Kind> {
        let Some(&(_, kind)) = VARIABLES.iter().find(|(known, _)| *known == name) else {
            let subject = name.split('.').next().unwrap_or_default();
            let fields: Vec<&str> = VARIABLES
                .iter()
                .filter_map(|(known, _)| known.strip_prefix(subject)?.strip_prefix('.'))
                .collect();
            let hint = if fields.is_empty() {
                "the variables are now, load, context and principal".to_owned()
            } else {
                format!("{subject} has {}", fields.join(", "))
            };
            return self.fault(part, format!("there is no variable {:?}", shorten(&name)), hint);
        };
        part.expr = Expr::Ident(name);
        Some(kind)
    }

    /// `has(context.x)`, turned into a comparison with the value for "not given".
    fn presence(&mut self, part: &mut IdedExpr, name: &str) -> Option<Kind> {
        if !name.starts_with("context.") {
            return self.fault(
                part,
                format!("has({}) asks for something that is always there", shorten(name)),
                "only the fields of context may be absent",
            );
        }
        let id = part.id;
        let mut variable = IdedExpr {
            id,
            expr: Expr::default(),
        };
        let absent = match self.variable(&mut variable, name.to_owned())? {
            Kind::Int => LiteralValue::Int(CelInt::from(NO_EPOCH)),
            _ => LiteralValue::String(CelString::from(String::new())),
        };
        let absent = IdedExpr {
            id,
            expr: Expr::Literal(absent),
        };
        part.expr = Expr::Call(CallExpr {
            func_name: op::NOT_EQUALS.to_owned(),
            target: None,
            args: vec![variable, absent],
        });
        Some(Kind::Bool)
    }

    fn call(&mut self, part: &mut IdedExpr) -> Option<Kind> {
        let id = part.id;
        let Expr::Call(call) = &mut part.expr else {
            return None;
        };
        let function = call.func_name.clone();
        let known = types::operator(&function).is_some()
            || if call.target.is_some() {
                types::is_method(&function)
            } else {
                types::is_function(&function)
            };
        if !known {
            let hint = "time: getHours, getMinutes, getDayOfWeek, getDate, getMonth, getFullYear (with a zone), timestamp, \
                        duration; text: startsWith, endsWith, contains, size; numbers: int, double";
            return self.fault_at(
                id,
                format!("there is no function {:?} in conditions", shorten(&function)),
                hint,
            );
        }
        if function == op::IN {
            return self.membership(id, &mut call.args);
        }
        let mut operands = Vec::with_capacity(call.args.len() + 1);
        let mut whole = true;
        for operand in call.target.as_deref_mut().into_iter().chain(call.args.iter_mut()) {
            match self.kind(operand) {
                Some(kind) => operands.push(kind),
                None => whole = false,
            }
        }
        if !whole {
            return None;
        }
        if function == op::CONDITIONAL {
            return match operands[..] {
                [Kind::Bool, yes, no] if yes == no => Some(yes),
                _ => self.mismatch(id, &function, &operands),
            };
        }
        let Some(kind) = types::result(&function, &operands) else {
            return self.mismatch(id, &function, &operands);
        };
        // The texts of zones, times and durations are known now, so their faults are reported now.
        let texts = match &*function {
            "timestamp" | "duration" => true,
            get => types::is_part_of_time(get) && operands.len() == 2,
        };
        if texts && !call.args.iter().all(is_text) {
            return self.fault_at(
                id,
                format!("{function} takes a text in quotes here"),
                "write for example now.getHours('Europe/Berlin') or duration('30m')",
            );
        }
        if texts {
            return self.constant(part, kind);
        }
        Some(kind)
    }

    /// Evaluates a call whose text is known: a zone, a time or a duration that there is not.
    fn constant(&mut self, part: &mut IdedExpr, kind: Kind) -> Option<Kind> {
        let mut tried = part.clone();
        if let Expr::Call(call) = &mut tried.expr
            && let Some(target) = &mut call.target
        {
            // Any time will do to try a zone.
            **target = IdedExpr {
                id: part.id,
                expr: Expr::Call(CallExpr {
                    func_name: "timestamp".to_owned(),
                    target: None,
                    args: vec![IdedExpr {
                        id: part.id,
                        expr: Expr::Literal(LiteralValue::String(CelString::from(
                            "2026-01-01T00:00:00Z".to_owned(),
                        ))),
                    }],
                }),
            };
        }
        let context = Context::with_env(std::sync::Arc::clone(&ENVIRONMENT));
        match Value::resolve_val(&tried, &context) {
            Ok(_) => Some(kind),
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.split_once("': ").map_or(&*reason, |(_, reason)| reason);
                self.fault(
                    part,
                    shorten(reason),
                    "zones are names like 'Europe/Berlin' or offsets like '+02:00', times are RFC 3339, durations are \
                     like '1h30m'",
                )
            }
        }
    }

    /// `x in [a, b]`: every item is of the type of `x`.
    fn membership(&mut self, id: u64, operands: &mut [IdedExpr]) -> Option<Kind> {
        let [item, list] = operands else { return None };
        let kind = self.kind(item);
        let Expr::List(items) = &mut list.expr else {
            return self.fault_at(
                id,
                "`in` takes a list".to_owned(),
                "write for example context.agent_id in ['a', 'b']",
            );
        };
        if items.elements.len() > MAX_ITEMS {
            let message = format!("the list has more than {MAX_ITEMS} items");
            return self.fault_at(
                id,
                message,
                "name a prefix with startsWith, or use several groups",
            );
        }
        let mut whole = kind.is_some();
        for member in &mut items.elements {
            match (self.kind(member), kind) {
                (Some(found), Some(wanted)) if found != wanted => {
                    let message = format!("a {} is never equal to a {}", found.word(), wanted.word());
                    self.fault(
                        member,
                        message,
                        "give every item the type of the operand before `in`",
                    );
                    whole = false;
                }
                (Some(_), _) => {}
                (None, _) => whole = false,
            }
        }
        whole.then_some(Kind::Bool)
    }

    fn mismatch(&mut self, id: u64, function: &str, operands: &[Kind]) -> Option<Kind> {
        let words: Vec<&str> = operands.iter().map(|kind| kind.word()).collect();
        let name = types::operator(function).unwrap_or(function);
        self.fault_at(
            id,
            format!("{name} does not take ({})", words.join(", ")),
            "both sides must be of one type; int(...) and double(...) convert numbers",
        )
    }

    fn fault(&mut self, part: &IdedExpr, message: String, hint: impl Into<String>) -> Option<Kind> {
        self.fault_at(part.id, message, hint)
    }

    /// Reports a fault; always `None`, so that it can be returned.
    fn fault_at(&mut self, id: u64, message: String, hint: impl Into<String>) -> Option<Kind> {
        let offset = self.positions.offset_for(id).map_or(0, |(start, _)| start);
        let (line, column) = place(self.source, offset as usize);
        self.faults
            .push(Diagnostic::error(message).hint(hint).at(line, column));
        None
    }
}

/// `a.b` as text, and whether it is the operand of `has()`. Deeper paths and fields of values are none.
fn qualified(select: &SelectExpr) -> Option<(String, bool)> {
    match &select.operand.expr {
        Expr::Ident(subject) => Some((format!("{subject}.{}", select.field), select.test)),
        _ => None,
    }
}

fn is_text(part: &IdedExpr) -> bool {
    matches!(part.expr, Expr::Literal(LiteralValue::String(_)))
}

/// Line and column in characters, both from 1, of a place in bytes.
fn place(source: &str, offset: usize) -> (u32, u32) {
    let end = (0..=offset.min(source.len()))
        .rev()
        .find(|&end| source.is_char_boundary(end))
        .unwrap_or(0);
    let before = &source[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}
