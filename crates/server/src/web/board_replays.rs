//! The replay of a play of a leaderboard's row, and the data that its player requests. Only plays of
//! public sets have one, except for the organiser.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use rhae_engine::GameId;
use rhae_protocol::{Entry, ObservationView, Packer, Recording};
use rhae_report::{ModelWork, work_rows};
use rhae_session::replay_with;
use rhae_web::{BoardReplayView, board_replay_page};
use serde_json::json;

use super::PageVisitor;
use crate::ApiError;
use crate::blocking::blocking;
use crate::board_api::{self, stored_recording};
use crate::boards::Boards;
use crate::games::Games;
use crate::query::parameter;

/// The entries whose reasoning one response contains.
const REASONING_PER_REQUEST: usize = 32;

pub(crate) async fn page(
    State(boards): State<Arc<Boards>>,
    State(games): State<Arc<Games>>,
    visitor: PageVisitor,
    Path(path): Path<(String, String, String)>,
) -> Result<Html<String>, ApiError> {
    let found = stored_recording(&boards, &visitor.caller, &path).await?;
    let id: Option<GameId> = found.play.environment.as_str().parse().ok();
    let (board, run, recording) = path;
    let view = BoardReplayView {
        base: format!("/boards/{board}/runs/{run}/recordings/{recording}"),
        board,
        entry: found.entry.to_string(),
        system: found.system,
        environment: found.play.environment.to_string(),
        seed: found.play.seed,
        levels_completed: found.play.levels_completed,
        win_levels: found.levels,
        actions: found.play.actions,
        frames_per_second: id.map_or(0, |id| games.frames_per_second(&id)),
    };
    Ok(Html(board_replay_page(visitor.viewer, &view)))
}

/// Returns what the player requests: the packed frames, the reasoning, the requests of a model, the
/// times, or the recording.
pub(crate) async fn part(
    State(boards): State<Arc<Boards>>,
    State(games): State<Arc<Games>>,
    visitor: PageVisitor,
    Path((board, run, recording, part)): Path<(String, String, String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let path = (board, run, recording);
    if part == "recording.jsonl" {
        return board_api::recording(State(boards), visitor.caller, Path(path)).await;
    }
    let text = stored_recording(&boards, &visitor.caller, &path)
        .await?
        .text;
    let recording = Recording::parse(&text).map_err(|error| ApiError::Failed(error.to_string()))?;
    match part.as_str() {
        "film" => film(games, recording).await,
        "reasoning" => {
            let from = parameter(query.as_deref(), "from").and_then(|text| text.parse().ok());
            Ok(reasoning(&recording.entries, from.unwrap_or(0)).into_response())
        }
        "work" => {
            let work = recording
                .entries
                .iter()
                .map(|entry| ModelWork::of(&entry.details));
            Ok(Json(work_rows(work)).into_response())
        }
        "times" => {
            let times = recording.entries.iter().map(|entry| entry.details.t_ms);
            let times: Option<Vec<u64>> = times.skip(1).collect();
            let mut all = vec![0];
            all.extend(times.ok_or(ApiError::NoSuchPath)?);
            Ok(Json(all).into_response())
        }
        _ => Err(ApiError::NoSuchPath),
    }
}

/// Replays a recording and returns its frames in packed form.
async fn film(games: Arc<Games>, recording: Recording) -> Result<Response, ApiError> {
    let packed = blocking(move || {
        let (mut packer, mut bytes) = (Packer::default(), Vec::new());
        let replayed = replay_with(games.catalog().as_ref(), &recording, |entry, frames| {
            let shown = ObservationView {
                action: entry.action,
                frames,
                state: entry.state,
                levels_completed: entry.levels_completed,
                changed: entry.changed.unwrap_or(true),
                counted: entry.counted,
                full_reset: entry.full_reset,
            };
            packer.pack(shown, &mut bytes);
        });
        replayed.map(|_| bytes).map_err(|error| error.to_string())
    });
    let bytes = packed.await?.map_err(ApiError::Failed)?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

fn reasoning(entries: &[Entry], from: usize) -> Json<serde_json::Value> {
    let part = entries.iter().enumerate().skip(from);
    let texts = part
        .take(REASONING_PER_REQUEST)
        .filter_map(|(index, entry)| {
            let text = rhae_report::reasoning_text(&entry.details.reasoning.clone()?);
            Some(json!([index, text]))
        });
    let said: Vec<serde_json::Value> = texts.collect();
    Json(json!({"from": from, "most": REASONING_PER_REQUEST, "said": said}))
}
