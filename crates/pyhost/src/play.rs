//! A play of a hosted game behind the [`Environment`] interface.
//!
//! **Invariant:** the play's actions with the hashes of what they gave are kept here, so that a play whose process was ended
//! by another one goes on in a new process, or says at which action the game turned out not to be deterministic.

use std::sync::Arc;

use rhae_engine::{
    Action, Environment, EnvironmentError, Frame, FrameBuffer, GameInfo, Observation, PlayState,
    StateKey,
};

use crate::game::Game;
use crate::host::Trouble;
use crate::pool::{Pool, Seat};
use crate::snapshot::Snapshot;
use crate::wire::{Reply, Request, Sight, Stated};

/// One play.
pub(crate) struct HostedPlay {
    pool: Arc<Pool>,
    game: Arc<Game>,
    info: GameInfo,
    seat: Seat,
    seed: u64,
    /// The hash of the opening, and the actions since with the hashes of what they gave.
    opening: u64,
    log: Vec<(Action, u64)>,
    observation: Observation,
    /// Why the play is over, if the game failed.
    failed: Option<String>,
}

impl HostedPlay {
    /// A new play, as after its first RESET.
    pub(crate) fn open(
        pool: &Arc<Pool>,
        game: &Arc<Game>,
        seed: u64,
    ) -> Result<Self, EnvironmentError> {
        let (seat, sight) = opened(pool, game, seed).map_err(|reason| failure(game, &reason))?;
        let mut info = game.info.clone();
        info.actions = sight.available;
        let opening = Frame::hash_all(&sight.frames);
        let observation = observation(Action::Reset, sight, false, true);
        let (pool, game) = (Arc::clone(pool), Arc::clone(game));
        Ok(Self {
            pool,
            game,
            info,
            seat,
            seed,
            opening,
            log: Vec::new(),
            observation,
            failed: None,
        })
    }

    /// Carries out an action in the process; in a new one if the old one was ended by another play.
    fn carry_out(&mut self, action: Action) -> Result<Sight, String> {
        let first = observe(
            &self.seat,
            Request::Act {
                play: self.seat.number,
                action,
            },
        );
        match first {
            Err(Trouble::Gone) => {
                self.seat = replayed(&self.pool, &self.game, self.seed, self.opening, &self.log)?;
                observe(
                    &self.seat,
                    Request::Act {
                        play: self.seat.number,
                        action,
                    },
                )
                .map_err(reason)
            }
            other => other.map_err(reason),
        }
    }

    /// Asks something about this play that its process may be unable to do; `None` if so.
    fn try_ask(&self, request: Request<'_>) -> Result<Option<Reply>, EnvironmentError> {
        match self.seat.host.ask(request) {
            Ok(reply) => Ok(Some(reply)),
            Err(Trouble::Impossible(_) | Trouble::Gone) => Ok(None),
            Err(Trouble::Play(reason)) => Err(failure(&self.game, &reason)),
        }
    }

    /// What our own host says about the state; programs from outside are not asked.
    fn stated(&self, deep: bool) -> Option<Stated> {
        if self.failed.is_some() || self.game.folder.source.is_none() {
            return None;
        }
        match self.try_ask(Request::State {
            play: self.seat.number,
            deep,
        }) {
            Ok(Some(Reply::State(stated))) => Some(stated),
            _ => None,
        }
    }

    /// A second play by a copy of the state in the same process.
    fn copied(&self) -> Option<Seat> {
        let seat = self.seat.beside();
        let request = Request::Fork {
            play: self.seat.number,
            new: seat.number,
        };
        matches!(self.try_ask(request), Ok(Some(Reply::Done))).then_some(seat)
    }

    /// A place with the state of a snapshot: from the game's own state if there is one, else by playing again.
    fn restored(&self, snapshot: &Snapshot) -> Result<Seat, String> {
        if let Some(state) = &snapshot.state {
            let seat = self.pool.seat(&self.game)?;
            if let Ok(Reply::Done) = seat.host.ask(Request::Load {
                play: seat.number,
                state,
            }) {
                return Ok(seat);
            }
        }
        replayed(
            &self.pool,
            &self.game,
            snapshot.seed,
            snapshot.opening,
            &snapshot.log,
        )
    }
}

