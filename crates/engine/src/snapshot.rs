//! A play of a native game as bytes, and back.
//!
//! ```text
//! snapshot = header body checksum:u64      postcard, the checksum little-endian: XXH3 with 64 bits over all before it
//! header   = format:u8 software environment seed:u64
//! ```
//!
//! **Invariant:** what is taken gives, from then on, the same answers as the play it was made of. What does not fit (another
//! format, software, environment or seed, a flipped bit, a picture that is drawn otherwise today) is refused with the reason, and
//! the play that was asked to take it stays as it was. Nothing but a log of actions is meant to outlive the software: a snapshot only
//! saves the time of playing it again.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Action, ActionKind, EnvironmentError, Episode, Frame, Game, LevelIndex, Observation, PlayState,
};

/// The version of the form, and of how games write their boards into it.
const FORMAT: u8 = 2;
const SOFTWARE: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Header<'a> {
    format: u8,
    software: &'a str,
    environment: &'a str,
    seed: u64,
}

/// All that later answers depend on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved<Board, Spent> {
    pub(crate) level: u8,
    pub(crate) board: Board,
    pub(crate) spent: Spent,
    pub(crate) status: u8,
    pub(crate) completed: u8,
    pub(crate) acted: bool,
    /// How many boards undo may go back through, and the newest of them, oldest first.
    pub(crate) depth: u64,
    pub(crate) boards: Vec<Board>,
    /// The level's actions.
    pub(crate) log: Vec<u8>,
    last: Vec<u8>,
    full_reset: bool,
    counted: bool,
    changed: bool,
    /// The hash of the settled picture.
    picture: u64,
}

/// The bytes of a play.
pub(crate) fn save<G: Game>(
    episode: &Episode<G>,
    seen: &Observation,
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
    let saved = Saved {
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
        log: packed(episode.level_log()),
        last: packed(&[seen.action]),
        full_reset: seen.full_reset,
        counted: seen.counted,
        changed: seen.changed,
        picture: Frame::hash_all(std::slice::from_ref(seen.settled())),
    };
    let failed = |error: postcard::Error| {
        EnvironmentError::Failed(format!("cannot write a snapshot: {error}"))
    };
    let mut bytes = postcard::to_allocvec(&header).map_err(failed)?;
    bytes.extend(postcard::to_allocvec(&saved).map_err(failed)?);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    Ok(bytes)
}

/// The play of some bytes, for an environment with this seed: the episode, and the last observation with its settled picture alone.
pub(crate) fn restore<G: Game>(
    like: &Episode<G>,
    bytes: &[u8],
) -> Result<(Episode<G>, Seen), EnvironmentError> {
    let saved: Saved<G::Board, G::Spent> =
        opened(G::FACTS.game_id().as_str(), like.levels().seed(), bytes)?;
    let damaged = || refused("it says what cannot be".to_owned());
    let fits = saved.level < like.level_count() && saved.completed <= like.level_count();
    let status = STATES
        .get(usize::from(saved.status))
        .copied()
        .filter(|_| fits)
        .ok_or_else(damaged)?;
    let log = unpacked(&saved.log).ok_or_else(damaged)?;
    let last = unpacked(&saved.last)
        .and_then(|actions| actions.first().copied())
        .ok_or_else(damaged)?;
    let depth = usize::try_from(saved.depth)
        .ok()
        .filter(|&depth| depth <= log.len() && saved.boards.len() <= depth);
    let seen = Seen {
        action: last,
        full_reset: saved.full_reset,
        counted: saved.counted,
        changed: saved.changed,
    };
    let picture = saved.picture;
    let episode = like.restored(
        LevelIndex(saved.level),
        status,
        depth.ok_or_else(damaged)?,
        log,
        saved,
    );
    let mut frame = Frame::filled(0);
    episode.draw(&mut frame);
    if Frame::hash_all(std::slice::from_ref(&frame)) != picture {
        return Err(refused("its picture is drawn otherwise now".to_owned()));
    }
    Ok((episode, seen))
}

/// What the last observation said of its command.
pub(crate) struct Seen {
    pub(crate) action: Action,
    pub(crate) full_reset: bool,
    pub(crate) counted: bool,
    pub(crate) changed: bool,
}

const STATES: [PlayState; 3] = [PlayState::NotFinished, PlayState::Win, PlayState::GameOver];

/// What lies between header and checksum, if both fit.
fn opened<T: DeserializeOwned>(
    environment: &str,
    seed: u64,
    bytes: &[u8],
) -> Result<T, EnvironmentError> {
    let cut_off = || refused("it is cut off".to_owned());
    let (sealed, checksum) = bytes.split_last_chunk::<8>().ok_or_else(cut_off)?;
    if xxh3_64(sealed) != u64::from_le_bytes(*checksum) {
        return Err(refused("its checksum does not fit".to_owned()));
    }
    // Another format may have another header, but its first byte says so.
    match sealed.first() {
        Some(&FORMAT) => {}
        found => {
            return Err(refused(format!(
                "its format is {found:?}, and this software has {FORMAT}"
            )));
        }
    }
    let (header, body) = postcard::take_from_bytes::<Header<'_>>(sealed).map_err(|_| cut_off())?;
    if header.software != SOFTWARE {
        return Err(refused(format!(
            "it was made by version `{}`, and this is `{SOFTWARE}`",
            header.software
        )));
    }
    if header.environment != environment || header.seed != seed {
        let Header {
            environment: other,
            seed: others,
            ..
        } = header;
        return Err(refused(format!(
            "it is of `{other}` with seed {others}, and this is `{environment}` with seed {seed}"
        )));
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(refused("it is longer than it should be".to_owned())),
        Err(error) => Err(refused(format!("it cannot be read: {error}"))),
    }
}

fn refused(reason: String) -> EnvironmentError {
    EnvironmentError::Snapshot(reason)
}

/// Actions as bytes: their number, and the place of a click.
fn packed(actions: &[Action]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(actions.len());
    for action in actions {
        bytes.push(action.kind().id());
        if let Action::Action6 { x, y } = *action {
            bytes.extend([x, y]);
        }
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<Action>> {
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
