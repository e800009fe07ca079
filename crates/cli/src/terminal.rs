//! The terminal as a screen with a board: what every full-screen command shares.
//!
//! [`screen`] takes the terminal over and gives it back; [`scene`] is the loop between it and what a command shows;
//! [`canvas`], [`color`], [`layout`] and [`board`] draw and know no terminal. None of them knows what is played.

pub(crate) mod board;
pub(crate) mod canvas;
pub(crate) mod color;
pub(crate) mod layout;
pub(crate) mod scene;
pub(crate) mod screen;
