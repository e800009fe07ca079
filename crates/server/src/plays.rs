//! The plays of the server: in memory where they are in use, otherwise in the store.
//!
//! `open` finds and opens plays, `command` executes commands, `table` holds the plays in memory,
//! `rebuild` restores them from the store, and `repeat` answers repeated commands from the log.

mod command;
mod open;
mod rebuild;
mod repeat;
mod response;
mod table;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{Action, GameId};
use rhae_protocol::{CompactResponse, ResetRule};
use rhae_session::Play;
use rhae_store::{IdempotencyKey, PlayFacts, PlayId, Store, opening_bytes, reasoning_bytes};

use crate::access::Caller;
use crate::cards::Cards;
use crate::games::Games;
use crate::idempotency::Idempotency;
use crate::metrics::Metrics;
use crate::quotas::Quotas;
use crate::{ApiError, Clock, Config, Limits};
pub(crate) use command::{Command, ResponseForm};
pub(crate) use rebuild::{ENTRIES_PER_READ, Rebuilder};
use response::compact_response;
use table::{PlayTable, SlotState};

/// The plays of a server.
pub(crate) struct Plays {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    games: Arc<Games>,
    cards: Arc<Cards>,
    idempotency: Arc<Idempotency>,
    quotas: Arc<Quotas>,
    metrics: Arc<Metrics>,
    rebuilder: Rebuilder,
    table: PlayTable,
    /// The first frames of environments, which never change.
    previews: Mutex<HashMap<GameId, CompactResponse>>,
    snapshot_every: u32,
    limits: Limits,
}

/// The play that a command names, as the client named it. RESET without a `guid` opens a play on
/// `card`.
pub(crate) struct PlayTarget {
    pub(crate) guid: Option<String>,
    pub(crate) card: Option<String>,
}

impl Plays {
    pub(crate) fn new(
        games: Arc<Games>,
        cards: Arc<Cards>,
        idempotency: Arc<Idempotency>,
        quotas: Arc<Quotas>,
        metrics: Arc<Metrics>,
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
        config: &Config,
    ) -> Self {
        Self {
            rebuilder: Rebuilder::new(Arc::clone(&store), Arc::clone(&games)),
            store,
            clock,
            games,
            cards,
            idempotency,
            quotas,
            metrics,
            table: PlayTable::new(config.plays_in_memory),
            previews: Mutex::default(),
            snapshot_every: config.snapshot_every,
            limits: config.limits,
        }
    }

    /// The store, for reading the logs and lists of plays.
    pub(crate) fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// The environments, for replaying plays.
    pub(crate) fn games(&self) -> &Games {
        &self.games
    }

    pub(crate) const fn rebuilder(&self) -> &Rebuilder {
        &self.rebuilder
    }

    /// The number of plays in memory.
    pub(crate) fn in_memory(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// The limits on request bodies.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Executes a command, or opens a play, and returns the body of the response. A repeated
    /// request gets its first response again.
    pub(crate) async fn execute(
        &self,
        caller: &Caller,
        target: &PlayTarget,
        command: &Command,
        key: Option<IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let done = self.execute_once(caller, target, command, key.as_ref());
        match done.await {
            Err(error) => self.recover_response(key, command, error).await,
            done => done,
        }
    }

    /// Executes a command within the caller's quota.
    async fn execute_once(
        &self,
        caller: &Caller,
        target: &PlayTarget,
        command: &Command,
        key: Option<&IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let reasoning = command.reasoning.as_ref();
        if let Some(guid) = &target.guid {
            let slot = self.find_slot(caller, &command.game_id, guid).await?;
            let bytes = || reasoning_bytes(reasoning);
            self.quotas.reserve(caller, bytes).await?;
            return self.command(&slot, command, key).await;
        }
        if command.action != Action::Reset {
            return Err(ApiError::Field {
                field: "guid",
                expected: "present, as a string",
            });
        }
        let bytes = || opening_bytes(reasoning);
        self.quotas.reserve(caller, bytes).await?;
        let card = target.card.as_deref();
        self.open_play(caller, card, command, key).await
    }

    /// Returns what a play of an environment would show after its opening RESET, without opening one.
    pub(crate) async fn preview(&self, id: &GameId) -> Result<CompactResponse, ApiError> {
        let previews = || self.previews.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = previews().get(id) {
            return Ok(known.clone());
        }
        let play = Play::new(self.games.open(id).await?, ResetRule::Official);
        let answer = play.current();
        let settled = std::slice::from_ref(answer.observation.settled());
        let preview = compact_response(&answer, settled, "", Action::Reset);
        previews().insert(id.clone(), preview.clone());
        Ok(preview)
    }

    /// Returns a play that the caller may read, of an environment that it may see. If its card is a
    /// competition card, the card must be closed.
    pub(crate) async fn readable(
        &self,
        caller: &Caller,
        guid: &str,
    ) -> Result<PlayFacts, ApiError> {
        let missing = || ApiError::NoSuchGuid(guid.to_owned());
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        let readable = |facts: &PlayFacts| {
            caller.can_read(facts.play.owner) && self.games.can_see(caller, &facts.play.game_id)
        };
        let facts = self
            .store
            .play_facts(id)
            .await?
            .filter(readable)
            .ok_or_else(missing)?;
        if facts.competition && facts.closed_ms.is_none() {
            Err(ApiError::CompetitionCardOpen)
        } else {
            Ok(facts)
        }
    }

    /// Whether a play may be listed: the caller may read it and see its environment, and its card is
    /// not an open competition card.
    pub(crate) fn may_list(&self, caller: &Caller, facts: &PlayFacts) -> bool {
        caller.can_read(facts.play.owner)
            && self.games.can_see(caller, &facts.play.game_id)
            && !(facts.competition && facts.closed_ms.is_none())
    }

    /// Returns why a play in memory is frozen, or `None` if it is not. It does not wait for a command
    /// in progress: a play that executes one is not frozen.
    pub(crate) fn frozen_reason(&self, id: PlayId) -> Option<String> {
        let slot = self.table.find(id)?;
        match &*slot.state.try_lock().ok()? {
            SlotState::Frozen(reason) => Some(reason.clone()),
            SlotState::Absent | SlotState::Live(_) => None,
        }
    }
}
