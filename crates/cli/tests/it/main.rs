//! The command as people use it: the real binary, real files, real processes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arc;
mod arc_eval;
mod arc_fetch;
mod arc_model;
mod db;
mod explore;
mod games;
mod llm;
mod model_agent;
mod outside;
mod play;
mod remote;
mod replay;
mod rhae;
mod run;
mod run_trouble;
mod score;
mod serve;
mod snapshots;
mod validate;
