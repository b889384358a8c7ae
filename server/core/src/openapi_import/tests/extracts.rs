//! Extracts of public descriptions: every operation becomes a tool that sends what the API's documentation says, or says why
//! not.

use super::*;

/// A description, whether its operations need the address of the API, and what becomes of each: the method and the path of
/// its tool and its arguments, or a part of the reason.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, Result<&'static str, &'static str>)],
);

const ROWS: &[Row] = &[
    (
        "nasa-apod",
        include_str!("extracts/nasa-apod.yaml"),
        &[("get_apod", Ok("GET /apod date hd"))],
    ),
    (
        "twilio-messages",
        include_str!("extracts/twilio-messages.yaml"),
        &[
            (
                "ListMessage",
                Ok(
                    "GET /2010-04-01/Accounts/{AccountSid}/Messages.json AccountSid DateSent DateSent_query PageSize To",
                ),
            ),
            (
                "CreateMessage",
                Ok("POST /2010-04-01/Accounts/{AccountSid}/Messages.json AccountSid body"),
            ),
        ],
    ),
    (
        "openai-files",
        include_str!("extracts/openai-files.yaml"),
        &[
            ("createFile", Ok("POST /files body")),
            ("downloadFile", Ok("GET /files/{file_id}/content file_id")),
            ("createEmbedding", Ok("POST /embeddings body")),
        ],
    ),
    (
        "kubernetes-pods",
        include_str!("extracts/kubernetes-pods.yaml"),
        &[
            (
                "readCoreV1NamespacedPod",
                Ok("GET /api/v1/namespaces/{namespace}/pods/{name} name namespace pretty"),
            ),
            (
                "patchCoreV1NamespacedPod",
                Ok(
                    "PATCH /api/v1/namespaces/{namespace}/pods/{name} body fieldManager force name namespace pretty",
                ),
            ),
            (
                "readCoreV1NamespacedPodLog",
                Ok("GET /api/v1/namespaces/{namespace}/pods/{name}/log name namespace tailLines"),
            ),
        ],
    ),
    (
        "open-meteo",
        include_str!("extracts/open-meteo.yaml"),
        &[(
            "get_v1_forecast",
            Ok("GET /v1/forecast current_weather hourly latitude longitude past_days temperature_unit"),
        )],
    ),
    (
        "soap-and-trace",
        include_str!("extracts/soap-and-trace.yaml"),
        &[
            ("sendAttachments", Err("multipart/related")),
            ("trace", Err("TRACE")),
            ("shared", Err("another document")),
            ("fine", Ok("GET /fine ")),
        ],
    ),
];

#[test]
fn every_operation_becomes_a_tool_or_says_why_not() {
    // Of a description without a host, the importing user names the server.
    let options = ImportOptions {
        document_url: "https://cluster.example/openapi/v2".parse().ok(),
        ..ImportOptions::default()
    };
    for (name, text, expected) in ROWS {
        let found = read(text.as_bytes(), &options);
        assert_eq!(found.problems, [], "{name}");
        let names: Vec<&str> = found
            .operations
            .iter()
            .map(|operation| operation.name.as_str())
            .collect();
        let wanted: Vec<&str> = expected.iter().map(|(tool, _)| *tool).collect();
        assert_eq!(names, wanted, "{name}");
        for (operation, (_, becomes)) in found.operations.iter().zip(*expected) {
            match (&operation.tool, becomes) {
                (Ok(_), Ok(expected)) => assert_eq!(shape(&tool(operation)), *expected, "{name}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{name} {}: {why}", operation.name),
                (found, _) => panic!("{name} {}: {found:?}", operation.name),
            }
        }
    }
}

/// Method, path and arguments.
fn shape(tool: &ToolDefinition) -> String {
    let http = tool.options.http.as_ref().expect("a request");
    let parameters = tool.parameters.value();
    let mut arguments: Vec<&str> = parameters["properties"]
        .as_object()
        .into_iter()
        .flat_map(|properties| properties.keys())
        .map(String::as_str)
        .collect();
    arguments.sort_unstable();
    let method = http.method.as_deref().unwrap_or("GET");
    format!("{method} {} {}", http.path, arguments.join(" "))
}
