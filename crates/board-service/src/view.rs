//! The document of a board, and what a command changed on it.

use rhae_board::{Audience, Board, board_rows, registration_rows, release_rows};
use rhae_protocol::{
    BoardChange, BoardListing, BoardRecord, BoardSet, BoardView, EntryId, PublishedResult,
};

use crate::service::event_kind;

/// Returns a board with its rows. Published results on its benchmark are shown for orientation and never
/// ranked.
pub fn board_view(
    board: &Board,
    audience: Audience,
    references: Vec<PublishedResult>,
) -> BoardView {
    let state = board.state();
    let definition = &state.definition;
    let environments = &definition.set.environments;
    BoardView {
        board: state.id.clone(),
        title: definition.title.clone(),
        kind: definition.kind,
        set: definition.set.name.clone(),
        set_sha256: state.set.clone(),
        visibility: definition.set.visibility,
        environments: environments.len(),
        tasks: definition.set.tasks.as_ref().map(Into::into),
        method: definition.method.clone(),
        budget: definition.budget.clone(),
        provisional_baselines: environments
            .iter()
            .flat_map(|environment| &environment.levels)
            .any(|level| level.provisional),
        closed: state.closed.is_some(),
        records: board.last_seq(),
        head: board.head().clone(),
        people: definition.people,
        rows: board_rows(state, audience),
        registrations: registration_rows(state),
        releases: release_rows(state),
        references: references
            .into_iter()
            .filter(|result| is_comparable(&definition.set, result))
            .collect(),
    }
}

/// Returns whether a published result is on the benchmark of a set.
fn is_comparable(set: &BoardSet, result: &PublishedResult) -> bool {
    match set.tasks {
        None => result.benchmark == "arc-agi-3",
        Some(_) => set.name.starts_with(&result.benchmark),
    }
}

/// Returns a board as a list of boards shows it.
pub fn board_listing(board: &Board) -> BoardListing {
    let state = board.state();
    let definition = &state.definition;
    BoardListing {
        board: state.id.clone(),
        title: definition.title.clone(),
        kind: definition.kind,
        set: definition.set.name.clone(),
        visibility: definition.set.visibility,
        environments: definition.set.environments.len(),
        tasks: definition
            .set
            .tasks
            .as_ref()
            .map_or(0, |tasks| tasks.tests.len()),
        method: definition.method.clone(),
        budget: definition.budget.clone(),
        rows: state.entries.len(),
        closed: state.closed.is_some(),
    }
}

/// Returns what records have changed on a board, and how a row is now.
pub fn board_change(
    board: &Board,
    audience: Audience,
    records: &[BoardRecord],
    entry: Option<&EntryId>,
) -> BoardChange {
    let rows = board_rows(board.state(), audience);
    let row = entry.and_then(|entry| rows.into_iter().find(|row| row.entry == *entry));
    BoardChange {
        board: board.state().id.clone(),
        events: records
            .iter()
            .map(|record| event_kind(&record.event))
            .collect(),
        records: board.last_seq(),
        entry: entry.cloned(),
        state: row.as_ref().map(|row| row.state),
        failure: row.as_ref().and_then(|row| row.failure.clone()),
        flags: row.map_or_else(Vec::new, |row| row.flags),
    }
}
