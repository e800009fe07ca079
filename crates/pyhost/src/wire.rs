//! Encoding and decoding of the messages between Rhae and a game's process, as `docs/hosting.md`
//! describes them.
//!
//! A message consists of its length (four bytes), its kind (one byte) and its body. Numbers are
//! little-endian. Every request has one reply, except CLOSE, which has none, and EXPAND, which has
//! one or more (see `expansion_wire`). Replies are untrusted and checked. This
//! module does not know about processes or pipes.

use rhae_engine::{Action, ActionKind, ActionSet, CELLS, Frame, PlayState};

use crate::expansion_wire::ExpansionPart;

/// The version of the protocol that this software implements.
pub const PROTOCOL: u16 = 1;
/// The maximum number of frames of an observation, the same as in the official engine.
pub const MAX_FRAMES: usize = 1001;
/// The maximum size of a message. The frames of one action take up to 4 MiB, and a snapshot may be
/// larger.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The number of bytes of an observation before its frames.
const HEADER_BYTES: usize = 7;

/// A request from Rhae to the game's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request<'a> {
    Hello,
    Open {
        play: u32,
        seed: u64,
    },
    Act {
        play: u32,
        action: Action,
    },
    Fork {
        play: u32,
        new: u32,
    },
    Save {
        play: u32,
    },
    Load {
        play: u32,
        state: &'a [u8],
    },
    Close {
        play: u32,
    },
    /// Supported only by Rhae's own host and sent only to it, because another program might fail
    /// the play when it receives an unknown request.
    State {
        play: u32,
        deep: bool,
        /// Whether a game that does not list its clicks returns one cell per sprite instead.
        sprites: bool,
    },
    /// Supported only by Rhae's own host, like `State`. The body follows the number of the play.
    Expand {
        play: u32,
        body: &'a [u8],
    },
}

impl Request<'_> {
    /// Encodes the message, including its length.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        let mut put = |kind: u8, parts: &[&[u8]]| {
            bytes.push(kind);
            parts.iter().for_each(|part| bytes.extend_from_slice(part));
        };
        match self {
            Self::Hello => put(1, &[&PROTOCOL.to_le_bytes()]),
            Self::Open { play, seed } => put(2, &[&play.to_le_bytes(), &seed.to_le_bytes()]),
            Self::Act { play, action } => put(3, &[&play.to_le_bytes(), &action_bytes(action)]),
            Self::Fork { play, new } => put(4, &[&play.to_le_bytes(), &new.to_le_bytes()]),
            Self::Save { play } => put(5, &[&play.to_le_bytes()]),
            Self::Load { play, state } => put(6, &[&play.to_le_bytes(), state]),
            Self::Close { play } => put(7, &[&play.to_le_bytes()]),
            Self::State {
                play,
                deep,
                sprites,
            } => put(
                8,
                &[
                    &play.to_le_bytes(),
                    &[u8::from(deep) | u8::from(sprites) << 1],
                ],
            ),
            Self::Expand { play, body } => put(9, &[&play.to_le_bytes(), body]),
        }
        let length = u32::try_from(bytes.len() - 4)
            .expect("requests are short, or contain a state that fitted into a reply");
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }
}

/// Encodes an action as three bytes: its id and the coordinates of a click.
pub(crate) const fn action_bytes(action: Action) -> [u8; 3] {
    match action {
        Action::Action6 { x, y } => [6, x, y],
        other => [other.kind().id(), 0, 0],
    }
}

/// Decodes [`action_bytes`]. Returns `None` for an unknown action or coordinates outside the frame.
pub(crate) fn action_from([id, x, y]: [u8; 3]) -> Option<Action> {
    let kind = ActionKind::from_id(id)?;
    kind.simple().or_else(|| Action::click(x, y))
}

