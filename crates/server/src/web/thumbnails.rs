//! Thumbnails for lists: the first level of an environment, and the current frame of a play.
//!
//! **Invariant:** viewing a list costs a bounded amount of work. Only one play at a time is rebuilt
//! for its thumbnail, at most [`MAX_REPLAYED_ENTRIES`] of its log entries are replayed, and the
//! thumbnail is cached for the current state of the play.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_engine::{Frame, GameId};
use rhae_report::contact_sheet;
use rhae_store::{PlayFacts, PlayId};
use tokio::sync::Semaphore;

use super::PageVisitor;
use crate::ApiError;
use crate::blocking::blocking;
use crate::games::Games;
use crate::plays::Plays;

/// Pixels per cell. Browsers enlarge the image without smoothing.
const ZOOM: usize = 4;
/// The maximum number of environments opened concurrently for thumbnails. Each hosted environment
/// needs a process.
const MAX_CONCURRENT_OPENS: usize = 2;
/// The maximum number of log entries replayed for a thumbnail. The last snapshot is rarely more
/// than this number of entries old.
const MAX_REPLAYED_ENTRIES: u32 = 1024;
const MAX_CACHED_THUMBNAILS: usize = 512;
/// The maximum age at which a cached thumbnail is still used although its play has advanced.
const MAX_THUMBNAIL_AGE: Duration = Duration::from_secs(10);

/// Cached thumbnails: of first levels, which never change, and of plays that are not in memory.
pub(crate) struct Thumbnails {
    games: Arc<Games>,
    plays: Arc<Plays>,
    first_levels: Mutex<HashMap<GameId, Bytes>>,
    open_permits: Semaphore,
    drawn_plays: Mutex<HashMap<PlayId, CachedThumbnail>>,
    /// Only one play at a time is rebuilt for its thumbnail.
    replay_permit: Semaphore,
}

/// The thumbnail of a play after `entries` log entries; `picture` is `None` if none can be made.
struct CachedThumbnail {
    entries: u32,
    at: Instant,
    picture: Option<Bytes>,
}

pub(crate) async fn first_level(
    State(thumbnails): State<Arc<Thumbnails>>,
    visitor: PageVisitor,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let id = name
        .strip_suffix(".png")
        .and_then(|id| thumbnails.games.find(&visitor.caller, id))
        .map(|info| info.id.clone());
    let bytes = thumbnails
        .first_level(id.ok_or(ApiError::NoSuchPath)?)
        .await?;
    Ok(png(bytes, "private, max-age=3600"))
}

/// Returns the current frame of a play, taken from memory or rebuilt from the log.
pub(crate) async fn current(
    State(thumbnails): State<Arc<Thumbnails>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
) -> Result<Response, ApiError> {
    let plays = &thumbnails.plays;
    let facts = plays.readable(&visitor.caller, &guid).await?;
    let picture = match plays.settled_frame(facts.play.id) {
        Some(frame) => Some(thumbnail(&frame)?),
        None => thumbnails.of_log(&facts).await?,
    };
    picture
        .map(|bytes| png(bytes, "private, max-age=60"))
        .ok_or(ApiError::NoSuchPath)
}

impl Thumbnails {
    pub(crate) fn new(games: Arc<Games>, plays: Arc<Plays>) -> Self {
        Self {
            games,
            plays,
            first_levels: Mutex::default(),
            open_permits: Semaphore::new(MAX_CONCURRENT_OPENS),
            drawn_plays: Mutex::default(),
            replay_permit: Semaphore::new(1),
        }
    }

    /// Returns the thumbnail of the first level of an environment.
    async fn first_level(&self, id: GameId) -> Result<Bytes, ApiError> {
        let known = || {
            let first_levels = self.first_levels.lock();
            let first_levels = first_levels.unwrap_or_else(PoisonError::into_inner);
            first_levels.get(&id).cloned()
        };
        if let Some(bytes) = known() {
            return Ok(bytes);
        }
        let _permit = self
            .open_permits
            .acquire()
            .await
            .map_err(|_| ApiError::TooManyListeners)?;
        // Another request may have drawn it while this one waited for the permit.
        if let Some(bytes) = known() {
            return Ok(bytes);
        }
        let environment = self.games.open(&id).await?;
        let drawn = blocking(move || {
            contact_sheet(&[environment.observation().settled()], 1, ZOOM)
                .map_err(|error| error.to_string())
        });
        let bytes = Bytes::from(drawn.await?.map_err(ApiError::Failed)?);
        let first_levels = self.first_levels.lock();
        let mut first_levels = first_levels.unwrap_or_else(PoisonError::into_inner);
        first_levels.insert(id, bytes.clone());
        Ok(bytes)
    }

    /// Returns the thumbnail of a play that is not in memory, or `None` if the play's card is
    /// closed or the play cannot be rebuilt within the limit. The rebuilt play is not put into
    /// memory, so that viewing lists evicts no play.
    async fn of_log(&self, facts: &PlayFacts) -> Result<Option<Bytes>, ApiError> {
        if facts.closed_ms.is_some() {
            return Ok(None);
        }
        let id = facts.play.id;
        if let Some(known) = self.cached(id, facts.entries) {
            return Ok(known);
        }
        let _permit = self
            .replay_permit
            .acquire()
            .await
            .map_err(|_| ApiError::TooManyListeners)?;
        if let Some(known) = self.cached(id, facts.entries) {
            return Ok(known);
        }
        let replica = self
            .plays
            .rebuilder()
            .replica_nearby(&facts.play, facts.entries, MAX_REPLAYED_ENTRIES)
            .await;
        let picture = match &replica {
            Ok(Some(replica)) => Some(thumbnail(replica.play().current().observation.settled())?),
            // The failure is cached, so that a failing environment is not opened again immediately.
            Ok(None) | Err(ApiError::Failed(_)) => None,
            Err(error) => return Err(error.clone()),
        };
        self.cache(
            id,
            CachedThumbnail {
                entries: facts.entries,
                at: Instant::now(),
                picture: picture.clone(),
            },
        );
        Ok(picture)
    }

    /// Returns the cached thumbnail of a play. If the play has advanced since the thumbnail was
    /// drawn, the thumbnail is used only while it is younger than [`MAX_THUMBNAIL_AGE`].
    fn cached(&self, id: PlayId, entries: u32) -> Option<Option<Bytes>> {
        let plays = self.lock_drawn_plays();
        let drawn = plays
            .get(&id)
            .filter(|drawn| drawn.entries == entries || drawn.at.elapsed() < MAX_THUMBNAIL_AGE)?;
        Some(drawn.picture.clone())
    }

    fn cache(&self, id: PlayId, drawn: CachedThumbnail) {
        let mut plays = self.lock_drawn_plays();
        if plays.len() >= MAX_CACHED_THUMBNAILS
            && let Some(oldest) = plays
                .iter()
                .min_by_key(|(_, drawn)| drawn.at)
                .map(|(&id, _)| id)
        {
            plays.remove(&oldest);
        }
        plays.insert(id, drawn);
    }

    fn lock_drawn_plays(&self) -> MutexGuard<'_, HashMap<PlayId, CachedThumbnail>> {
        self.drawn_plays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
