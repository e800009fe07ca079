//! Compares the disk with what the clients were told.

use std::collections::BTreeMap;

use rhae_games::Builtin;
use rhae_protocol::frames_to_wire;
use rhae_session::{Origin, Replica};
use serde_json::{Value, json};

use super::client::Told;
use super::disk::{Disk, DiskPlay};
use super::world::{World, lock};

/// Returns the first broken promise.
pub(super) fn check(world: &World, told: &[Told]) -> Result<(), String> {
    let disk = lock(&world.disk);
    check_keys(&disk, told)?;
    told.iter().try_for_each(|told| check_client(&disk, told))
}

/// Every response of a client matches the log of its play, and its commands are in order.
fn check_client(disk: &Disk, told: &Told) -> Result<(), String> {
    let name = told.name;
    let id = told.guid.parse().map_err(|_| "invalid guid".to_owned())?;
    let play = disk
        .find_play(id)
        .ok_or_else(|| format!("the play of {name} is not on the disk"))?;
    let frames = replay(play)?;
    let mut last = None;
    for response in &told.responses {
        let key = &response.idempotency_key;
        let places: Vec<usize> = (0..play.keys.len())
            .filter(|&index| play.keys[index].as_ref() == Some(key))
            .collect();
        let (place, body) = match (&places[..], &response.executed) {
            ([], None) => continue,
            (&[place], Some(body)) => (place, body),
            (_, Some(_)) => return Err(format!("{key} was acknowledged, but is at {places:?}")),
            (_, None) => return Err(format!("{key} was refused, but is at {places:?}")),
        };
        if last.is_some_and(|last| last >= place) {
            return Err(format!("{key} at {place} precedes an earlier command"));
        }
        last = Some(place);
        let entry = &play.log[place].entry;
        let shown = (&body["frame"], &body["state"], &body["levels_completed"]);
        let logged = (
            &frames[place],
            &json!(entry.state.name()),
            &json!(entry.levels_completed),
        );
        if shown != logged {
            return Err(format!("the response to {key} differs from entry {place}"));
        }
    }
    Ok(())
}

/// Every entry belongs to a request of a client, and no request has two entries.
fn check_keys(disk: &Disk, told: &[Told]) -> Result<(), String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for key in disk.plays.iter().flat_map(|play| &play.keys) {
        let key = key.as_deref().ok_or("an entry has no idempotency key")?;
        *counts.entry(key).or_default() += 1;
    }
    if let Some((key, count)) = counts.iter().find(|(_, count)| **count > 1) {
        return Err(format!("{key} was executed {count} times"));
    }
    let sent = |key: &str| {
        let mut responses = told.iter().flat_map(|told| &told.responses);
        responses.any(|response| response.idempotency_key == key)
    };
    let foreign = counts.keys().find(|key| !sent(key));
    foreign.map_or(Ok(()), |key| Err(format!("no client sent {key}")))
}

/// Replays a log, and returns the frames of each entry in the form of the API.
fn replay(play: &DiskPlay) -> Result<Vec<Value>, String> {
    let stored = &play.stored;
    let origin = Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
        source_digest: None,
    };
    let text = |error: rhae_session::ReplicaError| format!("the log does not replay: {error}");
    let mut replica = Replica::open(&Builtin, origin).map_err(text)?;
    let frames = play.log.iter().map(|logged| {
        let step = replica.follow(&logged.entry).map_err(text)?;
        Ok(json!(frames_to_wire(step.frames)))
    });
    frames.collect()
}
