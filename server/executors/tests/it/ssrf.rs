//! Nothing but the listed destinations is ever dialled, however they are spelled and whatever they resolve to.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use rstest::rstest;
use serde_json::json;
use toolgate_api::ErrorCode;
use toolgate_executors::{Executors, Origins, Resolve};

use crate::support::{Server, Step, answer, call, config, executors, get, ok, tool};

/// Spellings of loopback, private and metadata hosts; `{p}` is the port of a listener that counts connections.
const SPELLINGS: &[&str] = &[
    "http://127.0.0.1:{p}",
    "http://127.0.0.2:{p}",
    "http://127.1:{p}",
    "http://127.0.1:{p}",
    "http://127.255.255.254:{p}",
    "http://2130706433:{p}",
    "http://0x7f000001:{p}",
    "http://0x7f.1:{p}",
    "http://0x7f.0x0.0x0.0x1:{p}",
    "http://0X7F.0.0.1:{p}",
    "http://0177.0.0.1:{p}",
    "http://0177.0.0.01:{p}",
    "http://017700000001:{p}",
    "http://127.0.0.1.:{p}",
    "http://０.0.0.0:{p}",
    "http://１２７.0.0.1:{p}",
    "http://①②⑦.⓪.⓪.①:{p}",
    "http://127。0。0。1:{p}",
    "http://127．0．0．1:{p}",
    "http://127%2e0%2e0%2e1:{p}",
    "http://%31%32%37.0.0.1:{p}",
    "http://127.0.0\t.1:{p}",
    "http://127.0\n.0.1:{p}",
    "http://\u{200b}127.0.0.1:{p}",
    "http://127.0.0.1\u{ad}:{p}",
    "http://0:{p}",
    "http://0.0.0.0:{p}",
    "http://0x0:{p}",
    "http://localhost:{p}",
    "http://LOCALHOST:{p}",
    "http://localhost.:{p}",
    "http://ｌｏｃａｌｈｏｓｔ:{p}",
    "http://loc%61lhost:{p}",
    "http://ip6-localhost:{p}",
    "http://localhost.localdomain:{p}",
    "http://[::1]:{p}",
    "http://[0:0:0:0:0:0:0:1]:{p}",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]:{p}",
    "http://[::]:{p}",
    "http://[::127.0.0.1]:{p}",
    "http://[::ffff:127.0.0.1]:{p}",
    "http://[::ffff:7f00:1]:{p}",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{p}",
    "http://[::ffff:0:127.0.0.1]:{p}",
    "http://[64:ff9b::127.0.0.1]:{p}",
    "http://[64:ff9b:1::7f00:1]:{p}",
    "http://[2002:7f00:1::]:{p}",
    "http://[2001:0:7f00:1::]:{p}",
    "http://[fe80::1]:{p}",
    "http://[fd00:ec2::254]:{p}",
    "http://[::1%25lo]:{p}",
    "http://user@127.0.0.1:{p}",
    "http://s.jina.ai@127.0.0.1:{p}",
    "https://s.jina.ai:pw@127.0.0.1:{p}",
    "http://127.0.0.1:{p}#@s.jina.ai",
    "http://127.0.0.1:{p}?@s.jina.ai",
    "http://127.0.0.1:{p}\\@s.jina.ai",
    "https:127.0.0.1:{p}",
    "http:/127.0.0.1:{p}",
    "http:\\\\127.0.0.1:{p}",
    "http://127.0.0.1:{p}/https://s.jina.ai",
    "https://s.jina.ai.127.0.0.1.nip.example:{p}",
    "http://s.jina.ai:{p}",
    "https://s.jina.ai:{p}",
    "https://s.jina.ai.:{p}",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://metadata.google.internal/",
    "ftp://127.0.0.1:{p}/",
    "gopher://127.0.0.1:{p}/",
    "file:///etc/passwd",
    "unix:///var/run/docker.sock",
    "data:text/plain,hi",
    "//127.0.0.1:{p}/",
    "127.0.0.1:{p}",
    "",
];

#[tokio::test]
async fn no_spelling_reaches_a_forbidden_host() {
    let victim = Server::start([Step::Send(ok("1"))]).await;
    let port = victim.url.rsplit(':').next().expect("a port").to_owned();
    let executors = executors(&[], &[]);
    for spelling in SPELLINGS {
        let url = spelling.replace("{p}", &port);
        let failure = get(&executors, &url).await.expect_err(&url);
        assert!(
            matches!(failure.code, ErrorCode::EgressDenied | ErrorCode::ToolUnavailable),
            "{url}: {} {}",
            failure.code,
            failure.message
        );
    }
    assert!(SPELLINGS.len() >= 60);
    assert_eq!(victim.connections(), 0);
}

/// A resolver that lies.
struct Lies(Vec<IpAddr>);

