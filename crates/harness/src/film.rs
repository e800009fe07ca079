//! The conversion of a replayed recording into a film for reports.

use rhae_engine::{Catalog, GameInfo};
use rhae_protocol::{Entry, Header, Recording};
use rhae_report::{Film, ModelWork, Moment, reasoning_text};
use rhae_session::{VerificationError, entries_with_frames};

/// Replays a recording as a film. If the environment is not available, the recorded frames are used
/// unverified.
///
/// # Errors
///
/// Returns an error if the recording cannot be replayed or differs from its replay.
pub fn recording_film(
    catalog: &dyn Catalog,
    recording: &Recording,
) -> Result<Film, VerificationError> {
    let (info, entries) = entries_with_frames(catalog, recording)?;
    Ok(film(&recording.header, info.as_ref(), entries))
}

/// Creates a film from replayed entries. Entries without frames are skipped. If `info` is `None`,
/// the film plays at ten frames per second.
pub(crate) fn film(header: &Header, info: Option<&GameInfo>, entries: Vec<Entry>) -> Film {
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
    let reasoning = entry.details.reasoning.as_ref();
    Some(Moment {
        action: entry.action,
        frames: entry.frames?,
        state: entry.state,
        levels_completed: entry.levels_completed,
        changed: entry.changed.unwrap_or(true),
        counted: entry.counted,
        full_reset: entry.full_reset,
        t_ms: entry.details.t_ms,
        reasoning: reasoning.map(reasoning_text),
        work: ModelWork::of(&entry.details),
    })
}
