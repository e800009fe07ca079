//! Work that is done to its end, whoever waits for it.
//!
//! A client that hangs up must not leave a command half done. A task of its own for each command would see to that, at the price of handing
//! every command from one task to another and back; so only what nobody waits for any longer becomes one.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// See the module.
pub(crate) struct ToItsEnd<F>(Option<Pin<Box<F>>>)
where
    F: Future<Output: Send> + Send + 'static;

impl<F: Future<Output: Send> + Send + 'static> ToItsEnd<F> {
    pub(crate) fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for ToItsEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Work that panics is not put back, so that nobody goes on with it.
        let mut work = self.0.take().expect("nobody asks for a result twice");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<F> {
    fn drop(&mut self) {
        // Where there is no runtime any longer the process is ending, and what was not committed has not happened.
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
    async fn work_goes_on_when_nobody_waits() {
        let (begin, begun) = oneshot::channel::<()>();
        let (done, seen) = oneshot::channel();
        let work = ToItsEnd::new(async move {
            begun.await.unwrap();
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
    async fn work_that_is_waited_for_gives_its_result() {
        assert_eq!(
            ToItsEnd::new(async {
                tokio::task::yield_now().await;
                7
            })
            .await,
            7
        );
    }
}
