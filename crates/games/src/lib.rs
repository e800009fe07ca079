//! The environments that ship with Rhae: one module for each, and an explicit registry.
//!
//! [`find`] looks up a game by id, [`Entry::open`] starts a play of it as a `Box<dyn Environment>`,
//! and [`visit`] runs code that is generic over the game, such as a search. [`Builtin`] is the
//! catalogue of all games, and [`Skeleton`] contains the files of a new one.
//!
//! ```
//! use rhae_engine::{LevelIndex, PlayState};
//!
//! let entry = rhae_games::find("kq19")?;
//! let mut play = entry.open(0);
//! for level in 0..entry.facts.level_count() {
//!     for action in entry.facts.solution(LevelIndex(level as u8)) {
//!         play.act(action)?;
//!     }
//! }
//! assert_eq!(play.observation().state, PlayState::Win);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Adding a game
//!
//! A game consists of `src/<id>.rs` (facts, then rules) and further files in `src/<id>/` (levels as
//! text maps, drawing, stored solutions). `rhae games new <id>` writes these files and registers
//! the game; see "Adding a game" in `CONTRIBUTING.md`. List further files with rules in
//! `src/sources.rs`. The generic test suite then covers the game.
//!
//! **Boundary:** the crate of the agents does not depend on this crate, so that agents cannot read
//! the rules. Nothing here does I/O, reads a clock or uses ambient randomness.

mod builtin;
mod bx20;
mod first_frames;
mod flash;
mod fm36;
mod gr45;
mod hk26;
mod iv71;
mod kq19;
mod mf73;
mod named_sets;
mod ny40;
#[cfg(test)]
mod perception;
mod pz19;
mod registry;
mod skeleton;
mod sources;
mod ur63;
mod xd08;
mod xe92;
mod ym39;
mod zc67;
mod zg58;

pub use builtin::Builtin;
pub use first_frames::first_frames;
pub use named_sets::named_sets;
pub use registry::{Entry, Visitor, find};
pub use skeleton::{Skeleton, SkeletonError};

registry::registry! {
    kq19::Kq19,
    ny40::Ny40,
    ym39::Ym39,
    bx20::Bx20,
    hk26::Hk26,
    pz19::Pz19,
    mf73::Mf73,
    xe92::Xe92,
    xd08::Xd08,
    iv71::Iv71,
    gr45::Gr45,
    zc67::Zc67,
    fm36::Fm36,
    zg58::Zg58,
    ur63::Ur63,
}
