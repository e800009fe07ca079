//! HTTPS with real certificates and a real client.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_server::{Config, Server, SystemClock, Tls, serve_tls};
use rhae_store::{SqliteOptions, SqliteStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

type Certificate = CertifiedKey<KeyPair>;

fn certificate() -> Certificate {
    rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap()
}

/// Starts a server that runs until the end of the test.
async fn start(folder: &Path, tls: Tls) -> SocketAddr {
    let db = folder.join("rhae.db");
    let store = SqliteStore::open(&db, SqliteOptions::default());
    let server = Server::new(
        Arc::new(Builtin),
        Builtin.list(),
        Arc::new(store.await.unwrap()),
        Arc::new(SystemClock),
        Config::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = std::future::pending();
    tokio::spawn(serve_tls(listener, tls, Arc::new(server), never));
    address
}

/// Connects as a client that trusts only this certificate.
async fn connect(
    address: SocketAddr,
    trusted: Option<&Certificate>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    if let Some(trusted) = trusted {
        roots.add(trusted.cert.der().clone()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    connector.connect(name, stream).await
}

async fn request(mut stream: TlsStream<TcpStream>) -> std::io::Result<String> {
    stream
        .write_all(b"GET /api/games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_trusts_the_certificate_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let made = certificate();
    let (pem, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = Tls::from_pem(pem.as_bytes(), key.as_bytes()).unwrap();
    let address = start(folder.path(), tls).await;
    let answer = request(connect(address, Some(&made)).await.unwrap()).await;
    let answer = answer.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("kq19-v1"),
        "{answer}"
    );
    let refused = connect(address, None).await.unwrap_err().to_string();
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    // A client that does not speak TLS gets no API response.
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain
        .write_all(b"GET /api/games HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    // The connection may end with or without an error.
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("kq19"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_certificate_is_used_for_new_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (pem, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    let write = |made: &Certificate| {
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::write(&pem, made.cert.pem()).unwrap();
    };
    let [first, second] = [(); 2].map(|()| certificate());
    write(&first);
    let tls = Tls::from_files(&pem, &key).unwrap();
    let address = start(folder.path(), tls.clone()).await;
    let old = connect(address, Some(&first)).await.unwrap();
    // A key without its certificate, a truncated file and a missing file change nothing.
    std::fs::write(&key, second.signing_key.serialize_pem()).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("cannot be used"), "{error}");
    std::fs::write(&pem, &second.cert.pem()[..100]).unwrap();
    tls.reload().unwrap_err();
    std::fs::remove_file(&pem).unwrap();
    let error = tls.reload().unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
    connect(address, Some(&first)).await.unwrap();
    // The server finds the new certificate without being told.
    write(&second);
    while connect(address, Some(&second)).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(!tls.reload().unwrap(), "it is loaded already");
    connect(address, Some(&first)).await.unwrap_err();
    // A connection that was opened before continues.
    let answer = request(old).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn invalid_certificate_or_key_is_reported() {
    let [made, other] = [(); 2].map(|()| certificate());
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let error = |certificate: &str, key: &str| {
        Tls::from_pem(certificate.as_bytes(), key.as_bytes())
            .err()
            .unwrap()
            .to_string()
    };
    assert!(error("", &key).contains("contains no certificate"));
    assert!(
        error(&certificate, "nonsense").contains("the private key is missing or not valid PEM")
    );
    assert!(error(&certificate, &other.signing_key.serialize_pem()).contains("cannot be used"));
}
