//! Canonical YAML and differences.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_api::ErrorCode;
use toolgate_api::tools::AfterExecution;

use super::*;
use crate::definition::model::request::{
    HttpRequest, ParameterLocation, ParameterStyle, PartEncoding, RequestBody, RequestParameter,
};
use crate::definition::model::{
    Annotations, ArgOptions, AuthScheme, AuthStyle, Beyond, ConfigParam, HttpAuth, HttpBody, HttpBreaker,
    HttpCache, HttpOptions, HttpProbe, HttpResult, HttpRetry, JinaMode, JinaOptions, OAuthClient, Options,
    SchemaText, StaticError, StaticOptions,
};
use crate::definition::names::label_fault;
use crate::definition::schema::compile;
use crate::definition::{check_tool, diff, service_diff, service_to_yaml, to_yaml};
use crate::http_mapping::{Rest, Unmapped, jina};
use crate::text::scalar;

#[test]
fn the_canonical_form_is_readable_and_in_the_order_of_the_model() {
    let definition = tool(
        "options: {jina: {mode: Search, auth_env: JINA_API_KEY}, args: {fixed: {m: '5'}}}\nstate: s\n\
         group: []\ndescription: |\n  First line.\n  Second: line.\n\
         parameters: {properties: {query: {type: string}, m: {}}, type: object}\ntool_name: a\n",
    );
    assert_eq!(
        to_yaml(&definition),
        "name: a\ntype: openapi\ndescription: |\n  First line.\n  Second: line.\ngroup: []\nstate: s\nparameters:\n  \
         properties:\n    query:\n      type: string\n    m: {}\n  type: object\noptions:\n  args:\n    fixed:\n      \
         m: \"5\"\n  jina:\n    mode: search\n    auth_env: JINA_API_KEY\n"
    );
}

#[test]
fn differences_are_unified() {
    let before = tool("name: a\ndescription: d\ntarget_subject: cmd.tool.a\nstate: x");
    let after = ToolDefinition {
        state: Some("z".to_owned()),
        ..before.clone()
    };
    assert_eq!(diff(Some(&before), Some(&before)), "");
    assert_eq!(diff(None, None), "");
    let changed = diff(Some(&before), Some(&after));
    assert!(changed.starts_with("--- before\n+++ after\n@@"), "{changed}");
    assert!(changed.contains("\n-state: x\n+state: z\n"), "{changed}");
    assert!(diff(None, Some(&after)).contains("\n+name: a\n"));
    assert!(diff(Some(&after), None).contains("\n-name: a\n"));
}

