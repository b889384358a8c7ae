//! The types of a condition's parts, and which operators and functions take which.

use cel::common::ast::operators as op;

/// A type. There are no maps, bytes, nulls and unsigned numbers in conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Double,
    String,
    Time,
    Duration,
}

impl Kind {
    /// The type as CEL calls it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Double => "double",
            Self::String => "string",
            Self::Time => "timestamp",
            Self::Duration => "duration",
        }
    }
}

/// The type of an operator's or a function's result; `None` when it does not take these operands. The target of a
/// method is the first operand. `&&`, `||`, `?:` and `in` are decided where their operands are.
pub(super) fn result(function: &str, operands: &[Kind]) -> Option<Kind> {
    use Kind::{Bool, Double, Duration, Int, String, Time};
    let kind = match (function, operands) {
        (op::LOGICAL_AND | op::LOGICAL_OR, [Bool, Bool]) | (op::LOGICAL_NOT, [Bool]) => Bool,
        (op::EQUALS | op::NOT_EQUALS, [a, b]) if a == b => Bool,
        (op::LESS | op::LESS_EQUALS | op::GREATER | op::GREATER_EQUALS, [a, b]) if a == b && *a != Bool => {
            Bool
        }
        (op::ADD, [a @ (Int | Double | String | Duration), b]) if a == b => *a,
        (op::ADD, [Time, Duration] | [Duration, Time]) | (op::SUBSTRACT, [Time, Duration]) => Time,
        (op::SUBSTRACT, [a @ (Int | Double | Duration), b]) if a == b => *a,
        (op::SUBSTRACT, [Time, Time]) => Duration,
        (op::MULTIPLY | op::DIVIDE, [a @ (Int | Double), b]) if a == b => *a,
        (op::MODULO, [Int, Int]) => Int,
        (op::NEGATE, [a @ (Int | Double)]) => *a,
        ("startsWith" | "endsWith" | "contains", [String, String]) => Bool,
        ("size", [String]) => Int,
        ("timestamp", [String]) => Time,
        ("duration", [String]) => Duration,
        ("int", [Double | Int | Time]) => Int,
        ("double", [Double | Int]) => Double,
        (get, [Time] | [Time, String]) if is_part_of_time(get) => Int,
        ("getHours" | "getMinutes" | "getSeconds" | "getMilliseconds", [Duration]) => Int,
        _ => return None,
    };
    Some(kind)
}

/// Functions that are called on a value; the others are called with the value as an argument. `size` is both.
pub(super) fn is_method(function: &str) -> bool {
    matches!(function, "startsWith" | "endsWith" | "contains" | "size") || is_part_of_time(function)
}

/// Functions that are called with the value as an argument.
pub(super) fn is_function(function: &str) -> bool {
    matches!(function, "size" | "timestamp" | "duration" | "int" | "double")
}

/// The parts of a time, each with an optional zone.
pub(super) fn is_part_of_time(function: &str) -> bool {
    matches!(
        function,
        "getFullYear"
            | "getMonth"
            | "getDate"
            | "getDayOfMonth"
            | "getDayOfWeek"
            | "getDayOfYear"
            | "getHours"
            | "getMinutes"
            | "getSeconds"
            | "getMilliseconds"
    )
}

/// An operator as it is written; `None` for functions.
pub(super) fn operator(function: &str) -> Option<&'static str> {
    Some(match function {
        op::LOGICAL_AND => "&&",
        op::LOGICAL_OR => "||",
        op::LOGICAL_NOT => "!",
        op::EQUALS => "==",
        op::NOT_EQUALS => "!=",
        op::LESS => "<",
        op::LESS_EQUALS => "<=",
        op::GREATER => ">",
        op::GREATER_EQUALS => ">=",
        op::ADD => "+",
        op::SUBSTRACT | op::NEGATE => "-",
        op::MULTIPLY => "*",
        op::DIVIDE => "/",
        op::MODULO => "%",
        op::IN => "in",
        op::CONDITIONAL => "?:",
        _ => return None,
    })
}
