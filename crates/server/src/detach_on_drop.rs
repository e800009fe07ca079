//! A future that keeps running in the background when it is dropped.
//!
//! A client that disconnects must not leave a command half executed. Spawning a task per command
//! would ensure that, but costs two task switches per command. This wrapper polls the future in
//! place and spawns a task only if it is dropped before it has finished.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Polls `F` in place, and spawns it as a task if dropped before completion.
pub(crate) struct DetachOnDrop<F>(Option<Pin<Box<F>>>)
where
    F: Future<Output: Send> + Send + 'static;

impl<F: Future<Output: Send> + Send + 'static> DetachOnDrop<F> {
    pub(crate) fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for DetachOnDrop<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // A future that panics is not put back, so `Drop` does not poll it again.
        let mut work = self
            .0
            .take()
            .expect("the future is not polled after completion");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for DetachOnDrop<F> {
    fn drop(&mut self) {
        // Without a runtime the process is shutting down, and the future is dropped. Work that it
        // has not committed has no effect.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn dropped_future_runs_to_completion() {
        let (begin, started) = oneshot::channel::<()>();
        let (done, seen) = oneshot::channel();
        let work = DetachOnDrop::new(async move {
            started.await.unwrap();
            done.send(7).unwrap();
        });
        assert!(
            tokio::time::timeout(Duration::from_millis(1), work)
                .await
                .is_err()
        );
        begin.send(()).unwrap();
        assert_eq!(seen.await, Ok(7));
    }

    #[tokio::test]
    async fn awaited_future_returns_its_result() {
        assert_eq!(
            DetachOnDrop::new(async {
                tokio::task::yield_now().await;
                7
            })
            .await,
            7
        );
    }
}
