//! A connection that is watched: whoever is too slow loses it.
//!
//! The stream notes when something moves, and one timer for each connection looks at the notes now and then; so watching costs a request
//! a few loads and stores. A deadline is kept to a quarter of the shortest timeout.
//!
//! **Invariant:** a connection whose request is being handled is never ended from here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Limits;

/// What a client took too long for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The next request.
    Request,
    /// The rest of a request's head.
    Head,
    /// Reading an answer.
    Reading,
    /// The TLS handshake.
    Handshake,
}

impl Overdue {
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

/// The notes about a connection.
pub(crate) struct Pulse {
    begun: Instant,
    phase: AtomicU8,
    /// When the phase began, or when something was last written while idle.
    since_us: AtomicU64,
    /// When writing first had to wait, plus one; 0 if nothing waits.
    stalled_us: AtomicU64,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self {
            begun: Instant::now(),
            phase: AtomicU8::new(IDLE),
            since_us: AtomicU64::new(0),
            stalled_us: AtomicU64::new(0),
        }
    }

    /// A request's head is complete, and it is being handled.
    pub(crate) fn busy(&self) {
        self.phase.store(BUSY, Ordering::Relaxed);
    }

    /// The request is answered; the answer may still have to be written.
    pub(crate) fn answered(&self) {
        self.since_us.store(self.now_us(), Ordering::Relaxed);
        self.phase.store(IDLE, Ordering::Relaxed);
    }

    fn received(&self) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.since_us.store(self.now_us(), Ordering::Relaxed);
            self.phase.store(HEAD, Ordering::Relaxed);
        }
    }

    /// A stream of events has no other sign of life than what is written.
    fn wrote(&self) {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.since_us.store(self.now_us(), Ordering::Relaxed);
        }
    }

    /// The time counts from the first wait on: a client that takes an answer byte by byte gains nothing.
    fn stalled(&self) {
        if self.stalled_us.load(Ordering::Relaxed) == 0 {
            self.stalled_us.store(self.now_us() + 1, Ordering::Relaxed);
        }
    }

    fn flushed(&self) {
        self.stalled_us.store(0, Ordering::Relaxed);
    }

    /// What the client took too long for, if it did.
    pub(crate) fn overdue(&self, limits: &Limits) -> Option<Overdue> {
        let past = |since_us: u64, most: Duration| {
            self.begun.elapsed() >= Duration::from_micros(since_us) + most
        };
        let (phase, since_us) = (
            self.phase.load(Ordering::Relaxed),
            self.since_us.load(Ordering::Relaxed),
        );
        match self.stalled_us.load(Ordering::Relaxed) {
            0 if phase == HEAD && past(since_us, limits.header_timeout) => Some(Overdue::Head),
            0 if phase == IDLE && past(since_us, limits.idle_timeout) => Some(Overdue::Request),
            0 => None,
            stalled_us => (phase != BUSY && past(stalled_us, limits.answer_timeout))
                .then_some(Overdue::Reading),
        }
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX - 1)
    }
}

/// A stream whose movements are noted.
pub(crate) struct Watched<S> {
    pub(crate) stream: S,
    pub(crate) pulse: Arc<Pulse>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.pulse.received();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S> Watched<S> {
    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        match written {
            Poll::Pending => self.pulse.stalled(),
            Poll::Ready(_) => self.pulse.wrote(),
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        match flushed {
            // Whoever flushes has written all there is.
            Poll::Ready(_) => self.pulse.flushed(),
            Poll::Pending => self.pulse.stalled(),
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.note(ended)
    }
}
