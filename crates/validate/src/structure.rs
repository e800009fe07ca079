//! The structural checks. This part enters every level once and plays its solution; the rules judge
//! what it observed.

use rhae_engine::{Action, ActionKind, PlayState};

use crate::levels::{environment_failed, undecided_by_failure, unreachable_level};
use crate::rule::{Check, Context, checks};
use crate::rules::actions::unlisted_action;
use crate::rules::frames::invalid_frames;
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Rule};

/// Checks all structural rules.
pub(crate) fn check(context: Context<'_>) -> Vec<Finding> {
    let levels = 0..context.subject.levels();
    let starts: Vec<LevelStart> = levels.map(|level| LevelStart::of(context, level)).collect();
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Structure(judge) => Some(judge),
        _ => None,
    });
    let mut findings: Vec<Finding> = judges.flat_map(|judge| judge(context, &starts)).collect();
    for (level, start) in (0..).zip(&starts) {
        if let Some(failure) = start.failure() {
            findings.extend(environment_failed(&[], level, failure));
        }
    }
    findings
}

/// The result of entering a level and playing its solution.
pub(crate) enum LevelStart {
    /// No path to the level is known.
    Unreachable,
    /// The environment failed before the level started.
    Failed(PlayFailure),
    Entered(EnteredLevel),
}

/// What was observed on a level.
pub(crate) struct EnteredLevel {
    /// The state of the play at the start of the level.
    pub(crate) state: PlayState,
    /// The number of completed levels at the start of the level.
    pub(crate) levels_completed: u8,
    /// The number of levels according to the observation at the start of the level.
    pub(crate) win_levels: u8,
    /// The actions up to the start of the level, if they are known.
    pub(crate) log: Option<Vec<Action>>,
    /// The first invalid frame and the actions that lead to it.
    pub(crate) invalid_frame: Option<(String, Option<Vec<Action>>)>,
    /// The first action that was offered but not listed, and the actions that lead to the offer.
    pub(crate) unlisted_action: Option<(ActionKind, Option<Vec<Action>>)>,
    /// The failure of the environment that ended the solution.
    failure: Option<PlayFailure>,
}

impl LevelStart {
    /// Enters a level and plays its solution, if one is known.
    fn of(context: Context<'_>, level: u8) -> Self {
        let subject = context.subject;
        let mut walk = match Walk::enter(subject, context.options.env_seed, level) {
            Ok(Some(walk)) => walk,
            Ok(None) => return Self::Unreachable,
            Err(failure) => return Self::Failed(failure),
        };
        let start = walk.observation();
        let mut entered = EnteredLevel {
            state: start.state,
            levels_completed: start.levels_completed,
            win_levels: start.win_levels,
            log: walk.full_log(),
            invalid_frame: None,
            unlisted_action: None,
            failure: None,
        };
        let solution = subject.solution(level).unwrap_or_default();
        for action in [None].into_iter().chain(solution.into_iter().map(Some)) {
            if let Some(Err(failure)) = action.map(|action| walk.act(action).map(|_| ())) {
                entered.failure = Some(failure);
                break;
            }
            let seen = walk.observation();
            if entered.invalid_frame.is_none() {
                entered.invalid_frame = invalid_frames(seen, subject.is_hosted())
                    .map(|problem| (problem, walk.full_log()));
            }
            if entered.unlisted_action.is_none() {
                entered.unlisted_action =
                    unlisted_action(seen, subject).map(|kind| (kind, walk.full_log()));
            }
        }
        Self::Entered(entered)
    }

    /// Judges a rule on every level. On a level that was not entered, the rule is open.
    pub(crate) fn judge_each(
        starts: &[Self],
        rule: Rule,
        judge: impl Fn(&EnteredLevel) -> Finding,
    ) -> Vec<Finding> {
        let judge_level = |(level, start): (u8, &Self)| match start {
            Self::Unreachable => unreachable_level(rule, level),
            Self::Failed(_) => undecided_by_failure(rule, level),
            Self::Entered(entered) => judge(entered).on_level(level),
        };
        (0..).zip(starts).map(judge_level).collect()
    }

    fn failure(&self) -> Option<&PlayFailure> {
        match self {
            Self::Unreachable => None,
            Self::Failed(failure) => Some(failure),
            Self::Entered(entered) => entered.failure.as_ref(),
        }
    }
}
