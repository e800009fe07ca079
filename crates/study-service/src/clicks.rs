//! Where people clicked: the click map of an environment, from the replays of its plays.

use std::collections::BTreeMap;

use rhae_engine::{Action, Catalog, Frame};
use rhae_protocol::{ClickedCell, EnvironmentVersion, LevelClicks};
use rhae_session::{Origin, Replica};
use rhae_store::{LogEntry, PlayId, Store};
use rhae_study::{StudyState, live_attempts};

use crate::CountError;

/// The number of log entries per read.
const CHUNK: u32 = 1024;

/// The clicks on one level.
#[derive(Default)]
struct Clicked {
    board: Option<String>,
    /// The clicks by row and column.
    cells: BTreeMap<(u8, u8), u32>,
}

/// Returns the plays of an environment version in live sittings that have ended.
pub fn plays_of(state: &StudyState, environment: &EnvironmentVersion) -> Vec<String> {
    let rows = live_attempts(state).filter(|row| row.environment == environment);
    rows.map(|row| row.attempt.play.clone()).collect()
}

/// Replays plays of one environment and returns the clicks of every level that has any.
///
/// # Errors
///
/// Returns [`CountError`] if a play does not exist or its replay disagrees with an entry.
pub async fn click_map(
    store: &dyn Store,
    catalog: &dyn Catalog,
    plays: &[String],
) -> Result<Vec<LevelClicks>, CountError> {
    let mut levels: BTreeMap<u8, Clicked> = BTreeMap::new();
    for play in plays {
        add_play(store, catalog, play, &mut levels).await?;
    }
    let clicked = levels.into_iter().filter(|(_, one)| !one.cells.is_empty());
    let level = |(level, one): (u8, Clicked)| LevelClicks {
        level: u32::from(level) + 1,
        board: one.board.unwrap_or_default(),
        clicks: one.cells.values().sum(),
        cells: one
            .cells
            .into_iter()
            .map(|((y, x), clicks)| ClickedCell { x, y, clicks })
            .collect(),
    };
    Ok(clicked.map(level).collect())
}

async fn add_play(
    store: &dyn Store,
    catalog: &dyn Catalog,
    play: &str,
    levels: &mut BTreeMap<u8, Clicked>,
) -> Result<(), CountError> {
    let unknown = || CountError::UnknownPlay(play.to_owned());
    let id: PlayId = play.parse().map_err(|_| unknown())?;
    let stored = store.play(id).await?.ok_or_else(unknown)?;
    let failed = |error| CountError::Replay {
        play: play.to_owned(),
        error,
    };
    let origin = Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
        source_digest: stored.source_digest.as_deref(),
    };
    let mut replica = Replica::open(catalog, origin).map_err(failed)?;
    let mut level = None;
    loop {
        let part = store.log_from(stored.key, replica.next(), CHUNK).await?;
        if part.is_empty() {
            return Ok(());
        }
        for LogEntry { entry, .. } in &part {
            if let (Action::Action6 { x, y }, Some(level)) = (entry.action, level)
                && entry.counted
            {
                let clicked = levels.entry(level).or_default();
                *clicked.cells.entry((y, x)).or_default() += 1;
            }
            let step = replica.follow(entry).map_err(failed)?;
            if level != Some(entry.levels_completed) {
                level = Some(entry.levels_completed);
                let clicked = levels.entry(entry.levels_completed).or_default();
                if let (None, Some(frame)) = (&clicked.board, step.frames.last()) {
                    clicked.board = Some(digits(frame));
                }
            }
        }
    }
}

/// Returns the cells of a frame as hexadecimal digits.
fn digits(frame: &Frame) -> String {
    let digit = |&cell: &u8| char::from_digit(u32::from(cell), 16).unwrap_or('0');
    frame.cells().iter().map(digit).collect()
}