/// Texts that YAML could misread.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "(no|yes|on|null|~|true|1|1\\.0|0x1|1e3|\\.inf|2024-01-01|12:30|<<|=|-|\\?|:|#|!|&a|\\*a|%|@|`|>|\\|)",
        "[ -~]{0,30}",
        "[ \\n\\ta:#é-]{0,20}",
        "\\PC{0,10}",
        any::<String>().prop_map(|text| text.replace('\0', "")),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i128>().prop_map(|number| json!(number)),
        "-?[1-9][0-9]{0,60}(\\.[0-9]{1,40})?".prop_map(|digits| {
            let mut number = serde_json::from_str(&digits).expect("a number");
            scalar::normalize(&mut number);
            number
        }),
        plain_texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(texts(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Without braces, which would be templates, and nothing that looks like a secret.
fn plain_texts() -> impl Strategy<Value = String> {
    texts()
        .prop_map(|text| text.replace(['{', '}'], "(").replace("-----BEGIN", ""))
        .prop_filter("a secret", |text| {
            !crate::definition::destination::looks_secret(text)
        })
}

fn maps() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("[a-z]{1,3}", values(), 0..3).prop_map(|map| map.into_iter().collect())
}

fn names() -> impl Strategy<Value = Option<Vec<String>>> {
    let name = texts().prop_filter("a name", |text| label_fault(text).is_none());
    option::of(proptest::collection::hash_set(name, 0..4).prop_map(|set| set.into_iter().collect()))
}

fn jina() -> impl Strategy<Value = JinaOptions> {
    (
        prop_oneof![Just(JinaMode::Search), Just(JinaMode::Reader)],
        any::<bool>(),
        option::of("[ -~]{1,10}"),
    )
        .prop_map(|(mode, full, header)| JinaOptions {
            mode,
            base_url: full.then(|| match mode {
                JinaMode::Search => "https://s.jina.ai".to_owned(),
                JinaMode::Reader => "https://r.jina.ai".to_owned(),
            }),
            path: full.then(|| "/search".to_owned()),
            method: full.then(|| "POST".to_owned()),
            auth_env: full.then(|| "JINA_API_KEY".to_owned()),
            accept: full.then(|| "text/plain".to_owned()),
            headers: header
                .into_iter()
                .map(|value| ("X-Locale".to_owned(), value))
                .collect(),
        })
}

fn http() -> impl Strategy<Value = HttpOptions> {
    (
        any::<bool>(),
        texts(),
        option::of(prop_oneof![
            Just(AuthScheme::Bearer),
            Just(AuthScheme::Basic),
            Just(AuthScheme::Header),
            Just(AuthScheme::Query),
            Just(AuthScheme::Cookie),
            Just(AuthScheme::OAuth2),
            Just(AuthScheme::Account)
        ]),
    )
        .prop_map(|(full, name, scheme)| HttpOptions {
            base_url: "http://127.0.0.1:8080/v1".to_owned(),
            path: if full {
                "/users/{id}".to_owned()
            } else {
                String::new()
            },
            method: full.then(|| "PATCH".to_owned()),
            query: [(name.clone(), "id".to_owned())].into(),
            header: full
                .then(|| ("X-Id".to_owned(), "id".to_owned()))
                .into_iter()
                .collect(),
            request: None,
            body: full.then(|| {
                if name.len() % 2 == 0 {
                    HttpBody::Argument("id".to_owned())
                } else {
                    HttpBody::Fields([(name, "id".to_owned())].into())
                }
            }),
            headers: std::collections::BTreeMap::new(),
            auth: scheme.map(|scheme| Box::new(auth(scheme, full))),
            retry: full.then(|| {
                Box::new(HttpRetry {
                    attempts: 3,
                    on: Some(vec![503]),
                    backoff_ms: Some(100),
                    idempotency_header: Some("Idempotency-Key".to_owned()),
                })
            }),
            breaker: full.then_some(HttpBreaker {
                failures: Some(3),
                open_s: None,
            }),
            concurrency: full.then_some(4),
            cache: (!full).then_some(HttpCache { ttl_s: 60 }),
            probe: full.then(|| {
                Box::new(HttpProbe {
                    path: "/healthz?deep=1".to_owned(),
                    interval_s: 30,
                    method: Some("HEAD".to_owned()),
                })
            }),
            result: full.then(|| {
                Box::new(HttpResult {
                    accept: vec!["application/json".to_owned()],
                    select: Some("$.items[*].name".to_owned()),
                    next: Some("$.next".to_owned()),
                    max_bytes: Some(1000),
                    beyond: Beyond::Keep,
                    keep_s: Some(60),
                })
            }),
        })
}

fn auth(scheme: AuthScheme, full: bool) -> HttpAuth {
    use AuthScheme::{Account, Cookie, Header, OAuth2, Query};
    HttpAuth {
        scheme,
        env: if matches!(scheme, OAuth2 | Account) {
            ""
        } else {
            "API_KEY"
        }
        .to_owned(),
        provider: (scheme == Account).then(|| "issues".to_owned()),
        name: matches!(scheme, Header | Query | Cookie).then(|| "X-Key".to_owned()),
        client: (scheme == OAuth2).then(|| OAuthClient {
            token_url: "https://auth.example/token".to_owned(),
            client_id: "API_KEY".to_owned(),
            client_secret: "secret:CLIENT".to_owned(),
            scopes: if full { vec!["read".to_owned()] } else { Vec::new() },
            audience: full.then(|| "https://a.example".to_owned()),
            auth_style: if full { AuthStyle::Body } else { AuthStyle::Basic },
        }),
    }
}

/// A request whose parts are all named.
fn request() -> impl Strategy<Value = HttpOptions> {
    let word = || {
        texts().prop_filter("a word", |text| {
            !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control)
        })
    };
    let style = option::of(proptest::sample::select(ParameterLocation::Query.styles()));
    (
        word(),
        style,
        option::of(any::<bool>()),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(name, style, explode, allow_reserved, form)| {
            let delimited = matches!(
                style,
                Some(ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited)
            );
            let query = RequestParameter {
                name: name.clone(),
                location: ParameterLocation::Query,
                argument: Some("id".to_owned()),
                style,
                explode: explode.filter(|explode| !(delimited && *explode)),
                allow_reserved,
                content_type: None,
            };
            let encoding = PartEncoding {
                explode,
                ..PartEncoding::default()
            };
            HttpOptions {
                base_url: "https://a.example".to_owned(),
                method: Some("QUERY".to_owned()),
                request: Some(Box::new(HttpRequest {
                    parameters: vec![query],
                    body: Some(RequestBody {
                        content_type: form.then(|| "application/x-www-form-urlencoded".to_owned()),
                        argument: None,
                        as_text: false,
                        properties: [(name.clone(), "id".to_owned())].into(),
                        encoding: form.then_some((name, encoding)).into_iter().collect(),
                    }),
                })),
                ..HttpOptions::default()
            }
        })
}

