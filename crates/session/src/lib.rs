//! Plays of environments, the counts of their commands, and the scorecards computed from these
//! counts.
//!
//! # Overview
//!
//! * A [`Play`] wraps one environment, applies the [`ResetRule`] and counts every command in a
//!   [`Tally`].
//! * [`count_step`] implements the rules for counting actions, resets and levels. Scorecards use no
//!   other counts, whether they are made during a play or from a log.
//! * [`scorecard`] converts the counts of plays into a scorecard in the official shape.
//! * [`replay()`] executes a recording again and compares every observation with it.
//! * [`verify`] decides whether a recording is accepted, and [`ReplayedPlays`] scores recordings.
//! * A [`Replica`] replays one entry at a time, from the start of a log or from a snapshot. The
//!   server uses it to restore plays.
//!
//! # Invariants
//!
//! * This crate performs no I/O, reads no clock and creates no random ids; callers pass in
//!   environments and ids. If the environments are deterministic, the same commands produce the
//!   same card.
//! * The action log of a play, together with the seed of the environment and the reset rule,
//!   determines the whole play. A snapshot ([`Play::snapshot`]) only saves the time that a replay
//!   would take.
//! * The results in a recording are not trusted: a replay executes the commands and computes
//!   frames, states and counts again. It copies only the agent's notes.
//!
//! # Examples
//!
//! Play the first level of a built-in game, record it, verify the recording by replaying it, and
//! score the replay:
//!
//! ```
//! use rhae_engine::{Action, Catalog, LevelIndex};
//! use rhae_games::Builtin;
//! use rhae_protocol::{Details, Ending, Format, Header, Recording, SOFTWARE};
//! use rhae_scoring::Method;
//! use rhae_session::{CardMetadata, EnvironmentRuns, Play, ResetRule, replay, scorecard};
//!
//! // Opening an environment executes the first RESET, so the play starts with an observation.
//! let mut play = Play::new(Builtin.open("kq19", 0)?, ResetRule::Official);
//! let opening = play.current();
//! let win_levels = opening.observation.win_levels;
//! let mut entries = vec![opening.entry(Action::Reset, Details::default())];
//!
//! // An agent would choose the actions. Here they are the stored solution of level 1.
//! for action in rhae_games::find("kq19")?.facts.solution(LevelIndex(0)) {
//!     let step = play.command(action)?;
//!     entries.push(step.entry(action, Details::default()));
//! }
//! assert_eq!(play.tally().level(), 1);
//!
//! let recording = Recording {
//!     format: Format::Rhae,
//!     header: Header {
//!         game_id: play.info().id.clone(),
//!         seed: 0,
//!         agent: "example".to_owned(),
//!         agent_seed: None,
//!         software: SOFTWARE.to_owned(),
//!         guid: None,
//!         resets: play.rule(),
//!         win_levels,
//!         available: play.info().actions,
//!         source_digest: play.info().source_digest.clone(),
//!     },
//!     entries,
//!     ending: Some(Ending::Stopped),
//!     message: None,
//! };
//! let text = recording.to_text(Format::Rhae)?;
//!
//! let replayed = replay(&Builtin, &Recording::parse(&text)?)?;
//! assert_eq!(replayed.mismatch, None);
//! assert_eq!(replayed.play.tally(), play.tally());
//!
//! let runs = replayed.play.tally().runs().iter();
//! let environment = EnvironmentRuns {
//!     info: play.info().clone(),
//!     runs: runs.map(|run| ("play-1".to_owned(), run.clone())).collect(),
//! };
//! let card = scorecard(CardMetadata::default(), Method::Docs202604, &[environment]);
//! // The solution is twice as fast as the baseline: the level reaches the cap of 115 %.
//! assert_eq!(format!("{:.0}", card.environments[0].runs[0].level_scores[0]), "115");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod card;
mod level_scores;
mod outcome;
mod play;
mod replay;
mod replica;
mod snapshot;
mod tally;
mod verification;

pub use card::{CardMetadata, EnvironmentRuns, scorecard};
pub use level_scores::score_levels;
pub use outcome::{StepOutcome, count_step};
pub use play::{Play, PlayStep};
pub use replay::{
    Mismatch, ReplayError, ReplayOutcome, first_nondeterministic_entry, replay, replay_with,
};
pub use replica::{Origin, Replica, ReplicaError};
pub use rhae_protocol::ResetRule;
pub use tally::Tally;
pub use verification::{
    ReplayedPlays, VerificationError, Verified, complete_recording, entries_with_frames, verify,
};
