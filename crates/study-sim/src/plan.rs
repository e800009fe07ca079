//! The actions of a play: a stored solution with detours and errors, paced over the intended time.
//!
//! The plan is made by playing the environment in this process, so that it predicts the state after
//! every action. A driver compares the prediction with what the server answers.
//!
//! *Invariant:* a plan never contains a RESET right after the start of a level, because it would not
//! count.

use rhae_engine::{Action, ActionKind, LevelIndex, PlayState};
use rhae_games::Entry;
use rhae_session::{Play, ResetRule};

use crate::chance::Chance;
use crate::person::{IntendedPlay, Intent};

/// The actions of a play with their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayPlan {
    pub(crate) steps: Vec<PlannedStep>,
    /// When the person leaves the environment, from the first frame; `None` if the play ends by
    /// itself or is ended by the server.
    pub(crate) leaves_ms: Option<u64>,
}

/// An action and what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedStep {
    /// The time since the first frame.
    pub(crate) at_ms: u64,
    pub(crate) action: Action,
    pub(crate) state: PlayState,
    pub(crate) levels_completed: u8,
}

/// Plans a play of a shipped environment.
pub(crate) fn plan_play(entry: &Entry, intended: IntendedPlay, chance: &mut Chance) -> PlayPlan {
    let levels = u8::try_from(entry.facts.level_count()).expect("levels have indices of one byte");
    let solutions = (0..levels).map(|level| entry.facts.solution(LevelIndex(level)));
    let mut walk = Walk {
        play: Play::new(entry.open(0), ResetRule::LevelsOnly),
        solutions: solutions.collect(),
        steps: Vec::new(),
    };
    match intended.intent {
        Intent::Solve => walk.solve_levels(usize::from(levels), intended.actions, chance),
        Intent::Skip => walk.explore(intended.actions, chance),
        Intent::GiveUp | Intent::Persist => {
            let stops_at = walk.stopping_level(intended.actions, chance);
            // A person spends the larger part of the time on the level that is not solved.
            let before = intended.actions * stops_at / (2 * stops_at + 2);
            walk.solve_levels(stops_at, before, chance);
            let left = intended.actions.saturating_sub(walk.steps.len()).max(1);
            walk.explore(left, chance);
        }
    }
    let leaves = matches!(intended.intent, Intent::Skip | Intent::GiveUp);
    walk.paced(intended.duration_ms, leaves, chance)
}

/// A play in progress, with the actions so far.
struct Walk {
    play: Play,
    solutions: Vec<Vec<Action>>,
    steps: Vec<(Action, PlayState, u8)>,
}

impl Walk {
    /// Completes the next levels with about this number of actions, or more if they need more.
    fn solve_levels(&mut self, levels: usize, actions: usize, chance: &mut Chance) {
        let needed: usize = self.solutions[..levels].iter().map(Vec::len).sum();
        let spare = actions.saturating_sub(needed) as f64;
        // Later levels combine more mechanics, so they take more detours.
        let weights: Vec<f64> = (0..levels)
            .map(|level| (level as f64 + 1.0).sqrt() * chance.exponential(1.0))
            .collect();
        let total: f64 = weights.iter().sum();
        for (level, weight) in weights.into_iter().enumerate() {
            let detours = (spare * weight / total) as usize;
            if detours >= 2 {
                self.explore(detours - 1, chance);
                self.reset_level();
            }
            for action in self.solutions[level].clone() {
                self.act(action);
            }
        }
    }

    /// Draws the level on which an unsuccessful play stops. Early levels are more likely, and the
    /// levels before it take at most half of the actions.
    fn stopping_level(&self, actions: usize, chance: &mut Chance) -> usize {
        let mut needed = 0;
        let affordable = self.solutions.iter().take_while(|solution| {
            needed += solution.len();
            2 * needed <= actions
        });
        let last = affordable.count().min(self.solutions.len() - 1);
        chance.index(last + 1).min(chance.index(last + 1))
    }

    /// Takes this number of actions without completing the level: beginnings of the solution,
    /// errors, and level resets.
    fn explore(&mut self, actions: usize, chance: &mut Chance) {
        let level = usize::from(self.play.current().observation.levels_completed);
        let solution = self.solutions[level].clone();
        let end = self.steps.len() + actions;
        while self.steps.len() < end {
            let known = chance.index(solution.len());
            let errors = 4 + chance.index(24);
            let try_end = end.min(self.steps.len() + known + errors);
            for step in 0.. {
                if self.steps.len() >= try_end || self.is_lost() {
                    break;
                }
                let action = match solution[..known].get(step) {
                    Some(&action) => action,
                    None => self.error(&solution, chance),
                };
                if self.completes_level(action) {
                    break;
                }
                self.act(action);
            }
            if self.steps.len() < end {
                self.reset_level();
            }
        }
    }

    /// Draws an action: any one that is offered, where clicks hit what the solution clicks on, or a
    /// random cell.
    fn error(&self, solution: &[Action], chance: &mut Chance) -> Action {
        let offered: Vec<ActionKind> = self
            .play
            .current()
            .observation
            .available
            .iter()
            .filter(|&kind| kind != ActionKind::Reset)
            .collect();
        let kind = offered[chance.index(offered.len())];
        kind.simple().unwrap_or_else(|| {
            let clicks: Vec<Action> = solution
                .iter()
                .copied()
                .filter(|action| action.kind() == ActionKind::Action6)
                .collect();
            if !clicks.is_empty() && chance.happens(0.7) {
                return clicks[chance.index(clicks.len())];
            }
            let mut cell = || u8::try_from(chance.index(64)).expect("a frame has 64 columns");
            let (x, y) = (cell(), cell());
            Action::Action6 { x, y }
        })
    }

