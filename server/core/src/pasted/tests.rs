//! Pasted texts and the definitions that they become.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Draft, Pasted, Taken, read};
use crate::definition::{ExecutorSet, TextFormat, UploadContext, parse_upload};
use crate::ids::ProjectId;

const NOTHING: Taken<'static> = Taken {
    tool: &|_| false,
    secret: &|_| false,
};

fn draft(text: &str) -> Draft {
    match read(text, NOTHING) {
        Ok(Pasted::Tool(draft)) => *draft,
        other => panic!("{text}: {other:?}"),
    }
}

/// The options of the request, without what all have.
fn http(draft: &Draft) -> Value {
    draft.definition["options"]["http"].clone()
}

fn notes(draft: &Draft) -> String {
    draft
        .notes
        .iter()
        .map(|note| note.message.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What an upload of the definition would say.
fn faults(definition: &Value) -> Option<String> {
    let project = ProjectId::parse("demo").expect("a slug");
    let context = UploadContext {
        project: &project,
        env_allowed: &|_| false,
        existing_services: &|_| None,
        executes: ExecutorSet::BUILT_IN,
        subjects: None,
    };
    parse_upload(definition.to_string().as_bytes(), TextFormat::Json, &context)
        .err()
        .map(|faults| format!("{faults:#?}"))
}

#[test]
fn a_text_becomes_a_request() {
    let table = [
        (
            "https://api.example.com/v1/users/42/posts?limit=10&draft=false&q=a%20b",
            json!({"base_url": "https://api.example.com", "path": "/v1/users/{user_id}/posts", "method": "GET",
                "query": {"limit": "limit", "draft": "draft", "q": "q"}}),
            json!({"user_id": 42, "limit": 10, "draft": false, "q": "a b"}),
        ),
        (
            "$ curl -sSL 'https://api.example.com/items/{id}/:part' --compressed",
            json!({"base_url": "https://api.example.com", "path": "/items/{id}/{part}", "method": "GET"}),
            json!({}),
        ),
        (
            "curl https://api.example.com:8443/pets -d '{\"name\": \"Rex\", \"age\": 3, \"tags\": [\"a\"]}' \\\n -H 'Content-Type: application/json' -H 'X-Version: 2'",
            json!({"base_url": "https://api.example.com:8443", "path": "/pets", "method": "POST",
                "headers": {"X-Version": "2"}, "body": {"name": "name", "age": "age", "tags": "tags"}}),
            json!({"name": "Rex", "age": 3, "tags": ["a"]}),
        ),
        (
            "curl --json $'{\"text\": \"it\\'s\"}' -X PUT --url localhost:8080/notes/7",
            json!({"base_url": "http://localhost:8080", "path": "/notes/{note_id}", "method": "PUT",
                "headers": {"Accept": "application/json"}, "body": {"text": "text"}}),
            json!({"note_id": 7, "text": "it's"}),
        ),
        (
            "curl -G https://example.com/search --data-urlencode 'q=a&b' -d page=2",
            json!({"base_url": "https://example.com", "path": "/search", "method": "GET",
                "query": {"q": "q", "page": "page"}}),
            json!({"q": "a&b", "page": 2}),
        ),
        (
            "curl https://example.com/form --data-raw 'a=1&b=x+y' -m 2.5",
            json!({"base_url": "https://example.com", "path": "/form", "method": "POST",
                "headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": {"a": "a", "b": "b"}}),
            json!({"a": 1, "b": "x y"}),
        ),
        (
            "curl https://example.com/up/3fa85f64-5717-4562-b3fc-2c963f66afa6 -F photo=@cat.png -F title=Cat",
            json!({"base_url": "https://example.com", "path": "/up/{up_id}", "method": "POST",
                "request": {"parameters": [{"name": "up_id", "in": "path"}],
                    "body": {"content_type": "multipart/form-data", "properties": {"photo": "photo", "title": "title"},
                        "encoding": {"photo": {"file": true}}}}}),
            json!({"up_id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "title": "Cat"}),
        ),
        (
            "curl https://example.com/x?a=1 -H 'content-type: text/xml' -d '<a/>'",
            json!({"base_url": "https://example.com", "path": "/x", "method": "POST",
                "request": {"parameters": [{"name": "a", "in": "query", "argument": "a"}],
                    "body": {"content_type": "text/xml", "argument": "body"}}}),
            json!({"a": 1, "body": "<a/>"}),
        ),
        (
            "curl -I example.com",
            json!({"base_url": "https://example.com", "path": "/", "method": "HEAD"}),
            json!({}),
        ),
        (
            "https://example.com/a?id=1&id=2&filter[tag]=x",
            json!({"base_url": "https://example.com", "path": "/a", "method": "GET",
                "query": {"id": "id", "filter[tag]": "filter_tag"}}),
            json!({"id": [1, 2], "filter_tag": "x"}),
        ),
        (
            "curl https://example.com/users/7 -d '{\"user_id\": 8}'",
            json!({"base_url": "https://example.com", "path": "/users/{user_id}", "method": "POST",
                "body": {"user_id": "user_id_2"}}),
            json!({"user_id": 7, "user_id_2": 8}),
        ),
    ];
    for (text, request, arguments) in table {
        let draft = draft(text);
        assert_eq!(http(&draft), request, "{text}");
        assert_eq!(Value::Object(draft.arguments.clone()), arguments, "{text}");
        assert_eq!(faults(&draft.definition), None, "{text}");
    }
}

#[test]
fn credentials_leave_the_definition() {
    let bearer = json!({"scheme": "bearer", "env": "secret:EXAMPLE_TOKEN"});
    let basic = json!({"scheme": "basic", "env": "secret:EXAMPLE_PASSWORD"});
    let table = [
        (
            "curl https://api.example.com/a -H 'Authorization: Bearer s3cr3t-value'",
            bearer.clone(),
            "s3cr3t-value",
        ),
        (
            "curl https://api.example.com/a --oauth2-bearer s3cr3t-value",
            bearer,
            "s3cr3t-value",
        ),
        (
            "curl -us3cr3t-value: https://api.example.com/a",
            basic.clone(),
            "s3cr3t-value:",
        ),
        (
            "https://me:s3cr3t-value@api.example.com/a",
            basic.clone(),
            "me:s3cr3t-value",
        ),
        (
            "curl https://api.example.com/a -H 'Authorization: Basic bWU6czNjcjN0LXZhbHVl'",
            basic,
            "me:s3cr3t-value",
        ),
        (
            "curl https://api.example.com/a -H 'X-Api-Key: s3cr3t-value'",
            json!({"scheme": "header", "name": "X-Api-Key", "env": "secret:EXAMPLE_KEY"}),
            "s3cr3t-value",
        ),
        (
            "https://api.example.com/a?appid=s3cr3t-value&q=x",
            json!({"scheme": "query", "name": "appid", "env": "secret:EXAMPLE_KEY"}),
            "s3cr3t-value",
        ),
        (
            "curl https://api.example.com/a -b 'sid=s3cr3t-value'",
            json!({"scheme": "cookie", "name": "sid", "env": "secret:EXAMPLE_COOKIE"}),
            "s3cr3t-value",
        ),
        (
            "curl https://api.example.com/a -H 'Authorization: ApiKey s3cr3t-value'",
            json!({"scheme": "header", "name": "Authorization", "env": "secret:EXAMPLE_KEY"}),
            "ApiKey s3cr3t-value",
        ),
    ];
    for (text, auth, value) in table {
        let draft = draft(text);
        assert_eq!(http(&draft)["auth"], auth, "{text}");
        let [credential] = draft.credentials.as_slice() else {
            panic!("{text}: {:?}", draft.credentials)
        };
        assert_eq!(credential.value.as_deref(), Some(value), "{text}");
        let shown = format!("{draft:?}");
        assert!(!shown.contains("s3cr3t"), "{shown}");
        assert_eq!(faults(&draft.definition), None, "{text}");
    }
}

#[test]
fn further_credentials_are_injected_and_placeholders_are_not_stored() {
    let two = draft(
        "curl https://api.example.com/a -H 'Authorization: Bearer first-value' -H 'X-Api-Key: second-value' \
         --json '{\"password\": \"third-value\", \"name\": \"x\"}'",
    );
    let secrets: Vec<_> = two
        .credentials
        .iter()
        .map(|credential| credential.secret.as_str())
        .collect();
    assert_eq!(secrets, ["EXAMPLE_TOKEN", "EXAMPLE_KEY", "EXAMPLE_KEY_2"]);
    assert_eq!(
        two.definition["options"]["envs"],
        json!({"X_Api_Key": "secret:EXAMPLE_KEY", "password": "secret:EXAMPLE_KEY_2"})
    );
    assert_eq!(two.definition["parameters"]["required"], json!(["name"]));
    assert!(!two.definition.to_string().contains("-value"));
    assert_eq!(faults(&two.definition), None);
    for placeholder in ["$TOKEN", "${TOKEN}", "<token>", "YOUR_API_KEY", "xxxxx"] {
        let draft = draft(&format!(
            "curl https://example.com/ -H \"Authorization: Bearer {placeholder}\""
        ));
        assert_eq!(draft.credentials[0].value, None, "{placeholder}");
    }
    let in_address = draft("https://example.com/a?api_key=first-value&token=second-value");
    assert!(notes(&in_address).contains("only one may be in an address"));
    assert!(!in_address.definition.to_string().contains("second-value"));
}

#[test]
fn what_is_not_read_is_named() {
    let draft = draft(
        "curl -k --foo --proxy http://p:1 https://example.com/a https://example.com/b -H 'User-Agent: x' -H 'Host: y' \
         -d @file.json | jq .",
    );
    let notes = notes(&draft);
    for part in [
        "certificates are always verified",
        "the option --foo is not known",
        "the option --proxy was left out",
        "only the first address was read",
        "User-Agent, Host",
        "no file is read",
        "what follows `|`",
    ] {
        assert!(notes.contains(part), "{part} in\n{notes}");
    }
    assert_eq!(faults(&draft.definition), None);
}

#[test]
fn the_path_names_arguments_as_they_are_declared() {
    let long = "a".repeat(60);
    for path in [
        "s/0".to_owned(),
        format!("{long}/1/{long}/2"),
        "{a}/{a}/:a".to_owned(),
    ] {
        let draft = draft(&format!("https://example.com/{path}"));
        assert_eq!(faults(&draft.definition), None, "{path}");
    }
}

#[test]
fn headers_of_one_name_are_one_list() {
    let draft = draft(
        "curl https://example.com/ -H 'S: !' -H 's: A' -H 'Cookie: a=1' -H 'cookie: b=2' -H 'X-Api-Key: k1' -H 'x-api-key: k2'",
    );
    assert_eq!(faults(&draft.definition), None);
    assert_eq!(http(&draft)["headers"], json!({"S": "!, A"}));
    let values: Vec<_> = draft
        .credentials
        .iter()
        .filter_map(|one| one.value.as_deref())
        .collect();
    assert_eq!(values, ["a=1; b=2", "k1, k2"]);
}

#[test]
fn an_address_of_a_description_is_imported() {
    for url in [
        "https://example.com/openapi.json",
        "https://example.com/v3/api-docs",
        "https://example.com/a/swagger.yaml?x=1",
    ] {
        assert!(
            matches!(read(url, NOTHING), Ok(Pasted::Description(found)) if found == url),
            "{url}"
        );
    }
    assert!(matches!(
        read("https://example.com/data.json", NOTHING),
        Ok(Pasted::Tool(_))
    ));
}

#[test]
fn what_is_no_request_is_refused_with_a_hint() {
    for text in [
        "",
        "   ",
        "name: tool\ntype: static",
        "ftp://example.com/a",
        "curl",
        "curl -X",
        "curl 'https://example.com",
        "curl -X BREW https://example.com",
        "curl ^\"https://example.com^\"",
        &"x".repeat(70_000),
    ] {
        assert!(read(text, NOTHING).is_err(), "{text}");
    }
}

#[test]
fn names_that_are_taken_are_left_alone() {
    let taken = Taken {
        tool: &|name| name == "get_users",
        secret: &|name| name == "EXAMPLE_TOKEN",
    };
    let text = "curl https://example.com/users --oauth2-bearer some-value";
    let Ok(Pasted::Tool(draft)) = read(text, taken) else {
        panic!("a tool")
    };
    assert_eq!(draft.definition["name"], "get_users_2");
    assert_eq!(draft.credentials[0].secret, "EXAMPLE_TOKEN_2");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_pasted_the_definition_is_one_that_an_upload_takes(
        host in "[a-z]{1,8}(\\.[a-z]{2,5}){1,2}(:[1-9][0-9]{1,3})?",
        path in proptest::collection::vec("[a-zA-Z0-9{}:%.~-]{1,20}", 0..5),
        query in proptest::collection::vec(("[a-zA-Z_\\[\\]-]{1,12}", "[ -~é]{0,12}"), 0..5),
        headers in proptest::collection::vec(("[A-Za-z][A-Za-z-]{0,14}", "[!-~]{1,20}"), 0..4),
        body in proptest::option::of(proptest::collection::btree_map("[a-zA-Z_ é-]{1,12}", "[ -~é]{0,12}", 0..5)),
        is_json in any::<bool>(),
    ) {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let encode = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        let url = format!("https://{host}/{}?{}", path.join("/"), query.join("&"));
        let mut command = format!("curl {}", quoted(&url));
        for (name, value) in &headers {
            command += &format!(" -H {}", quoted(&format!("{name}: {value}")));
        }
        if let Some(body) = &body {
            command += &if is_json {
                format!(" --json {}", quoted(&json!(body).to_string()))
            } else {
                body.iter().map(|(name, value)| format!(" --data-urlencode {}", quoted(&format!("{}={value}", encode(name))))).collect::<String>()
            };
        }
        if let Ok(Pasted::Tool(draft)) = read(&command, NOTHING) {
            prop_assert_eq!(faults(&draft.definition), None, "{}", command);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(?s)(curl )?.{0,200}") {
        let _either = read(&text, NOTHING);
    }

    #[test]
    fn options_are_read_together_or_apart(options in proptest::collection::vec(
        prop_oneof![Just("-s"), Just("-XPOST"), Just("-d a=1"), Just("--json {}"), Just("-u a:b"), Just("-F a=b"), Just("-G"), Just("-I"),
            Just("--no"), Just("-H x:y"), Just("-o"), Just("--"), Just("https://example.com/1")], 0..8)) {
        let _either = read(&format!("curl {}", options.join(" ")), NOTHING);
    }
}
