//! `POST /api/cmd/…`: RESET opens or resets a play; ACTION1 to ACTION7 advance one.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_engine::{Action, ActionKind};
use rhae_protocol::{CompactResponse, Details, FrameBody, ResetRule};
use rhae_session::Play;
use rhae_store::{IdempotencyKey, NewPlay, PlayId, StoreError, StoredPlay};
use tracing::Instrument;
use uuid::Uuid;

use crate::access::Caller;
use crate::body::Fields;
use crate::detach_on_drop::DetachOnDrop;
use crate::idempotency::idempotency_key;
use crate::live_play::{Command, LivePlay, frame_response};
use crate::openapi::{Always, Bodied, CommandBody, CommandName, ErrorBody, Named};
use crate::plays::{PlaySlot, SlotState};
use crate::rebuild::blocking;
use crate::{ApiError, Server};

/// The seed of every play opened through the API. Seed 0 gives the canonical game.
const SEED: u64 = 0;

/// Executes a command: RESET opens a play or resets it, an action advances it.
#[utoipa::path(
    post,
    path = "/api/cmd/{name}",
    tag = "commands",
    params(
        ("name" = inline(CommandName), Path, description = "The command"),
        ("Idempotency-Key" = Option<String>, Header, description = "A request repeated with the same key, path and body is executed once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = CommandBody,
    responses((status = OK, body = FrameBody, description = "The frames and the state after the command"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen, or the limit on plays per scorecard is reached"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key was already used for a different request"), Always, Bodied, Named)
)]
pub(crate) async fn command(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let kind = ActionKind::from_name(&name).ok_or(ApiError::NoSuchPath)?;
    let idempotency_key = idempotency_key(&headers, caller.owner, &name, &body)?;
    let fields = Fields::read(&headers, body)?;
    let action = match kind.simple() {
        Some(action) => action,
        None => Action::Action6 {
            x: fields.coordinate("x")?,
            y: fields.coordinate("y")?,
        },
    };
    let command = Command {
        action,
        game_id: fields.required("game_id")?.to_owned(),
        reasoning: fields.extra("reasoning", server.config.limits.extra_bytes)?,
        compact: headers
            .get(header::ACCEPT)
            .is_some_and(|kind| kind == CompactResponse::CONTENT_TYPE),
    };
    let guid = fields.text("guid")?.map(str::to_owned);
    let card = fields.text("card_id")?.map(str::to_owned);
    let work = async move {
        let done = match guid {
            Some(guid) => match server.find_slot(&caller, &command.game_id, &guid).await {
                Ok(slot) => {
                    server
                        .command(&slot, &command, idempotency_key.as_ref())
                        .await
                }
                Err(error) => Err(error),
            },
            None if action == Action::Reset => {
                server
                    .open_play(&caller, card.as_deref(), &command, idempotency_key.as_ref())
                    .await
            }
            None => Err(ApiError::Field {
                field: "guid",
                expected: "present, as a string",
            }),
        };
        match done {
            Err(error) => {
                server
                    .recover_response(idempotency_key, &command, error)
                    .await
            }
            done => done,
        }
    };
    let json = DetachOnDrop::new(work.in_current_span()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

impl Server {
    /// Finds the slot of the caller's play, if it is of this environment and the caller may still
    /// see the environment.
    async fn find_slot(
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
            play.owner == caller.owner && named && self.can_see(caller, &play.game_id)
        };
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        if let Some(slot) = self.plays.find(id) {
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
        Ok(self.plays.get_or_insert(play, SlotState::Absent))
    }

    /// Opens a play on a card and returns the body of the response.
    async fn open_play(
        &self,
        caller: &Caller,
        card: Option<&str>,
        command: &Command,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<u8>, ApiError> {
        let info = self
            .game(caller, &command.game_id)
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
            .card(id)
            .await?
            .filter(|card| card.owner == caller.owner && card.closed_ms.is_none())
            .ok_or_else(not_open)?;
        let rule = if card.competition {
            ResetRule::LevelsOnly
        } else {
            ResetRule::Official
        };
        // Opening a hosted environment takes a while, so it runs on a blocking thread and the async
        // threads stay free for other requests.
        let (catalog, game) = (Arc::clone(&self.catalog), info.id.clone());
        let opened = blocking(move || catalog.open(game.as_str(), SEED)).await?;
        let environment = opened.map_err(|error| ApiError::Failed(error.to_string()))?;
        let play = Play::new(environment, rule);
        let answer = play.current();
        let id = PlayId(Uuid::new_v4());
        let body = frame_response(&answer, command, &id.to_string(), None);
        let win_levels = answer.observation.win_levels;
        let new_play = NewPlay {
            id,
            card: card.key,
            game_id: info.id.clone(),
            seed: SEED,
            rule,
            win_levels,
            only_one: card.competition,
            max_plays: self.config.limits.max_plays_per_card(caller.visitor),
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
        };
        self.plays.get_or_insert(
            stored,
            SlotState::Live(Box::new(LivePlay { play, next: 1 })),
        );
        self.metrics.actions.add_one();
        Ok(body)
    }
}
