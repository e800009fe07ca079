//! HTTP downloads that check every redirect before they follow it.
//!
//! **Invariants:** a request that carries a key is never sent to another origin (scheme, host and
//! port), and no download continues over http after it started over https.

use std::time::Duration;

use ureq::http::header::LOCATION;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use crate::DatasetsError;

/// The maximum number of redirects of one download.
const MAX_REDIRECTS: usize = 5;

/// Which redirects a download follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// Only redirects to the same scheme, host and port: the request carries a key.
    #[cfg_attr(
        not(feature = "hosting"),
        allow(dead_code, reason = "only downloads of hosted games carry a key")
    )]
    SameOrigin,
    /// All redirects, except from https to http.
    AnyHost,
}

/// An HTTP client for downloads.
pub(crate) struct Downloader {
    agent: Agent,
    redirects: Redirects,
}

impl Downloader {
    /// Creates a client. `timeout` limits each request, including its body.
    pub(crate) fn new(redirects: Redirects, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout));
        Self {
            agent: config.build().into(),
            redirects,
        }
    }

    /// Requests `url` and returns the first response that is not a redirect.
    pub(crate) fn get(
        &self,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, DatasetsError> {
        let mut address = parse(url)?;
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.agent.get(&address);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let response = request
                .call()
                .map_err(|error| failed(format!("cannot reach `{}`: {error}", origin(&address))))?;
            let location = match response.headers().get(LOCATION) {
                Some(location) if response.status().is_redirection() => location,
                _ => return Ok(response),
            };
            let location = location
                .to_str()
                .map_err(|_| failed(format!("`{address}` redirects to an invalid address")))?;
            address = redirect_target(self.redirects, &address, location)?;
        }
        Err(failed(format!(
            "`{url}` redirects more than {MAX_REDIRECTS} times"
        )))
    }
}

/// Returns the address to which a response redirects, or an error if the redirect is not allowed.
fn redirect_target(redirects: Redirects, from: &Uri, location: &str) -> Result<Uri, DatasetsError> {
    let to = resolve(from, location)?;
    if from.scheme_str() == Some("https") && to.scheme_str() != Some("https") {
        return Err(failed(format!(
            "`{}` redirects to `{}` without encryption; the redirect was not followed",
            origin(from),
            origin(&to)
        )));
    }
    if redirects == Redirects::SameOrigin && origin(from) != origin(&to) {
        return Err(failed(format!(
            "`{from_origin}` redirects to `{to_origin}`; the key is sent only to `{from_origin}`, so the redirect was not \
             followed. If you trust the other server, use `--server {to_origin}`",
            from_origin = origin(from),
            to_origin = origin(&to)
        )));
    }
    Ok(to)
}

/// Resolves the value of a `Location` header.
fn resolve(from: &Uri, location: &str) -> Result<Uri, DatasetsError> {
    let scheme = from.scheme_str().unwrap_or_default();
    let absolute = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{}{location}", origin(from))
    } else {
        let folder = from
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        format!("{}{folder}/{location}", origin(from))
    };
    // A fragment is not sent to the server.
    parse(absolute.split('#').next().unwrap_or_default())
}

/// Parses an absolute http or https address.
fn parse(url: &str) -> Result<Uri, DatasetsError> {
    let invalid = |why: String| failed(format!("`{url}` is not a valid address: {why}"));
    let uri: Uri = url
        .parse()
        .map_err(|error: ureq::http::uri::InvalidUri| invalid(error.to_string()))?;
    let known = uri
        .scheme_str()
        .is_some_and(|scheme| ["http", "https"].contains(&scheme));
    if !known || uri.host().is_none_or(str::is_empty) {
        return Err(invalid(
            "expected https:// or http:// and a host".to_owned(),
        ));
    }
    Ok(uri)
}

/// Returns scheme, host and port, with the port left out if it is the default of the scheme.
fn origin(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    let default = if scheme == "https" { 443 } else { 80 };
    match uri.port_u16() {
        Some(port) if port != default => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    }
}

