//! `GET /api/games…`: the environments, anonymous keys, sources.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use rhae_protocol::GameListing;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::Caller;
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

/// Native environments have no source that the official client could run.
pub(crate) async fn source(State(server): State<Arc<Server>>, caller: Caller, Path(name): Path<String>) -> ApiError {
    match server.game(&caller, &name) {
        Some(_) if !caller.sources => ApiError::NoSources,
        Some(info) => ApiError::NoSource(info.id.to_string()),
        None => ApiError::NoSuchGame(name),
    }
}

/// With open access any key will do; a new one has cards of its own. Where keys matter, one that everybody may have would let everybody
/// have as many as they like, and with them as many requests.
pub(crate) async fn anonymous_key(State(server): State<Arc<Server>>) -> Result<Json<Value>, ApiError> {
    if server.keys.is_some() {
        return Err(ApiError::NoAnonymousKeys);
    }
    Ok(Json(json!({"api_key": Uuid::new_v4().to_string()})))
}
