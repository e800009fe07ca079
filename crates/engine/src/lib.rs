//! A deterministic engine for turn-based environments with 64 × 64 frames and sixteen colours, as
//! in the ARC-AGI-3 benchmark.
//!
//! # Overview
//!
//! | type | role |
//! | --- | --- |
//! | [`Game`] | the rules of a native game: a trait of pure functions over a small [`State`] |
//! | [`Facts`] | the metadata of a native game: id, actions, baselines, stored solutions |
//! | [`Episode`] | one play of a [`Game`]: levels, RESET, undo, win and loss |
//! | [`Environment`] | the object-safe interface of a play, which may run in another process |
//! | [`Catalog`] | a set of environments that can be listed and opened |
//! | [`NativeEnvironment`] | an [`Episode`] behind the [`Environment`] interface |
//! | [`Action`], [`ActionSet`] | the eight commands of an agent, and sets of them |
//! | [`Frame`], [`FrameSink`] | a 64 × 64 image, and the destination of the frames of an action |
//! | [`Sprite`], [`Camera`] | optional drawing and collision rules of the official engine |
//!
//! A game author implements [`Game`]. Searches and validators use [`Episode`]. It is generic over
//! the game, so calls of the rules are static and fast. Agents, servers and command-line tools use
//! `Box<dyn Environment>`, which also covers games that run in another process or on a server.
//!
//! # Invariants
//!
//! * **Deterministic.** The same game version, seed and actions produce the same frames on every
//!   platform. This crate does no I/O, reads no clock and uses no floating point in rules. Its only
//!   source of randomness is [`Rng`], whose algorithm is named and versioned.
//! * **A step cannot fail.** An action that the game does not offer has a defined outcome: it is
//!   counted as an action and changes nothing.
//! * **A step does not allocate** once its buffers have grown to the size that the play needs. The
//!   only exception is an undo further back than the last 64 boards, because it replays the level.
//!
//! This crate contains nothing about scores, files, network protocols, users or agents.
//!
//! # A complete game
//!
//! In this game a walker moves left and right along a corridor and must reach its right end. Every
//! move and every undo costs one unit of energy.
//!
//! ```
//! use rhae_engine::{
//!     Action, ActionKind, ActionSet, Baseline, Direction, Environment, Episode, Facts, Frame,
//!     FrameBuffer, FrameSink, Game, LevelIndex, NativeEnvironment, Outcome, PlayState, State,
//!     StateOf,
//! };
//! use serde::{Deserialize, Serialize};
//!
//! /// The type is never instantiated; its associated functions are the rules.
//! struct Corridor;
//!
//! /// Everything that does not change while a level is played.
//! struct Level {
//!     length: u8,
//!     energy: u16,
//! }
//!
//! /// The part of the state that undo restores. It holds no heap memory.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
//! struct Walker {
//!     x: u8,
//! }
//!
//! impl Game for Corridor {
//!     const FACTS: Facts = Facts {
//!         id: "co01-v1",
//!         // One entry for each level: the shortest solutions have 2 and 3 actions.
//!         baselines: &[Baseline::from_optimum(2), Baseline::from_optimum(3)],
//!         actions: ActionSet::of(&[
//!             ActionKind::Action3,
//!             ActionKind::Action4,
//!             ActionKind::Action7,
//!         ]),
//!         tags: &["keyboard"],
//!         frames_per_second: 10,
//!         seeded: false,
//!         // One line for each level. A shipped game uses `include_str!`.
//!         solutions: "4 4\n4 4 4",
//!     };
//!
//!     type Level = Level;
//!     type Board = Walker;
//!     /// The remaining energy, which undo does not restore.
//!     type Spent = u16;
//!
//!     fn level(index: LevelIndex, _seed: u64) -> Level {
//!         let length = [3, 4][index.get()];
//!         Level { length, energy: 20 }
//!     }
//!
//!     fn start(level: &Level) -> StateOf<Self> {
//!         State {
//!             board: Walker { x: 0 },
//!             spent: level.energy,
//!         }
//!     }
//!
//!     fn step(
//!         level: &Level,
//!         state: &mut StateOf<Self>,
//!         action: Action,
//!         sink: &mut impl FrameSink,
//!     ) -> Outcome {
//!         state.spent -= 1;
//!         let target = match Direction::of(action) {
//!             Some(Direction::Left) => state.board.x.checked_sub(1),
//!             _ => Some(state.board.x + 1),
//!         };
//!         match target {
//!             Some(x) => state.board.x = x,
//!             // Show that the step was blocked: one animation frame with the walker in red.
//!             None => sink.frame(|frame| {
//!                 Self::draw(level, state, frame);
//!                 frame.block::<4, 4>(0, 32, 8);
//!             }),
//!         }
//!         if state.board.x + 1 == level.length {
//!             Outcome::LevelWon
//!         } else if state.spent == 0 {
//!             Outcome::GameOver
//!         } else {
//!             Outcome::Continue
//!         }
//!     }
//!
//!     fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
//!         frame.clear(5);
//!         frame.rect(0, 32, usize::from(level.length) * 4, 4, 1);
//!         frame.block::<4, 4>(usize::from(state.board.x) * 4, 32, 9);
//!     }
//!
//!     fn on_undo(
//!         _level: &Level,
//!         state: &mut StateOf<Self>,
//!         _restored: bool,
//!         _sink: &mut impl FrameSink,
//!     ) -> Outcome {
//!         state.spent -= 1;
//!         if state.spent == 0 { Outcome::GameOver } else { Outcome::Continue }
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Play the game as an episode, which gives access to the state.
//! let mut episode = Episode::<Corridor>::new(0);
//! let mut frames = FrameBuffer::default();
//! episode.act(Action::Action4, &mut frames);
//! assert_eq!(episode.state().board, Walker { x: 1 });
//! assert_eq!(frames.frames().len(), 1);
//!
//! // Undo restores the walker but not the energy.
//! episode.act(Action::Action7, &mut frames);
//! assert_eq!(episode.state().board, Walker { x: 0 });
//! assert_eq!(episode.state().spent, 18);
//!
//! // A blocked step shows the animation frame and then the settled frame.
//! frames.clear();
//! let step = episode.act(Action::Action3, &mut frames);
//! assert!(step.counted && step.changed);
//! assert_eq!(frames.frames().len(), 2);
//!
//! // Play the game as an environment, the interface that agents and servers use.
//! let mut environment: Box<dyn Environment> = Box::new(NativeEnvironment::<Corridor>::new(0));
//! for level in [LevelIndex(0), LevelIndex(1)] {
//!     for action in Corridor::FACTS.solution(level) {
//!         environment.act(action)?;
//!     }
//! }
//! let observation = environment.observation();
//! assert_eq!(observation.state, PlayState::Win);
//! assert_eq!(observation.levels_completed, 2);
//! # Ok(())
//! # }
//! ```

