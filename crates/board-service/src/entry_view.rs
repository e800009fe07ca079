//! The document of one row: its history and its replayed runs.
//!
//! *Invariant:* of a hidden set, the public sees which events happened, but no recordings and no
//! texts by which a program, and not a person, explains itself, because they can name environments.

use rhae_board::{Audience, BoardState};
use rhae_protocol::{
    BoardEvent, BoardPlay, BoardRecord, BoardRow, BoardRun, EntryEvent, EntryId, EntryPlay,
    EntryRun, EntryView, rfc3339_utc,
};

use crate::service::event_kind;

/// Returns a row with its history and runs; `None` if there is no such row. `row` is the row as the
/// audience may see it.
pub fn entry_view(
    state: &BoardState,
    audience: Audience,
    row: BoardRow,
    records: &[BoardRecord],
) -> Option<EntryView> {
    let entry = state.entries.get(&row.entry)?;
    let set = &state.definition.set;
    let sees_all = audience == Audience::Organiser || !set.visibility.is_hidden();
    let history = records.iter().filter_map(|record| {
        let text = event_text(&record.event, &row.entry, sees_all)?;
        Some(EntryEvent {
            seq: record.seq,
            date: day(record.at_ms),
            actor: state.name(&record.actor).to_owned(),
            kind: event_kind(&record.event),
            text,
        })
    });
    let runs = entry
        .runs
        .iter()
        .filter(|_| sees_all && entry.retraction.is_none());
    Some(EntryView {
        board: state.id.clone(),
        title: state.definition.title.clone(),
        visibility: set.visibility,
        has_tasks: set.tasks.is_some(),
        description: entry.system.description.clone(),
        hardware: entry.system.hardware.clone(),
        paper_url: entry.system.paper_url.clone(),
        history: history.collect(),
        runs: runs.map(entry_run).collect(),
        row,
    })
}

/// Returns what an event says about a row; `None` if it is about something else.
fn event_text(event: &BoardEvent, row: &EntryId, sees_all: bool) -> Option<String> {
    let (entry, text, may_be_hidden) = match event {
        BoardEvent::Submitted { entry, .. } => (entry, String::new(), false),
        BoardEvent::Replayed { entry, runs } => {
            let plays: usize = runs.iter().map(|run| run.plays.len()).sum();
            let answers: usize = runs.iter().map(|run| run.answers.len()).sum();
            let text = match answers {
                0 => format!("{plays} plays"),
                _ => format!("answers to {answers} tasks"),
            };
            (entry, text, false)
        }
        BoardEvent::ReplayFailed { entry, reason } => (entry, reason.clone(), true),
        BoardEvent::Witnessed { entry, cards } => (entry, format!("{} cards", cards.len()), false),
        BoardEvent::Reproduced { entry, agrees, .. } => {
            let text = if *agrees {
                "the organiser's runs agree"
            } else {
                "the organiser's runs do not agree"
            };
            (entry, text.to_owned(), false)
        }
        BoardEvent::Certified { entry, statement } => (entry, statement.clone(), false),
        BoardEvent::Flagged {
            entry,
            flag,
            evidence,
        } => (entry, format!("{}: {evidence}", flag.name()), true),
        BoardEvent::Unflagged {
            entry,
            flag,
            reason,
        } => (entry, format!("{}: {reason}", flag.name()), false),
        BoardEvent::Retracted {
            entry,
            reason,
            note,
        } => (entry, format!("{}: {note}", reason.name()), false),
        BoardEvent::Erased { entry } => (entry, "names of people".to_owned(), false),
        BoardEvent::Contested { entry, text } | BoardEvent::Answered { entry, text } => {
            (entry, text.clone(), false)
        }
        BoardEvent::Rescored {
            entry,
            old_nano,
            new_nano,
            note,
            ..
        } => {
            let [old, new] = [old_nano, new_nano].map(|nano| *nano as f64 / 1e9);
            (
                entry,
                format!("{old:.2} % before, {new:.2} % now: {note}"),
                false,
            )
        }
        BoardEvent::Created { .. }
        | BoardEvent::Registered { .. }
        | BoardEvent::Abandoned { .. }
        | BoardEvent::Released { .. }
        | BoardEvent::Closed { .. } => return None,
    };
    let is_shown = sees_all || !may_be_hidden;
    (entry == row).then(|| if is_shown { text } else { String::new() })
}

fn entry_run(run: &BoardRun) -> EntryRun {
    EntryRun {
        run_id: run.run_id.clone(),
        digest: run.digest.clone(),
        agent: run.agent.clone(),
        software: run.software.clone(),
        date: day(run.started_ms),
        cost_basis: run.cost.basis,
        cost_usd_micro: run.cost.usd_micro,
        plays: run.plays.iter().map(entry_play).collect(),
        answered_tasks: run.answers.len(),
        solved_tests: run
            .answers
            .iter()
            .flat_map(|answer| &answer.solved)
            .filter(|attempt| **attempt > 0)
            .count(),
    }
}

/// Returns the facts of a replayed play.
pub fn entry_play(play: &BoardPlay) -> EntryPlay {
    let actions = play.runs.iter().flatten().map(|count| count.actions);
    let completed =
        |run: &Vec<rhae_protocol::BoardCount>| run.iter().filter(|count| count.completed).count();
    EntryPlay {
        environment: play.environment.clone(),
        seed: play.seed,
        actions: actions.fold(0, u32::saturating_add),
        levels_completed: play.runs.iter().map(completed).max().unwrap_or(0),
        recording: play.recording.clone(),
    }
}

fn day(at_ms: u64) -> String {
    rfc3339_utc(at_ms).chars().take(10).collect()
}
