//! The command as people use it: the real binary, real files, real processes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arc;
mod db;
mod explore;
mod games;
mod llm;
mod outside;
mod play;
mod remote;
mod replay;
mod rhae;
mod run;
mod run_trouble;
mod score;
mod serve;
mod validate;
