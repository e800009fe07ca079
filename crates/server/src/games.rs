//! `GET /api/games…`: the environments, anonymous keys, sources.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rhae_protocol::GameListing;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::Caller;
use crate::rebuild::blocking;
use crate::{ApiError, Server};

pub(crate) async fn list(State(server): State<Arc<Server>>, caller: Caller) -> Json<Vec<GameListing>> {
    Json(server.games(&caller).map(GameListing::from).collect())
}

pub(crate) async fn details(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<GameListing>, ApiError> {
    server.game(&caller, &name).map(|info| Json(GameListing::from(info))).ok_or(ApiError::NoSuchGame(name))
}

/// The source that the official client runs itself. Native environments have none.
pub(crate) async fn source(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let id = server.game(&caller, &name).ok_or(ApiError::NoSuchGame(name))?.id.clone();
    if !caller.sources {
        return Err(ApiError::NoSources);
    }
    let (catalog, asked) = (Arc::clone(&server.catalog), id.clone());
    let source = blocking(move || catalog.source(asked.as_str())).await?.map_err(|error| ApiError::Failed(error.to_string()))?;
    let source = source.ok_or_else(|| ApiError::NoSource(id.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "text/x-python; charset=utf-8")], source).into_response())
}

/// With open access any key will do; a new one has cards of its own. Where keys matter, one that everybody may have would let everybody
/// have as many as they like, and with them as many requests.
pub(crate) async fn anonymous_key(State(server): State<Arc<Server>>) -> Result<Json<Value>, ApiError> {
    if server.keys.is_some() {
        return Err(ApiError::NoAnonymousKeys);
    }
    Ok(Json(json!({"api_key": Uuid::new_v4().to_string()})))
}
