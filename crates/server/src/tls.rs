//! The TLS certificate and private key of a server.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// The reason a certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate is not valid PEM.
    #[error("the certificate is not valid PEM: {0}")]
    Certificate(String),
    /// The input contains no certificate.
    #[error("the certificate file contains no certificate")]
    NoCertificate,
    /// The private key is missing or not valid PEM.
    #[error("the private key is missing or not valid PEM: {0}")]
    Key(String),
    /// Certificate and key do not match, or use an unsupported algorithm.
    #[error("the certificate and key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

/// The TLS configuration of a server, for [`serve_tls`](crate::serve_tls).
#[derive(Clone)]
pub struct Tls {
    pub(crate) acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads a certificate chain, the server's own certificate first, and its private key, both in
    /// PEM.
    ///
    /// # Errors
    ///
    /// Fails if the certificate or the key is missing, is not valid PEM or uses an unsupported
    /// algorithm, or if they do not match.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_server::{Tls, TlsError};
    ///
    /// let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    /// let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    /// assert!(Tls::from_pem(certificate.as_bytes(), key.as_bytes()).is_ok());
    /// assert!(matches!(Tls::from_pem(b"", key.as_bytes()), Err(TlsError::NoCertificate)));
    /// # Ok::<(), rcgen::Error>(())
    /// ```
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let mut config = builder
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: Arc::new(config).into(),
        })
    }
}
