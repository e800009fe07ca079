//! The generic suite, run on every registered game.

mod suite;
