//! The engine: everything that a turn-based 64 × 64 environment is made of.
//!
//! A game is a set of pure rules ([`Game`]) over a small state. An [`Episode`] plays those rules: it knows levels, RESET,
//! undo, win and loss, and counts. An [`Environment`] is the object-safe face of a play, the same for a native game,
//! one hosted in another process and one on a server.
//!
//! Invariants of the whole crate:
//!
//! * **Deterministic.** The same game version, seed and actions give the same frames on every platform. There is no I/O,
//!   no clock, no floating point in rules, no randomness but [`Rng`], which is named and versioned.
//! * **A step cannot fail.** An illegal action is a defined outcome (nothing changes, it is counted), not an error.
//! * **A step does not allocate** once its buffers have grown to what the game needs.
//!
//! What this crate deliberately does not know: scores, files, the wire, people, agents.

mod action;
#[cfg(test)]
mod arbitrary;
mod camera;
mod collision;
mod direction;
mod environment;
mod episode;
mod facts;
mod fit;
mod frame;
mod game;
mod interaction;
mod key;
mod map;
mod merge;
mod native;
mod overlay;
mod pack;
mod palette;
mod picture;
mod rng;
mod rotation;
mod sink;
mod snapshot;
mod sprite;
mod transform;
mod undo;

pub use action::{Action, ActionKind, ActionSet, ParseActionError};
pub use camera::Camera;
pub use collision::topmost_at;
pub use direction::Direction;
pub use environment::{Environment, EnvironmentError, GameInfo, Observation, PlayState};
pub use episode::{Episode, Levels, Step};
pub use facts::{Baseline, BaselineSource, Facts, GameId, GameIdError, LevelIndex};
pub use frame::{CELLS, Frame, SIZE};
pub use game::{Game, Outcome, Part, State, StateOf};
pub use interaction::{Blocking, Interaction};
pub use key::{StateKey, key_of};
pub use map::TextMap;
pub use native::Native;
pub use overlay::{Overlay, Toggles};
pub use pack::{PACKED_BITS, Packer, Unpacker};
pub use palette::{PALETTE, Rgb};
pub use picture::{Picture, SOLID, SpriteError, TRANSPARENT};
pub use rng::Rng;
pub use rotation::Rotation;
pub use sink::{FrameBuffer, FrameSink, MAX_FRAMES, NoFrames};
pub use sprite::Sprite;