mod action;
#[cfg(test)]
mod arbitrary;
mod bulk;
mod camera;
mod catalog;
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
mod representative;
mod rng;
mod rotation;
mod sink;
mod snapshot;
mod sprite;
mod transform;
mod undo;

pub use action::{Action, ActionKind, ActionSet, ParseActionError};
pub use bulk::{
    BulkEdge, BulkError, BulkExpansion, BulkOptions, BulkResult, BulkSearch, BulkState, ClickRule,
    Identity, TriedClicks, observation_key,
};
pub use camera::Camera;
pub use catalog::{Catalog, CatalogError, HostedGame, UnknownGame};
pub use collision::topmost_at;
pub use direction::Direction;
pub use environment::{Environment, EnvironmentError, GameInfo, Observation, PlayState};
pub use episode::{Episode, Levels, Step};
pub use facts::{Baseline, BaselineSource, Facts, GameId, GameIdError, LevelIndex};
pub use frame::{CELLS, Frame, SIZE};
pub use game::{Game, Outcome, State, StateData, StateOf};
pub use interaction::{Blocking, Interaction};
pub use key::{StateKey, key_of};
pub use map::TextMap;
pub use native::NativeEnvironment;
pub use overlay::{Overlay, Toggles};
pub use pack::{PACKED_BITS, Packer, Unpacker};
pub use palette::{PALETTE, Rgb};
pub use picture::{Picture, SOLID, SpriteError, TRANSPARENT};
pub use representative::representative_clicks;
pub use rng::Rng;
pub use rotation::Rotation;
pub use sink::{FrameBuffer, FrameSink, MAX_FRAMES, NoFrames};
pub use sprite::Sprite;
