//! What goes wrong, and when.

use std::time::Duration;

/// What is done wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// An error instead of an answer, with `Retry-After` if given.
    Status(u16, Option<&'static str>),
    /// An error that repeats all headers of the request, the key among them.
    Echo(u16),
    /// The answer arrives a few bytes at a time.
    Slow,
    /// The connection is cut in the middle of the answer.
    Cut,
    /// The connection is closed before any answer.
    Close,
    /// Half of the answer, and then silence for so long.
    Stall(Duration),
    /// No answer for so long, then a good one.
    Late(Duration),
    /// An answer that is not JSON.
    Malformed,
    /// A good answer without content.
    Empty,
    /// A refusal.
    Refuse,
    /// An error in the middle of a stream; without a stream, an error with a good status.
    ErrorInStream,
    /// The first half of an answer, as if that were all.
    Half,
    /// A stream without the mark of its end, where the form has one: all of the answer is there.
    NoMark,
}

impl Fault {
    /// Whether tokens are billed all the same.
    pub fn is_billed(&self) -> bool {
        !matches!(
            self,
            Self::Status(..) | Self::Echo(_) | Self::Close | Self::ErrorInStream
        )
    }
}

/// Which requests go wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// What happens to the first requests, in order.
    pub first: Vec<Fault>,
    /// What happens to the others, and in how many of a hundred requests.
    pub mixed: Vec<Fault>,
    /// How many of a hundred requests after the first are faulty.
    pub percent: u64,
    /// Which of them, in an order that depends on nothing else.
    pub seed: u64,
}

impl Faults {
    /// None at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Those of the first requests; all others are answered well.
    pub fn first(faults: impl IntoIterator<Item = Fault>) -> Self {
        Self {
            first: faults.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Every kind that a caller must live with, in so many of a hundred requests.
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

    /// What happens to a request.
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

/// A number that looks like chance (SplitMix64).
fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
