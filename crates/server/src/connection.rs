//! Timeouts of connections: a client that is too slow loses its connection.
//!
//! The stream records when data is read or written, and one timer per connection checks the record
//! periodically, so monitoring costs a request only a few atomic loads and stores. A timeout is
//! enforced with a delay of at most a quarter of the shortest timeout.
//!
//! **Invariant:** a connection never exceeds a timeout while one of its requests is being handled.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Limits;

/// The operation at which a client was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientTimeout {
    /// Sending the next request.
    Request,
    /// Sending the rest of a request's head.
    Head,
    /// Reading a response.
    Reading,
    /// Completing the TLS handshake.
    Handshake,
}

impl ClientTimeout {
    pub(crate) const ALL: [Self; 4] = [Self::Request, Self::Head, Self::Reading, Self::Handshake];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Head => "head",
            Self::Reading => "reading",
            Self::Handshake => "handshake",
        }
    }
}

const IDLE: u8 = 0;
const HEAD: u8 = 1;
const BUSY: u8 = 2;

/// The recorded activity of a connection.
pub(crate) struct Activity {
    started: Instant,
    phase: AtomicU8,
    /// When the phase began or, while idle, when data was last written. Microseconds since
    /// `started`.
    since_us: AtomicU64,
    /// When a write first had to wait, in microseconds since `started`, plus one. 0 if no write is
    /// waiting.
    stalled_us: AtomicU64,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            phase: AtomicU8::new(IDLE),
            since_us: AtomicU64::new(0),
            stalled_us: AtomicU64::new(0),
        }
    }

    /// Records that a request's head is complete and the request is being handled.
    pub(crate) fn busy(&self) {
        self.phase.store(BUSY, Ordering::Relaxed);
    }

    /// Records that the response is ready; it may still have to be written.
    pub(crate) fn answered(&self) {
        self.since_us.store(self.now_us(), Ordering::Relaxed);
        self.phase.store(IDLE, Ordering::Relaxed);
    }

    /// Whether a request is being handled.
    pub(crate) fn is_busy(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == BUSY
    }

    fn received(&self) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.since_us.store(self.now_us(), Ordering::Relaxed);
            self.phase.store(HEAD, Ordering::Relaxed);
        }
    }

    /// Records that data was written. This counts as activity, because it is the only activity of
    /// an event stream.
    fn wrote(&self) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.since_us.store(self.now_us(), Ordering::Relaxed);
        }
    }

    /// Records that a write has to wait. Only the first wait counts, so that a client cannot extend
    /// the timeout by reading a response byte by byte.
    fn stalled(&self) {
        if self.stalled_us.load(Ordering::Relaxed) == 0 {
            self.stalled_us.store(self.now_us() + 1, Ordering::Relaxed);
        }
    }

    fn flushed(&self) {
        self.stalled_us.store(0, Ordering::Relaxed);
    }

    /// Returns the timeout that the client has exceeded, if any.
    pub(crate) fn exceeded_timeout(&self, limits: &Limits) -> Option<ClientTimeout> {
        let expired = |since_us: u64, timeout: Duration| {
            self.started.elapsed() >= Duration::from_micros(since_us) + timeout
        };
        let (phase, since_us) = (
            self.phase.load(Ordering::Relaxed),
            self.since_us.load(Ordering::Relaxed),
        );
        match self.stalled_us.load(Ordering::Relaxed) {
            0 if phase == HEAD && expired(since_us, limits.header_timeout) => {
                Some(ClientTimeout::Head)
            }
            0 if phase == IDLE && expired(since_us, limits.idle_timeout) => {
                Some(ClientTimeout::Request)
            }
            0 => None,
            stalled_us => (phase != BUSY && expired(stalled_us, limits.answer_timeout))
                .then_some(ClientTimeout::Reading),
        }
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX - 1)
    }
}

/// A stream that records its activity.
pub(crate) struct MonitoredStream<S> {
    pub(crate) stream: S,
    pub(crate) activity: Arc<Activity>,
}

impl<S: AsyncRead + Unpin> AsyncRead for MonitoredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.activity.received();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S> MonitoredStream<S> {
    fn record<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Pending => self.activity.stalled(),
            Poll::Ready(_) => self.activity.wrote(),
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.record(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        match flushed {
            // A flush that has finished means that all data is written.
            Poll::Ready(_) => self.activity.flushed(),
            Poll::Pending => self.activity.stalled(),
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.record(ended)
    }
}
