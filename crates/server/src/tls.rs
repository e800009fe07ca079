//! The TLS certificate and private key of a server, which are read again when their files change.
//!
//! **Invariant:** a file that cannot be used never replaces a certificate that can. Connections in
//! progress keep the certificate with which they were opened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig};

use crate::blocking::blocking;

/// The interval between two checks whether the files have changed.
const RELOAD_INTERVAL: Duration = Duration::from_secs(2);

/// The reason a certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        path: PathBuf,
        error: std::io::Error,
    },
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

/// The TLS configuration of a server, for [`serve_tls`](crate::serve_tls). Clones share the
/// certificate.
#[derive(Clone)]
pub struct Tls {
    pub(crate) acceptor: TlsAcceptor,
    current: Arc<CurrentCertificate>,
    files: Option<Arc<Files>>,
}

/// The certificate that new connections get.
#[derive(Debug)]
struct CurrentCertificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

/// The files of a certificate and its key.
struct Files {
    certificates: PathBuf,
    key: PathBuf,
    /// The contents of the files that are in use.
    loaded: Mutex<(Vec<u8>, Vec<u8>)>,
}

impl Files {
    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| TlsError::Read {
                path: path.to_owned(),
                error,
            })
        };
        Ok((read(&self.certificates)?, read(&self.key)?))
    }
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
        let provider = Arc::new(ring::default_provider());
        let certified = certified_key(certificates, key, &provider)?;
        let current = Arc::new(CurrentCertificate(RwLock::new(Arc::new(certified))));
        let builder = ServerConfig::builder_with_provider(provider);
        let mut config = builder
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as _);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: Arc::new(config).into(),
            current,
            files: None,
        })
    }

    /// Reads a certificate chain and its private key from two files, as [`Tls::from_pem`] does.
    /// While [`serve_tls`](crate::serve_tls) runs, it reads the files again when they change.
    ///
    /// # Errors
    ///
    /// Those of [`Tls::from_pem`], and [`TlsError::Read`] if a file cannot be read.
    pub fn from_files(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let files = Files {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
            loaded: Mutex::default(),
        };
        let loaded = files.read()?;
        let tls = Self::from_pem(&loaded.0, &loaded.1)?;
        let files = Files {
            loaded: Mutex::new(loaded),
            ..files
        };
        Ok(Self {
            files: Some(Arc::new(files)),
            ..tls
        })
    }

    /// Reads the files again, and returns whether new connections get another certificate now.
    ///
    /// # Errors
    ///
    /// Those of [`Tls::from_files`]. New connections then get the same certificate as before.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let Some(files) = &self.files else {
            return Ok(false);
        };
        let found = files.read()?;
        let mut loaded = files.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if found == *loaded {
            return Ok(false);
        }
        let certified = certified_key(&found.0, &found.1, &ring::default_provider())?;
        let current = self.current.0.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
        *loaded = found;
        Ok(true)
    }

    /// Reloads the certificate whenever its files change, until the future is dropped.
    pub(crate) async fn watch(self) {
        if self.files.is_none() {
            return;
        }
        let mut interval = tokio::time::interval(RELOAD_INTERVAL);
        // A failure is reported when it lasts, because the two files are rarely replaced at once.
        let (mut last, mut reported) = (None, false);
        loop {
            interval.tick().await;
            let tls = self.clone();
            match blocking(move || tls.reload()).await {
                Ok(Err(error)) => {
                    let error = error.to_string();
                    if last.as_ref() == Some(&error) && !reported {
                        tracing::warn!(%error, "cannot use the changed TLS certificate; the server keeps the previous one");
                        reported = true;
                    }
                    reported &= last.as_ref() == Some(&error);
                    last = Some(error);
                }
                Ok(Ok(true)) => {
                    tracing::info!("new connections use the changed TLS certificate");
                    (last, reported) = (None, false);
                }
                Ok(Ok(false)) | Err(_) => (last, reported) = (None, false),
            }
        }
    }
}

fn certified_key(
    certificates: &[u8],
    key: &[u8],
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
    Ok(CertifiedKey::from_der(chain, key, provider)?)
}
