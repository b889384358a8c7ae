//! Texts made to exhaust or confuse the reader. Each is refused with a clear fault, fast enough for a request.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Far above what any of these needs, far below what an unbounded reader would need.
const PATIENCE: Duration = Duration::from_secs(10);

fn refused(format: TextFormat, text: &[u8], why: &str) {
    let start = Instant::now();
    let faults = upload_as(format, text).expect_err("it must be refused");
    assert!(start.elapsed() < PATIENCE, "{why}: {:?}", start.elapsed());
    assert!(
        faults.iter().any(|fault| fault.message.contains(why)),
        "{why}: {}",
        shown(&faults)
    );
}

#[rstest]
#[case::flow_maps("{a: ".repeat(100_000), "64 levels")]
#[case::flow_lists("[".repeat(100_000), "64 levels")]
#[case::closed_lists(format!("{}{}", "[".repeat(1_000), "]".repeat(1_000)), "64 levels")]
#[case::compact_lists("- ".repeat(100_000), "64 levels")]
#[case::explicit_keys("? ".repeat(100_000), "64 levels")]
#[case::indented((0..1_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>(), "64 levels")]
#[case::values(format!("[{}]", "1,".repeat(60_000)), "too large")]
#[case::many_aliases(format!("a: &a 1\nb: [{}]", "*a,".repeat(2_000)), "more than 1000 aliases")]
#[case::self_alias("a: &a [*a]".to_owned(), "inside the value")]
#[case::deep_aliases(deep_aliases(), "64 levels")]
#[case::billion_laughs(laughs(10, "lol"), "too large")]
#[case::half_a_gigabyte(laughs(3, &"x".repeat(500_000)), "too large")]
#[case::merged_maps(merges(), "too large")]
#[case::too_long("a".repeat((1 << 20) + 1), "larger than 1 MiB")]
fn yaml_bombs(#[case] text: String, #[case] why: &str) {
    refused(TextFormat::Yaml, text.as_bytes(), why);
}

fn laughs(levels: usize, seed: &str) -> String {
    let mut text = format!("l0: &l0 \"{seed}\"\n");
    for level in 1..levels {
        let below = format!("*l{},", level - 1).repeat(10);
        text.push_str(&format!("l{level}: &l{level} [{below}]\n"));
    }
    text
}

fn deep_aliases() -> String {
    let mut text = "a0: &a0 [1]\n".to_owned();
    for level in 1..900 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    text
}

fn merges() -> String {
    let big = (0..200)
        .map(|key| format!("k{key}: [{}]", "1,".repeat(100)))
        .collect::<Vec<_>>()
        .join(", ");
    let mut text = format!("a: &a {{{big}}}\n");
    for level in 0..100 {
        text.push_str(&format!("b{level}: {{<<: *a}}\n"));
    }
    text
}

#[rstest]
#[case::lists("[".repeat(100_000), "64 levels")]
#[case::maps("{\"a\":".repeat(100_000), "64 levels")]
#[case::values(format!("[{}1]", "1,".repeat(60_000)), "too large")]
#[case::comments("# a comment".to_owned(), "a value is expected")]
#[case::trailing("{} {}".to_owned(), "something follows")]
#[case::empty(String::new(), "no tool")]
fn json_bombs(#[case] text: String, #[case] why: &str) {
    refused(TextFormat::Json, text.as_bytes(), why);
}

#[test]
fn wide_texts_are_read_in_linear_time() {
    let one_line = format!("[{}]", "{\"name\":\"a\"},".repeat(12_000).trim_end_matches(','));
    refused(TextFormat::Json, one_line.as_bytes(), "duplicate tool");
    refused(TextFormat::Yaml, one_line.as_bytes(), "duplicate tool");
    let keys = (0..20_000).map(|key| format!("k{key}: 1\n")).collect::<String>();
    refused(TextFormat::Yaml, keys.as_bytes(), "unknown key");
}

#[test]
fn the_list_of_faults_is_bounded() {
    let faults = errors(&(0..5_000).map(|key| format!("k{key}: 1\n")).collect::<String>());
    assert!(faults.len() <= 202, "{}", faults.len());
    assert!(shown(&faults).contains("more faults are not listed"));
}

#[test]
fn what_is_not_utf_8_is_reported_with_its_place() {
    for (bytes, place) in [
        (b"name: a\ndescription: \xff".as_slice(), "2:14 "),
        (b"\xfe\xff\0n".as_slice(), "1:1 "),
        (b"\x80".as_slice(), "1:1 "),
    ] {
        for format in [TextFormat::Yaml, TextFormat::Json] {
            let faults = upload_as(format, bytes).expect_err("no UTF-8");
            assert_eq!(
                shown(&faults),
                format!("{place}the text is not UTF-8 (save it as UTF-8)")
            );
        }
    }
}

#[test]
fn large_schemas_are_refused() {
    let head = "name: a\ndescription: d\ntarget_subject: cmd.tool.a\nparameters: ";
    let wide = (0..3_000)
        .map(|key| format!("k{key}: {{}}"))
        .collect::<Vec<_>>()
        .join(", ");
    let patterns = (0..200)
        .map(|key| format!("k{key}: {{pattern: x}}"))
        .collect::<Vec<_>>()
        .join(", ");
    let deep = format!("{}{}", "{properties: {a: ".repeat(20) + "{}", "}}".repeat(20));
    for (schema, why) in [
        (
            format!("{{properties: {{{wide}}}, anyOf: [{}]}}", "{},".repeat(3_000)),
            "too large",
        ),
        (
            format!("{{properties: {{{patterns}}}}}"),
            "more than 100 patterns",
        ),
        (deep, "too large"),
        (
            "{properties: {a: {pattern: '((a{1,500}){1,500}){1,500}'}}}".to_owned(),
            "cannot be compiled",
        ),
    ] {
        refused(TextFormat::Yaml, format!("{head}{schema}").as_bytes(), why);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = upload_as(TextFormat::Yaml, &bytes);
        let _ = upload_as(TextFormat::Json, &bytes);
    }

    #[test]
    fn no_text_that_looks_like_yaml_makes_it_panic(
        text in "(name|tool|type|group|options|parameters|properties|a|jina|\\*a|&a |<<|!!int|!x|[:\\-?{}\\[\\],#|>'\"%@ \\n\\t]|: |\n|\n  |\n- |1|~|\\PC){0,40}"
    ) {
        let _ = upload_as(TextFormat::Yaml, &text);
        let _ = upload_as(TextFormat::Json, &text);
    }
}
