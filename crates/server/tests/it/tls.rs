use std::sync::Arc;

use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_server::{Config, Server, SystemClock, Tls, serve_tls};
use rhae_store::{SqliteOptions, SqliteStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_trusts_the_certificate_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls = Tls::from_pem(
        made.cert.pem().as_bytes(),
        made.signing_key.serialize_pem().as_bytes(),
    )
    .unwrap();
    let store = Arc::new(
        SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default())
            .await
            .unwrap(),
    );
    let server = Server::new(
        Arc::new(Builtin),
        Builtin.list(),
        store,
        Arc::new(SystemClock),
        Config::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_tls(
        listener,
        tls,
        Arc::new(server),
        std::future::pending(),
    ));
    let ask = async |trusted: bool| -> std::io::Result<String> {
        let mut roots = RootCertStore::empty();
        if trusted {
            roots.add(made.cert.der().clone()).unwrap();
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await?;
        stream
            .write_all(b"GET /api/games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    };
    let answer = ask(true).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("kq19-v1"),
        "{answer}"
    );
    assert!(
        ask(false)
            .await
            .unwrap_err()
            .to_string()
            .contains("UnknownIssuer")
    );
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

#[test]
fn invalid_certificate_or_key_is_reported() {
    let [made, other] =
        [(); 2].map(|()| rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap());
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