/// The same definition with those arguments only that have a place of their own.
fn with_places(mut definition: ToolDefinition) -> ToolDefinition {
    let mut keys = std::collections::HashMap::new();
    let options = &mut definition.options;
    let unmapped = options.http.as_ref().map(|http| Unmapped::new(http, [].iter()));
    if unmapped
        .as_ref()
        .is_some_and(|unmapped| unmapped.rest() != Rest::Body)
    {
        options.envs.clear();
    }
    let mut has_place = |name: &String| match &unmapped {
        Some(unmapped) => unmapped.refusal(name, true).is_none(),
        None => {
            keys.entry(jina::key(name))
                .or_insert_with(|| name.clone())
                .as_str()
                == name
        }
    };
    options.envs.retain(|name, _| has_place(name));
    options.args.fixed.retain(|name, _| has_place(name));
    options.args.defaults.retain(|name, _| has_place(name));
    definition.parameters.edit(|schema| {
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| has_place(name));
        }
    });
    // A value that breaks its own parameter is refused.
    let properties = definition.parameters.value()["properties"].clone();
    let fits = |name: &String, value: &mut Value| {
        let schema = properties.get(name);
        schema.is_none_or(|schema| compile(schema).is_ok_and(|schema| schema.is_valid(value)))
    };
    options.args.fixed.retain(&fits);
    options.args.defaults.retain(&fits);
    definition
}

