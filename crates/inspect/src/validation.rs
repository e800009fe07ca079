//! Validation of selected environments.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rhae_engine::{Catalog, GameInfo};
use rhae_explore::Identity;
use rhae_validate::{
    Candidate, EnvironmentVerdict, GraphLimits, Options, RuleSet, Subject, Validated, validate,
};

use crate::evidence::recordings_of;
use crate::monitor::{ProcessMonitor, ValidationProgress, VerifyCommand};
use crate::stored_recordings::StoredRecordings;
use crate::subjects::{hosted_subject, native_subject};
use crate::{EvidenceFile, InspectError, is_hosted};

/// Options of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationOptions {
    /// The seed of all random play.
    pub seed: u64,
    /// The seed of the environments.
    pub env_seed: u64,
    /// The number of steps of each kind of random play; 1,000,000 if `None`, or 20,000 for hosted
    /// games.
    pub steps: Option<u64>,
    /// Whether any win of random play fails an environment.
    pub strict: bool,
    /// The maximum number of states of a level's graph; 1,000,000 if `None`, or 2,000 for hosted
    /// games.
    pub nodes: Option<usize>,
    /// How states of hosted games are identified.
    pub identity: Identity,
    /// The rules to check.
    pub rules: RuleSet,
    /// The number of checks that run in parallel.
    pub jobs: usize,
    /// Folders of recordings that must replay, in addition to those in the games' folders.
    pub recordings: Vec<PathBuf>,
    /// The command for replays in a new process. Without it, plays are replayed only in this
    /// process.
    pub verify: Option<VerifyCommand>,
}

impl Default for ValidationOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            env_seed: 0,
            steps: None,
            strict: false,
            nodes: None,
            identity: Identity::FrameAndHidden,
            rules: RuleSet::ALL,
            jobs: 1,
            recordings: Vec::new(),
            verify: None,
        }
    }
}

impl ValidationOptions {
    /// Returns the options of the checks of a hosted or a native game, whose defaults differ.
    pub(crate) fn check_options(&self, hosted: bool) -> Options {
        let (nodes, steps) = if hosted {
            (2_000, 20_000)
        } else {
            (1_000_000, 1_000_000)
        };
        let default = GraphLimits::default();
        Options {
            seed: self.seed,
            env_seed: self.env_seed,
            steps: self.steps.unwrap_or(steps),
            strict: self.strict,
            rules: self.rules,
            limits: GraphLimits {
                nodes: self.nodes.unwrap_or(nodes),
                checks: if hosted { 200 } else { default.checks },
                threads: if hosted { self.jobs } else { 1 },
                ..default
            },
        }
    }
}

/// The results of a validation.
pub struct Validation<'a> {
    pub(crate) games: &'a dyn Catalog,
    pub(crate) options: ValidationOptions,
    /// The results, one per selected environment.
    pub environments: Vec<Validated>,
}

impl<'a> Validation<'a> {
    /// Opens the selected environments and runs all checks.
    ///
    /// `progress` is called from several threads. If `interrupt` is set, the checks stop, and the
    /// rules that are not decided yet stay open.
    ///
    /// # Errors
    ///
    /// Fails if nothing is selected, if the system cannot run hosted games, or if a recording
    /// cannot be read. A hosted game that does not open is not an error: it fails the rule `loads`.
    pub fn run(
        games: &'a dyn Catalog,
        selected: &[GameInfo],
        options: ValidationOptions,
        interrupt: &Arc<AtomicBool>,
        progress: &(dyn Fn(ValidationProgress<'_>) + Sync),
    ) -> Result<Self, InspectError> {
        if selected.is_empty() {
            return Err(InspectError::NothingSelected);
        }
        if selected.iter().any(|info| is_hosted(games, info)) {
            games.ready()?;
        }
        let stored = StoredRecordings::read(games, &options.recordings)?;
        let candidates = selected
            .iter()
            .map(|info| candidate(games, info, &options, &stored, interrupt))
            .collect::<Result<Vec<_>, _>>()?;
        let monitor = ProcessMonitor {
            games,
            env_seed: options.env_seed,
            verify: options.verify.as_ref(),
            progress,
            interrupt,
            started: Instant::now(),
        };
        let environments = validate(&candidates, options.jobs, &monitor)?;
        drop(candidates);
        Ok(Self {
            games,
            options,
            environments,
        })
    }

    /// Returns the verdict on all environments together.
    pub fn verdict(&self) -> EnvironmentVerdict {
        EnvironmentVerdict::of_all(self.environments.iter().map(Validated::verdict))
    }

    /// Returns whether every environment passes.
    pub fn passes(&self) -> bool {
        self.verdict() == EnvironmentVerdict::Pass
    }

    /// Returns whether an interrupt left checks unfinished.
    pub fn is_interrupted(&self) -> bool {
        self.environments.iter().any(|one| one.unfinished > 0)
    }

    /// Records the evidence of all warnings and failures.
    pub fn evidence(&self) -> impl Iterator<Item = Result<EvidenceFile, InspectError>> {
        self.environments
            .iter()
            .flat_map(|one| recordings_of(self.games, self.options.env_seed, one))
    }
}

/// Opens an environment with the options of its checks.
fn candidate<'a>(
    games: &'a dyn Catalog,
    info: &GameInfo,
    options: &ValidationOptions,
    stored: &StoredRecordings,
    interrupt: &Arc<AtomicBool>,
) -> Result<Candidate<'a>, InspectError> {
    let hosted = is_hosted(games, info);
    let checks = options.check_options(hosted);
    let (seed, identity) = (options.env_seed, options.identity);
    let subject: Result<Box<dyn Subject + 'a>, String> = if hosted {
        match hosted_subject(games, info, seed, checks.limits, identity, stored) {
            Ok(subject) => {
                let interrupt = Arc::clone(interrupt);
                let subject =
                    subject.with_should_continue(move || !interrupt.load(Ordering::Relaxed));
                Ok(Box::new(
                    subject.with_random_search(checks.seed, checks.steps),
                ))
            }
            Err(error) => Err(error.to_string()),
        }
    } else {
        let replayed = stored.replayed(games, info);
        Ok(native_subject(info.id.as_str(), seed, replayed)?)
    };
    Ok(Candidate {
        info: info.clone(),
        options: checks,
        subject,
    })
}
