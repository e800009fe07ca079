//! Finding the slot of a play, and opening plays.

use std::sync::Arc;

use rhae_engine::{Action, GameId};
use rhae_protocol::{Details, ResetRule};
use rhae_session::Play;
use rhae_store::{CardId, IdempotencyKey, NewCard, NewPlay, Owner, PlayId, StoreError, StoredPlay};
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

    /// Opens the play of a participant of a study on a separate card, under ids that the caller
    /// chose. Does nothing if the play exists.
    ///
    /// The card is a competition card, so RESET restarts the level only, and no client can read
    /// the play as long as the card is open.
    pub(crate) async fn open_private(
        &self,
        owner: Owner,
        game: &GameId,
        (card, id): (CardId, PlayId),
    ) -> Result<(), ApiError> {
        if self.store.play(id).await?.is_some() {
            return Ok(());
        }
        let once = |key: String| IdempotencyKey {
            owner,
            key,
            digest: [0; 32],
        };
        let ignore_repeat = |done: Result<(), StoreError>| match done {
            Err(StoreError::KeyUsed) => Ok(()),
            done => done,
        };
        let at_ms = self.clock.now_ms();
        let new_card = NewCard {
            id: card,
            owner,
            tags: vec!["human".to_owned(), "study".to_owned()],
            source_url: None,
            opaque: None,
            competition: true,
            games: Vec::new(),
            only_one: false,
            max_open: None,
            lasting: true,
            opened_ms: at_ms,
        };
        let opened = self
            .store
            .open_card_idempotent(new_card, Some(once(format!("study card {card}"))));
        ignore_repeat(opened.await)?;
        let missing = || ApiError::Failed("the card of a study is missing".to_owned());
        let card = self.store.card(card).await?.ok_or_else(missing)?;
        let play = Play::new(self.games.open(game).await?, ResetRule::LevelsOnly);
        let answer = play.current();
        let new_play = NewPlay {
            id,
            card: card.key,
            game_id: game.clone(),
            seed: SEED,
            rule: ResetRule::LevelsOnly,
            win_levels: answer.observation.win_levels,
            source_digest: play.info().source_digest.clone(),
            only_one: false,
            max_plays: None,
            opening: answer.entry(Action::Reset, Details::default()),
            at_ms,
        };
        let opened = self
            .store
            .open_play_idempotent(new_play, Some(once(format!("study play {id}"))));
        ignore_repeat(opened.await.map(drop))?;
        self.metrics.actions.inc();
        Ok(())
    }

    /// Closes the card of a play permanently, so that no server can append to the play.
    pub(crate) async fn close_private(&self, id: PlayId) -> Result<(), ApiError> {
        let Some(play) = self.store.play(id).await? else {
            return Ok(());
        };
        match self.store.close_card(play.card, self.clock.now_ms()).await {
            Err(StoreError::CardNotOpen) => Ok(()),
            closed => Ok(closed?),
        }
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
