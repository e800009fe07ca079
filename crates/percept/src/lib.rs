//! Perception on frames: what is in a picture, and what changed since the last one.
//!
//! An agent sees 4,096 numbers. This crate turns them into what a person sees at once:
//!
//! | question | answer |
//! | --- | --- |
//! | what is there? | [`Scene`]: objects with colour, shape, hierarchy and adjacency; islands of several colours |
//! | what changed? | [`Matching`]: objects that moved, turned, changed colour, appeared, … |
//! | what happened on the way? | [`AnimationReader`]: the same for every frame of an animation |
//! | what belongs together? | [`Composites`]: objects of several colours that move as one |
//! | what only counts? | [`StatusBars`]: progress bars and counters, recognised by how they change |
//! | how large is a cell? | [`GridFinder`]: the logical grid below the pixels |
//! | where could I click? | [`click_candidates`]: one cell per object, grouped by class |
//!
//! # Examples
//!
//! Which key moves which object?
//!
//! ```
//! use rhae_engine::Frame;
//! use rhae_percept::{Change, Matching, Scene};
//!
//! let mut before = Frame::filled(5);
//! before.rect(20, 20, 4, 4, 9);
//! before.rect(40, 8, 4, 4, 14);
//! let mut after = before.clone();
//! after.rect(20, 20, 4, 4, 5);
//! after.rect(20, 16, 4, 4, 9);
//!
//! let (before, after) = (Scene::of(&before), Scene::of(&after));
//! let matching = Matching::between(&before, &after);
//! let moved = matching.events().iter().find_map(|event| match event.change {
//!     Change::Moved { dx, dy } => Some((before.object(event.before?).color, dx, dy)),
//!     _ => None,
//! });
//! assert_eq!(moved, Some((9, 0, -4)));
//! ```
//!
//! # Invariants
//!
//! * **Deterministic.** Results depend on the frames alone: no clock, no randomness, no hash maps
//!   with random order.
//! * **Any frame.** A frame may contain any bytes; nothing panics and no work grows beyond what
//!   4,096 cells allow.
//! * **No allocation per frame.** [`Scene::read`], [`Matching::update`], [`StatusBars::observe`] and
//!   [`GridFinder::observe`] keep their buffers.
//!
//! The crate knows nothing about games. It has no list of colours that matter, no idea of a player,
//! and no goals.

mod animation;
mod bounds;
mod cell_set;
mod clicks;
mod composites;
mod grid;
mod matching;
mod regions;
mod scene;
mod shape;
mod status_bars;
mod strips;

pub use animation::{AnimationEvent, AnimationReader};
pub use bounds::Bounds;
pub use cell_set::CellSet;
pub use clicks::{ClickCandidate, ClickClass, SizeClass, click_candidates, click_class};
pub use composites::Composites;
pub use grid::{Grid, GridFinder};
pub use matching::{Change, Event, Matching};
pub use scene::{Island, Object, ObjectId, Scene};
pub use shape::{Shape, ShapeId, Symmetry};
pub use status_bars::{Indicator, IndicatorKind, StatusBars};
