//! The HTTP endpoint of the coordinator of a run.
//!
//! It checks the token of each request and passes path and body to a handler, which decides
//! everything else. It knows nothing about runs or leases.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rhae_protocol::{WorkErrorCode, WorkRefusal};
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

/// The maximum number of connections.
const MAX_CONNECTIONS: usize = 1024;
/// The maximum number of requests that are handled at the same time.
const MAX_REQUESTS: usize = 64;
/// The maximum size of a body. It contains a recording and the files that an agent wrote.
const MAX_BODY_BYTES: usize = 256 << 20;
/// The time limit for the head of a request, and then for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Returns the status and the JSON body of the response to a request with this path and body.
pub type WorkHandler = dyn Fn(&str, &[u8]) -> (u16, String) + Send + Sync;

/// An HTTP endpoint that runs in separate threads. Dropping it closes its connections.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use rhae_server::WorkEndpoint;
///
/// let echo = |path: &str, _: &[u8]| (200, format!("\"{path}\""));
/// let address = "127.0.0.1:0".parse().unwrap();
/// let endpoint = WorkEndpoint::start(address, "secret".to_owned(), Arc::new(echo))?;
/// assert!(endpoint.address().port() > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct WorkEndpoint {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What every request needs.
struct Shared {
    token: String,
    handler: Arc<WorkHandler>,
    requests: Semaphore,
}

impl WorkEndpoint {
    /// Listens at an address. Port 0 selects an unused port.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be used or a thread cannot be started.
    pub fn start(
        address: SocketAddr,
        token: String,
        handler: Arc<WorkHandler>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MAX_REQUESTS)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            token,
            handler,
            requests: Semaphore::new(MAX_REQUESTS),
        });
        let (stop, stopped) = oneshot::channel();
        let accepting = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    // An error means that the endpoint was dropped without a message.
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new()
            .name("work-endpoint".to_owned())
            .spawn(accepting)?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for WorkEndpoint {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Sending fails only if the thread has ended.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await;
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    serve(stream, shared).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(request, shared).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READ_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // An error means that the worker closed the connection. It repeats its request.
    let _ = connection.await;
}

async fn respond(request: Request<Incoming>, shared: Arc<Shared>) -> Response<Full<Bytes>> {
    if !has_token(&request, &shared.token) {
        return refuse(
            WorkErrorCode::InvalidToken,
            "the request does not have the token of this coordinator; see --token-file",
        );
    }
    if request.method() != Method::POST {
        return refuse(
            WorkErrorCode::InvalidRequest,
            "requests to a coordinator are POST requests",
        );
    }
    let path = request.uri().path().to_owned();
    // Waiting here, before the body is read, bounds the memory.
    let _permit = shared.requests.acquire().await;
    let body = Limited::new(request.into_body(), MAX_BODY_BYTES).collect();
    let body = match tokio::time::timeout(READ_TIMEOUT, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => return refuse(WorkErrorCode::InvalidRequest, &error.to_string()),
        Err(_) => return refuse(WorkErrorCode::InvalidRequest, "the body is too slow"),
    };
    let handler = Arc::clone(&shared.handler);
    let handled = tokio::task::spawn_blocking(move || handler(&path, &body)).await;
    match handled {
        Ok((status, body)) => response(status, body),
        Err(_) => refuse(WorkErrorCode::Failed, "the coordinator failed"),
    }
}

fn has_token(request: &Request<Incoming>, token: &str) -> bool {
    let header = request.headers().get(AUTHORIZATION);
    let given = header
        .and_then(|header| header.to_str().ok())
        .and_then(|header| header.strip_prefix("Bearer "));
    given.is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
}

fn refuse(error: WorkErrorCode, message: &str) -> Response<Full<Bytes>> {
    let refusal = WorkRefusal {
        error,
        message: message.to_owned(),
    };
    let body = serde_json::to_string(&refusal).expect("a refusal is valid JSON");
    response(error.status(), body)
}

fn response(status: u16, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn requests_need_the_token() {
        let handler = |path: &str, body: &[u8]| (201, format!("[\"{path}\",{}]", body.len()));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let endpoint =
            WorkEndpoint::start(address, "secret".to_owned(), Arc::new(handler)).unwrap();
        let url = format!("http://{}/work/lease", endpoint.address());
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let post = |token: Option<&str>| {
            let mut request = agent.post(&url);
            if let Some(token) = token {
                request = request.header("Authorization", token);
            }
            let mut response = request.send("body").unwrap();
            let text = response.body_mut().read_to_string().unwrap();
            (response.status().as_u16(), text)
        };
        for token in [
            None,
            Some("secret"),
            Some("Bearer other"),
            Some("Bearer secret2"),
        ] {
            let (status, text) = post(token);
            assert_eq!(status, 401, "{token:?}");
            let refusal: WorkRefusal = serde_json::from_str(&text).unwrap();
            assert_eq!(refusal.error, WorkErrorCode::InvalidToken);
        }
        let accepted = post(Some("Bearer secret"));
        assert_eq!(accepted, (201, "[\"/work/lease\",4]".to_owned()));
        let get = agent.get(&url).header("Authorization", "Bearer secret");
        assert_eq!(get.call().unwrap().status().as_u16(), 400);
        // Nothing listens when the endpoint is dropped.
        drop(endpoint);
        assert!(agent.post(&url).send("body").is_err());
    }
}
