//! What a secure connection has to be.

use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt;
use rustls::{ClientConfig, RootCertStore};

/// TLS 1.2 and 1.3 by aws-lc-rs, trusting what the operating system trusts.
pub(super) fn config() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = || {
        ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("aws-lc-rs supports the default protocol versions")
    };
    match builder().try_with_platform_verifier() {
        Ok(builder) => builder.with_no_client_auth(),
        Err(error) => {
            // Tools over http still work; tools over https say that the certificate is not trusted.
            tracing::error!(%error, "no trusted certificates on this machine: install ca-certificates");
            builder()
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth()
        }
    }
}
