//! The handlers of the gallery, play, replay and watch pages. They select the environments and
//! plays that the visitor may see.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Html;
use rhae_protocol::rfc3339_utc;
use rhae_store::PlayFacts;
use rhae_web::{
    GalleryFilter, GalleryGame, InputKind, ReplayView, WatchRow, WatchView, file_replay_page,
    gallery_page, play_page, replay_page, watch_list_page, watch_page,
};
use serde::Deserialize;

use super::PageVisitor;
use crate::ApiError;
use crate::games::Games;
use crate::plays::Plays;
use crate::shares::Shares;

/// The number of the visitor's most recent plays from which progress and lists are computed.
const MAX_RECENT_PLAYS: u32 = 200;
const MAX_LISTED: usize = 30;
/// A play counts as in progress for this long after its last command.
const ACTIVE_WINDOW_MS: u64 = 5 * 60 * 1000;
const MAX_ACTIVE_PLAYS: u32 = 100;

/// The filters of the gallery; see [`GalleryFilter`].
#[derive(Deserialize)]
pub(crate) struct GalleryQuery {
    input: Option<String>,
    progress: Option<String>,
}

pub(crate) async fn gallery(
    State(games): State<Arc<Games>>,
    State(plays): State<Arc<Plays>>,
    Query(query): Query<GalleryQuery>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let recent = plays
        .store()
        .owner_plays(visitor.caller.owner, MAX_RECENT_PLAYS)
        .await?;
    let newest = |id: &rhae_engine::GameId| {
        let mut newest_first = games.visible(&visitor.caller).rev();
        newest_first
            .find(|other| other.id.base() == id.base())
            .is_some_and(|newest| newest.id == *id)
    };
    let shown = games
        .visible(&visitor.caller)
        .filter(|info| newest(&info.id))
        .map(|info| GalleryGame {
            id: info.id.to_string(),
            name: info.id.base().to_owned(),
            input: InputKind::of(info.actions),
            levels: u8::try_from(games.info(&info.id).level_count()).unwrap_or(u8::MAX),
            completed: recent
                .iter()
                .filter(|facts| facts.play.game_id == info.id)
                .map(|facts| facts.levels_completed)
                .max(),
            // Only the operator can do something about it.
            source_changed: visitor.caller.can_read_all() && games.is_changed(&info.id),
        });
    Ok(Html(gallery_page(
        visitor.viewer,
        &shown.collect::<Vec<_>>(),
        GalleryFilter::new(query.input.as_deref(), query.progress.as_deref()),
    )))
}

pub(crate) async fn play(
    State(games): State<Arc<Games>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
) -> Result<Html<String>, ApiError> {
    let info = games
        .find(&visitor.caller, &id)
        .ok_or(ApiError::NoSuchGame(id))?;
    let info = games.info(&info.id);
    Ok(Html(play_page(visitor.viewer, &info)))
}

pub(crate) async fn file_replay(
    State(games): State<Arc<Games>>,
    State(plays): State<Arc<Plays>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let mut recent = plays
        .store()
        .owner_plays(visitor.caller.owner, MAX_RECENT_PLAYS)
        .await?;
    recent.retain(|facts| plays.may_list(&visitor.caller, facts));
    let views: Vec<ReplayView> = recent
        .iter()
        .take(MAX_LISTED)
        .map(|facts| replay_view(&games, facts))
        .collect();
    Ok(Html(file_replay_page(visitor.viewer, &views)))
}

pub(crate) async fn replay(
    State(games): State<Arc<Games>>,
    State(plays): State<Arc<Plays>>,
    State(shares): State<Arc<Shares>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    let mut view = replay_view(&games, &facts);
    view.publishable = shares.is_available() && facts.play.owner == visitor.caller.owner;
    Ok(Html(replay_page(visitor.viewer, &view)))
}

pub(crate) async fn watch_list(
    State(plays): State<Arc<Plays>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let now_ms = plays.now_ms();
    let owner = if visitor.caller.can_read_all() {
        None
    } else {
        Some(visitor.caller.owner)
    };
    let mut active = plays
        .store()
        .active_plays(owner, ACTIVE_WINDOW_MS, now_ms, MAX_ACTIVE_PLAYS)
        .await?;
    active.retain(|facts| plays.may_list(&visitor.caller, facts));
    let row = |facts: &PlayFacts| WatchRow {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        levels_completed: facts.levels_completed,
        win_levels: facts.play.win_levels,
        actions: facts.actions,
        seconds: now_ms.saturating_sub(facts.last_ms) / 1000,
    };
    Ok(Html(watch_list_page(
        visitor.viewer,
        &active.iter().map(row).collect::<Vec<_>>(),
    )))
}

pub(crate) async fn watch(
    State(games): State<Arc<Games>>,
    State(plays): State<Arc<Plays>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    let view = WatchView {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        win_levels: facts.play.win_levels,
        frames_per_second: games.frames_per_second(&facts.play.game_id),
    };
    Ok(Html(watch_page(visitor.viewer, &view)))
}

pub(super) fn replay_view(games: &Games, facts: &PlayFacts) -> ReplayView {
    ReplayView {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        card_id: facts.card.to_string(),
        state: facts.state,
        levels_completed: facts.levels_completed,
        win_levels: facts.play.win_levels,
        actions: facts.actions,
        frames_per_second: games.frames_per_second(&facts.play.game_id),
        opened_at: rfc3339_utc(facts.opened_ms),
        last_action_at: rfc3339_utc(facts.last_ms),
        open: facts.closed_ms.is_none(),
        base: format!("/replay/{}", facts.play.id),
        published: false,
        publishable: false,
    }
}
