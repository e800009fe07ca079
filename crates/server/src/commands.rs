//! `POST /api/cmd/…`: RESET opens a play or goes on with one; ACTION1 to ACTION7 go on with one.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_engine::{Action, ActionKind};
use rhae_protocol::{CompactAnswer, Details, FrameBody, ResetRule};
use rhae_session::Play;
use rhae_store::{NewPlay, Once, Play as StoredPlay, PlayId, StoreError};
use tracing::Instrument;
use uuid::Uuid;

use crate::access::Caller;
use crate::body::Fields;
use crate::live::{Command, Live, frame_answer};
use crate::once::once;
use crate::openapi::{Always, Bodied, CommandBody, CommandName, ErrorBody, Named};
use crate::plays::{Place, Stage};
use crate::rebuild::blocking;
use crate::to_its_end::ToItsEnd;
use crate::{ApiError, Server};

/// Plays of the API are of the canonical game.
const SEED: u64 = 0;

/// Carries out a command: RESET opens a play or goes back in one, an action goes on with one.
#[utoipa::path(
    post,
    path = "/api/cmd/{name}",
    tag = "commands",
    params(
        ("name" = inline(CommandName), Path, description = "The command"),
        ("Idempotency-Key" = Option<String>, Header, description = "A request with the same key, path and body is carried out once", min_length = 1, max_length = 255, pattern = "^[!-~]+$")),
    request_body = CommandBody,
    responses((status = OK, body = FrameBody, description = "What is seen now"),
        (status = CONFLICT, body = ErrorBody, description = "The play is frozen, or the card has as many plays as it may have"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "The idempotency key belongs to another request"), Always, Bodied, Named)
)]
pub(crate) async fn command(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let kind = ActionKind::from_name(&name).ok_or(ApiError::NoSuchPath)?;
    let once = once(&headers, caller.owner, &name, &body)?;
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
            .is_some_and(|kind| kind == CompactAnswer::CONTENT_TYPE),
    };
    let guid = fields.text("guid")?.map(str::to_owned);
    let card = fields.text("card_id")?.map(str::to_owned);
    let work = async move {
        let done = match guid {
            Some(guid) => match server.place(&caller, &command.game_id, &guid).await {
                Ok(place) => server.command(&place, &command, once.as_ref()).await,
                Err(error) => Err(error),
            },
            None if action == Action::Reset => {
                server
                    .open_play(&caller, card.as_deref(), &command, once.as_ref())
                    .await
            }
            None => Err(ApiError::Field {
                field: "guid",
                expected: "given, as a string",
            }),
        };
        match done {
            Err(error) => server.answer_again(once, &command, error).await,
            done => done,
        }
    };
    let json = ToItsEnd::new(work.in_current_span()).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

impl Server {
    /// The place of the caller's play with this id, of this environment, which the caller may still see.
    async fn place(&self, caller: &Caller, game: &str, guid: &str) -> Result<Arc<Place>, ApiError> {
        let missing = || ApiError::NoSuchPlay {
            game: game.to_owned(),
            guid: guid.to_owned(),
        };
        let fits = |play: &StoredPlay| {
            let named = play.game_id.as_str() == game || play.game_id.base() == game;
            play.owner == caller.owner && named && self.shows(caller, &play.game_id)
        };
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        if let Some(place) = self.plays.find(id) {
            return if fits(&place.play) {
                Ok(place)
            } else {
                Err(missing())
            };
        }
        let play = self
            .store
            .play(id)
            .await?
            .filter(fits)
            .ok_or_else(missing)?;
        Ok(self.plays.place(play, Stage::Absent))
    }

    /// Opens a play on a card and gives its first answer's body.
    async fn open_play(
        &self,
        caller: &Caller,
        card: Option<&str>,
        command: &Command,
        once: Option<&Once>,
    ) -> Result<Vec<u8>, ApiError> {
        let info = self
            .game(caller, &command.game_id)
            .ok_or_else(|| ApiError::GameNotAvailable(command.game_id.clone()))?;
        let id = card.ok_or(ApiError::Field {
            field: "card_id",
            expected: "given, as a string, to open a game",
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
        // An environment from outside takes a while to come up, during which others are served.
        let (catalog, game) = (Arc::clone(&self.catalog), info.id.clone());
        let opened = blocking(move || catalog.open(game.as_str(), SEED)).await?;
        let environment = opened.map_err(|error| ApiError::Failed(error.to_string()))?;
        let play = Play::new(environment, rule);
        let answer = play.opening();
        let id = PlayId(Uuid::new_v4());
        let body = frame_answer(&answer, command, &id.to_string(), None);
        let win_levels = answer.observation.win_levels;
        let order = NewPlay {
            id,
            card: card.key,
            game_id: info.id.clone(),
            seed: SEED,
            rule,
            win_levels,
            only_one: card.competition,
            most_plays: self.config.limits.plays_per_card_of(caller.visitor),
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
            .open_play_once(order, once.cloned())
            .await
            .map_err(|error| match error {
                StoreError::CardNotOpen => not_open(),
                StoreError::TooManyPlays(most) => ApiError::TooManyPlays(most),
                StoreError::PlayedBefore => ApiError::PlayedBefore(command.game_id.clone()),
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
        self.plays
            .place(stored, Stage::Live(Box::new(Live { play, next: 1 })));
        self.metrics.actions.add_one();
        Ok(body)
    }
}
