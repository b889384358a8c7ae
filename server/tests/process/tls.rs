//! Upstreams over TLS: which version of HTTP is spoken, and whose certificates are trusted.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{HeaderMap, Version};
use axum::{Json, Router};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{Client, Server};

const HERE: &str = "127.0.0.1";

/// Who signs certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// What an upstream of this name proves itself by, and which versions of HTTP it offers.
    fn signs(&self, name: &str, expired: bool, offers: &[&str]) -> ServerConfig {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        if expired {
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a configuration");
        config.alpn_protocols = offers.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// A file for `SSL_CERT_FILE`.
    fn file(&self, folder: &Path) -> PathBuf {
        let path = folder.join("authority.pem");
        std::fs::write(&path, &self.pem).expect("written");
        path
    }
}

/// An upstream that reports by which version of HTTP it was asked.
struct Upstream {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Upstream {
    async fn start(config: ServerConfig) -> Self {
        let listener = TcpListener::bind((HERE, 0)).await.expect("a free port");
        let upstream = Self {
            address: listener.local_addr().expect("an address"),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let requests = Arc::clone(&upstream.requests);
        let tell = move |version: Version| {
            requests.fetch_add(1, Ordering::Relaxed);
            async move { Json(json!(format!("{version:?}"))) }
        };
        let service = TowerToHyperService::new(Router::new().fallback(tell));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let connections = Arc::clone(&upstream.connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                let (acceptor, service) = (acceptor.clone(), service.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate disconnects.
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let builder = Builder::new(TokioExecutor::new());
                    let _gone = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        upstream
    }

    fn origin(&self) -> String {
        format!("https://{}", self.address)
    }
}

/// A server that trusts an authority, and its administrator with a tool for each origin, named by its place.
async fn with_tools(folder: &Path, trusted: &Authority, origins: &[String]) -> (Server, Client) {
    let file = trusted.file(folder);
    let settings = [("SSL_CERT_FILE", file.to_str().expect("text"))];
    let server = Server::start(folder, &origins.join(","), &settings);
    let client = server.demo(HeaderMap::new()).await;
    for (place, origin) in origins.iter().enumerate() {
        let tool = json!({"name": format!("tool-{place}"), "type": "openapi", "description": "Asks.",
            "parameters": {"type": "object"}, "options": {"http": {"base_url": origin, "path": "/"}}});
        client.post(server.at("/projects/demo/tools"), &tool).await;
    }
    (server, client)
}

async fn call(client: &Client, server: &Server, place: usize) -> Value {
    let asked = json!({"tool": format!("tool-{place}")});
    client.post(server.at("/projects/demo/calls"), &asked).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_version_of_http_is_agreed_in_the_handshake() {
    let authority = Authority::new("Trusted");
    let offers: [(&[&str], _, _); 3] = [
        (&["h2", "http/1.1"], "HTTP/2.0", 1),
        (&["http/1.1"], "HTTP/1.1", 8),
        (&[], "HTTP/1.1", 8),
    ];
    let mut upstreams = Vec::new();
    for (offers, ..) in offers {
        upstreams.push(Upstream::start(authority.signs(HERE, false, offers)).await);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let origins: Vec<_> = upstreams.iter().map(Upstream::origin).collect();
    let (server, client) = with_tools(folder.path(), &authority, &origins).await;
    for (place, (offers, version, at_most)) in offers.into_iter().enumerate() {
        // The first makes the connection that eight at a time then find.
        assert_eq!(
            call(&client, &server, place).await["result"],
            version,
            "{offers:?}"
        );
        let calls = std::iter::repeat_with(|| call(&client, &server, place)).take(8);
        for answer in futures_util::future::join_all(calls).await {
            assert_eq!(answer["result"], version, "{offers:?}: {answer}");
        }
        let connections = upstreams[place].connections.load(Ordering::Relaxed);
        assert!(connections <= at_most, "{offers:?}: {connections} connections");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_prove_itself_is_sent_nothing() {
    let (trusted, stranger) = (Authority::new("Trusted"), Authority::new("Stranger"));
    let mut upstreams = Vec::new();
    for config in [
        stranger.signs(HERE, false, &[]),
        trusted.signs("another.example", false, &[]),
        trusted.signs(HERE, true, &[]),
    ] {
        upstreams.push(Upstream::start(config).await);
    }
    let origins: Vec<_> = upstreams.iter().map(Upstream::origin).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (server, client) = with_tools(folder.path(), &trusted, &origins).await;
    for (place, why) in [
        "an authority that this machine does not trust",
        "for another name",
        "has expired",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = call(&client, &server, place).await;
        assert_eq!(answer["error"]["code"], "upstream_unavailable", "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains(why), "{message}");
    }
    for upstream in upstreams {
        assert!(upstream.connections.load(Ordering::Relaxed) > 0);
        assert_eq!(upstream.requests.load(Ordering::Relaxed), 0);
    }
}
