//! Finding the slot of a play, and opening plays.

use std::sync::Arc;

use rhae_engine::Action;
use rhae_protocol::{Details, ResetRule};
use rhae_session::Play;
use rhae_store::{IdempotencyKey, NewPlay, PlayId, StoreError, StoredPlay};
use uuid::Uuid;

use super::Plays;
use super::command::{Command, LivePlay};
use super::response::frame_response;
use super::table::{PlaySlot, SlotState};
use crate::ApiError;
use crate::access::Caller;
use crate::games::SEED;

impl Plays {
    /// Finds the slot of the caller's play, if it is of this environment and the caller may still
    /// see the environment.
    pub(super) async fn find_slot(
        &self,
        caller: &Caller,
        game: &str,
        guid: &str,
    ) -> Result<Arc<PlaySlot>, ApiError> {
        let missing = || ApiError::NoSuchPlay {
            game: game.to_owned(),
            guid: guid.to_owned(),
        };
        let matches = |play: &StoredPlay| {
            let named = play.game_id.as_str() == game || play.game_id.base() == game;
            play.owner == caller.owner && named && self.games.can_see(caller, &play.game_id)
        };
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        if let Some(slot) = self.table.find(id) {
            return if matches(&slot.play) {
                Ok(slot)
            } else {
                Err(missing())
            };
        }
        let play = self
            .store
            .play(id)
            .await?
            .filter(matches)
            .ok_or_else(missing)?;
        Ok(self.table.get_or_insert(play, SlotState::Absent))
    }

    /// Opens a play on a card and returns the body of the response.
    pub(super) async fn open_play(
        &self,
        caller: &Caller,
        card: Option<&str>,
        command: &Command,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let info = self
            .games
            .find(caller, &command.game_id)
            .ok_or_else(|| ApiError::GameNotAvailable(command.game_id.clone()))?;
        let id = card.ok_or(ApiError::Field {
            field: "card_id",
            expected: "present, as a string, to open a game",
        })?;
        let not_open = || ApiError::Field {
            field: "card_id",
            expected: "the id of an open scorecard",
        };
        let card = self
            .cards
            .find_open(caller, id)
            .await?
            .ok_or_else(not_open)?;
        let rule = if card.competition {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        let play = Play::new(self.games.open(&info.id).await?, rule);
        let answer = play.current();
        let id = PlayId(Uuid::new_v4());
        let body = frame_response(&answer, command, &id.to_string(), None);
        let win_levels = answer.observation.win_levels;
        let source_digest = play.info().source_digest.clone();
        let new_play = NewPlay {
            id,
            card: card.key,
            game_id: info.id.clone(),
            seed: SEED,
            rule,
            win_levels,
            source_digest: source_digest.clone(),
            only_one: card.competition,
            max_plays: self.limits.max_plays_per_card(caller),
            opening: answer.entry(
                Action::Reset,
                Details {
                    reasoning: command.reasoning.clone(),
                    ..Details::default()
                },
            ),
            at_ms: self.clock.now_ms(),
        };
        let key = self
            .store
            .open_play_idempotent(new_play, idempotency_key.cloned())
            .await
            .map_err(|error| match error {
                StoreError::CardNotOpen => not_open(),
                StoreError::TooManyPlays(max) => ApiError::TooManyPlays(max),
                StoreError::PlayedBefore => ApiError::AlreadyPlayed(command.game_id.clone()),
                error => error.into(),
            })?;
        let game_id = info.id.clone();
        let stored = StoredPlay {
            key,
            id,
            card: card.key,
            owner: caller.owner,
            game_id,
            seed: SEED,
            rule,
            win_levels,
            source_digest,
        };
        self.table.get_or_insert(
            stored,
            SlotState::Live(Box::new(LivePlay { play, next: 1 })),
        );
        self.metrics.actions.inc();
        Ok(body)
    }
}
