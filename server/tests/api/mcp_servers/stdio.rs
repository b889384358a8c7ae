//! Servers that are processes of this machine.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SERVERS, call, enable, import, put};
use crate::support::{Client, TestApp};

/// A server in a shell: its one tool says what of its surroundings it sees. With the argument `flood` it answers calls with a line
/// without an end, with `exit` it ends instead, with `changes` it says afterwards that its tools changed, with `counts...` it counts.
const SERVER: &str = r#"
echo "started with $1" >&2
mode=$1
description="Says what it sees."
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '{"tools":[{"name":"look","description":"'"$description"'","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      case "$mode" in
        flood) head -c 40000000 /dev/zero | tr '\0' x ;;
        exit) exit 7 ;;
        eats) all=$(head -c 300000000 /dev/zero | tr '\0' x); answer '{"content":[]}' ;;
        reaches*)
          for request in $(printf '%s' "$mode" | cut -d' ' -f2-); do
            exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}
            method=${request%%+*}; address=${request#*+}
            printf '%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' "$method" "$address" >&3
            read -r status <&3
            case "$method $status" in "CONNECT HTTP/1.1 200"*)
              while read -r header <&3 && [ "${#header}" -gt 1 ]; do :; done
              printf 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' >&3
              read -r within <&3 ;;
            esac
            said="$said|${status%?}|${within%?}"
            within=
            exec 3>&-
          done
          net=$(cat /proc/net/dev | grep -vc 'lo:\|face\|Inter-')
          answer '{"content":[{"type":"text","text":"networks='"$net$said"'"}]}' ;;
        notices*) while :; do echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}'; done ;;
        babbles)
          printf 'a log line\n\n{"jsonrpc":\n[1,2]\n42\n{"jsonrpc":"2.0","method":"notifications/none"}\n'
          printf '{"jsonrpc":"2.0","id":98765,"result":{"content":[]}}\n{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}\n'
          answer '{"content":[{"type":"text","text":"after all"}]}' ;;
        counts*) n=$((n + 1)); answer '{"content":[{"type":"text","text":"'$n'"}]}' ;;
        changes)
          description="Says something else."
          echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
          answer '{"content":[{"type":"text","text":"changed"}]}' ;;
        *)
          home=$(ls -d /root /home/* /work 2>/dev/null | wc -l)
          net=$(cat /proc/net/dev | grep -vc 'lo:\|face\|Inter-')
          answer '{"content":[{"type":"text","text":"vars='"$(env | sed 's/=.*//' | sort | tr '\n' ' ')"'"},{"type":"text","text":"uid='"$(id -u)"' homes='"$home"' networks='"$net"' greeting='"$GREETING"'"}]}' ;;
      esac ;;
  esac
done
"#;

pub(super) fn server(mode: &str) -> Value {
    json!({"command": "sh", "args": ["-c", SERVER, "sh", mode], "env": {"GREETING": "hello"}})
}

/// An application that may start `sh`, with the server's tool enabled.
async fn started(mode: &str, settings: &[(&str, &str)]) -> TestApp {
    let settings = [settings, &[("TOOLGATE_MCP_STDIO_COMMANDS", "sh")]].concat();
    let app = TestApp::with(&settings).await;
    let admin = app.demo().await;
    put(&admin, "shell", server(mode)).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    drop(admin);
    app
}

/// Processes of this machine whose command line has a text.
pub(super) fn processes(text: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("processes");
    let line = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    all.flatten()
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .map(line)
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

pub(super) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), waiting).await;
    waited.unwrap_or_else(|_| panic!("{what}"));
}

async fn look(admin: &Client<'_>) -> Value {
    call(admin, "look", json!({})).await
}

#[tokio::test]
async fn a_command_that_the_operator_does_not_list_is_stored_with_the_setting_that_is_missing() {
    let app = TestApp::new().await;
    let admin = app.demo().await;
    let stored = put(&admin, "shell", server("plain")).await;
    let warning = stored["warnings"][0]["message"].as_str().expect("a warning");
    assert!(warning.contains("TOOLGATE_MCP_STDIO_COMMANDS"), "{warning}");
    assert_eq!(stored["connection"]["state"], "unavailable");
    let tested = admin
        .post(&format!("{SERVERS}/shell/test"), &json!({}))
        .await
        .expect(200)
        .json();
    assert_eq!(tested["ok"], false, "{tested}");
}

