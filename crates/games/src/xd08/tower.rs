//! The physics of a tower: which slabs a push moves, and which part of the tower topples.
//!
//! Slabs lie in layers, one in each, numbered from the bottom. Lengths and places are whole units,
//! and all comparisons are exact.
//!
//! **Invariant:** no slab enters a side wall.

use std::ops::Range;

/// The number of units between the side walls.
pub(super) const WIDTH: u8 = 10;
/// The maximum number of slabs of a tower.
pub(super) const MAX_SLABS: usize = 5;
/// How many times a heavy slab outweighs an ordinary slab of the same length.
const HEAVY: u32 = 3;

/// The left end of each slab. Places beyond the last slab are 0.
pub(super) type Places = [u8; MAX_SLABS];

/// How a slab is joined to the slab below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// The slab rides on the slab below and can be pushed over it.
    Rough,
    /// The slab stays where it is when the slab below moves.
    Slippery,
    /// The slab and the one below move as one piece and never come apart.
    Glued,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slab {
    pub(super) length: u8,
    pub(super) is_heavy: bool,
    pub(super) joint: Joint,
}

impl Slab {
    const fn weight(self) -> u32 {
        self.length as u32 * if self.is_heavy { HEAVY } else { 1 }
    }
}

/// The slabs and the tables below them.
#[derive(Clone, Debug)]
pub(super) struct Tower {
    /// From the bottom to the top.
    pub(super) slabs: Vec<Slab>,
    /// The units in which there is a table.
    pub(super) tables: [bool; WIDTH as usize],
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Push {
    pub(super) places: Places,
    /// The slab above the moved ones that touches the wall and therefore stays, together with the
    /// slabs that are glued to it.
    pub(super) stopped: Option<usize>,
}

/// A part of the tower that topples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fall {
    /// The lowest slab that falls. Everything above it falls as well.
    pub(super) first: usize,
    pub(super) to_right: bool,
}

/// The point at which the weight above a joint acts: `moment / (2 * weight)` units from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Balance {
    pub(super) moment: u32,
    pub(super) weight: u32,
}

impl Tower {
    /// Returns the slabs that move as one piece with a slab.
    pub(super) fn piece(&self, slab: usize) -> Range<usize> {
        let is_glued = |slab: &usize| self.slabs[*slab].joint == Joint::Glued;
        let first = (0..=slab).rev().find(|slab| !is_glued(slab)).unwrap_or(0);
        let end = (slab + 1..self.slabs.len()).find(|slab| !is_glued(slab));
        first..end.unwrap_or(self.slabs.len())
    }

    /// Pushes a slab by one unit, together with its piece and everything that rides on it.
    ///
    /// # Errors
    ///
    /// Returns the slab of the piece that touches the wall, if there is one. Nothing moves then.
    pub(super) fn push(&self, places: &Places, slab: usize, to_right: bool) -> Result<Push, usize> {
        let mut push = Push {
            places: *places,
            stopped: None,
        };
        let mut piece = self.piece(slab);
        if let Some(touching) = self.touching(places, piece.clone(), to_right) {
            return Err(touching);
        }
        loop {
            for slab in piece.clone() {
                if to_right {
                    push.places[slab] += 1;
                } else {
                    push.places[slab] -= 1;
                }
            }
            if piece.end == self.slabs.len() || self.slabs[piece.end].joint == Joint::Slippery {
                return Ok(push);
            }
            piece = self.piece(piece.end);
            push.stopped = self.touching(places, piece.clone(), to_right);
            if push.stopped.is_some() {
                return Ok(push);
            }
        }
    }

    /// Returns the lowest slab of a piece that touches the wall on one side.
    fn touching(&self, places: &Places, mut piece: Range<usize>, to_right: bool) -> Option<usize> {
        piece.find(|&slab| {
            if to_right {
                places[slab] + self.slabs[slab].length == WIDTH
            } else {
                places[slab] == 0
            }
        })
    }

    /// Returns where the weight of a slab and of everything above it acts.
    pub(super) fn balance(&self, places: &Places, lowest: usize) -> Balance {
        let mut balance = Balance {
            moment: 0,
            weight: 0,
        };
        for (slab, &place) in self.slabs.iter().zip(places).skip(lowest) {
            balance.moment += slab.weight() * u32::from(2 * place + slab.length);
            balance.weight += slab.weight();
        }
        balance
    }

    /// Returns the first and the last point at which a slab touches the slab or the tables below
    /// it, or `None` if it touches nothing.
    pub(super) fn contact(&self, places: &Places, slab: usize) -> Option<(u8, u8)> {
        let (left, right) = (places[slab], places[slab] + self.slabs[slab].length);
        let Some(below) = slab.checked_sub(1) else {
            let mut units = (left..right).filter(|&unit| self.tables[usize::from(unit)]);
            let first = units.next()?;
            return Some((first, units.next_back().unwrap_or(first) + 1));
        };
        let left = left.max(places[below]);
        let right = right.min(places[below] + self.slabs[below].length);
        (left < right).then_some((left, right))
    }

    /// Returns the part that topples, if the weight above any joint acts outside the contact of
    /// that joint. Joints are tested from the top; glued joints always hold.
    pub(super) fn fall(&self, places: &Places) -> Option<Fall> {
        (0..self.slabs.len()).rev().find_map(|slab| {
            if self.slabs[slab].joint == Joint::Glued {
                return None;
            }
            let balance = self.balance(places, slab);
            let at = |unit: u8| 2 * u32::from(unit) * balance.weight;
            let to_right = match self.contact(places, slab) {
                Some((left, _)) if balance.moment < at(left) => false,
                Some((_, right)) if balance.moment > at(right) => true,
                Some(_) => return None,
                None => slab
                    .checked_sub(1)
                    .is_none_or(|below| places[below] < places[slab]),
            };
            Some(Fall {
                first: slab,
                to_right,
            })
        })
    }
}
