//! What conditions say, and what is refused before it is ever evaluated.

use proptest::prelude::*;
use rstest::rstest;
use toolgate_api::auth::PrincipalKind;

use super::*;

/// Friday, 17 October 2025, 16:30 in Berlin (14:30 UTC).
fn friday() -> DateTime<Utc> {
    "2025-10-17T14:30:00Z".parse().expect("a time")
}

fn context() -> CallContext {
    CallContext {
        channel_id: Some("support".to_owned()),
        agent_id: Some("prod-7".to_owned()),
        turn_epoch: Some(3),
        ..CallContext::default()
    }
}

fn holds(source: &str) -> Result<bool, String> {
    let context = context();
    let load = Load {
        calls_in_flight: 8,
        calls_per_minute: 120,
    };
    let evaluation = EvaluationContext {
        principal: Some((PrincipalKind::ServiceKey, "k-1")),
        ..EvaluationContext::at(friday()).load(load).context(Some(&context))
    };
    let condition = Condition::parse(source).unwrap_or_else(|faults| panic!("{source}: {faults:?}"));
    assert_eq!(condition.source(), source);
    condition.holds(&evaluation)
}

#[rstest]
#[case::constants("true", true)]
#[case::hours_in_utc("now.getHours() == 14 && now.getMinutes() == 30", true)]
#[case::hours_in_a_zone("now.getHours('Europe/Berlin') == 16", true)]
#[case::business_hours(
    "now.getHours('Europe/Berlin') >= 9 && now.getHours('Europe/Berlin') < 17 && now.getDayOfWeek('Europe/Berlin') in [1, 2, 3, 4, 5]",
    true
)]
#[case::an_offset("now.getHours('+05:30') == 20", true)]
#[case::sunday_is_0_and_friday_5("now.getDayOfWeek() == 5", true)]
#[case::january_is_0(
    "now.getMonth() == 9 && now.getDate() == 17 && now.getFullYear() == 2025",
    true
)]
#[case::a_time("now < timestamp('2026-01-01T00:00:00Z')", true)]
#[case::a_duration("now + duration('24h') > timestamp('2025-10-18T00:00:00Z')", true)]
#[case::between_times("(now - timestamp('2025-10-17T14:00:00Z')).getMinutes() == 30", true)]
#[case::load("load.calls_in_flight < 10 && load.calls_per_minute <= 100", false)]
#[case::arithmetic(
    "load.calls_in_flight * 2 + 4 - 1 == 19 && load.calls_in_flight % 3 == 2",
    true
)]
#[case::doubles(
    "double(load.calls_per_minute) / 60.0 == 2.0 && -1.5 < 0.0 && int(2.9) == 2",
    true
)]
#[case::context("context.channel_id == 'support'", true)]
#[case::text(
    "context.agent_id.startsWith('prod-') && context.agent_id.endsWith('7') && context.agent_id.contains('od')",
    true
)]
#[case::sizes("size(context.channel_id) == 7 && context.channel_id.size() == 7", true)]
#[case::text_is_joined("context.channel_id + '/' + context.agent_id == 'support/prod-7'", true)]
#[case::one_of("context.channel_id in ['sales', 'support']", true)]
#[case::none_of("!(context.channel_id in ['sales'])", true)]
#[case::what_is_not_given_is_empty("context.trace_id == ''", true)]
#[case::and_can_be_asked_for("has(context.agent_id) && !has(context.trace_id)", true)]
#[case::the_epoch("has(context.turn_epoch) && context.turn_epoch == 3", true)]
#[case::the_principal("principal.kind == 'service_key' && principal.id == 'k-1'", true)]
#[case::choice("(load.calls_in_flight > 5 ? 'busy' : 'idle') == 'busy'", true)]
#[case::or("false || context.channel_id != 'sales'", true)]
#[case::times_are_ordered("now >= timestamp('2025-10-17T14:30:00Z')", true)]
fn what_conditions_say(#[case] source: &str, #[case] expected: bool) {
    assert_eq!(holds(source), Ok(expected));
}

#[test]
fn nothing_is_known_of_a_request_that_says_nothing() {
    for source in [
        "context.agent_id == ''",
        "!has(context.turn_epoch)",
        "context.turn_epoch == -1",
        "principal.id == '' && principal.kind == ''",
        "load.calls_in_flight == 0",
    ] {
        let condition = Condition::parse(source).expect(source);
        assert_eq!(
            condition.holds(&EvaluationContext::at(friday())),
            Ok(true),
            "{source}"
        );
    }
}

#[test]
fn summer_time_is_the_zones_own() {
    let condition = Condition::parse("now.getHours('Europe/Berlin') == 9").expect("a condition");
    let at = |text: &str| condition.holds(&EvaluationContext::at(text.parse().expect("a time")));
    assert_eq!(at("2025-07-01T07:00:00Z"), Ok(true), "UTC+2");
    assert_eq!(at("2025-12-01T08:00:00Z"), Ok(true), "UTC+1");
    assert_eq!(at("2025-12-01T07:00:00Z"), Ok(false));
}

