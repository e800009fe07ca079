//! A wrapper that adds faults to a sound environment, for faults that the engine rules out in
//! native games.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::{
    Action, ActionKind, Environment, EnvironmentError, FrameSink, GameInfo, NativeEnvironment,
    Observation, PlayState, StateKey,
};
use rhae_validate::{EnvironmentSubject, GraphLimits, StoredRecording};

use crate::lock::{Lock, SOUND};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A level starts in the state GAME_OVER.
    LostAtStart,
    /// Offers an action that is not in its metadata.
    UnlistedOffer,
    /// The frame depends on the number of plays that were opened.
    Nondeterministic,
    /// Forks share a counter.
    SharedForks,
    /// Draws a mark that RESET does not remove.
    IncompleteReset,
    /// Applies an action that is not offered.
    ActsOnUnoffered,
    /// Reacts to actions after the end.
    ActsAfterEnd,
    /// No fault in the environment, but its stored recording does not replay.
    OutdatedRecording,
    /// Fails on a click at the last cell.
    CornerFailure,
    /// No fault. It reports a constant hidden key, because everything is drawn.
    ConstantHiddenKey,
}

struct Faulty {
    inner: Box<dyn Environment>,
    fault: Fault,
    seen: Observation,
    shared: Arc<AtomicU64>,
    number: u64,
    dirty: bool,
    after: u8,
}

static PLAYS: AtomicU64 = AtomicU64::new(0);

impl Faulty {
    fn new(fault: Fault, seed: u64) -> Self {
        let inner: Box<dyn Environment> = Box::new(NativeEnvironment::<Lock<SOUND>>::new(seed));
        let seen = inner.observation().clone();
        let number = PLAYS.fetch_add(1, Ordering::Relaxed);
        let mut new = Self {
            inner,
            fault,
            seen,
            shared: Arc::default(),
            number,
            dirty: false,
            after: 0,
        };
        new.apply_fault();
        new
    }

    fn apply_fault(&mut self) {
        self.seen = self.inner.observation().clone();
        let mut mark = |x: usize, color: u8| {
            let mut frames = self.seen.frames.frames().to_vec();
            if let Some(last) = frames.last_mut() {
                last.set(x, 5, color);
            }
            self.seen.frames.clear();
            for frame in frames {
                self.seen.frames.frame(|own| own.copy_from(&frame));
            }
        };
        match self.fault {
            Fault::LostAtStart if self.seen.levels_completed == 2 => {
                self.seen.state = PlayState::GameOver;
            }
            Fault::UnlistedOffer => {
                self.seen.available = self.seen.available.with(ActionKind::Action5);
            }
            Fault::Nondeterministic => mark(40, 1 + (self.number % 7) as u8),
            Fault::SharedForks => mark(40, 1 + (self.shared.load(Ordering::Relaxed) % 7) as u8),
            Fault::IncompleteReset if self.dirty => mark(41, 9),
            Fault::ActsAfterEnd => mark(42, self.after),
            _ => {}
        }
    }
}

impl Environment for Faulty {
    fn info(&self) -> &GameInfo {
        self.inner.info()
    }

    fn observation(&self) -> &Observation {
        &self.seen
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        if self.fault == Fault::CornerFailure && action == (Action::Action6 { x: 63, y: 63 }) {
            return Err(EnvironmentError::Failed("out of range".to_owned()));
        }
        let over = self.inner.observation().state != PlayState::NotFinished;
        let action = if self.fault == Fault::ActsOnUnoffered && action == Action::Action5 {
            Action::Action1
        } else {
            action
        };
        self.inner.act(action)?;
        self.shared.fetch_add(1, Ordering::Relaxed);
        self.dirty |= matches!(action, Action::Action3);
        self.after = if over && action != Action::Reset {
            7
        } else {
            0
        };
        self.apply_fault();
        Ok(&self.seen)
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        let (seen, shared) = (self.seen.clone(), Arc::clone(&self.shared));
        let shared = if self.fault == Fault::SharedForks {
            shared
        } else {
            Arc::new(AtomicU64::new(shared.load(Ordering::Relaxed)))
        };
        Some(Box::new(Self {
            inner: self.inner.fork()?,
            seen,
            shared,
            ..*self
        }))
    }

    fn hidden_key(&self) -> Option<StateKey> {
        if self.fault == Fault::ConstantHiddenKey {
            Some(0)
        } else {
            self.inner.hidden_key()
        }
    }

    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        self.inner.clicks()
    }
}

/// Returns a hosted environment without stored solutions.
pub(crate) fn hosted(fault: Fault, nodes: usize) -> EnvironmentSubject<'static> {
    let limits = GraphLimits {
        nodes,
        checks: 200,
        ..GraphLimits::default()
    };
    let open = move |seed: u64| -> Result<Box<dyn Environment>, EnvironmentError> {
        Ok(Box::new(Faulty::new(fault, seed)))
    };
    EnvironmentSubject::new(open, 0, limits).unwrap()
}

pub(crate) fn faulty(fault: Fault) -> EnvironmentSubject<'static> {
    let facts = <Lock<SOUND> as rhae_engine::Game>::FACTS;
    let solutions = (0..6).map(move |level| Some(facts.solution(rhae_engine::LevelIndex(level))));
    let subject = hosted(fault, 1_500)
        .with_solutions(solutions)
        .with_native_rules();
    if fault == Fault::OutdatedRecording {
        let replayed = Err("entry 3: the frames differ".to_owned());
        return subject.with_recordings(vec![StoredRecording {
            name: "old.jsonl".to_owned(),
            replayed,
        }]);
    }
    subject
}