fn definitions() -> impl Strategy<Value = ToolDefinition> {
    let options = (
        maps(),
        maps(),
        option::of(1..=300_000_u64),
        any::<bool>(),
        option::of(jina()),
        prop_oneof![http(), request()],
    )
        .prop_map(|(defaults, fixed, timeout_ms, envs, jina, http)| Options {
            args: ArgOptions { defaults, fixed },
            envs: envs
                .then(|| ("ENV".to_owned(), "API_KEY".to_owned()))
                .into_iter()
                .collect(),
            timeout_ms,
            http: jina.is_none().then(|| Box::new(http)),
            jina: jina.map(Box::new),
            ..Options::default()
        });
    let parameters = (values(), texts()).prop_map(|(value, name)| {
        let mut properties = json!({"id": {"type": "string"}});
        properties[name] = json!({"default": value, "type": ["string", "null"]});
        json!({"type": "object", "properties": properties})
    });
    (
        ("[a-zA-Z0-9][a-zA-Z0-9._-]{0,10}", texts(), any::<bool>()),
        (names(), option::of("[a-z]{1,5}"), names()),
        (
            parameters,
            option::of(prop_oneof![
                Just(AfterExecution::Suspend),
                Just(AfterExecution::Terminate)
            ]),
            any::<bool>(),
        ),
        (
            option::of("[a-zé#:'-]{1,8}"),
            option::of(any::<bool>()),
            option::of(any::<bool>()),
        ),
        (any::<bool>(), plain_texts(), options),
    )
        .prop_map(
            |(
                (name, description, subject),
                (group, state, states),
                (parameters, after, enabled),
                (title, read_only_hint, open_world_hint),
                (service, value, options),
            )| {
                with_places(ToolDefinition {
                    name: ToolName::parse(name).expect("a name"),
                    kind: "openapi".to_owned(),
                    title: title.map(String::into_boxed_str),
                    description: if description.trim().is_empty() {
                        String::new()
                    } else {
                        description
                    },
                    enabled,
                    group,
                    state,
                    available_in_states: states,
                    parameters: SchemaText::from(&parameters),
                    output_schema: enabled
                        .then(|| SchemaText::from(&json!({"type": "array", "items": {"type": "string"}}))),
                    after_execution: after,
                    annotations: Annotations {
                        read_only_hint,
                        open_world_hint,
                        ..Annotations::default()
                    },
                    target_subject: subject
                        .then(|| "cg.v1r4.{project_id}.{channel_id}.cmd.tool.a.b".to_owned()),
                    service: service.then(|| "custom-rag".to_owned()),
                    config: service
                        .then(|| ("collection".to_owned(), Value::String(value)))
                        .into_iter()
                        .collect(),
                    options,
                })
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_rendered_is_read_back(definition in definitions()) {
        let yaml = to_yaml(&definition);
        let upload = upload(&yaml).map_err(|faults| TestCaseError::fail(format!("{yaml}\n{}", shown(&faults))))?;
        prop_assert_eq!(&upload.tools[0].definition, &definition, "{}", yaml);
        let value = serde_json::to_value(&definition).expect("JSON");
        let (read, _) = with_context(|context| check_tool(&value, context))
            .map_err(|faults| TestCaseError::fail(shown(&faults)))?;
        prop_assert_eq!(&read, &definition);
        let json = upload_as_json(&definition)?;
        prop_assert_eq!(&json, &definition);
    }

    #[test]
    fn static_answers_are_read_back(result in values(), message in option::of(plain_texts()), delay_ms in option::of(0..=300_000_u64), concurrency in option::of(1..=1000_u32)) {
        let message = message.filter(|message| !message.trim().is_empty());
        let answer = StaticOptions {
            result: message.is_none().then_some(result),
            error: message.map(|message| StaticError { code: ErrorCode::UpstreamRejected, message, retry_after_s: Some(3) }),
            delay_ms,
        };
        let mut definition = tool("name: a\ndescription: d\noptions: {static: {result: 1}}");
        definition.options.static_answer = Some(Box::new(answer));
        definition.options.concurrency = concurrency;
        let yaml = to_yaml(&definition);
        let upload = upload(&yaml).map_err(|faults| TestCaseError::fail(format!("{yaml}\n{}", shown(&faults))))?;
        prop_assert_eq!(&upload.tools[0].definition, &definition, "{}", yaml);
        prop_assert_eq!(&upload_as_json(&definition)?, &definition);
    }

    #[test]
    fn services_are_read_back(params in proptest::collection::btree_map("[a-z]{1,3}", any::<bool>(), 0..4), queue in "((non-)?persistent://)?[a-z]{1,5}(/[a-z]{1,5}){0,3}", max_concurrent in option::of(1..=10_000_u32), bus in any::<bool>()) {
        let service = ServiceDefinition {
            id: ToolName::parse("service").expect("a name"),
            request_queue: bus.then(|| format!("{queue}/request")),
            response_queue: bus.then(|| format!("{queue}/response")),
            config_params: params.into_iter().map(|(name, required)| ConfigParam { name, required }).collect(),
            max_concurrent,
            envs: [("key".to_owned(), "API_KEY".to_owned())].into(),
        };
        let yaml = service_to_yaml(&service);
        let upload = upload(&yaml).map_err(|faults| TestCaseError::fail(format!("{yaml}\n{}", shown(&faults))))?;
        prop_assert_eq!(service_diff(Some(&upload.services[0]), Some(&service)), "");
        prop_assert_eq!(&upload.services[0], &service);
    }
}

fn upload_as_json(definition: &ToolDefinition) -> Result<ToolDefinition, TestCaseError> {
    let text = serde_json::to_string_pretty(definition).expect("JSON");
    let upload = upload_as(TextFormat::Json, &text)
        .map_err(|faults| TestCaseError::fail(format!("{text}\n{}", shown(&faults))))?;
    Ok(upload.tools[0].definition.clone())
}
