//! `POST /api/cmd/…`: RESET opens a play or goes on with one; ACTION1 to ACTION7 go on with one.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rhae_engine::{Action, ActionKind};
use rhae_protocol::{Details, ResetRule};
use rhae_session::Play;
use rhae_store::{NewPlay, Owner, Play as StoredPlay, PlayId, StoreError};
use uuid::Uuid;

use crate::body::Fields;
use crate::live::{Command, Live, frame_answer};
use crate::plays::{Place, Stage};
use crate::server::owner;
use crate::{ApiError, Server};

/// Plays of the API are of the canonical game.
const SEED: u64 = 0;

pub(crate) async fn command(
    State(server): State<Arc<Server>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let kind = ActionKind::from_name(&name).ok_or(ApiError::NoSuchPath)?;
    let fields = Fields::read(&headers, body)?;
    let owner = owner(&headers);
    let action = match kind.simple() {
        Some(action) => action,
        None => Action::Action6 { x: fields.coordinate("x")?, y: fields.coordinate("y")? },
    };
    let command = Command { action, game_id: fields.required("game_id")?.to_owned(), reasoning: fields.extra("reasoning")? };
    let guid = fields.text("guid")?.map(str::to_owned);
    let card = fields.text("card_id")?.map(str::to_owned);
    // A client that hangs up must not leave a command half done, so the work is not part of the connection.
    let work = tokio::spawn(async move {
        match guid {
            Some(guid) => {
                let place = server.place(owner, &command.game_id, &guid).await?;
                server.command(&place, command).await
            }
            None if action == Action::Reset => server.open_play(owner, card.as_deref(), command).await,
            None => Err(ApiError::Field { field: "guid", expected: "given, as a string" }),
        }
    });
    let json = work.await.map_err(|error| ApiError::Failed(error.to_string()))??;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

impl Server {
    /// The place of the owner's play with this id, of this environment.
    async fn place(&self, owner: Owner, game: &str, guid: &str) -> Result<Arc<Place>, ApiError> {
        let missing = || ApiError::NoSuchPlay { game: game.to_owned(), guid: guid.to_owned() };
        let fits = |play: &StoredPlay| play.owner == owner && (play.game_id.as_str() == game || play.game_id.base() == game);
        let id: PlayId = guid.parse().map_err(|_| missing())?;
        if let Some(place) = self.plays.find(id) {
            return if fits(&place.play) { Ok(place) } else { Err(missing()) };
        }
        let play = self.store.play(id).await?.filter(fits).ok_or_else(missing)?;
        Ok(self.plays.place(play, Stage::Absent))
    }

    /// Opens a play on a card and gives its first answer's body.
    async fn open_play(&self, owner: Owner, card: Option<&str>, command: Command) -> Result<Vec<u8>, ApiError> {
        let info = self.game(&command.game_id).ok_or_else(|| ApiError::GameNotAvailable(command.game_id.clone()))?;
        let id = card.ok_or(ApiError::Field { field: "card_id", expected: "given, as a string, to open a game" })?;
        let not_open = || ApiError::Field { field: "card_id", expected: "the id of an open scorecard" };
        let card = self.card(owner, id).await?.filter(|card| card.closed_ms.is_none()).ok_or_else(not_open)?;
        let rule = if card.competition { ResetRule::LevelsOnly } else { ResetRule::Official };
        // An environment from outside takes a while to come up, during which others are served.
        let (catalog, game) = (Arc::clone(&self.catalog), info.id.clone());
        let opened = tokio::task::spawn_blocking(move || catalog.open(game.as_str(), SEED)).await;
        let environment = opened.map_err(|error| ApiError::Failed(error.to_string()))?;
        let environment = environment.map_err(|error| ApiError::Failed(error.to_string()))?;
        let play = Play::new(environment, rule);
        let answer = play.opening();
        let id = PlayId(Uuid::new_v4());
        let body = frame_answer(&answer, &command, &id.to_string(), None);
        let win_levels = answer.observation.win_levels;
        let order = NewPlay {
            id,
            card: card.key,
            game_id: info.id.clone(),
            seed: SEED,
            rule,
            win_levels,
            only_one: card.competition,
            opening: answer.entry(Action::Reset, Details { reasoning: command.reasoning, ..Details::default() }),
            at_ms: self.clock.now_ms(),
        };
        let key = self.store.open_play(order).await.map_err(|error| match error {
            StoreError::CardNotOpen => not_open(),
            StoreError::PlayedBefore => ApiError::PlayedBefore(command.game_id),
            error => error.into(),
        })?;
        let game_id = info.id.clone();
        let stored = StoredPlay { key, id, card: card.key, owner, game_id, seed: SEED, rule, win_levels };
        self.plays.place(stored, Stage::Live(Box::new(Live { play, next: 1 })));
        Ok(body)
    }
}
