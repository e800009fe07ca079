//! One play of a native game: levels, RESET, undo, win, loss.
//!
//! The semantics are those of the official engine with its bugs corrected. An episode does not
//! handle scores, limits on the number of actions in a run, scorecards or time.

use std::sync::{Arc, OnceLock};

use crate::snapshot::SnapshotBody;
use crate::undo::{Popped, UndoRing};
use crate::{
    Action, ActionKind, ActionSet, Frame, FrameSink, Game, LevelIndex, NoFrames, Outcome,
    PlayState, State, StateKey, StateOf, key_of,
};

/// All levels of a game for one seed. Each level is built on first use and is then shared by all
/// clones of this value.
pub struct Levels<G: Game> {
    seed: u64,
    levels: Arc<[OnceLock<G::Level>]>,
}

impl<G: Game> Clone for Levels<G> {
    fn clone(&self) -> Self {
        Self {
            seed: self.seed,
            levels: Arc::clone(&self.levels),
        }
    }
}

impl<G: Game> Levels<G> {
    /// Creates the set of levels for a seed without building any of them.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            levels: (0..G::FACTS.level_count())
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// Returns a level. The first call for a level builds it.
    ///
    /// # Panics
    ///
    /// Panics if the game has no level with this index.
    #[inline]
    pub fn get(&self, index: LevelIndex) -> &G::Level {
        self.levels[index.get()].get_or_init(|| G::level(index, self.seed))
    }

    /// Returns the seed that the levels are built from.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of levels.
    pub fn count(&self) -> u8 {
        u8::try_from(self.levels.len()).expect("the protocol allows at most 254 levels")
    }
}

/// The effect of one command on an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whether the command counts as an action. A full reset does not count, and neither does a
    /// command that is ignored because the play has ended.
    pub counted: bool,
    /// Whether the state differs from the one before the command.
    pub changed: bool,
    /// Whether the command restarted the whole game.
    pub full_reset: bool,
}

/// The effect of a command that is ignored because the play has ended.
const IGNORED: Step = Step {
    counted: false,
    changed: false,
    full_reset: false,
};

/// One play of a native game.
///
/// An episode starts in the state after the first RESET and executes one [`Action`] at a time. It
/// is generic over the game, so calls of the rules are static; this makes it the fastest way to
/// play a game. Its commands cannot fail. [`NativeEnvironment`](crate::NativeEnvironment) wraps it
/// in the object-safe [`Environment`](crate::Environment) interface.
///
/// # Semantics
///
/// * **RESET** restarts the current level and counts as an action. It restarts the whole game
///   instead if the game is won, or if no action was taken since the level started or since the
///   last RESET. Such a full reset does not count as an action.
/// * **Undo** (ACTION7, if the game offers it) restores the board as it was before the last action
///   that changed it. Repeated undo goes back as far as the start of the level. [`State::spent`] is
///   not restored.
/// * An action that the game does not offer counts as an action and changes nothing.
/// * Winning a level starts the next one; winning the last level wins the game.
/// * After a win or a loss, every command except RESET is ignored and not counted.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/counter.rs"));
/// use rhae_engine::{Episode, FrameBuffer, PlayState};
///
/// # fn main() -> Result<(), rhae_engine::EnvironmentError> {
/// // `Counter` wins a level when its counter reaches 3. ACTION1 adds one, ACTION2 adds two.
/// let mut episode = Episode::<Counter>::new(0);
/// let mut frames = FrameBuffer::default();
/// episode.act(Action::Action1, &mut frames);
/// assert_eq!(frames.frames().len(), 1, "the settled frame");
///
/// frames.clear();
/// let step = episode.act(Action::Action2, &mut frames);
/// assert!(step.counted && step.changed);
/// assert_eq!((episode.completed(), episode.level()), (1, LevelIndex(1)));
/// // An animation frame, the settled frame of the won level, the first frame of the next level.
/// assert_eq!(frames.frames().len(), 3);
///
/// // No action was taken in the new level, so RESET restarts the game and does not count.
/// let step = episode.act(Action::Reset, &mut frames);
/// assert!(step.full_reset && !step.counted);
/// assert_eq!(episode.status(), PlayState::NotFinished);
/// assert_eq!(episode.level(), LevelIndex(0));
/// # Ok(())
/// # }
/// ```
pub struct Episode<G: Game> {
    levels: Levels<G>,
    level: LevelIndex,
    state: StateOf<G>,
    status: PlayState,
    completed: u8,
    /// Whether an action was taken since the last level change or RESET. If not, RESET restarts the
    /// whole game instead of the level.
    acted: bool,
    undo: UndoRing<G::Board>,
    /// Every action since the level started, if the game has undo. Replaying these actions recovers
    /// boards that the ring has evicted.
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

    /// Creates a play in the state after its first RESET.
    pub fn new(seed: u64) -> Self {
        Self::at(Levels::new(seed), LevelIndex(0))
    }

    /// Creates a play that starts at `level` and counts the earlier levels as completed. It is
    /// intended for tests, validation and search.
    ///
    /// # Panics
    ///
    /// Panics if the game has no such level.
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

    /// Returns the level being played; after a win, the last level.
    pub const fn level(&self) -> LevelIndex {
        self.level
    }

