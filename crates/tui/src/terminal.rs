//! The full-screen terminal interface shared by playing and replaying.
//!
//! [`screen`] enters and leaves full-screen mode, and [`event_loop`] connects it to an
//! [`event_loop::App`]. [`canvas`], [`color`], [`layout`] and [`board`] compute what to draw
//! without access to the terminal. None of these modules knows which game or recording is shown.

pub(crate) mod board;
pub(crate) mod canvas;
pub(crate) mod color;
pub(crate) mod event_loop;
pub(crate) mod layout;
pub(crate) mod screen;
