//! The faults that the model server injects.

use std::time::Duration;

/// The fault that is injected into the response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A correct response.
    None,
    /// An error status, with a `Retry-After` header if a value is given.
    Status(u16, Option<&'static str>),
    /// An error status whose message repeats all request headers, including the API key.
    Echo(u16),
    /// An error status that says that the request exceeds the context of the model.
    ContextOverflow,
    /// The response arrives a few bytes at a time.
    Slow,
    /// The connection is closed in the middle of the response.
    Cut,
    /// The connection is closed before any part of the response is sent.
    Close,
    /// The server sends half of the response, waits for this time, and closes the connection.
    Stall(Duration),
    /// The server waits for this time, then sends a correct response.
    Late(Duration),
    /// A response that is not JSON.
    Malformed,
    /// A valid response without content.
    Empty,
    /// A response in which the model refuses to answer.
    Refuse,
    /// An error in the middle of a stream or, without streaming, an error with a success status.
    ErrorInStream,
    /// The first half of the response, terminated like a complete one.
    Half,
    /// A complete stream without the end marker that the format requires. Formats without an end
    /// marker are not affected.
    NoEndMarker,
}

impl Fault {
    /// Returns whether the request is billed despite the fault.
    pub fn is_billed(&self) -> bool {
        !matches!(
            self,
            Self::Status(..)
                | Self::Echo(_)
                | Self::ContextOverflow
                | Self::Close
                | Self::ErrorInStream
        )
    }
}

/// The faults of a server: a fixed list for the first requests, then randomly chosen ones.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The faults of the first requests, in order.
    pub first: Vec<Fault>,
    /// The faults from which those of later requests are chosen.
    pub mixed: Vec<Fault>,
    /// The share of later requests that are faulty, in percent.
    pub percent: u64,
    /// The seed of the random choice. The fault of a request depends only on this seed and the
    /// number of the request.
    pub seed: u64,
}

impl Faults {
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates faults for the first requests. All later responses are correct.
    pub fn first(faults: impl IntoIterator<Item = Fault>) -> Self {
        Self {
            first: faults.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Creates a mix of faults from which a client must recover. It affects `percent` percent of
    /// the requests.
    pub fn mixed(percent: u64, seed: u64) -> Self {
        let mixed = vec![
            Fault::Status(429, Some("0.05")),
            Fault::Status(429, Some("0")),
            Fault::Status(429, None),
            Fault::Status(500, None),
            Fault::Status(503, Some("0.02")),
            Fault::Slow,
            Fault::Cut,
            Fault::Close,
            Fault::Malformed,
            Fault::Empty,
            Fault::Refuse,
            Fault::ErrorInStream,
        ];
        Self {
            mixed,
            percent,
            seed,
            ..Self::default()
        }
    }

    /// Returns the fault of a request, numbered from 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_testkit::{Fault, Faults};
    ///
    /// let faults = Faults::first([Fault::Close]);
    /// assert_eq!((faults.of(0), faults.of(1)), (Fault::Close, Fault::None));
    ///
    /// let count_faults = |percent| {
    ///     let faults = Faults::mixed(percent, 7);
    ///     (0..1000).filter(|&number| faults.of(number) != Fault::None).count()
    /// };
    /// assert_eq!((count_faults(0), count_faults(100)), (0, 1000));
    /// ```
    pub fn of(&self, number: usize) -> Fault {
        if let Some(fault) = self.first.get(number) {
            return fault.clone();
        }
        let chance = scramble(self.seed.wrapping_add(number as u64));
        if self.mixed.is_empty() || chance % 100 >= self.percent {
            return Fault::None;
        }
        self.mixed[(chance / 100) as usize % self.mixed.len()].clone()
    }
}

/// Returns a pseudo-random number (SplitMix64).
fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
