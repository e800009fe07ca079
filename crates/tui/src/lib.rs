//! Playing and replaying environments in a terminal.
//!
//! [`play()`] lets a person play an environment, and [`replay()`] shows a recording. Both switch the
//! terminal to full-screen mode and return when the user quits or a signal arrives. [`task_text`],
//! [`attempts_text`] and [`solutions_text`] show static tasks, in colours if a [`ColorDepth`] is
//! given.
//!
//! # Invariants
//!
//! * The terminal is restored before a function returns, and before a panic message is printed.
//! * Keys, animations and the content of the screen are computed without access to the terminal or
//!   the clock, so that tests cover them.
//!
//! This crate does not find environments or read recordings: callers pass an open
//! [`Play`](rhae_session::Play) or a [`Film`](rhae_report::Film).

mod error;
mod grid_text;
mod play;
mod replay;
mod terminal;

pub use error::TuiError;
pub use grid_text::{ShownAttempt, attempts_text, grid_text, solutions_text, task_text};
pub use play::{FinishedPlay, play};
pub use replay::{MAX_SPEED, MIN_SPEED, ReplayOptions, replay};
pub use terminal::color::ColorDepth;
pub use terminal::event_loop::Exit;
pub use terminal::screen::require_terminal;
