//! A game being played: levels, RESET, undo, win, loss.
//!
//! The semantics are those of the official engine with its bugs corrected. What an episode does not know: scores,
//! budgets of the harness, cards, time.

use std::sync::{Arc, OnceLock};

use crate::snapshot::Saved;
use crate::undo::{UndoRing, Undone};
use crate::{
    Action, ActionKind, ActionSet, Frame, FrameSink, Game, LevelIndex, NoFrames, Outcome,
    PlayState, State, StateKey, StateOf, key_of,
};

/// All levels of a game under one seed, each made when it is first needed and shared by all clones.
pub struct Levels<G: Game> {
    seed: u64,
    made: Arc<[OnceLock<G::Level>]>,
}

impl<G: Game> Clone for Levels<G> {
    fn clone(&self) -> Self {
        Self {
            seed: self.seed,
            made: Arc::clone(&self.made),
        }
    }
}

impl<G: Game> Levels<G> {
    /// The levels under a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            made: (0..G::FACTS.level_count())
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// One level.
    #[inline]
    pub fn get(&self, index: LevelIndex) -> &G::Level {
        self.made[index.get()].get_or_init(|| G::level(index, self.seed))
    }

    /// The seed they were made from.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// How many there are.
    pub fn count(&self) -> u8 {
        u8::try_from(self.made.len()).expect("the protocol allows at most 254 levels")
    }
}

/// What one action did to an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whether it counts as an action: not so after the end, nor a RESET that starts a new game.
    pub counted: bool,
    /// Whether the state differs from the one before.
    pub changed: bool,
    /// Whether it started the game anew.
    pub full_reset: bool,
}

const NOTHING: Step = Step {
    counted: false,
    changed: false,
    full_reset: false,
};

/// One play of a native game.
pub struct Episode<G: Game> {
    levels: Levels<G>,
    level: LevelIndex,
    state: StateOf<G>,
    status: PlayState,
    completed: u8,
    /// Whether an action was taken since the last level change or RESET; decides what RESET does.
    acted: bool,
    undo: UndoRing<G::Board>,
    /// Every action since the level's start, from which boards older than the ring are found again.
    log: Vec<Action>,
}

impl<G: Game> Clone for Episode<G> {
    fn clone(&self) -> Self {
        Self {
            levels: self.levels.clone(),
            level: self.level,
            state: self.state.clone(),
            status: self.status,
            completed: self.completed,
            acted: self.acted,
            undo: self.undo.clone(),
            log: self.log.clone(),
        }
    }
}

impl<G: Game> Episode<G> {
    const HAS_UNDO: bool = G::FACTS.actions.contains(ActionKind::Action7);

    /// A new play under a seed, as after its first RESET.
    pub fn new(seed: u64) -> Self {
        Self::at(Levels::new(seed), LevelIndex(0))
    }

    /// A play that begins at a level, the earlier ones taken as completed. For tests and validation.
    pub fn at(levels: Levels<G>, level: LevelIndex) -> Self {
        let state = G::start(levels.get(level));
        let log = Vec::with_capacity(if Self::HAS_UNDO { 4096 } else { 0 });
        Self {
            levels,
            level,
            state,
            status: PlayState::NotFinished,
            completed: level.0,
            acted: false,
            undo: UndoRing::new(),
            log,
        }
    }

    /// The level being played; after a win, the last one.
    pub const fn level(&self) -> LevelIndex {
        self.level
    }

    /// How many levels are completed.
    pub const fn completed(&self) -> u8 {
        self.completed
    }

    /// How many levels the game has.
    pub fn level_count(&self) -> u8 {
        self.levels.count()
    }

    /// Whether the play goes on.
    pub const fn status(&self) -> PlayState {
        self.status
    }

    /// The state of the level.
    pub const fn state(&self) -> &StateOf<G> {
        &self.state
    }

    /// The levels of this play.
    pub const fn levels(&self) -> &Levels<G> {
        &self.levels
    }

    /// The actions that are offered now.
    pub fn offered(&self) -> ActionSet {
        G::offered(self.levels.get(self.level), &self.state)
    }

    /// The key of the whole situation: level, terminal state, whether an action was taken, board and what is spent.
    pub fn key(&self) -> StateKey {
        key_of(&(self.level, self.status, self.acted, &self.state))
    }

    /// Draws the settled picture.
    pub fn draw(&self, frame: &mut Frame) {
        G::draw(self.levels.get(self.level), &self.state, frame);
    }

