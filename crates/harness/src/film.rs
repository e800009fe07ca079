//! The conversion of a replayed recording into a film for reports.

use rhae_engine::GameInfo;
use rhae_protocol::{Entry, Header};
use rhae_report::{Film, Moment};
use serde_json::Value;

/// Creates a film from replayed entries. Entries without frames are skipped. If `info` is `None`,
/// the film plays at ten frames per second.
pub fn film(header: &Header, info: Option<&GameInfo>, entries: Vec<Entry>) -> Film {
    let player = match header.agent_seed {
        Some(seed) => format!("{}, seed {seed}", header.agent),
        None => header.agent.clone(),
    };
    let mut film = Film::new(
        header.game_id.as_str(),
        player,
        info.map_or(10, |info| info.frames_per_second),
        header.win_levels,
    );
    film.moments = entries.into_iter().filter_map(moment).collect();
    film
}

fn moment(entry: Entry) -> Option<Moment> {
    Some(Moment {
        action: entry.action,
        frames: entry.frames?,
        state: entry.state,
        levels_completed: entry.levels_completed,
        changed: entry.changed.unwrap_or(true),
        counted: entry.counted,
        full_reset: entry.full_reset,
        reasoning: entry.details.reasoning.map(|reasoning| match reasoning {
            Value::String(text) => text,
            other => format!("{other:#}"),
        }),
    })
}