#[tokio::test]
async fn a_process_sees_its_own_variables_no_files_and_no_network() {
    let app = started("plain-in-sandbox", &[]).await;
    let admin = app.admin().await;
    let answer = look(&admin).await;
    assert_eq!(answer["status"], "succeeded", "{answer}");
    let variables = answer["result"]["content"][0]["text"].as_str().expect("a text");
    let mut unknown: Vec<&str> = variables.trim_start_matches("vars=").split_whitespace().collect();
    unknown
        .retain(|name| !["GREETING", "HOME", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    assert_eq!(unknown, Vec::<&str>::new());
    let surroundings = &answer["result"]["content"][1]["text"];
    assert_eq!(surroundings, "uid=65534 homes=0 networks=0 greeting=hello");
    let log = admin
        .get(&format!("{SERVERS}/shell/log"))
        .await
        .expect(200)
        .json();
    assert_eq!(log["lines"][0]["text"], "started with plain-in-sandbox", "{log}");
}

#[tokio::test]
async fn no_process_stays_behind() {
    for (settings, mark) in [
        (vec![], "leaves-nothing-in-a-sandbox"),
        (
            vec![("TOOLGATE_MCP_STDIO_SANDBOX", "false")],
            "leaves-nothing-without-one",
        ),
    ] {
        let app = started(mark, &settings).await;
        let admin = app.admin().await;
        assert_eq!(look(&admin).await["status"], "succeeded");
        assert!(processes(mark) > 0, "it runs");
        admin
            .delete(&format!("{SERVERS}/shell"), Some("*"))
            .await
            .expect(204);
        until("the process ended with its server", || processes(mark) == 0).await;
        put(&admin, "shell", server(mark)).await;
        assert_eq!(look(&admin).await["status"], "succeeded");
        drop(admin);
        drop(app);
        until("the process ended with the gateway", || processes(mark) == 0).await;
    }
}

#[tokio::test]
async fn a_process_that_ends_fails_its_call_and_is_started_again_by_the_next() {
    let app = started("exit", &[]).await;
    let admin = app.admin().await;
    for _ in 0..2 {
        let answer = look(&admin).await;
        assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
        assert_eq!(answer["error"]["retryable"], false, "it may have run: {answer}");
        let message = answer["error"]["message"].as_str().expect("words");
        assert!(message.contains("exit status: 7"), "{message}");
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_not_waited_for() {
    let app = started("flood", &[]).await;
    let admin = app.admin().await;
    let answer = look(&admin).await;
    assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
}

#[tokio::test]
async fn a_change_that_the_server_announces_waits_in_the_quarantine() {
    let app = started("changes", &[]).await;
    app.run_background();
    let admin = app.admin().await;
    assert_eq!(look(&admin).await["status"], "succeeded");
    let waiting = async {
        loop {
            let found = admin.get("/projects/demo/quarantine").await.expect(200).json();
            if found["items"][0]["tool"] == "look" {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .expect("it waits");
    assert_eq!(found["items"][0]["by"], "server", "{found}");
}

#[tokio::test]
async fn a_process_that_takes_more_memory_than_it_may_is_ended() {
    let app = started("eats", &[("TOOLGATE_MCP_STDIO_MEMORY_MIB", "64")]).await;
    let admin = app.admin().await;
    let answer = look(&admin).await;
    // The call ends with the output of the process, its end is logged after that.
    let ended = async {
        loop {
            let log = admin
                .get(&format!("{SERVERS}/shell/log"))
                .await
                .expect(200)
                .json();
            let text = log.to_string();
            if text.contains("[the process ended with") || text.contains("not bounded") {
                return log;
            }
            tokio::task::yield_now().await;
        }
    };
    let log = tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .expect("the process ends");
    if log.to_string().contains("not bounded") {
        // This machine has no groups that the test may make.
        assert!(log.to_string().contains("control group"), "{log}");
        return;
    }
    assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_reaches_what_the_egress_lists_permit_and_nothing_else() {
    let upstream = crate::support::serve(axum::Router::new().fallback(async || "here")).await;
    let other = crate::support::serve(axum::Router::new().fallback(async || "not here")).await;
    let host = upstream.trim_start_matches("http://");
    let tunnel = format!("https://{host}");
    let allowed = format!("{upstream},{tunnel}");
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", &allowed),
        ("TOOLGATE_MCP_STDIO_COMMANDS", "bash"),
        ("TOOLGATE_MCP_STDIO_NETWORK", "true"),
    ])
    .await;
    let admin = app.demo().await;
    let other_host = other.trim_start_matches("http://");
    let mode = format!(
        "reaches GET+{upstream}/ CONNECT+{host} GET+{other}/ CONNECT+{other_host} GET+http://169.254.169.254/ CONNECT+:0"
    );
    let mut definition = server(&mode);
    definition["command"] = json!("bash");
    definition["network"] = json!(true);
    put(&admin, "shell", definition).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    let answer = look(&admin).await;
    let said = answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    let expected = "networks=0|HTTP/1.1 200 OK||HTTP/1.1 200 OK|HTTP/1.1 200 OK|HTTP/1.1 403 Forbidden||HTTP/1.1 403 Forbidden\
        ||HTTP/1.1 403 Forbidden||HTTP/1.1 403 Forbidden|";
    assert_eq!(said, expected);
    let log = admin
        .get(&format!("{SERVERS}/shell/log"))
        .await
        .expect(200)
        .json()
        .to_string();
    assert!(log.contains(&format!("[network: {other}")), "{log}");
    assert!(log.contains("169.254.169.254"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_process_does_not_reach_what_its_project_may_not_reach_any_more() {
    let upstream = crate::support::serve(axum::Router::new().fallback(async || "here")).await;
    let app = TestApp::with(&[
        ("TOOLGATE_EGRESS_ALLOW", "cidr:127.0.0.0/8"),
        ("TOOLGATE_MCP_STDIO_COMMANDS", "bash"),
        ("TOOLGATE_MCP_STDIO_NETWORK", "true"),
    ])
    .await;
    let admin = app.demo().await;
    let permit = async |hosts: Value| {
        let (path, any) = ("/projects/demo/egress", crate::support::ANY);
        let hosts = json!({"hosts": hosts});
        admin
            .send_json(axum::http::Method::PUT, path, &any, &hosts)
            .await
            .expect(200);
    };
    permit(json!([upstream])).await;
    let mut definition = server(&format!("reaches GET+{upstream}/"));
    definition["command"] = json!("bash");
    definition["network"] = json!(true);
    put(&admin, "shell", definition).await;
    import(&admin, "shell").await;
    enable(&admin).await;
    let said = async || look(&admin).await["result"]["content"][0]["text"].clone();
    assert_eq!(said().await, "networks=0|HTTP/1.1 200 OK|");
    permit(json!([])).await;
    // The script says what it said before, too.
    assert_eq!(
        said().await,
        "networks=0|HTTP/1.1 200 OK||HTTP/1.1 403 Forbidden|"
    );
}