/// A reply of the game's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The protocol version and the name of the program.
    Ready(u16, String),
    Observation(WireObservation),
    Done,
    Saved(Vec<u8>),
    State(StateInfo),
    /// A part of the reply to an EXPAND request.
    Expanded(ExpansionPart),
    /// The process does not support the request; nothing has changed.
    Unsupported(String),
    /// The play is over, for this reason.
    Failed(String),
}

/// Facts about a state that its frame does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateInfo {
    /// Distinguishes states whose frames are identical.
    pub(crate) key: Option<u128>,
    /// The clicks that may have an effect, or `None` if unknown.
    pub(crate) clicks: Option<Vec<(u8, u8)>>,
    /// One cell per sprite, if they were requested and the clicks are unknown.
    pub(crate) sprites: Option<Vec<(u8, u8)>>,
}

impl StateInfo {
    fn parse(body: &[u8]) -> Result<Self, String> {
        let short = "a state that is too short";
        let (&known, rest) = body.split_first().ok_or(short)?;
        let (key, rest) = rest.split_first_chunk::<16>().ok_or(short)?;
        let (&[listed, low, high], cells) = rest.split_first_chunk::<3>().ok_or(short)?;
        let (clicks, remainder) = cells.as_chunks::<2>();
        if !remainder.is_empty() || clicks.len() != usize::from(u16::from_le_bytes([low, high])) {
            return Err("a state whose clicks are cut off".to_owned());
        }
        let cells: Vec<(u8, u8)> = clicks.iter().map(|&[x, y]| (x, y)).collect();
        let (clicks, sprites) = match listed {
            0 => (None, None),
            2 => (None, Some(cells)),
            _ => (Some(cells), None),
        };
        Ok(Self {
            key: (known != 0).then(|| u128::from_le_bytes(*key)),
            clicks,
            sprites,
        })
    }
}

/// An observation as a game's process sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WireObservation {
    pub(crate) state: PlayState,
    pub(crate) levels_completed: u8,
    pub(crate) win_levels: u8,
    pub(crate) available: ActionSet,
    pub(crate) full_reset: bool,
    pub(crate) frames: Vec<Frame>,
}

impl Reply {
    /// Decodes a message without its length. The error describes the fault.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, String> {
        let (&kind, body) = message.split_first().ok_or("an empty message")?;
        let text = || sanitize(&String::from_utf8_lossy(body));
        Ok(match kind {
            0x81 => {
                let (version, name) = body.split_first_chunk().ok_or("READY without a version")?;
                Self::Ready(
                    u16::from_le_bytes(*version),
                    sanitize(&String::from_utf8_lossy(name)),
                )
            }
            0x82 => Self::Observation(WireObservation::parse(body)?),
            0x83 => Self::Done,
            0x84 => Self::Saved(body.to_vec()),
            0x85 => Self::State(StateInfo::parse(body)?),
            0x86 => Self::Expanded(ExpansionPart::parse(body)?),
            0xfe => Self::Unsupported(text()),
            0xff => Self::Failed(text()),
            other => return Err(format!("a message of the unknown kind {other}")),
        })
    }
}