    fn is_lost(&self) -> bool {
        self.play.current().observation.state == PlayState::GameOver
    }

    fn completes_level(&self, action: Action) -> bool {
        let before = self.play.current().observation.levels_completed;
        let mut fork = self
            .play
            .fork()
            .expect("shipped environments can be forked");
        let step = fork
            .command(action)
            .expect("shipped environments do not fail");
        step.observation.levels_completed != before
    }

    fn reset_level(&mut self) {
        if !self.play.reset_restarts_game() {
            self.act(Action::Reset);
        }
    }

    fn act(&mut self, action: Action) {
        let step = self
            .play
            .command(action)
            .expect("shipped environments do not fail");
        let observation = step.observation;
        let after = (action, observation.state, observation.levels_completed);
        self.steps.push(after);
    }

    /// Distributes the actions over the time. The first action of a level takes longer.
    fn paced(self, duration_ms: u64, leaves: bool, chance: &mut Chance) -> PlayPlan {
        let mut weights = Vec::with_capacity(self.steps.len() + 1);
        let mut level = None;
        for &(_, _, levels_completed) in &self.steps {
            let is_first = level != Some(levels_completed);
            level = Some(levels_completed);
            weights.push((if is_first { 3.0 } else { 0.2 }) + chance.exponential(0.8));
        }
        let last = if leaves { chance.exponential(3.0) } else { 0.0 };
        let total = weights.iter().sum::<f64>() + last;
        let mut elapsed = 0.0;
        let steps = self.steps.iter().zip(weights).map(|(step, weight)| {
            elapsed += weight;
            let &(action, state, levels_completed) = step;
            PlannedStep {
                at_ms: (duration_ms as f64 * (elapsed / total).min(1.0)) as u64,
                action,
                state,
                levels_completed,
            }
        });
        PlayPlan {
            steps: steps.collect(),
            leaves_ms: leaves.then_some(duration_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::{Circumstances, Person};

    fn plan(entry: &Entry, intent: Intent, minutes: u64, actions: usize, seed: u64) -> PlayPlan {
        let intended = IntendedPlay {
            intent,
            duration_ms: minutes * 60_000,
            actions,
        };
        plan_play(entry, intended, &mut Chance::new(seed, &[]))
    }

    #[test]
    fn solving_plays_win_every_shipped_environment() {
        for entry in rhae_games::ALL {
            for (seed, actions) in (0..6).zip([31, 150, 200, 300, 500, 900]) {
                let plan = plan(entry, Intent::Solve, 8, actions, seed);
                let id = entry.facts.id;
                let last = plan.steps.last().unwrap();
                assert_eq!(last.state, PlayState::Win, "{id} {actions}");
                assert_eq!(last.at_ms, 8 * 60_000);
                assert_eq!(plan.leaves_ms, None);
                let wins = plan.steps.iter().filter(|one| one.state == PlayState::Win);
                assert_eq!(wins.count(), 1);
                assert!(plan.steps.is_sorted_by_key(|step| step.at_ms));
                let found = plan.steps.len();
                assert!(found + 40 > actions, "{id}: {found} of {actions}");
            }
        }
    }

    #[test]
    fn unsuccessful_plays_have_their_number_of_actions_and_do_not_win() {
        for entry in rhae_games::ALL {
            for (seed, actions) in (0..6).zip([5, 31, 60, 150, 400, 900]) {
                for intent in [Intent::Skip, Intent::GiveUp, Intent::Persist] {
                    let plan = plan(entry, intent, 10, actions, seed);
                    let wins = plan.steps.iter().any(|one| one.state == PlayState::Win);
                    assert!(!wins, "{} {intent:?} {actions}", entry.facts.id);
                    assert_eq!(plan.steps.len(), actions, "{} {intent:?}", entry.facts.id);
                    assert_eq!(plan.leaves_ms.is_some(), intent != Intent::Persist);
                }
            }
        }
    }

    #[test]
    fn every_planned_action_counts() {
        for entry in rhae_games::ALL {
            let plan = plan(entry, Intent::GiveUp, 10, 600, 3);
            let mut play = Play::new(entry.open(0), ResetRule::LevelsOnly);
            for step in &plan.steps {
                let counted = play.command(step.action).unwrap().outcome.counted;
                assert!(counted, "{} {:?}", entry.facts.id, step.action);
            }
        }
    }

    #[test]
    fn median_play_has_at_least_150_actions() {
        let mut counts = Vec::new();
        for number in 0..60 {
            let person = Person::new(1, number);
            for position in 1..=8 {
                let now = Circumstances {
                    position,
                    sitting_ms: u64::from(position) * 600_000,
                    difficulty: 0.0,
                    skipped: 0,
                };
                let intended = person.intend(now);
                if matches!(intended.intent, Intent::Solve | Intent::GiveUp) {
                    let entry = crate::alias::shipped(number + position);
                    let mut chance = person.chance(crate::person::PLAN, position);
                    counts.push(plan_play(entry, intended, &mut chance).steps.len() as u64);
                }
            }
        }
        assert!(rhae_stats::median(&counts).unwrap() >= 150.0);
    }
}
