//! The environments that ship with Rhae: one module each, one explicit registry.
//!
//! A game is `src/<id>.rs` (facts, then rules) and what belongs to it in `src/<id>/` (levels as text maps, drawing, stored
//! solutions). To add one, write those files, its page in `docs/games/`, a `mod` line and a line in
//! the registry below. The generic suite then tests it.
//!
//! **Boundary:** agents cannot see this crate. Nothing here does I/O, reads a clock or draws ambient randomness.

mod bx20;
mod hk26;
mod kq19;
mod ny40;
mod pz19;
mod registry;
mod sources;
mod ym39;

pub use registry::{Entry, UnknownGame, Visitor, find};

registry::registry! {
    kq19::Kq19,
    ny40::Ny40,
    ym39::Ym39,
    bx20::Bx20,
    hk26::Hk26,
    pz19::Pz19,
}
