//! The binary form of a play of a native game.
//!
//! ```text
//! snapshot = header body checksum:u64
//! header   = format:u8 software environment seed:u64
//! ```
//!
//! Header and body are encoded with postcard. The checksum is the 64-bit XXH3 hash of all bytes
//! before it, little-endian.
//!
//! **Invariant:** a restored play responds exactly as the saved play would. A snapshot is rejected
//! with a reason if its format, software version, environment or seed differs, if its checksum does
//! not match, if its content is inconsistent, or if this software draws its state differently. The
//! play that it was meant to replace then stays unchanged.
//!
//! A snapshot only saves the time of replaying an action log. It does not replace the log, because
//! other software versions can read the log but not the snapshot.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Action, ActionKind, EnvironmentError, Episode, Frame, Game, LevelIndex, Observation, PlayState,
};

/// The version of this format and of the way in which games serialise their boards.
const FORMAT: u8 = 2;
const SOFTWARE: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Header<'a> {
    format: u8,
    software: &'a str,
    environment: &'a str,
    seed: u64,
}

/// Everything that later observations depend on, and the last command. The encoding depends on the
/// order of the fields, so the order must not change within a format version.
#[derive(Serialize, Deserialize)]
pub(crate) struct SnapshotBody<Board, Spent> {
    pub(crate) level: u8,
    pub(crate) board: Board,
    pub(crate) spent: Spent,
    pub(crate) status: u8,
    pub(crate) completed: u8,
    pub(crate) acted: bool,
    /// The depth of the undo stack.
    pub(crate) depth: u64,
    /// The retained boards of the undo stack, oldest first.
    pub(crate) boards: Vec<Board>,
    /// The encoded actions since the level started.
    pub(crate) log: Vec<u8>,
    /// The encoded last command.
    last: Vec<u8>,
    full_reset: bool,
    counted: bool,
    changed: bool,
    /// The hash of the settled frame.
    frame_hash: u64,
}