#[async_trait]
impl Resolve for Lies {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

fn lying(addresses: &[&str], entries: &[&str]) -> Executors {
    let addresses = addresses
        .iter()
        .map(|address| address.parse().expect("an address"))
        .collect();
    Executors::with_resolver(config(entries, &[]), Arc::new(Lies(addresses)))
}

#[rstest]
#[case("127.0.0.1")]
#[case("10.0.0.1")]
#[case("169.254.169.254")]
#[case("168.63.129.16")]
#[case("0.0.0.0")]
#[case("::1")]
#[case("::ffff:127.0.0.1")]
#[case("64:ff9b::7f00:1")]
#[case("fd00:ec2::254")]
#[tokio::test]
async fn a_listed_name_that_resolves_inside_is_not_dialled(#[case] address: &str) {
    let victim = Server::start([Step::Send(ok("1"))]).await;
    let url = victim.url.replace("127.0.0.1", "api.example.com");
    let failure = get(&lying(&[address], &[&url]), &url).await.expect_err("refused");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::EgressDenied, false)
    );
    assert!(failure.message.contains("api.example.com"), "{}", failure.message);
    assert_eq!(victim.connections(), 0);
}

#[tokio::test]
async fn a_permitted_network_opens_names_and_bad_addresses_among_good_ones_are_left_out() {
    let server = Server::start([Step::Send(ok("1"))]).await;
    let url = server.url.replace("127.0.0.1", "api.example.com");
    let executors = lying(&["169.254.169.254", "127.0.0.1"], &[&url, "cidr:127.0.0.0/8"]);
    get(&executors, &url)
        .await
        .expect("the permitted address is dialled");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_listed_name_with_no_address_is_unavailable() {
    let url = "http://api.example.com:8080";
    let failure = get(&lying(&[], &[url]), url).await.expect_err("no address");
    assert_eq!(
        (failure.code, failure.retryable),
        (ErrorCode::UpstreamUnavailable, true)
    );
}

#[tokio::test]
async fn a_literal_entry_permits_exactly_that_address_and_port() {
    let server = Server::start([Step::Send(ok("1"))]).await;
    let other = Server::start([Step::Send(ok("1"))]).await;
    let executors = executors(&[&server.url], &[]);
    get(&executors, &server.url).await.expect("listed");
    let failure = get(&executors, &other.url).await.expect_err("another port");
    assert_eq!(failure.code, ErrorCode::EgressDenied);
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn localhost_is_permitted_by_its_name_only() {
    let server = Server::start([Step::Send(ok("1"))]).await;
    let url = server.url.replace("127.0.0.1", "localhost");
    let executors = executors(&[&url], &[]);
    get(&executors, &url).await.expect("listed by name");
    assert_eq!(
        get(&executors, &server.url).await.expect_err("not listed").code,
        ErrorCode::EgressDenied
    );
}

#[tokio::test]
async fn the_list_of_a_project_opens_names_and_no_addresses() {
    let victim = Server::start([Step::Send(ok("1"))]).await;
    let url = victim.url.replace("127.0.0.1", "api.example.com");
    let tool = tool(json!({"http": {"base_url": url}}));
    let own = Arc::new(Origins::of([url.as_str(), victim.url.as_str()]));
    // (what the server permits, whether the project lists the name, whether it is reached)
    for (entries, listed, reached) in [
        (&[][..], true, false),
        (&["cidr:127.0.0.0/8"], false, false),
        (&["cidr:127.0.0.0/8"], true, true),
    ] {
        let executors = lying(&["127.0.0.1"], entries);
        let mut invocation = call(&tool, json!({}));
        invocation.egress = listed.then(|| own.clone());
        let code = executors
            .execute(&mut invocation)
            .await
            .err()
            .map(|failure| failure.code);
        let expected = (!reached).then_some(ErrorCode::EgressDenied);
        assert_eq!(code, expected, "{entries:?} {listed}");
        assert_eq!(victim.connections(), usize::from(reached));
    }
    // An address in the list of a project is no permission either.
    let literal = crate::support::tool(json!({"http": {"base_url": victim.url}}));
    let mut invocation = call(&literal, json!({}));
    invocation.egress = Some(own);
    let failure = executors(&[], &[])
        .execute(&mut invocation)
        .await
        .expect_err("refused");
    assert_eq!(failure.code, ErrorCode::EgressDenied);
    assert_eq!(victim.connections(), 1);
}

#[tokio::test]
async fn redirects_stay_within_what_the_project_of_the_call_may_reach() {
    let named = |server: &Server| server.url.replace("127.0.0.1", "api.example.com");
    let target = Server::start([Step::Send(ok("1"))]).await;
    let to = named(&target);
    let server = Server::start([Step::Send(answer(307, &[("location", to.as_str())], ""))]).await;
    let from = named(&server);
    let tool = tool(json!({"http": {"base_url": from}}));
    for (list, reached) in [
        (vec![from.as_str()], false),
        (vec![from.as_str(), to.as_str()], true),
    ] {
        let mut invocation = call(&tool, json!({}));
        invocation.egress = Some(Arc::new(Origins::of(list)));
        let executors = lying(&["127.0.0.1"], &["cidr:127.0.0.0/8"]);
        assert_eq!(executors.execute(&mut invocation).await.is_ok(), reached);
        assert_eq!(target.connections(), usize::from(reached));
    }
}
