//! `GET /api/games…`: the environments, anonymous keys, sources.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use rhae_protocol::GameListing;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{ApiError, Server};

pub(crate) async fn list(State(server): State<Arc<Server>>) -> Json<Vec<GameListing>> {
    Json(server.games.iter().map(GameListing::from).collect())
}

pub(crate) async fn details(State(server): State<Arc<Server>>, Path(name): Path<String>) -> Result<Json<GameListing>, ApiError> {
    server.game(&name).map(|info| Json(GameListing::from(info))).ok_or(ApiError::NoSuchGame(name))
}

/// Native environments have no source that the official client could run.
pub(crate) async fn source(State(server): State<Arc<Server>>, Path(name): Path<String>) -> ApiError {
    match server.game(&name) {
        Some(info) => ApiError::NoSource(info.id.to_string()),
        None => ApiError::NoSuchGame(name),
    }
}

/// With open access any key will do; a new one has cards of its own.
pub(crate) async fn anonymous_key() -> Json<Value> {
    Json(json!({"api_key": Uuid::new_v4().to_string()}))
}