/// Serialises a play and the flags of its last observation.
pub(crate) fn save<G: Game>(
    episode: &Episode<G>,
    observation: &Observation,
) -> Result<Vec<u8>, EnvironmentError> {
    let id = G::FACTS.game_id();
    let header = Header {
        format: FORMAT,
        software: SOFTWARE,
        environment: id.as_str(),
        seed: episode.levels().seed(),
    };
    let (boards, depth) = episode.undo_boards();
    let state = episode.state();
    let body = SnapshotBody {
        level: episode.level().0,
        board: state.board.clone(),
        spent: state.spent.clone(),
        status: STATES
            .iter()
            .position(|&known| known == episode.status())
            .map_or(0, |index| index as u8),
        completed: episode.completed(),
        acted: episode.acted(),
        depth: depth as u64,
        boards,
        log: encode(episode.level_log()),
        last: encode(&[observation.action]),
        full_reset: observation.full_reset,
        counted: observation.counted,
        changed: observation.changed,
        frame_hash: Frame::hash_all(std::slice::from_ref(observation.settled())),
    };
    let failed = |error: postcard::Error| {
        EnvironmentError::Failed(format!("cannot write a snapshot: {error}"))
    };
    let mut bytes = postcard::to_allocvec(&header).map_err(failed)?;
    bytes.extend(postcard::to_allocvec(&body).map_err(failed)?);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Deserialises a play of the same game and seed as `current`: the episode, and the last command
/// with its flags.
pub(crate) fn restore<G: Game>(
    current: &Episode<G>,
    bytes: &[u8],
) -> Result<(Episode<G>, LastCommand), EnvironmentError> {
    let body: SnapshotBody<G::Board, G::Spent> =
        open(G::FACTS.game_id().as_str(), current.levels().seed(), bytes)?;
    let damaged = || rejected("its content is inconsistent".to_owned());
    let in_range = body.level < current.level_count() && body.completed <= current.level_count();
    let status = STATES
        .get(usize::from(body.status))
        .copied()
        .filter(|_| in_range)
        .ok_or_else(damaged)?;
    let log = decode(&body.log).ok_or_else(damaged)?;
    let last = decode(&body.last)
        .and_then(|actions| actions.first().copied())
        .ok_or_else(damaged)?;
    let depth = usize::try_from(body.depth)
        .ok()
        .filter(|&depth| depth <= log.len() && body.boards.len() <= depth);
    let last_command = LastCommand {
        action: last,
        full_reset: body.full_reset,
        counted: body.counted,
        changed: body.changed,
    };
    let frame_hash = body.frame_hash;
    let episode = current.restored(
        LevelIndex(body.level),
        status,
        depth.ok_or_else(damaged)?,
        log,
        body,
    );
    let mut frame = Frame::filled(0);
    episode.draw(&mut frame);
    if Frame::hash_all(std::slice::from_ref(&frame)) != frame_hash {
        return Err(rejected(
            "its state is drawn differently by this software".to_owned(),
        ));
    }
    Ok((episode, last_command))
}

/// The last command of a saved play and the flags of its observation.
pub(crate) struct LastCommand {
    pub(crate) action: Action,
    pub(crate) full_reset: bool,
    pub(crate) counted: bool,
    pub(crate) changed: bool,
}

const STATES: [PlayState; 3] = [PlayState::NotFinished, PlayState::Win, PlayState::GameOver];

/// Checks the checksum and the header, then decodes the body between them.
fn open<T: DeserializeOwned>(
    environment: &str,
    seed: u64,
    bytes: &[u8],
) -> Result<T, EnvironmentError> {
    let truncated = || rejected("it is truncated".to_owned());
    let (content, checksum) = bytes.split_last_chunk::<8>().ok_or_else(truncated)?;
    if xxh3_64(content) != u64::from_le_bytes(*checksum) {
        return Err(rejected("its checksum does not match".to_owned()));
    }
    // Another format may have another header, but the first byte is the format in every version.
    match content.first() {
        Some(&FORMAT) => {}
        Some(format) => {
            return Err(rejected(format!(
                "its format is `{format}`, expected `{FORMAT}`"
            )));
        }
        None => return Err(truncated()),
    }
    let (header, body) =
        postcard::take_from_bytes::<Header<'_>>(content).map_err(|_| truncated())?;
    if header.software != SOFTWARE {
        return Err(EnvironmentError::SnapshotVersion {
            found: header.software.to_owned(),
            expected: SOFTWARE,
        });
    }
    if header.environment != environment || header.seed != seed {
        return Err(rejected(format!(
            "it is a play of `{}` with seed {}, expected `{environment}` with seed {seed}",
            header.environment, header.seed
        )));
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(rejected("it has trailing bytes".to_owned())),
        Err(error) => Err(rejected(format!("it cannot be decoded: {error}"))),
    }
}

fn rejected(reason: String) -> EnvironmentError {
    EnvironmentError::Snapshot(reason)
}

/// Encodes each action as its id, followed by the coordinates if it is a click.
fn encode(actions: &[Action]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(actions.len());
    for action in actions {
        bytes.push(action.kind().id());
        if let Action::Action6 { x, y } = *action {
            bytes.extend([x, y]);
        }
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<Vec<Action>> {
    let mut actions = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied();
    while let Some(id) = bytes.next() {
        let kind = ActionKind::from_id(id)?;
        actions.push(match kind.simple() {
            Some(action) => action,
            None => Action::click(bytes.next()?, bytes.next()?)?,
        });
    }
    Some(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_of_another_version_is_a_separate_error() {
        let sealed = |software: &str| {
            let header = Header {
                format: FORMAT,
                software,
                environment: "ab12-v1",
                seed: 0,
            };
            let mut bytes = postcard::to_allocvec(&header).unwrap();
            bytes.extend(xxh3_64(&bytes).to_le_bytes());
            bytes
        };
        let opened = |bytes: &[u8]| open::<()>("ab12-v1", 0, bytes);
        assert_eq!(opened(&sealed(SOFTWARE)), Ok(()));
        assert_eq!(
            opened(&sealed("0.0.0")),
            Err(EnvironmentError::SnapshotVersion {
                found: "0.0.0".to_owned(),
                expected: SOFTWARE,
            })
        );
    }
}