    /// Carries out a command. The sink gets what the player sees of it: animation frames, the settled frame, and, when a
    /// level was won, the first frame of the next. After the end nothing happens and nothing is drawn.
    pub fn act(&mut self, action: Action, sink: &mut impl FrameSink) -> Step {
        if action == Action::Reset {
            return self.reset(sink);
        }
        if self.status != PlayState::NotFinished {
            return NOTHING;
        }
        self.acted = true;
        let mut changed = false;
        let mut outcome = Outcome::Going;
        if self.offered().contains(action.kind()) {
            if action == Action::Action7 {
                (changed, outcome) = self.take_back(sink);
            } else {
                let before = self.state.clone();
                outcome = G::step(self.levels.get(self.level), &mut self.state, action, sink);
                if Self::HAS_UNDO {
                    self.log.push(action);
                    if self.state.board != before.board {
                        self.undo.push(&before.board);
                    }
                }
                changed = self.state != before;
            }
        }
        sink.frame(|frame| self.draw(frame));
        match outcome {
            Outcome::Going => {}
            Outcome::GameOver => self.status = PlayState::GameOver,
            Outcome::LevelWon => {
                self.completed += 1;
                if self.completed == self.level_count() {
                    self.status = PlayState::Win;
                } else {
                    self.begin(LevelIndex(self.level.0 + 1));
                    sink.frame(|frame| self.draw(frame));
                }
            }
        }
        // The end of a level or of the game is a change even where the board happens to look the same.
        Step {
            counted: true,
            changed: changed || outcome != Outcome::Going,
            full_reset: false,
        }
    }

    /// RESET: the level again; the whole game again after a win, or if no action was taken since the last level change
    /// or RESET. A level reset counts as an action, a full one does not.
    fn reset(&mut self, sink: &mut impl FrameSink) -> Step {
        let full = !self.acted || self.status == PlayState::Win;
        let before = (!full && self.status == PlayState::NotFinished).then(|| self.state.clone());
        let restarted_first_level = full && !self.acted && self.level == LevelIndex(0);
        if full {
            self.completed = 0;
        }
        self.status = PlayState::NotFinished;
        self.begin(if full { LevelIndex(0) } else { self.level });
        sink.frame(|frame| self.draw(frame));
        let changed = before.map_or(!restarted_first_level, |before| before != self.state);
        Step {
            counted: !full,
            changed,
            full_reset: full,
        }
    }

    /// Whether an action was taken since the last level change or RESET.
    pub(crate) const fn acted(&self) -> bool {
        self.acted
    }

    /// The actions of the level; none where there is no undo.
    pub(crate) fn level_log(&self) -> &[Action] {
        &self.log
    }

    /// The boards that undo has at hand, oldest first, and how many it may go back through in all.
    pub(crate) fn undo_boards(&self) -> (Vec<G::Board>, usize) {
        self.undo.at_hand()
    }

    /// A play of the same levels that stands where another one was saved.
    pub(crate) fn restored(
        &self,
        level: LevelIndex,
        status: PlayState,
        depth: usize,
        level_log: Vec<Action>,
        saved: Saved<G::Board, G::Spent>,
    ) -> Self {
        let undo = UndoRing::restored(&saved.board, depth, saved.boards);
        let mut log = Vec::with_capacity(if Self::HAS_UNDO {
            level_log.len().max(4096)
        } else {
            0
        });
        log.extend(level_log);
        let state = State {
            board: saved.board,
            spent: saved.spent,
        };
        let Saved {
            completed, acted, ..
        } = saved;
        Self {
            levels: self.levels.clone(),
            level,
            state,
            status,
            completed,
            acted,
            undo,
            log,
        }
    }

    fn begin(&mut self, level: LevelIndex) {
        self.level = level;
        self.state = G::start(self.levels.get(level));
        self.acted = false;
        self.undo.clear();
        self.log.clear();
    }

    /// Restores the board before the last action that changed it, and lets the game charge what undo costs.
    fn take_back(&mut self, sink: &mut impl FrameSink) -> (bool, Outcome) {
        let board = match self.undo.pop() {
            Undone::Board(board) => Some(board),
            Undone::Nothing => None,
            Undone::Forgotten => {
                self.undo.refill(&self.replayed_boards());
                match self.undo.pop() {
                    Undone::Board(board) => Some(board),
                    Undone::Forgotten | Undone::Nothing => None,
                }
            }
        };
        let spent = self.state.spent.clone();
        let restored = board.is_some();
        if let Some(board) = board {
            self.state.board = board;
        }
        self.log.push(Action::Action7);
        let outcome = G::undone(self.levels.get(self.level), &mut self.state, restored, sink);
        (restored || self.state.spent != spent, outcome)
    }

    /// The whole stack of boards, found by playing the level's log again from its start.
    fn replayed_boards(&self) -> Vec<G::Board> {
        let level = self.levels.get(self.level);
        let mut state = G::start(level);
        let mut stack = Vec::new();
        for &action in &self.log {
            if action == Action::Action7 {
                let board = stack.pop();
                let restored = board.is_some();
                if let Some(board) = board {
                    state.board = board;
                }
                G::undone(level, &mut state, restored, &mut NoFrames);
            } else {
                let before = state.board.clone();
                G::step(level, &mut state, action, &mut NoFrames);
                if state.board != before {
                    stack.push(before);
                }
            }
        }
        stack
    }
}