impl WireObservation {
    /// Decodes the body of an observation.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        let (head, cells) = body
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or("an observation that is too short")?;
        let &[
            state,
            levels_completed,
            win_levels,
            offered,
            full_reset,
            low,
            high,
        ] = head;
        let state = match state {
            0 => PlayState::NotFinished,
            1 => PlayState::Win,
            2 => PlayState::GameOver,
            other => return Err(format!("an observation with the unknown state {other}")),
        };
        if levels_completed > 254 || win_levels > 254 {
            return Err("an observation with more than 254 levels".to_owned());
        }
        let count = usize::from(u16::from_le_bytes([low, high]));
        if !(1..=MAX_FRAMES).contains(&count) || cells.len() != count * CELLS {
            let found = cells.len();
            return Err(format!(
                "an observation with {count} frames and {found} cells; expected 1 to {MAX_FRAMES} of {CELLS}"
            ));
        }
        let (frames, _) = cells.as_chunks::<CELLS>();
        Ok(Self {
            state,
            levels_completed,
            win_levels,
            available: ActionKind::ALL
                .into_iter()
                .filter(|kind| offered >> kind.id() & 1 == 1)
                .collect(),
            full_reset: full_reset != 0,
            frames: frames
                .iter()
                .map(|cells| Frame::from_cells(*cells))
                .collect(),
        })
    }

    /// Encodes the body that [`parse`](Self::parse) decodes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let state = match self.state {
            PlayState::NotFinished => 0,
            PlayState::Win => 1,
            PlayState::GameOver => 2,
        };
        let offered = self
            .available
            .iter()
            .fold(0, |bits, kind| bits | 1 << kind.id());
        let count =
            u16::try_from(self.frames.len()).expect("an observation has at most MAX_FRAMES frames");
        let mut bytes = vec![
            state,
            self.levels_completed,
            self.win_levels,
            offered,
            u8::from(self.full_reset),
        ];
        bytes.extend_from_slice(&count.to_le_bytes());
        self.frames
            .iter()
            .for_each(|frame| bytes.extend_from_slice(frame.cells()));
        bytes
    }
}

/// Converts a game's text into one line of at most 500 characters without control characters.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(500)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn observed(frames: Vec<Frame>) -> WireObservation {
        WireObservation {
            state: PlayState::GameOver,
            levels_completed: 2,
            win_levels: 254,
            available: ActionSet::ARROWS.with(ActionKind::Action7),
            full_reset: true,
            frames,
        }
    }

    #[test]
    fn observations_round_trip_and_invalid_ones_are_rejected() {
        let original = observed(vec![Frame::filled(3), Frame::filled(0x80)]);
        let bytes = original.to_bytes();
        assert_eq!(WireObservation::parse(&bytes), Ok(original));
        let rejected = |change: fn(&mut Vec<u8>)| {
            let mut bytes = bytes.clone();
            change(&mut bytes);
            WireObservation::parse(&bytes).unwrap_err()
        };
        assert!(rejected(|bytes| bytes[0] = 3).contains("unknown state 3"));
        assert!(rejected(|bytes| bytes[2] = 255).contains("254 levels"));
        assert!(rejected(|bytes| bytes[5] = 0).contains("0 frames"));
        assert!(
            rejected(|bytes| bytes.truncate(bytes.len() - 1)).contains("2 frames and 8191 cells")
        );
        assert!(rejected(|bytes| bytes.truncate(6)).contains("too short"));
    }

    #[test]
    fn requests_have_the_documented_encoding() {
        let act = Request::Act {
            play: 7,
            action: Action::Action6 { x: 3, y: 9 },
        };
        assert_eq!(act.to_bytes(), [8, 0, 0, 0, 3, 7, 0, 0, 0, 6, 3, 9]);
        assert_eq!(Request::Hello.to_bytes(), [3, 0, 0, 0, 1, 1, 0]);
        assert_eq!(
            Request::Open { play: 1, seed: 2 }.to_bytes(),
            [13, 0, 0, 0, 2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        );
        for action in [
            Action::Reset,
            Action::Action5,
            Action::Action6 { x: 63, y: 0 },
            Action::Action7,
        ] {
            assert_eq!(action_from(action_bytes(action)), Some(action));
        }
        assert_eq!(
            (action_from([8, 0, 0]), action_from([6, 64, 0])),
            (None, None)
        );
    }

    #[test]
    fn control_characters_in_game_texts_are_removed() {
        assert_eq!(
            Reply::parse(b"\xff\x1b[2Jboo\n\xff"),
            Ok(Reply::Failed("[2Jboo \u{fffd}".to_owned()))
        );
    }

    proptest! {
        #[test]
        fn arbitrary_messages_do_not_panic(message in proptest::collection::vec(any::<u8>(), 0..64)) {
            drop(Reply::parse(&message));
        }
    }
}
