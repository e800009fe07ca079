//! The handlers of the gallery, play, replay and watch pages. They select the environments and
//! plays that the visitor may see.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use rhae_protocol::rfc3339_utc;
use rhae_store::PlayFacts;
use rhae_web::{
    GalleryGame, ReplayView, WatchRow, WatchView, file_replay_page, gallery_page, play_page,
    replay_page, watch_list_page, watch_page,
};

use super::PageVisitor;
use crate::access::Caller;
use crate::{ApiError, Server};

/// The number of the visitor's most recent plays from which progress and lists are computed.
const MAX_RECENT_PLAYS: u32 = 200;
const MAX_LISTED: usize = 30;
/// A play counts as in progress for this long after its last command.
const ACTIVE_WINDOW_MS: u64 = 5 * 60 * 1000;
const MAX_ACTIVE_PLAYS: u32 = 100;

pub(crate) async fn gallery(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let plays = server
        .store
        .owner_plays(visitor.caller.owner, MAX_RECENT_PLAYS)
        .await?;
    let newest = |id: &rhae_engine::GameId| {
        let mut newest_first = server.games(&visitor.caller).rev();
        newest_first
            .find(|other| other.id.base() == id.base())
            .is_some_and(|newest| newest.id == *id)
    };
    let shown = server
        .games(&visitor.caller)
        .filter(|info| newest(&info.id))
        .map(|info| GalleryGame {
            id: info.id.to_string(),
            name: info.id.base().to_owned(),
            levels: u8::try_from(info.baselines.len()).unwrap_or(u8::MAX),
            completed: plays
                .iter()
                .filter(|facts| facts.play.game_id == info.id)
                .map(|facts| facts.levels_completed)
                .max(),
        });
    Ok(Html(gallery_page(
        visitor.viewer,
        &shown.collect::<Vec<_>>(),
    )))
}

pub(crate) async fn play(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
    Path(id): Path<String>,
) -> Result<Html<String>, ApiError> {
    let info = server
        .game(&visitor.caller, &id)
        .ok_or(ApiError::NoSuchGame(id))?;
    Ok(Html(play_page(visitor.viewer, info)))
}

pub(crate) async fn file_replay(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let mut plays = server
        .store
        .owner_plays(visitor.caller.owner, MAX_RECENT_PLAYS)
        .await?;
    plays.retain(|facts| server.may_list(&visitor.caller, facts));
    let plays: Vec<ReplayView> = plays
        .iter()
        .take(MAX_LISTED)
        .map(|facts| server.replay_view(facts))
        .collect();
    Ok(Html(file_replay_page(visitor.viewer, &plays)))
}

pub(crate) async fn replay(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = server.readable_play(&visitor.caller, &guid).await?;
    Ok(Html(replay_page(
        visitor.viewer,
        &server.replay_view(&facts),
    )))
}

pub(crate) async fn watch_list(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
) -> Result<Html<String>, ApiError> {
    let now_ms = server.clock.now_ms();
    let owner = if visitor.caller.can_read_all() {
        None
    } else {
        Some(visitor.caller.owner)
    };
    let mut plays = server
        .store
        .active_plays(owner, ACTIVE_WINDOW_MS, now_ms, MAX_ACTIVE_PLAYS)
        .await?;
    plays.retain(|facts| server.may_list(&visitor.caller, facts));
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
        &plays.iter().map(row).collect::<Vec<_>>(),
    )))
}

pub(crate) async fn watch(
    State(server): State<Arc<Server>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = server.readable_play(&visitor.caller, &guid).await?;
    let view = WatchView {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        win_levels: facts.play.win_levels,
        frames_per_second: server.speed(&facts),
    };
    Ok(Html(watch_page(visitor.viewer, &view)))
}

impl Server {
    /// Whether a play may be listed: the caller may see its environment, and its card is not an
    /// open competition card.
    fn may_list(&self, caller: &Caller, facts: &PlayFacts) -> bool {
        self.can_see(caller, &facts.play.game_id)
            && !(facts.competition && facts.closed_ms.is_none())
    }

    fn speed(&self, facts: &PlayFacts) -> u8 {
        self.games
            .iter()
            .find(|info| info.id == facts.play.game_id)
            .map_or(10, |info| info.frames_per_second)
    }

    fn replay_view(&self, facts: &PlayFacts) -> ReplayView {
        ReplayView {
            guid: facts.play.id.to_string(),
            game_id: facts.play.game_id.to_string(),
            card_id: facts.card.to_string(),
            state: facts.state.name().to_owned(),
            levels_completed: facts.levels_completed,
            win_levels: facts.play.win_levels,
            actions: facts.actions,
            frames_per_second: self.speed(facts),
            opened_at: rfc3339_utc(facts.opened_ms),
            last_action_at: rfc3339_utc(facts.last_ms),
            open: facts.closed_ms.is_none(),
        }
    }
}
