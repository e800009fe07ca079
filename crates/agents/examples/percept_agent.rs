//! An agent that looks before it acts, compared with `random` on the built-in environments.
//!
//! `cargo run --release -p rhae-agents --example percept_agent`
//!
//! docs/write-an-agent.md explains it step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use rhae_agents::{Agent, AgentError, AgentSpec, Decision, PlayContext, View};
use rhae_engine::{Action, ActionKind, Catalog, Frame, PlayState, Rng, StateKey, key_of};
use rhae_games::Builtin;
use rhae_percept::{ClickClass, Scene, StatusBars, click_candidates};

/// Actions that probably have the same kind of effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Key(ActionKind),
    Click(ClickClass),
}

/// Prefers classes of actions that changed the board, and repeats nothing at the same state.
struct PerceptAgent {
    rng: Rng,
    bars: StatusBars,
    level: Option<u8>,
    /// How often the actions of a class were tried, and how often they changed the board.
    results: BTreeMap<Class, (u32, u32)>,
    /// The actions that were tried at each state of the board.
    tried: BTreeSet<(StateKey, Action)>,
    last: Option<(Frame, Action, Class)>,
}

impl PerceptAgent {
    fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 9),
            bars: StatusBars::default(),
            level: None,
            results: BTreeMap::new(),
            tried: BTreeSet::new(),
            last: None,
        }
    }

    /// Identifies the state of the board: the frame without status bars.
    fn key(&self, frame: &Frame) -> StateKey {
        let mut board = frame.clone();
        for (x, y) in self.bars.mask().iter() {
            board.set(x.into(), y.into(), 0);
        }
        key_of(board.cells())
    }

    /// Records whether the last action changed the board.
    fn learn(&mut self, view: &View<'_>) {
        if self.level != Some(view.levels_completed) {
            self.level = Some(view.levels_completed);
            self.last = None;
            self.bars.start_attempt();
            self.tried.clear();
        }
        let Some((before, action, class)) = self.last.take() else {
            return;
        };
        let after = view.settled();
        if self.bars.observe(action.kind(), &before, after) {
            // The mask has changed, and with it the keys of the states.
            self.tried.clear();
        }
        let changed = self.key(&before) != self.key(after);
        let (tried, worked) = self.results.entry(class).or_default();
        *tried += 1;
        *worked += u32::from(changed);
    }

    /// Returns the possible actions with their classes.
    fn choices(&self, view: &View<'_>) -> Vec<(Action, Class)> {
        let keys = view.available.iter().filter_map(|kind| {
            let action = kind.simple().filter(|_| kind != ActionKind::Action7)?;
            Some((action, Class::Key(kind)))
        });
        let mut choices: Vec<_> = keys.collect();
        if view.available.contains(ActionKind::Action6) {
            let scene = Scene::of(view.settled());
            let clicks = click_candidates(&scene, self.bars.mask());
            choices.extend(clicks.into_iter().map(|one| {
                let click = Action::Action6 { x: one.x, y: one.y };
                (click, Class::Click(one.class))
            }));
        }
        choices
    }
}

impl Agent for PerceptAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        self.learn(view);
        if view.state == PlayState::GameOver {
            self.bars.start_attempt();
            return Ok(Action::Reset.into());
        }
        let here = self.key(view.settled());
        let mut choices = self.choices(view);
        self.rng.shuffle(&mut choices);
        let untried = choices
            .iter()
            .filter(|(action, _)| !self.tried.contains(&(here, *action)));
        let promise = |class: &Class| {
            let (tried, worked) = self.results.get(class).copied().unwrap_or_default();
            f64::from(worked + 1) / f64::from(tried + 2)
        };
        let best = untried.max_by(|a, b| promise(&a.1).total_cmp(&promise(&b.1)));
        let Some(&(action, class)) = best.or(choices.first()) else {
            return Err(AgentError::Stuck("no action is offered".to_owned()));
        };
        self.tried.insert((here, action));
        self.last = Some((view.settled().clone(), action, class));
        Ok(action.into())
    }
}

/// Lets an agent play an environment and returns the number of completed levels.
fn play(agent: &mut dyn Agent, id: &str, actions: u32) -> Result<u8, Box<dyn Error>> {
    let mut environment = Builtin.open(id, 0)?;
    for _ in 0..actions {
        let observation = environment.observation();
        let view = View {
            frames: observation.frames.frames(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            win_levels: observation.win_levels,
            available: observation.available,
            full_reset: observation.full_reset,
        };
        if view.state == PlayState::Win {
            break;
        }
        let action = agent.act(&view)?.action;
        environment.act(action)?;
    }
    Ok(environment.observation().levels_completed)
}

/// Returns the levels that `random` and this agent complete in an environment with one seed.
fn compare(id: &str, seed: u64, actions: u32) -> Result<[u32; 2], Box<dyn Error>> {
    let context = PlayContext {
        seed,
        ..PlayContext::default()
    };
    let random = &mut *AgentSpec::built_in("random")?.build(&context)?;
    let percept = &mut PerceptAgent::new(seed);
    let levels = [play(random, id, actions)?, play(percept, id, actions)?];
    Ok(levels.map(u32::from))
}

fn main() -> Result<(), Box<dyn Error>> {
    const SEEDS: u64 = 5;
    const ACTIONS: u32 = 500;
    let mut totals = [0_u32; 2];
    println!(
        "levels completed with seeds 0 to {}, {ACTIONS} actions per play",
        SEEDS - 1
    );
    for info in Builtin.list() {
        let id = info.id.as_str();
        let mut levels = [0_u32; 2];
        for seed in 0..SEEDS {
            let [random, percept] = compare(id, seed, ACTIONS)?;
            levels = [levels[0] + random, levels[1] + percept];
        }
        let [random, percept] = levels;
        println!("{id:<10} random {random:>3}   percept {percept:>3}");
        totals = [totals[0] + random, totals[1] + percept];
    }
    let [random, percept] = totals;
    println!("total      random {random:>3}   percept {percept:>3}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both agents play the same environments with the same seeds.
    #[test]
    fn agent_completes_more_levels_than_random() {
        let mut totals = [0_u32; 2];
        let (mut better, mut worse) = (0, 0);
        for info in Builtin.list() {
            for seed in 0..3 {
                let [random, percept] = compare(info.id.as_str(), seed, 500).unwrap();
                totals = [totals[0] + random, totals[1] + percept];
                better += u32::from(percept > random);
                worse += u32::from(percept < random);
            }
        }
        assert!(totals[1] > totals[0], "levels: {totals:?}");
        assert!(better > worse, "better in {better} plays, worse in {worse}");
    }
}