    /// Returns the number of completed levels.
    pub const fn completed(&self) -> u8 {
        self.completed
    }

    /// Returns the number of levels of the game.
    pub fn level_count(&self) -> u8 {
        self.levels.count()
    }

    /// Returns whether the play is won, lost or neither.
    pub const fn status(&self) -> PlayState {
        self.status
    }

    /// Returns the state of the current level.
    pub const fn state(&self) -> &StateOf<G> {
        &self.state
    }

    /// Returns the levels of this play.
    pub const fn levels(&self) -> &Levels<G> {
        &self.levels
    }

    /// Returns the kinds of action that the game offers in the current state.
    pub fn offered(&self) -> ActionSet {
        G::offered(self.levels.get(self.level), &self.state)
    }

    /// Returns a key of everything that later steps depend on, apart from the undo history: the
    /// level, the status, whether an action was taken since the last RESET, and the state.
    pub fn key(&self) -> StateKey {
        key_of(&(self.level, self.status, self.acted, &self.state))
    }

    /// Draws the settled frame of the current state.
    pub fn draw(&self, frame: &mut Frame) {
        G::draw(self.levels.get(self.level), &self.state, frame);
    }

    /// Executes a command and passes its frames to `sink`: the animation, the settled frame and, if
    /// the command won a level, the first frame of the next one. After a win or a loss, every
    /// command except RESET does nothing and draws nothing.
    pub fn act(&mut self, action: Action, sink: &mut impl FrameSink) -> Step {
        if action == Action::Reset {
            return self.reset(sink);
        }
        if self.status != PlayState::NotFinished {
            return IGNORED;
        }
        self.acted = true;
        let mut changed = false;
        let mut outcome = Outcome::Continue;
        if self.offered().contains(action.kind()) {
            if action == Action::Action7 {
                (changed, outcome) = self.undo_last(sink);
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
            Outcome::Continue => {}
            Outcome::GameOver => self.status = PlayState::GameOver,
            Outcome::LevelWon => {
                self.completed += 1;
                if self.completed == self.level_count() {
                    self.status = PlayState::Win;
                } else {
                    self.start_level(LevelIndex(self.level.0 + 1));
                    sink.frame(|frame| self.draw(frame));
                }
            }
        }
        // The end of a level is a change even if the board is the same as before.
        Step {
            counted: true,
            changed: changed || outcome != Outcome::Continue,
            full_reset: false,
        }
    }

    /// Restarts the level. Restarts the whole game instead if the game is won, or if no action was
    /// taken since the last level change or RESET. A level reset counts as an action, a full reset
    /// does not.
    fn reset(&mut self, sink: &mut impl FrameSink) -> Step {
        let full = !self.acted || self.status == PlayState::Win;
        let before = (!full && self.status == PlayState::NotFinished).then(|| self.state.clone());
        let restarted_first_level = full && !self.acted && self.level == LevelIndex(0);
        if full {
            self.completed = 0;
        }
        self.status = PlayState::NotFinished;
        self.start_level(if full { LevelIndex(0) } else { self.level });
        sink.frame(|frame| self.draw(frame));
        let changed = before.map_or(!restarted_first_level, |before| before != self.state);
        Step {
            counted: !full,
            changed,
            full_reset: full,
        }
    }

    /// Returns whether an action was taken since the last level change or RESET.
    pub(crate) const fn acted(&self) -> bool {
        self.acted
    }

    /// Returns the actions since the level started; empty if the game has no undo.
    pub(crate) fn level_log(&self) -> &[Action] {
        &self.log
    }

    /// Returns the boards in the undo ring, oldest first, and the depth of the whole undo stack.
    pub(crate) fn undo_boards(&self) -> (Vec<G::Board>, usize) {
        self.undo.retained()
    }

    /// Creates a play of the same levels from the decoded parts of a snapshot.
    pub(crate) fn restored(
        &self,
        level: LevelIndex,
        status: PlayState,
        depth: usize,
        level_log: Vec<Action>,
        saved: SnapshotBody<G::Board, G::Spent>,
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
        let SnapshotBody {
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

    fn start_level(&mut self, level: LevelIndex) {
        self.level = level;
        self.state = G::start(self.levels.get(level));
        self.acted = false;
        self.undo.clear();
        self.log.clear();
    }

    /// Restores the board as it was before the last action that changed it, and lets the game
    /// charge the cost of the undo. Returns whether the state changed, and the outcome.
    fn undo_last(&mut self, sink: &mut impl FrameSink) -> (bool, Outcome) {
        let board = match self.undo.pop() {
            Popped::Board(board) => Some(board),
            Popped::Empty => None,
            Popped::Evicted => {
                self.undo.refill(&self.replayed_boards());
                match self.undo.pop() {
                    Popped::Board(board) => Some(board),
                    Popped::Evicted | Popped::Empty => None,
                }
            }
        };
        let spent = self.state.spent.clone();
        let restored = board.is_some();
        if let Some(board) = board {
            self.state.board = board;
        }
        self.log.push(Action::Action7);
        let outcome = G::on_undo(self.levels.get(self.level), &mut self.state, restored, sink);
        (restored || self.state.spent != spent, outcome)
    }

    /// Rebuilds the complete undo stack by replaying the log from the start of the level.
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
                G::on_undo(level, &mut state, restored, &mut NoFrames);
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
