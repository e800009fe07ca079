//! A play of a hosted game behind the [`Environment`] interface.
//!
//! **Invariant:** a play keeps its actions with the hashes of the frames that they produced. If
//! another play brings the process down, this play is replayed in a new process. The hashes reveal
//! the first action at which a game is not deterministic.

use std::sync::Arc;

use rhae_engine::{
    Action, BulkOptions, BulkSearch, Environment, EnvironmentError, Frame, FrameBuffer, GameInfo,
    Identity, Observation, PlayState, StateKey, observation_key, representative_clicks,
};

use crate::expansion::{HostedSearch, Origin};
use crate::game::Game;
use crate::host::RequestError;
use crate::pool::{Pool, Slot};
use crate::snapshot::Snapshot;
use crate::wire::{Reply, Request, StateInfo, WireObservation};

/// A play of a hosted game.
pub(crate) struct HostedPlay {
    pool: Arc<Pool>,
    game: Arc<Game>,
    info: GameInfo,
    slot: Slot,
    seed: u64,
    /// The hash of the frames of the opening RESET.
    opening: u64,
    /// The actions after the opening RESET, each with the hash of its frames.
    log: Vec<(Action, u64)>,
    observation: Observation,
    /// The reason why the game failed, after which the play accepts no actions.
    failed: Option<String>,
}

impl HostedPlay {
    /// Opens a new play, in the state after its opening RESET.
    pub(crate) fn open(
        pool: &Arc<Pool>,
        game: &Arc<Game>,
        seed: u64,
    ) -> Result<Self, EnvironmentError> {
        let (slot, observed) =
            open_play(pool, game, seed).map_err(|reason| failure(game, &reason))?;
        game.state_levels(observed.win_levels);
        let mut info = game.current_info();
        info.actions = observed.available;
        let opening = Frame::hash_all(&observed.frames);
        let observation = observation(Action::Reset, observed, false, true);
        let (pool, game) = (Arc::clone(pool), Arc::clone(game));
        Ok(Self {
            pool,
            game,
            info,
            slot,
            seed,
            opening,
            log: Vec::new(),
            observation,
            failed: None,
        })
    }

    /// Executes an action. If another play has brought the process down, this play is first
    /// replayed in a new process.
    fn execute(&mut self, action: Action) -> Result<WireObservation, String> {
        let first = observe(
            &self.slot,
            Request::Act {
                play: self.slot.play,
                action,
            },
        );
        match first {
            Err(RequestError::ProcessGone) => {
                self.slot = replay(&self.pool, &self.game, self.seed, self.opening, &self.log)?;
                observe(
                    &self.slot,
                    Request::Act {
                        play: self.slot.play,
                        action,
                    },
                )
                .map_err(error_reason)
            }
            other => other.map_err(error_reason),
        }
    }

    /// Sends a request that the process may not support. Returns `None` if it does not, or if the
    /// process is gone.
    fn try_request(&self, request: Request<'_>) -> Result<Option<Reply>, EnvironmentError> {
        match self.slot.host.request(request) {
            Ok(reply) => Ok(Some(reply)),
            Err(RequestError::Unsupported(_) | RequestError::ProcessGone) => Ok(None),
            Err(RequestError::PlayFailed(reason)) => Err(failure(&self.game, &reason)),
        }
    }

    /// Requests the key and the clicks of the state. Only Rhae's own host supports this request, so
    /// it is not sent to programs that implement the protocol themselves.
    fn state_info(&self, deep: bool, sprites: bool) -> Option<StateInfo> {
        if self.failed.is_some() || self.game.folder.source.is_none() {
            return None;
        }
        match self.try_request(Request::State {
            play: self.slot.play,
            deep,
            sprites,
        }) {
            Ok(Some(Reply::State(state_info))) => Some(state_info),
            _ => None,
        }
    }

    /// Copies the state into another slot of the same process, if the game supports that.
    fn copy_in_process(&self) -> Option<Slot> {
        let slot = self.slot.another();
        let request = Request::Fork {
            play: self.slot.play,
            new: slot.play,
        };
        matches!(self.try_request(request), Ok(Some(Reply::Done))).then_some(slot)
    }