fn failed(message: String) -> DatasetsError {
    DatasetsError::Download(message)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A server on loopback that gives the same response to every request and keeps the requests.
    struct Server {
        address: String,
        requests: Arc<Mutex<Vec<String>>>,
    }

    impl Server {
        fn start(status: &'static str, headers: String) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            let requests = Arc::new(Mutex::new(Vec::new()));
            let received = Arc::clone(&requests);
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let mut stream = stream.unwrap();
                    let mut request = vec![0; 4096];
                    let read = stream.read(&mut request).unwrap();
                    received
                        .lock()
                        .unwrap()
                        .push(String::from_utf8_lossy(&request[..read]).to_lowercase());
                    let _ = stream.write_all(
                        format!(
                            "HTTP/1.1 {status}\r\n{headers}content-length: 2\r\nconnection: close\r\n\r\nok"
                        )
                        .as_bytes(),
                    );
                }
            });
            Self { address, requests }
        }

        fn requests(&self) -> Vec<String> {
            self.requests.lock().unwrap().clone()
        }
    }

    fn downloader(redirects: Redirects) -> Downloader {
        Downloader::new(redirects, Duration::from_secs(30))
    }

    #[test]
    fn key_is_not_sent_to_the_target_of_a_redirect() {
        let other = Server::start("200 OK", String::new());
        let first = Server::start(
            "302 Found",
            format!("location: {}/api/games\r\n", other.address),
        );
        let headers = [("X-API-Key", "secret")];
        let error = downloader(Redirects::SameOrigin)
            .get(&format!("{}/api/games", first.address), &headers)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("redirects to `{}`", other.address)),
            "{error}"
        );
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(first.requests().len(), 1);
        assert_eq!(other.requests(), Vec::<String>::new());
    }

    #[test]
    fn download_without_a_key_follows_redirects_to_another_host() {
        let other = Server::start("200 OK", String::new());
        let first = Server::start("301 Moved", format!("location: {}/a\r\n", other.address));
        let response = downloader(Redirects::AnyHost).get(&first.address, &[]);
        assert_eq!(response.unwrap().status().as_u16(), 200);
        assert!(other.requests()[0].starts_with("get /a http/1.1"));
    }

    #[test]
    fn endless_redirects_within_a_server_end() {
        let server = Server::start("307 Temporary", "location: /again\r\n".to_owned());
        let error = downloader(Redirects::SameOrigin)
            .get(&server.address, &[("X-API-Key", "k")])
            .unwrap_err();
        assert!(error.to_string().contains("more than 5 times"), "{error}");
        assert_eq!(server.requests().len(), MAX_REDIRECTS + 1);
        assert!(server.requests()[1].starts_with("get /again "));
    }

    #[test]
    fn redirects_are_allowed_by_origin_and_encryption() {
        let target = |redirects, from: &str, location: &str| {
            redirect_target(redirects, &from.parse().unwrap(), location)
                .map(|uri| uri.to_string())
                .map_err(|error| error.to_string())
        };
        let https = "https://a.example/api/games";
        for location in ["/x", "x", "//a.example/x", "https://A.example:443/x#part"] {
            let found = target(Redirects::SameOrigin, https, location).unwrap();
            assert!(found.ends_with("/x"), "{location}: {found}");
        }
        for location in [
            "https://b.example/x",
            "//b.example/x",
            "https://a.example:8443/x",
            "https://a.example.b.example/x",
            "https://a.example@b.example/x",
            "http://a.example/x",
            "ftp://a.example/x",
        ] {
            let found = target(Redirects::SameOrigin, https, location);
            assert!(found.is_err(), "{location}: {found:?}");
        }
        assert!(target(Redirects::AnyHost, https, "https://b.example/x").is_ok());
        let refused = target(Redirects::AnyHost, https, "http://a.example/x").unwrap_err();
        assert!(refused.contains("without encryption"), "{refused}");
        let plain = "http://127.0.0.1:8001/x";
        assert!(target(Redirects::AnyHost, plain, "http://127.0.0.1:8002/x").is_ok());
        assert!(target(Redirects::SameOrigin, plain, "http://127.0.0.1:8002/x").is_err());
    }
}
