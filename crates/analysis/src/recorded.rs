//! What the recordings of a run show beyond the counts: different observations, deaths and times.

use std::collections::BTreeSet;
use std::path::Path;

use rhae_engine::PlayState;
use rhae_harness::read_recording;
use rhae_protocol::{Behaviour, PlayResult, Recording};

/// The numbers of one recording.
pub(crate) struct RecordedPlay {
    game_id: String,
    deaths: usize,
    distinct_states: usize,
    /// The time of the last action, if the recording has times.
    seconds: Option<f64>,
}

/// Reads the recordings of plays. A recording that cannot be read is left out, and the numbers of its
/// environment are then unknown.
pub(crate) fn read_all(folder: &Path, plays: &[PlayResult]) -> Vec<RecordedPlay> {
    let read = |play: &PlayResult| {
        let recording = read_recording(&folder.join(&play.recording)).ok()?;
        Some(numbers(&play.game_id, &recording))
    };
    plays.iter().filter_map(read).collect()
}

fn numbers(game_id: &str, recording: &Recording) -> RecordedPlay {
    let mut deaths = 0;
    let mut before = PlayState::NotFinished;
    for entry in &recording.entries {
        deaths += usize::from(entry.state == PlayState::GameOver && before != PlayState::GameOver);
        before = entry.state;
    }
    let hashes: BTreeSet<u64> = recording.entries.iter().map(|entry| entry.hash).collect();
    let last_ms = recording
        .entries
        .iter()
        .filter_map(|entry| entry.details.t_ms);
    RecordedPlay {
        game_id: game_id.to_owned(),
        deaths,
        distinct_states: hashes.len(),
        seconds: last_ms.max().map(|ms| ms as f64 / 1000.0),
    }
}

/// Returns the means of an environment over all repeats; unknown if a recording is missing.
pub(crate) fn behaviour(recorded: &[RecordedPlay], game_id: &str, repeats: usize) -> Behaviour {
    let plays: Vec<&RecordedPlay> = recorded
        .iter()
        .filter(|play| play.game_id == game_id)
        .collect();
    if plays.is_empty() || plays.len() < repeats {
        return Behaviour::default();
    }
    let mean = |sum: f64| Some(sum / plays.len() as f64);
    let seconds: Option<Vec<f64>> = plays.iter().map(|play| play.seconds).collect();
    Behaviour {
        deaths: mean(plays.iter().map(|play| play.deaths as f64).sum()),
        distinct_states: mean(plays.iter().map(|play| play.distinct_states as f64).sum()),
        play_seconds: seconds.and_then(|all| mean(all.iter().sum())),
        ..Behaviour::default()
    }
}