    /// Reserves a slot and brings it to the state of a snapshot. Loads the game's own state if the
    /// snapshot contains one; otherwise, or if loading fails, replays the actions.
    fn restore_slot(&self, snapshot: &Snapshot) -> Result<Slot, String> {
        if let Some(state) = &snapshot.state {
            let slot = self.pool.acquire(&self.game)?;
            if let Ok(Reply::Done) = slot.host.request(Request::Load {
                play: slot.play,
                state,
            }) {
                return Ok(slot);
            }
        }
        replay(
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
            // Like the official engine, the play does not pass the action on to the game.
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
        let observed = match self.execute(action) {
            Ok(observed) => observed,
            Err(reason) => {
                self.failed = Some(reason.clone());
                return Err(failure(&self.game, &reason));
            }
        };
        self.log.push((action, Frame::hash_all(&observed.frames)));
        let before = &self.observation;
        // The hidden state of the game is unknown here, so only visible changes count.
        let changed = observed.full_reset
            || observed.frames.len() > 1
            || observed.frames.last() != Some(before.settled())
            || (
                observed.state,
                observed.levels_completed,
                observed.available,
            ) != (before.state, before.levels_completed, before.available);
        let counted = action != Action::Reset || !observed.full_reset;
        self.observation = observation(action, observed, counted, changed);
        Ok(&self.observation)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        let by_replay = || replay(&self.pool, &self.game, self.seed, self.opening, &self.log).ok();
        let slot = if self.failed.is_none() {
            self.copy_in_process().or_else(by_replay)?
        } else {
            return None;
        };
        Some(Box::new(Self {
            pool: Arc::clone(&self.pool),
            game: Arc::clone(&self.game),
            info: self.info.clone(),
            slot,
            seed: self.seed,
            opening: self.opening,
            log: self.log.clone(),
            observation: self.observation.clone(),
            failed: None,
        }))
    }

    /// Returns the key that the game reports through the engine's `_get_hidden_state`, if it
    /// overrides that method.
    fn hidden_key(&self) -> Option<StateKey> {
        self.state_info(false, false)?.key
    }

    fn deep_key(&self) -> Option<StateKey> {
        self.state_info(true, false)?.key
    }

    fn clicks(&self) -> Option<Vec<(u8, u8)>> {
        self.state_info(false, false)?.clicks
    }

    fn representative_clicks(&self) -> Option<Vec<(u8, u8)>> {
        // The sprites of a program that implements the protocol itself are unknown.
        let sprites = self.state_info(false, true).and_then(|info| info.sprites);
        let frame = self.observation.settled();
        Some(representative_clicks(frame, &sprites.unwrap_or_default()))
    }

    fn bulk_search(
        &self,
        options: &BulkOptions,
    ) -> Result<Option<Box<dyn BulkSearch>>, EnvironmentError> {
        if self.failed.is_some() || self.game.folder.source.is_none() {
            return Ok(None);
        }
        let hidden = match options.identity {
            Identity::Frame => None,
            Identity::FrameAndHidden => self.hidden_key(),
            Identity::Deep => self.deep_key(),
        };
        let seen = &self.observation;
        let origin = Origin {
            pool: Arc::clone(&self.pool),
            game: Arc::clone(&self.game),
            seed: self.seed,
            opening: self.opening,
            log: self.log.clone(),
            key: observation_key(
                seen.settled().cells(),
                seen.levels_completed,
                seen.state,
                hidden,
            ),
        };
        let search = HostedSearch::open(origin, &self.slot, *options)
            .map_err(|reason| failure(&self.game, &reason))?;
        Ok(search.map(|search| Box::new(search) as Box<dyn BulkSearch>))
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.slot.host.memory_bytes()
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        if let Some(reason) = &self.failed {
            return Err(failure(&self.game, reason));
        }
        let state = match self.try_request(Request::Save {
            play: self.slot.play,
        })? {
            Some(Reply::Saved(state)) => Some(state),
            _ => None,
        };
        let latest = &self.observation;
        let snapshot = Snapshot {
            game: self.info.id.to_string(),
            source: self.game.folder.checksum,
            seed: self.seed,
            opening: self.opening,
            log: self.log.clone(),
            last: WireObservation {
                state: latest.state,
                levels_completed: latest.levels_completed,
                win_levels: latest.win_levels,
                available: latest.available,
                full_reset: latest.full_reset,
                frames: vec![latest.settled().clone()],
            },
            counted: latest.counted,
            changed: latest.changed,
            state,
        };
        Ok(Some(snapshot.to_bytes()))
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        let snapshot = Snapshot::parse(snapshot, &self.info.id, &self.game.folder.checksum)
            .map_err(EnvironmentError::Snapshot)?;
        self.slot = self
            .restore_slot(&snapshot)
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

/// Opens a new play in a process of the game and returns its first observation.
fn open_play(
    pool: &Arc<Pool>,
    game: &Arc<Game>,
    seed: u64,
) -> Result<(Slot, WireObservation), String> {
    let slot = pool.acquire(game)?;
    match observe(
        &slot,
        Request::Open {
            play: slot.play,
            seed,
        },
    ) {
        // The process ended while it was idle. The second attempt gets a new one.
        Err(RequestError::ProcessGone) => {
            drop(slot);
            let slot = pool.acquire(game)?;
            let observed = observe(
                &slot,
                Request::Open {
                    play: slot.play,
                    seed,
                },
            )
            .map_err(error_reason)?;
            Ok((slot, observed))
        }
        other => other.map(|observed| (slot, observed)).map_err(error_reason),
    }
}

/// Opens a new play and repeats the actions. Fails if the frames differ from the recorded ones.
fn replay(
    pool: &Arc<Pool>,
    game: &Arc<Game>,
    seed: u64,
    opening: u64,
    log: &[(Action, u64)],
) -> Result<Slot, String> {
    let (slot, observed) = open_play(pool, game, seed)?;
    repeat(&slot, &observed, opening, log)?;
    Ok(slot)
}

/// Opens a new play in a slot that has none yet and repeats the actions.
pub(crate) fn replay_in(
    slot: &Slot,
    seed: u64,
    opening: u64,
    log: &[(Action, u64)],
) -> Result<(), String> {
    let open = Request::Open {
        play: slot.play,
        seed,
    };
    let observed = observe(slot, open).map_err(error_reason)?;
    repeat(slot, &observed, opening, log)
}

/// Repeats the actions of a log after the opening RESET. Fails if the frames differ from the
/// recorded ones.
fn repeat(
    slot: &Slot,
    opened: &WireObservation,
    opening: u64,
    log: &[(Action, u64)],
) -> Result<(), String> {
    let differs = |entry: usize| {
        format!(
            "the game is not deterministic: entry {entry} produced different frames when it was replayed"
        )
    };
    if Frame::hash_all(&opened.frames) != opening {
        return Err(differs(1));
    }
    for (index, &(action, hash)) in log.iter().enumerate() {
        let observed = observe(
            slot,
            Request::Act {
                play: slot.play,
                action,
            },
        )
        .map_err(error_reason)?;
        if Frame::hash_all(&observed.frames) != hash {
            return Err(differs(index + 2));
        }
    }
    Ok(())
}

fn observe(slot: &Slot, request: Request<'_>) -> Result<WireObservation, RequestError> {
    match slot.host.request(request)? {
        Reply::Observation(observed) => Ok(observed),
        _ => Err(slot.host.reject("expected an observation")),
    }
}

pub(crate) fn error_reason(error: RequestError) -> String {
    match error {
        RequestError::Unsupported(reason) | RequestError::PlayFailed(reason) => reason,
        RequestError::ProcessGone => "the game's process ended".to_owned(),
    }
}

fn observation(
    action: Action,
    observed: WireObservation,
    counted: bool,
    changed: bool,
) -> Observation {
    Observation {
        action,
        frames: FrameBuffer::from(observed.frames),
        state: observed.state,
        levels_completed: observed.levels_completed,
        win_levels: observed.win_levels,
        available: observed.available,
        full_reset: observed.full_reset,
        counted,
        changed,
    }
}

pub(crate) fn failure(game: &Game, reason: &str) -> EnvironmentError {
    EnvironmentError::Failed(format!("`{}`: {reason}", game.info.id))
}
