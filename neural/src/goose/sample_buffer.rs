//! The transitions that the network learns from.

use std::collections::BTreeSet;

use rhae_engine::{Frame, Rng};
use xxhash_rust::xxh3::xxh3_128;

use crate::{ActionIndex, PackedFrame};

/// The largest number of samples: 410 MB of frames.
pub const BUFFER_CAPACITY: usize = 200_000;

/// An action at a frame, and whether it changed the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub frame: PackedFrame,
    pub action: ActionIndex,
    pub has_effect: bool,
}

/// The hash of a frame and an action at it.
type Pair = (u128, ActionIndex);

/// The samples of a level, each pair of frame and action at most once.
///
/// A full buffer replaces its oldest sample. The pair of the replaced sample stays known, so it does
/// not enter again.
pub struct SampleBuffer {
    capacity: usize,
    samples: Vec<Sample>,
    /// The position of the oldest sample of a full buffer.
    oldest: usize,
    known: BTreeSet<Pair>,
    without_effect: BTreeSet<Pair>,
}

impl SampleBuffer {
    /// Creates an empty buffer for at most `capacity` samples.
    pub const fn new(capacity: usize) -> Self {
        Self {
            capacity,
            samples: Vec::new(),
            oldest: 0,
            known: BTreeSet::new(),
            without_effect: BTreeSet::new(),
        }
    }

    /// Forgets all samples and pairs.
    pub fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    /// Adds a sample and returns whether its pair is new. `identity` is the frame that identifies the
    /// pair: `frame`, or `frame` without its status bars.
    pub fn insert(
        &mut self,
        frame: &Frame,
        identity: &Frame,
        action: ActionIndex,
        has_effect: bool,
    ) -> bool {
        let pair = (xxh3_128(identity.cells()), action);
        if !self.known.insert(pair) {
            return false;
        }
        if !has_effect {
            self.without_effect.insert(pair);
        }
        let sample = Sample {
            frame: PackedFrame::new(frame),
            action,
            has_effect,
        };
        if self.samples.len() < self.capacity {
            self.samples.push(sample);
        } else {
            self.samples[self.oldest] = sample;
            self.oldest = (self.oldest + 1) % self.capacity;
        }
        true
    }

    /// Returns the actions at a frame that are known to have no effect, in their order.
    pub fn without_effect(&self, identity: &Frame) -> impl Iterator<Item = ActionIndex> {
        let hash = xxh3_128(identity.cells());
        let first = ActionIndex::new(0).expect("0 is an output");
        self.without_effect
            .range((hash, first)..)
            .take_while(move |(frame, _)| *frame == hash)
            .map(|&(_, action)| action)
    }

    /// Draws samples without replacement. Returns `None` if there are fewer than `count`.
    pub fn batch(&self, count: usize, rng: &mut Rng) -> Option<Vec<&Sample>> {
        if self.samples.len() < count {
            return None;
        }
        let bound = self.samples.len() as u32;
        let mut drawn = BTreeSet::new();
        let mut batch = Vec::with_capacity(count);
        while batch.len() < count {
            let position = rng.below(bound) as usize;
            if drawn.insert(position) {
                batch.push(&self.samples[position]);
            }
        }
        Some(batch)
    }

    /// Returns the samples. The oldest one is not necessarily the first.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
