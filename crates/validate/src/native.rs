//! A native game as a subject: levels are entered directly, boards can be compared, and states are searched at full speed.

use std::sync::OnceLock;

use rhae_engine::{
    Action, ActionKind, Environment, EnvironmentError, Episode, Game, GameInfo, LevelIndex, Levels,
    Native, NoFrames, PlayState, Rng,
};
use rhae_explore::{NativeLevel, Progress, random_action, shortest_win};

use crate::{GraphLimits, LevelGraph, LevelUndo, NoGraph, Stored, Subject, level_graph};

/// Boards that a search for a win may see where no solution is stored, as under another seed.
const MOST_PLACES: usize = 5_000_000;

/// A native game under one seed.
pub struct NativeSubject<G: Game> {
    info: GameInfo,
    levels: Levels<G>,
    stored: Vec<Stored>,
    found: Vec<OnceLock<Option<Vec<Action>>>>,
}

impl<G: Game> NativeSubject<G> {
    /// The game under a seed, with recordings that were made of it before.
    pub fn new(seed: u64, stored: Vec<Stored>) -> Self {
        let levels = Levels::new(seed);
        let found = (0..levels.count()).map(|_| OnceLock::new()).collect();
        Self {
            info: GameInfo::from(&G::FACTS),
            levels,
            stored,
            found,
        }
    }

    fn canonical(&self) -> bool {
        self.levels.seed() == 0 || !G::FACTS.seeded
    }

    /// The levels of a seed; a check asks for the subject's own but where it wants others.
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
        Ok(Box::new(Native::<G>::new(seed)))
    }

    fn enter(
        &self,
        seed: u64,
        level: u8,
    ) -> Result<Option<Box<dyn Environment>>, EnvironmentError> {
        Ok(Some(Box::new(Native::from_episode(Episode::at(
            self.levels_of(seed),
            LevelIndex(level),
        )))))
    }

    fn prefix(&self, level: u8) -> Option<Vec<Action>> {
        let solutions: Option<Vec<_>> = (0..level).map(|earlier| self.solution(earlier)).collect();
        solutions.map(|solutions| solutions.concat())
    }

    fn solution(&self, level: u8) -> Option<Vec<Action>> {
        let index = LevelIndex(level);
        if self.canonical() {
            return Some(G::FACTS.solution(index)).filter(|solution| !solution.is_empty());
        }
        let search = || {
            shortest_win(
                &NativeLevel::<G>::new(self.levels.seed(), index),
                MOST_PLACES,
            )
            .win
        };
        self.found.get(index.get())?.get_or_init(search).clone()
    }

    fn has_stored_solution(&self, _level: u8) -> bool {
        self.canonical()
    }

    fn stored(&self) -> Vec<Stored> {
        self.stored.clone()
    }

    fn graph(
        &self,
        seed: u64,
        level: u8,
        within: u32,
        limits: &GraphLimits,
        go_on: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<LevelGraph, NoGraph> {
        let native = NativeLevel::<G>::new(seed, LevelIndex(level));
        let mut rng = Rng::new(limits.nodes as u64, u64::from(level));
        let Ok(graph) = level_graph(&native, "hash-126", within, limits, &mut rng, go_on);
        Ok(graph)
    }

    fn optimum(&self, seed: u64, level: u8, most_places: usize) -> Option<Vec<Action>> {
        shortest_win(&NativeLevel::<G>::new(seed, LevelIndex(level)), most_places).win
    }

    fn undo(&self, seed: u64, level: u8, steps: u32, random_seed: u64) -> LevelUndo {
        let mut rng = Rng::new(random_seed, u64::from(level));
        let levels = self.levels_of(seed);
        let fresh = Episode::at(levels, LevelIndex(level));
        let (mut episode, mut line, mut tried) = (fresh.clone(), Vec::new(), 0);
        for _ in 0..steps {
            let action = random_action(&episode, &mut rng);
            let before = episode.clone();
            episode.act(action, &mut NoFrames);
            line.push(action);
            let in_level =
                episode.level() == LevelIndex(level) && episode.status() == PlayState::NotFinished;
            if !in_level {
                (episode, line) = (fresh.clone(), Vec::new());
                continue;
            }
            let takes_back = episode.offered().contains(ActionKind::Action7)
                && !matches!(action, Action::Action7 | Action::Reset);
            if takes_back && episode.state().board != before.state().board {
                let mut undone = episode.clone();
                undone.act(Action::Action7, &mut NoFrames);
                tried += 1;
                // What is spent may end the level; the board is there all the same.
                if undone.state().board != before.state().board {
                    line.push(Action::Action7);
                    return LevelUndo::Differs(line);
                }
            }
            if line.len() >= 200 {
                (episode, line) = (fresh.clone(), Vec::new());
            }
        }
        LevelUndo::Restores(tried)
    }
}