#[rstest]
#[case::nothing(" ", 1, 1, "empty")]
#[case::control_characters("context.agent_id == 'a\u{0}'", 1, 1, "control characters")]
#[case::syntax("now.getHours( >= 9", 1, 15, "Syntax error")]
#[case::a_second_line("true &&\n  nope", 2, 3, "no variable \"nope\"")]
#[case::places_count_characters("'äöü' == 'äöü' && nope", 1, 19, "no variable")]
#[case::no_result("load.calls_in_flight", 1, 5, "not true or false")]
#[case::unknown_field("context.agent == ''", 1, 8, "no variable \"context.agent\"")]
#[case::a_whole_context("context == ''", 1, 1, "no variable \"context\"")]
#[case::deeper("context.agent_id.x == ''", 1, 17, "only variables have fields")]
#[case::types("load.calls_in_flight < '9'", 1, 22, "< does not take (int, string)")]
#[case::int_and_double("load.calls_in_flight < 9.5", 1, 22, "(int, double)")]
#[case::unknown_function("context.agent_id.matches('a+')", 1, 25, "no function \"matches\"")]
#[case::a_function_that_is_a_method("startsWith('a', 'b')", 1, 11, "no function")]
#[case::loops("[1, 2].all(x, x > 0)", 1, 11, "not part of conditions")]
#[case::nested_loops("[1].map(x, [1].map(y, x * y)) == []", 1, 8, "not part of conditions")]
#[case::maps("{'a': 1}['a'] == 1", 1, 9, "no function")]
#[case::a_list_alone("[1] == [1]", 1, 1, "only stand to the right of `in`")]
#[case::a_mixed_list("load.calls_in_flight in [1, 'a']", 1, 29, "never equal")]
#[case::no_such_zone(
    "now.getHours('Europe/Berlim') == 1",
    1,
    13,
    "unknown time zone Europe/Berlim"
)]
#[case::a_zone_from_the_caller("now.getHours(context.agent_id) == 1", 1, 13, "takes a text in quotes")]
#[case::no_such_time("now > timestamp('2026-13-01T00:00:00Z')", 1, 16, "out of range")]
#[case::no_such_duration("now - duration('soon') > now", 1, 15, "")]
#[case::division_by_zero("1 / 0 == 1", 1, 1, "cannot be evaluated")]
#[case::always_there("has(principal.id)", 1, 4, "always there")]
#[case::null("context.agent_id == null", 1, 21, "null")]
fn what_is_refused(#[case] source: &str, #[case] line: u32, #[case] column: u32, #[case] message: &str) {
    let faults = Condition::parse(source).expect_err(source);
    let first = &faults[0];
    assert!(first.message.contains(message), "{source}: {faults:?}");
    assert_eq!(
        (first.line, first.column),
        (Some(line), Some(column)),
        "{source}: {faults:?}"
    );
}

#[test]
fn every_fault_is_reported_at_once() {
    let faults = Condition::parse("nope && context.no == '' && now < 3").expect_err("faults");
    assert_eq!(faults.len(), 3, "{faults:?}");
}

#[test]
fn what_fails_only_sometimes_closes_only_then() {
    let condition = Condition::parse("60 / load.calls_in_flight > 5").expect("a condition");
    let evaluation = EvaluationContext::at(friday());
    assert!(condition.holds(&evaluation).is_err());
    let load = Load {
        calls_in_flight: 3,
        calls_per_minute: 0,
    };
    assert_eq!(condition.holds(&evaluation.load(load)), Ok(true));
}

#[test]
fn size_and_depth_are_bounded() {
    let long = format!("'{}' == ''", "a".repeat(MAX_LENGTH));
    let wide = vec!["true"; 200].join("&&");
    let deep = format!("{}true{}", "(".repeat(400), ")".repeat(400));
    let negated = format!("{}true", "!".repeat(1_000));
    let nodes = vec!["1<2"; 170].join("||");
    for source in [long, deep, nodes] {
        let started = std::time::Instant::now();
        assert!(Condition::parse(&source).is_err(), "{source}");
        assert!(started.elapsed().as_secs() < 2, "{source}");
    }
    for source in [wide, negated] {
        // Long but harmless; whether it is taken is the parser's business.
        if let Ok(condition) = Condition::parse(&source) {
            assert_eq!(condition.holds(&EvaluationContext::at(friday())), Ok(true));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_breaks_the_parser(text in "\\PC{0,60}") {
        if let Err(faults) = Condition::parse(&text) {
            prop_assert!(!faults.is_empty());
            prop_assert!(faults.iter().all(|fault| fault.line.is_some() && fault.column.is_some()));
        }
    }

    #[test]
    fn nor_does_anything_that_looks_like_a_condition(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "now", "load", ".", "calls_in_flight", "context", "agent_id", "(", ")", "[", "]", "{", "}", "'a'", "1",
                "-", "9223372036854775807", "+", "*", "/", "%", "==", "<", "&&", "||", "!", "?", ":", "in", "has", ",",
                "getHours", "'UTC'", "duration", "'1h'", "timestamp", "size", "true", "1.5", "ä", "\n", "b'x'", "1u", "null",
            ]),
            0..16,
        ),
    ) {
        let text = parts.join(" ");
        if let Ok(condition) = Condition::parse(&text) {
            let _either = condition.holds(&EvaluationContext::at(friday()));
        }
    }
}
