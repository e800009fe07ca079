//! What perception sees in a play, for the overlay of the replay page.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use rhae_report::Perceiver;
use rhae_session::Replica;
use rhae_store::{LogEntry, Owner, PlayFacts};
use serde_json::Value;

use super::PageVisitor;
use crate::ApiError;
use crate::listeners::Listeners;
use crate::network::ClientAddress;
use crate::plays::Plays;

/// The number of log entries that are perceived. Later ones have no overlay.
const MAX_ENTRIES: u32 = 5_000;
/// The number of log entries of one call, so that a long play does not occupy a thread.
const ENTRIES_PER_CALL: u32 = 100;

/// Returns what perception sees after each log entry.
pub(crate) async fn perception(
    State(plays): State<Arc<Plays>>,
    State(listeners): State<Arc<Listeners>>,
    visitor: PageVisitor,
    Path(guid): Path<String>,
    address: ClientAddress,
) -> Result<Json<Value>, ApiError> {
    let facts = plays.readable(&visitor.caller, &guid).await?;
    perception_of(&plays, &listeners, visitor.caller.owner, &facts, address).await
}

/// Returns what perception sees in a play. `holder` counts against the limit of streams.
pub(super) async fn perception_of(
    plays: &Plays,
    listeners: &Listeners,
    holder: Owner,
    facts: &PlayFacts,
    address: ClientAddress,
) -> Result<Json<Value>, ApiError> {
    // The whole play is replayed, as for a download.
    let _subscription = listeners.subscribe(facts.play.id, holder, address)?;
    let replica = plays.rebuilder().opening_replica(&facts.play).await?;
    let mut replica = replica.map_err(ApiError::Frozen)?;
    let mut perceiver = Perceiver::default();
    let mut perceptions: Vec<Value> = Vec::new();
    let end = facts.entries.min(MAX_ENTRIES);
    while replica.next() < end {
        let max = ENTRIES_PER_CALL.min(end - replica.next());
        let part = plays
            .store()
            .log_from(facts.play.key, replica.next(), max)
            .await?;
        let expected = part.len();
        let work = move || {
            let seen = perceive(&mut replica, &mut perceiver, &part);
            (replica, perceiver, seen)
        };
        let seen;
        (replica, perceiver, seen) = plays.games().run(&facts.play.game_id, work).await?;
        let is_complete = expected > 0 && seen.len() == expected;
        perceptions.extend(seen);
        if !is_complete {
            break;
        }
    }
    Ok(Json(perceptions.into()))
}

/// Perceives log entries, up to the first one that the replay does not confirm.
fn perceive(replica: &mut Replica, perceiver: &mut Perceiver, part: &[LogEntry]) -> Vec<Value> {
    let mut perceptions = Vec::new();
    for LogEntry { entry, .. } in part {
        let Ok(step) = replica.follow(entry) else {
            break;
        };
        let Some(frame) = step.frames.last() else {
            break;
        };
        let outcome = &step.outcome;
        let (levels, full_reset) = (outcome.levels_completed, outcome.full_reset);
        let seen = perceiver.observe(entry.action, frame, levels, full_reset);
        perceptions.push(seen.to_json());
    }
    perceptions
}
