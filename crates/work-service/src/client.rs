//! The requests of a worker to its coordinator.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_protocol::{SOFTWARE, WorkErrorCode, WorkJob, WorkRefusal, WorkerHello};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::DistributeError;
use crate::software::software_digest;

/// The pause before a request is repeated.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);
/// The time limit of one request. The coordinator verifies a result before it answers.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);
/// The time after which a worker gives up a coordinator that does not answer.
const RETRY_LIMIT: Duration = Duration::from_secs(60);

/// Sends requests to the coordinator, and repeats those that got no answer. All of them can be
/// repeated: a repeated lease ends when it is not renewed.
pub struct WorkClient {
    agent: ureq::Agent,
    url: String,
    token: String,
    /// A worker that is interrupted sends a request once.
    interrupt: Arc<AtomicBool>,
}

impl WorkClient {
    /// Introduces a worker to the coordinator at `url`, and returns what is to be done.
    ///
    /// # Errors
    ///
    /// Returns an error if the coordinator refuses the worker or does not answer.
    pub fn join(
        url: &str,
        token: &str,
        interrupt: &Arc<AtomicBool>,
    ) -> Result<(Arc<Self>, WorkJob), DistributeError> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(REQUEST_TIMEOUT))
            .max_redirects(0)
            .build();
        let client = Self {
            agent: config.into(),
            url: url.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            interrupt: Arc::clone(interrupt),
        };
        let hello = WorkerHello {
            software: SOFTWARE.to_owned(),
            software_digest: software_digest()?,
        };
        let job = client.post("job", &hello)?;
        Ok((Arc::new(client), job))
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        name: &str,
        body: &impl Serialize,
    ) -> Result<T, DistributeError> {
        let started = Instant::now();
        loop {
            match self.post_once(name, body) {
                Ok(answer) => return answer,
                Err(reason) if started.elapsed() >= RETRY_LIMIT || self.is_interrupted() => {
                    return Err(DistributeError::Unreachable {
                        url: self.url.clone(),
                        reason,
                    });
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Sends a request once. The outer error says why there is no answer.
    fn post_once<T: DeserializeOwned>(
        &self,
        name: &str,
        body: &impl Serialize,
    ) -> Result<Result<T, DistributeError>, String> {
        let url = format!("{}/work/{name}", self.url);
        let body = serde_json::to_vec(body).map_err(|error| error.to_string())?;
        let mut response = self
            .agent
            .post(&url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .send(&body[..])
            .map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(u64::MAX)
            .read_to_string()
            .map_err(|error| error.to_string())?;
        if status == 200 {
            let answer = serde_json::from_str(&text);
            return answer.map(Ok).map_err(|error| error.to_string());
        }
        serde_json::from_str(&text)
            .map(|refusal| Err(DistributeError::Refused(refusal)))
            .map_err(|_| format!("it answered with the status {status}"))
    }
}

/// Returns whether a request was refused because the worker no longer has its unit.
pub(crate) fn is_stale(error: &DistributeError) -> bool {
    matches!(
        error,
        DistributeError::Refused(WorkRefusal {
            error: WorkErrorCode::StaleLease,
            ..
        })
    )
}
