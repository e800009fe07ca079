//! Pictures for lists: the first level of an environment, and where a play stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_engine::GameId;
use rhae_report::contact_sheet;
use tokio::sync::Semaphore;

use super::Guest;
use crate::rebuild::blocking;
use crate::{ApiError, Server};

/// Pixels of a cell. Browsers enlarge the picture without smoothing.
const ZOOM: usize = 4;
/// Pictures that are made at a time: an environment from outside needs a process for it.
const AT_A_TIME: usize = 2;
/// Plays of the API are of the canonical game.
const SEED: u64 = 0;

/// The pictures of first levels, made once.
pub(crate) struct Pictures {
    made: Mutex<HashMap<GameId, Bytes>>,
    turns: Semaphore,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { made: Mutex::default(), turns: Semaphore::new(AT_A_TIME) }
    }
}

pub(crate) async fn first_level(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let id = name.strip_suffix(".png").and_then(|id| server.game(&guest.caller, id)).map(|info| info.id.clone());
    let id = id.ok_or(ApiError::NoSuchPath)?;
    let pictures = &server.pictures;
    let known = || pictures.made.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
    let bytes = match known() {
        Some(bytes) => bytes,
        None => {
            let _turn = pictures.turns.acquire().await.map_err(|_| ApiError::Crowded)?;
            match known() {
                Some(bytes) => bytes,
                None => {
                    let (catalog, game) = (Arc::clone(&server.catalog), id.clone());
                    let drawn = blocking(move || {
                        let environment = catalog.open(game.as_str(), SEED).map_err(|error| error.to_string())?;
                        contact_sheet(&[environment.observation().settled()], 1, ZOOM).map_err(|error| error.to_string())
                    });
                    let bytes = Bytes::from(drawn.await?.map_err(ApiError::Failed)?);
                    pictures.made.lock().unwrap_or_else(PoisonError::into_inner).insert(id, bytes.clone());
                    bytes
                }
            }
        }
    };
    Ok(png(bytes, "private, max-age=3600"))
}

/// The settled frame of a play that is in memory; one that is not is not made again for a picture.
pub(crate) async fn now(State(server): State<Arc<Server>>, guest: Guest, Path(guid): Path<String>) -> Result<Response, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    let frame = server.settled(facts.play.id).await.ok_or(ApiError::NoSuchPath)?;
    let picture = contact_sheet(&[&frame], 1, 2).map_err(|error| ApiError::Failed(error.to_string()))?;
    Ok(png(Bytes::from(picture), "private, max-age=60"))
}

fn png(bytes: Bytes, caching: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, caching)], bytes).into_response()
}
