//! Integration tests of the `rhae` binary with real files, processes and servers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod agents_killed;
mod agents_with_tools;
mod arc;
mod arc_contamination;
mod arc_eval;
mod arc_eval_resume;
mod arc_fetch;
mod arc_model;
mod arc_orchestrator;
mod arc_rlm;
mod arc_score;
mod board;
mod compare;
mod compare_models;
mod db;
mod explore;
mod full_disk;
mod games;
mod hosted_games;
mod known_agents;
mod limits;
mod llm;
mod model_agent;
mod play;
mod ray;
mod redirects;
mod remote;
mod replay;
mod rhae;
mod run;
mod run_failures;
mod run_resume;
mod runs;
mod score;
mod serve;
mod shards;
mod slurm;
mod snapshots;
mod study;
mod study_baselines;
mod study_fixture;
mod tiers;
mod validate;
mod workers;
