//! `GET /api/games…`: environments, their sources, and anonymous keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_engine::GameInfo;
use rhae_protocol::GameListing;
use uuid::Uuid;

use crate::ApiError;
use crate::access::{Access, Caller};
use crate::games::Games;
use crate::openapi::{Always, ErrorBody, KeyBody, Named};

/// Lists the environments that the key may see.
#[utoipa::path(
    get,
    path = "/api/games",
    tag = "environments",
    responses((status = OK, body = Vec<GameListing>, description = "The environments"), Always)
)]
pub(crate) async fn list(
    State(games): State<Arc<Games>>,
    caller: Caller,
) -> Json<Vec<GameListing>> {
    let visible = games.visible(&caller);
    Json(visible.map(|info| listing(&games, info)).collect())
}

fn listing(games: &Games, info: &GameInfo) -> GameListing {
    GameListing {
        source_changed: games.is_changed(&info.id).then_some(true),
        ..GameListing::from(info)
    }
}

/// Describes one environment.
#[utoipa::path(
    get,
    path = "/api/games/{id}",
    tag = "environments",
    params(("id" = String, Path, description = "The environment: its four-character name, or the full id with the version")),
    responses((status = OK, body = GameListing, description = "The environment, in its newest version unless `id` names one"), Always, Named)
)]
pub(crate) async fn details(
    State(games): State<Arc<Games>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<GameListing>, ApiError> {
    games
        .find(&caller, &name)
        .map(|info| Json(listing(&games, info)))
        .ok_or(ApiError::NoSuchGame(name))
}

/// Returns the Python source of an environment. Native environments have none.
#[utoipa::path(
    get,
    path = "/api/games/{id}/source",
    tag = "environments",
    params(("id" = String, Path, description = "The environment: its four-character name, or the full id with the version")),
    responses((status = OK, body = String, content_type = "text/x-python", description = "The Python source"),
        (status = FORBIDDEN, body = ErrorBody, description = "The key may not download sources"), Always, Named)
)]
pub(crate) async fn source(
    State(games): State<Arc<Games>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let id = games
        .find(&caller, &name)
        .ok_or(ApiError::NoSuchGame(name))?
        .id
        .clone();
    if !caller.sources {
        return Err(ApiError::NoSources);
    }
    let source = games.source(&id).await?;
    let source = source.ok_or_else(|| ApiError::NoSource(id.to_string()))?;
    Ok((
        [(header::CONTENT_TYPE, "text/x-python; charset=utf-8")],
        source,
    )
        .into_response())
}

/// Creates an anonymous key. Only servers with open access issue them.
#[utoipa::path(
    get,
    path = "/api/games/anonkey",
    tag = "server",
    responses((status = OK, body = KeyBody, description = "A new key"),
        (status = FORBIDDEN, body = ErrorBody, description = "The server does not issue anonymous keys"), Always),
    security(())
)]
pub(crate) async fn anonymous_key(
    State(access): State<Arc<Access>>,
) -> Result<Json<KeyBody>, ApiError> {
    if !access.is_open() {
        // Otherwise a client could get any number of keys and so bypass the rate limit.
        return Err(ApiError::NoAnonymousKeys);
    }
    Ok(Json(KeyBody {
        api_key: Uuid::new_v4().to_string(),
    }))
}
