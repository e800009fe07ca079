//! The gallery, the board, replays and plays under way: who sees what on them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use rhae_protocol::rfc3339_utc;
use rhae_store::PlayFacts;
use rhae_web::{
    GalleryGame, ReplayView, WatchRow, WatchView, drop_page, gallery_page, play_page, replay_page,
    watch_list_page, watch_page,
};

use super::Guest;
use crate::access::Caller;
use crate::{ApiError, Server};

/// The visitor's last plays that are looked at for progress, and that a list shows.
const MOST_PLAYS: u32 = 200;
const LISTED: usize = 30;
/// A play is under way if something was done so long ago at most.
const UNDER_WAY_MS: u64 = 5 * 60 * 1000;
const MOST_UNDER_WAY: u32 = 100;

pub(crate) async fn gallery(
    State(server): State<Arc<Server>>,
    guest: Guest,
) -> Result<Html<String>, ApiError> {
    let plays = server
        .store
        .owner_plays(guest.caller.owner, MOST_PLAYS)
        .await?;
    let newest = |id: &rhae_engine::GameId| {
        let mut newest_first = server.games(&guest.caller).rev();
        newest_first
            .find(|other| other.id.base() == id.base())
            .is_some_and(|newest| newest.id == *id)
    };
    let shown = server
        .games(&guest.caller)
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
    Ok(Html(gallery_page(guest.who, &shown.collect::<Vec<_>>())))
}

pub(crate) async fn play(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(id): Path<String>,
) -> Result<Html<String>, ApiError> {
    let info = server
        .game(&guest.caller, &id)
        .ok_or(ApiError::NoSuchGame(id))?;
    Ok(Html(play_page(guest.who, info)))
}

pub(crate) async fn drop_file(
    State(server): State<Arc<Server>>,
    guest: Guest,
) -> Result<Html<String>, ApiError> {
    let mut plays = server
        .store
        .owner_plays(guest.caller.owner, MOST_PLAYS)
        .await?;
    plays.retain(|facts| server.may_see(&guest.caller, facts));
    let plays: Vec<ReplayView> = plays
        .iter()
        .take(LISTED)
        .map(|facts| server.replay_view(facts))
        .collect();
    Ok(Html(drop_page(guest.who, &plays)))
}

pub(crate) async fn replay(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    Ok(Html(replay_page(guest.who, &server.replay_view(&facts))))
}

pub(crate) async fn watch_list(
    State(server): State<Arc<Server>>,
    guest: Guest,
) -> Result<Html<String>, ApiError> {
    let now_ms = server.clock.now_ms();
    let owner = if guest.caller.reads_all() {
        None
    } else {
        Some(guest.caller.owner)
    };
    let mut plays = server
        .store
        .plays_under_way(owner, UNDER_WAY_MS, now_ms, MOST_UNDER_WAY)
        .await?;
    plays.retain(|facts| server.may_see(&guest.caller, facts));
    let row = |facts: &PlayFacts| WatchRow {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        levels_completed: facts.levels_completed,
        win_levels: facts.play.win_levels,
        actions: facts.actions,
        seconds: now_ms.saturating_sub(facts.last_ms) / 1000,
    };
    Ok(Html(watch_list_page(
        guest.who,
        &plays.iter().map(row).collect::<Vec<_>>(),
    )))
}

pub(crate) async fn watch(
    State(server): State<Arc<Server>>,
    guest: Guest,
    Path(guid): Path<String>,
) -> Result<Html<String>, ApiError> {
    let facts = server.readable_play(&guest.caller, &guid).await?;
    let view = WatchView {
        guid: facts.play.id.to_string(),
        game_id: facts.play.game_id.to_string(),
        win_levels: facts.play.win_levels,
        frames_per_second: server.speed(&facts),
    };
    Ok(Html(watch_page(guest.who, &view)))
}

impl Server {
    /// Whether a play may be listed: its environment is one that the caller may see, and it is not on an open card of a competition.
    fn may_see(&self, caller: &Caller, facts: &PlayFacts) -> bool {
        self.shows(caller, &facts.play.game_id) && !(facts.competition && facts.closed_ms.is_none())
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
