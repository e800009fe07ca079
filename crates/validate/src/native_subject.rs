//! A subject for native games: levels are entered directly, boards can be compared, and states are
//! searched at full speed.

use std::sync::OnceLock;

use rhae_engine::{
    Action, ActionKind, Environment, EnvironmentError, Episode, Game, GameInfo, LevelIndex, Levels,
    NativeEnvironment, NoFrames, PlayState, Rng,
};
use rhae_explore::{NativeLevel, Progress, random_action, shortest_win};

use crate::{
    GraphError, GraphLimits, LevelGraph, StoredRecording, Subject, UndoCheck, level_graph,
};

/// The maximum number of boards that a search for a win may visit. A search is needed where no
/// solution is stored, for example under a seed other than 0.
const MAX_BOARDS: usize = 5_000_000;

/// A native game under one seed. See the [crate documentation](crate) for an example.
pub struct NativeSubject<G: Game> {
    info: GameInfo,
    levels: Levels<G>,
    recordings: Vec<StoredRecording>,
    found_solutions: Vec<OnceLock<Option<Vec<Action>>>>,
}

impl<G: Game> NativeSubject<G> {
    /// Creates a subject for the game under a seed. `recordings` are earlier recordings of the
    /// game.
    pub fn new(seed: u64, recordings: Vec<StoredRecording>) -> Self {
        let levels = Levels::new(seed);
        let found_solutions = (0..levels.count()).map(|_| OnceLock::new()).collect();
        Self {
            info: GameInfo::from(&G::FACTS),
            levels,
            recordings,
            found_solutions,
        }
    }

    fn has_stored_solutions(&self) -> bool {
        self.levels.seed() == 0 || !G::FACTS.seeded
    }

    /// Returns the levels of a seed, reusing the subject's own levels where possible.
    fn levels_of(&self, seed: u64) -> Levels<G> {
        if seed == self.levels.seed() {
            self.levels.clone()
        } else {
            Levels::new(seed)
        }
    }
}

impl<G: Game> Subject for NativeSubject<G> {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn levels(&self) -> u8 {
        self.levels.count()
    }

    fn is_hosted(&self) -> bool {
        false
    }

    fn open(&self, seed: u64) -> Result<Box<dyn Environment>, EnvironmentError> {
        Ok(Box::new(NativeEnvironment::<G>::new(seed)))
    }

    fn enter(
        &self,
        seed: u64,
        level: u8,
    ) -> Result<Option<Box<dyn Environment>>, EnvironmentError> {
        Ok(Some(Box::new(NativeEnvironment::from_episode(
            Episode::at(self.levels_of(seed), LevelIndex(level)),
        ))))
    }

    fn prefix(&self, level: u8) -> Option<Vec<Action>> {
        let solutions: Option<Vec<_>> = (0..level).map(|earlier| self.solution(earlier)).collect();
        solutions.map(|solutions| solutions.concat())
    }

    fn solution(&self, level: u8) -> Option<Vec<Action>> {
        let index = LevelIndex(level);
        if self.has_stored_solutions() {
            return Some(G::FACTS.solution(index)).filter(|solution| !solution.is_empty());
        }
        let search = || {
            shortest_win(
                &NativeLevel::<G>::new(self.levels.seed(), index),
                MAX_BOARDS,
            )
            .win
        };
        self.found_solutions
            .get(index.get())?
            .get_or_init(search)
            .clone()
    }

    fn has_stored_solution(&self, _level: u8) -> bool {
        self.has_stored_solutions()
    }

    fn recordings(&self) -> Vec<StoredRecording> {
        self.recordings.clone()
    }

    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        should_continue: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, GraphError> {
        let native = NativeLevel::<G>::new(seed, LevelIndex(level));
        let mut rng = Rng::new(limits.nodes as u64, u64::from(level));
        let Ok(graph) = level_graph(
            &native,
            "hash-126",
            within,
            limits,
            &mut rng,
            should_continue,
        );
        Ok(graph)
    }

    fn optimum(&self, seed: u64, level: u8, max_boards: usize) -> Option<Vec<Action>> {
        shortest_win(&NativeLevel::<G>::new(seed, LevelIndex(level)), max_boards).win
    }

    fn check_undo(&self, seed: u64, level: u8, steps: u32, random_seed: u64) -> UndoCheck {
        let mut rng = Rng::new(random_seed, u64::from(level));
        let levels = self.levels_of(seed);
        let fresh = Episode::at(levels, LevelIndex(level));
        let (mut episode, mut actions, mut tried) = (fresh.clone(), Vec::new(), 0);
        for _ in 0..steps {
            let action = random_action(&episode, &mut rng);
            let before = episode.clone();
            episode.act(action, &mut NoFrames);
            actions.push(action);
            let in_level =
                episode.level() == LevelIndex(level) && episode.status() == PlayState::NotFinished;
            if !in_level {
                (episode, actions) = (fresh.clone(), Vec::new());
                continue;
            }
            let can_undo = episode.offered().contains(ActionKind::Action7)
                && !matches!(action, Action::Action7 | Action::Reset);
            if can_undo && episode.state().board != before.state().board {
                let mut undone = episode.clone();
                undone.act(Action::Action7, &mut NoFrames);
                tried += 1;
                // Undo does not restore what was spent, which may even end the level, but the board
                // must be restored regardless.
                if undone.state().board != before.state().board {
                    actions.push(Action::Action7);
                    return UndoCheck::Differs(actions);
                }
            }
            if actions.len() >= 200 {
                (episode, actions) = (fresh.clone(), Vec::new());
            }
        }
        UndoCheck::Restores(tried)
    }
}
