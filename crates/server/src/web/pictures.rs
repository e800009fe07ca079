//! Pictures for lists: the first level of an environment, and where a play stands.
//!
//! **Invariant:** looking at a list costs the server a bounded amount of work: one play at a time is made again, of a bounded part of its
//! log, once for each state that it is in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_engine::{Frame, GameId};
use rhae_report::contact_sheet;
use rhae_store::{PlayFacts, PlayId};
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
/// Entries of a log that are played again for a picture at most; a snapshot is hardly ever further away.
const MOST_FOLLOWED: u32 = 1024;
/// Pictures of plays that are kept.
const MOST_KEPT: usize = 512;
/// How old the picture of a play that has gone on may be.
const ANEW_AFTER: Duration = Duration::from_secs(10);

/// The pictures of first levels, made once, and those of plays that are not in memory.
pub(crate) struct Pictures {
    made: Mutex<HashMap<GameId, Bytes>>,
    turns: Semaphore,
    plays: Mutex<HashMap<PlayId, Drawn>>,
    /// One play at a time is made again for its picture, however many look.
    turn: Semaphore,
}

/// The picture of a play after so many entries of its log; `None` if there is none to be had.
struct Drawn {
    entries: u32,
    at: Instant,
    picture: Option<Bytes>,
}

impl Default for Pictures {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
            turns: Semaphore::new(AT_A_TIME),
            plays: Mutex::default(),
            turn: Semaphore::new(1),
        }
    }
}

pub(crate) async fn first_level(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let id = name
        .strip_suffix(".png")
        .and_then(|id| server.game(&guest.caller, id))
        .map(|info| info.id.clone());
    let id = id.ok_or(ApiError::NoSuchPath)?;
    let pictures = &server.pictures;
    let known = || {
        pictures
            .made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    };
    let bytes = match known() {
        Some(bytes) => bytes,
        None => {
            let _turn = pictures
                .turns
                .acquire()
                .await
                .map_err(|_| ApiError::Crowded)?;
            match known() {
                Some(bytes) => bytes,
                None => {
                    let (catalog, game) = (Arc::clone(&server.catalog), id.clone());
                    let drawn = blocking(move || {
                        let environment = catalog
                            .open(game.as_str(), SEED)
                            .map_err(|error| error.to_string())?;
                        contact_sheet(&[environment.observation().settled()], 1, ZOOM)
                            .map_err(|error| error.to_string())
                    });
                    let bytes = Bytes::from(drawn.await?.map_err(ApiError::Failed)?);
                    pictures
                        .made
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(id, bytes.clone());
                    bytes
                }
            }
        }
    };
    Ok(png(bytes, "private, max-age=3600"))
}

/// The settled frame of a play: that of memory, or one that is made of the log.
pub(crate) async fn now(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(guid): Path<String>,
) -> Result<Response, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    let picture = match server.settled(facts.play.id).await {
        Some(frame) => Some(thumbnail(&frame)?),
        None => server.picture_of_log(&facts).await?,
    };
    picture
        .map(|bytes| png(bytes, "private, max-age=60"))
        .ok_or(ApiError::NoSuchPath)
}

impl Server {
    /// The picture of a play that is not in memory, because the server was started anew or has too many plays. Nothing is put into
    /// memory for it, so that whoever looks at lists pushes no play out.
    async fn picture_of_log(&self, facts: &PlayFacts) -> Result<Option<Bytes>, ApiError> {
        if facts.closed_ms.is_some() {
            return Ok(None);
        }
        let id = facts.play.id;
        if let Some(known) = self.pictures.of_play(id, facts.entries) {
            return Ok(known);
        }
        let _turn = self
            .pictures
            .turn
            .acquire()
            .await
            .map_err(|_| ApiError::Crowded)?;
        if let Some(known) = self.pictures.of_play(id, facts.entries) {
            return Ok(known);
        }
        let replica = self
            .replica_nearby(&facts.play, facts.entries, MOST_FOLLOWED)
            .await;
        let picture = match &replica {
            Ok(Some(replica)) => Some(thumbnail(replica.play().opening().observation.settled())?),
            // An environment that fails is not asked again at once.
            Ok(None) | Err(ApiError::Failed(_)) => None,
            Err(error) => return Err(error.clone()),
        };
        self.pictures.keep(
            id,
            Drawn {
                entries: facts.entries,
                at: Instant::now(),
                picture: picture.clone(),
            },
        );
        Ok(picture)
    }
}

impl Pictures {
    /// What is known of a play's picture: an old one will do for a while if the play goes on elsewhere.
    fn of_play(&self, id: PlayId, entries: u32) -> Option<Option<Bytes>> {
        let plays = self.plays.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = plays
            .get(&id)
            .filter(|drawn| drawn.entries == entries || drawn.at.elapsed() < ANEW_AFTER)?;
        Some(drawn.picture.clone())
    }

    fn keep(&self, id: PlayId, drawn: Drawn) {
        let mut plays = self.plays.lock().unwrap_or_else(PoisonError::into_inner);
        if plays.len() >= MOST_KEPT
            && let Some(oldest) = plays
                .iter()
                .min_by_key(|(_, drawn)| drawn.at)
                .map(|(&id, _)| id)
        {
            plays.remove(&oldest);
        }
        plays.insert(id, drawn);
    }
}

fn thumbnail(frame: &Frame) -> Result<Bytes, ApiError> {
    contact_sheet(&[frame], 1, 2)
        .map(Bytes::from)
        .map_err(|error| ApiError::Failed(error.to_string()))
}

fn png(bytes: Bytes, caching: &'static str) -> Response {
    (
        [
            (header::CONTENT_TYPE, "image/png"),
            (header::CACHE_CONTROL, caching),
        ],
        bytes,
    )
        .into_response()
}