impl Environment for HostedPlay {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.observation
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        if let Some(reason) = &self.failed {
            return Err(failure(&self.game, reason));
        }
        let before = &self.observation;
        if action != Action::Reset && before.state != PlayState::NotFinished {
            // The official engine answers without a picture; nothing reaches the game.
            let frames = FrameBuffer::from(vec![before.settled().clone()]);
            self.observation = Observation {
                action,
                frames,
                full_reset: false,
                counted: false,
                changed: false,
                ..self.observation.clone()
            };
            return Ok(&self.observation);
        }
        let sight = match self.carry_out(action) {
            Ok(sight) => sight,
            Err(reason) => {
                self.failed = Some(reason.clone());
                return Err(failure(&self.game, &reason));
            }
        };
        self.log.push((action, Frame::hash_all(&sight.frames)));
        let before = &self.observation;
        // What a game keeps to itself is not known here: a change is what can be seen.
        let changed = sight.full_reset
            || sight.frames.len() > 1
            || sight.frames.last() != Some(before.settled())
            || (sight.state, sight.levels_completed, sight.available)
                != (before.state, before.levels_completed, before.available);
        let counted = action != Action::Reset || !sight.full_reset;
        self.observation = observation(action, sight, counted, changed);
        Ok(&self.observation)
    }

    fn waits(&self) -> bool {
        true
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        let again = || replayed(&self.pool, &self.game, self.seed, self.opening, &self.log).ok();
        let seat = if self.failed.is_none() {
            self.copied().or_else(again)?
        } else {
            return None;
        };
        Some(Box::new(Self {
            pool: Arc::clone(&self.pool),
            game: Arc::clone(&self.game),
            info: self.info.clone(),
            seat,
            seed: self.seed,
            opening: self.opening,
            log: self.log.clone(),
            observation: self.observation.clone(),
            failed: None,
        }))
    }

    /// What the game reports through the engine's `_get_hidden_state`, if it has one of its own.
    fn hidden_key(&self) -> Option<StateKey> {
        self.stated(false)?.key
    }

    fn deep_key(&self) -> Option<StateKey> {
        self.stated(true)?.key
    }

    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        self.stated(false)?.clicks
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.seat.host.memory_bytes()
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        if let Some(reason) = &self.failed {
            return Err(failure(&self.game, reason));
        }
        let state = match self.try_ask(Request::Save {
            play: self.seat.number,
        })? {
            Some(Reply::Saved(state)) => Some(state),
            _ => None,
        };
        let seen = &self.observation;
        let snapshot = Snapshot {
            game: self.info.id.to_string(),
            source: self.game.folder.checksum,
            seed: self.seed,
            opening: self.opening,
            log: self.log.clone(),
            last: Sight {
                state: seen.state,
                levels_completed: seen.levels_completed,
                win_levels: seen.win_levels,
                available: seen.available,
                full_reset: seen.full_reset,
                frames: vec![seen.settled().clone()],
            },
            counted: seen.counted,
            changed: seen.changed,
            state,
        };
        Ok(Some(snapshot.to_bytes()))
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        let snapshot = Snapshot::parse(snapshot, &self.info.id, &self.game.folder.checksum)
            .map_err(EnvironmentError::Snapshot)?;
        self.seat = self
            .restored(&snapshot)
            .map_err(|reason| failure(&self.game, &reason))?;
        let action = snapshot
            .log
            .last()
            .map_or(Action::Reset, |&(action, _)| action);
        self.seed = snapshot.seed;
        self.opening = snapshot.opening;
        self.log = snapshot.log;
        self.observation = observation(action, snapshot.last, snapshot.counted, snapshot.changed);
        self.failed = None;
        Ok(&self.observation)
    }
}

/// A new play in some process of the game, with what it shows first.
fn opened(pool: &Arc<Pool>, game: &Arc<Game>, seed: u64) -> Result<(Seat, Sight), String> {
    let seat = pool.seat(game)?;
    match observe(
        &seat,
        Request::Open {
            play: seat.number,
            seed,
        },
    ) {
        // A process that ended while nobody looked is no fault of this play; the next one is new.
        Err(Trouble::Gone) => {
            drop(seat);
            let seat = pool.seat(game)?;
            let sight = observe(
                &seat,
                Request::Open {
                    play: seat.number,
                    seed,
                },
            )
            .map_err(reason)?;
            Ok((seat, sight))
        }
        other => other.map(|sight| (seat, sight)).map_err(reason),
    }
}

/// A new play with the same actions, if it shows the same.
fn replayed(
    pool: &Arc<Pool>,
    game: &Arc<Game>,
    seed: u64,
    opening: u64,
    log: &[(Action, u64)],
) -> Result<Seat, String> {
    let differs = |entry: usize| {
        format!(
            "the game is not deterministic: entry {entry} gave other frames when it was played again"
        )
    };
    let (seat, sight) = opened(pool, game, seed)?;
    if Frame::hash_all(&sight.frames) != opening {
        return Err(differs(1));
    }
    for (index, &(action, hash)) in log.iter().enumerate() {
        let sight = observe(
            &seat,
            Request::Act {
                play: seat.number,
                action,
            },
        )
        .map_err(reason)?;
        if Frame::hash_all(&sight.frames) != hash {
            return Err(differs(index + 2));
        }
    }
    Ok(seat)
}

fn observe(seat: &Seat, request: Request<'_>) -> Result<Sight, Trouble> {
    match seat.host.ask(request)? {
        Reply::Observation(sight) => Ok(sight),
        _ => Err(seat.host.reject("expected an observation")),
    }
}

fn reason(trouble: Trouble) -> String {
    match trouble {
        Trouble::Impossible(reason) | Trouble::Play(reason) => reason,
        Trouble::Gone => "the game's process ended".to_owned(),
    }
}

fn observation(action: Action, sight: Sight, counted: bool, changed: bool) -> Observation {
    Observation {
        action,
        frames: FrameBuffer::from(sight.frames),
        state: sight.state,
        levels_completed: sight.levels_completed,
        win_levels: sight.win_levels,
        available: sight.available,
        full_reset: sight.full_reset,
        counted,
        changed,
    }
}

fn failure(game: &Game, reason: &str) -> EnvironmentError {
    EnvironmentError::Failed(format!("`{}`: {reason}", game.info.id))
}
