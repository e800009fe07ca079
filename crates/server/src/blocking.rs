//! Blocking work, which must not run on the async threads.

use crate::ApiError;

/// Runs blocking work on a separate thread, so that it does not delay other requests.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ApiError::Failed(error.to_string()))
}
