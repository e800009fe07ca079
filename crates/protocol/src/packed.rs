//! The packed form of observations for viewers: each frame is stored as its difference from the
//! previous frame.
//!
//! This is version 1; the decoder is in `reel.js` of the report crate. All numbers are unsigned,
//! and two-byte numbers are little-endian. A moment is one observation, and a film is a sequence of
//! them.
//!
//! ```text
//! film   = moment*
//! moment = head levels_completed:u8 frames:u16 [x:u8 y:u8] frame{frames}
//! head   = action:bits 0–2, state:bits 3–4 (0 not finished, 1 won, 2 lost), changed:bit 5,
//!          counted:bit 6, full reset:bit 7; x and y are present if the action is 6
//! frame  = bands:u8 band{bands}
//! band   = y:u8 height:u8 runs:u8 run{runs}      the same runs in `height` rows from row y
//! run    = u16: x:bits 0–5, length − 1:bits 6–11, colour:bits 12–15      cells of one row
//! ```
//!
//! A frame is encoded relative to the previous frame, also across moments. The frame before the
//! first one consists of colour 0. Games draw rectangular blocks, so neighbouring rows usually
//! change in the same way. A frame in which a single block has moved horizontally takes 8 bytes.
//!
//! **Invariant:** unpacking restores every cell, except that cells outside the sixteen colours are
//! packed as 15.

use rhae_engine::{Action, Frame, PlayState, SIZE};

/// The version of the packed form. Viewers reject any other version.
pub const PACKED_VERSION: u32 = 1;

/// The number of bytes of a band before its runs.
const BAND_HEAD: usize = 3;

/// A borrowed observation and its command: the input of a [`Packer`].
#[derive(Clone, Copy, Debug)]
pub struct ObservationView<'a> {
    pub action: Action,
    /// One frame or an animation, the settled frame last.
    pub frames: &'a [Frame],
    /// The state of the play after the command.
    pub state: PlayState,
    /// The number of completed levels after the command.
    pub levels_completed: u8,
    /// Whether the command changed the state.
    pub changed: bool,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
}

/// Encodes consecutive observations in the packed form.
///
/// The packer remembers the last frame, so all observations of a stream must be encoded in order by
/// the same packer.
///
/// # Examples
///
/// A frame that is identical to the previous one takes a single byte.
///
/// ```
/// use rhae_engine::{Action, Frame, PlayState};
/// use rhae_protocol::{ObservationView, Packer};
///
/// let frames = [Frame::filled(5)];
/// let observation = ObservationView {
///     action: Action::Action1,
///     frames: &frames,
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     changed: true,
///     counted: true,
///     full_reset: false,
/// };
/// let mut packer = Packer::default();
/// let mut bytes = Vec::new();
/// packer.pack(observation, &mut bytes);
/// // Head, levels and frame count; one band of 64 identical rows with one run.
/// assert_eq!(bytes.len(), 4 + 1 + 3 + 2);
///
/// let first = bytes.len();
/// packer.pack(observation, &mut bytes);
/// assert_eq!(bytes.len() - first, 4 + 1);
/// ```
#[derive(Clone, Debug)]
pub struct Packer {
    before: Frame,
}

impl Default for Packer {
    fn default() -> Self {
        Self {
            before: Frame::filled(0),
        }
    }
}

impl Packer {
    /// Appends an observation to `bytes`, encoded relative to the last frame of the previous one.
    pub fn pack(&mut self, observation: ObservationView<'_>, bytes: &mut Vec<u8>) {
        let state = match observation.state {
            PlayState::NotFinished => 0,
            PlayState::Win => 1,
            PlayState::GameOver => 2,
        };
        let flags = [
            observation.changed,
            observation.counted,
            observation.full_reset,
        ];
        let flags = flags
            .into_iter()
            .enumerate()
            .fold(0, |bits, (index, flag)| {
                bits | u8::from(flag) << (5 + index)
            });
        bytes.extend([
            observation.action.kind().id() | state << 3 | flags,
            observation.levels_completed,
        ]);
        let count = u16::try_from(observation.frames.len()).unwrap_or(u16::MAX);
        bytes.extend(count.to_le_bytes());
        if let Action::Action6 { x, y } = observation.action {
            bytes.extend([x, y]);
        }
        // An observation has at most 1,001 frames. If one had more frames than the counter can
        // hold, only the last ones would be encoded, because the settled frame is last.
        for frame in &observation.frames[observation.frames.len() - usize::from(count)..] {
            pack_frame(&self.before, frame, bytes);
            self.before.copy_from(frame);
        }
    }
}

fn pack_frame(before: &Frame, frame: &Frame, bytes: &mut Vec<u8>) {
    let bands_at = bytes.len();
    bytes.push(0);
    // The offset of the band that contains the previous row.
    let mut open: Option<usize> = None;
    for (y, (old, new)) in before.rows().zip(frame.rows()).enumerate() {
        // Most rows are unchanged.
        if old == new {
            open = None;
            continue;
        }
        let start = bytes.len();
        bytes.extend([y as u8, 1, 0]);
        push_runs(old, new, bytes);
        let length = bytes.len() - start - BAND_HEAD;
        if length == 0 {
            bytes.truncate(start);
            open = None;
        } else if let Some(above) =
            open.filter(|&above| bytes[above + BAND_HEAD..start] == bytes[start + BAND_HEAD..])
        {
            bytes.truncate(start);
            bytes[above + 1] += 1;
        } else {
            bytes[start + 2] = (length / 2) as u8;
            bytes[bands_at] += 1;
            open = Some(start);
        }
    }
}

/// Appends the runs of one row. A run starts and ends with a changed cell and has one colour.
fn push_runs(old: &[u8], new: &[u8], bytes: &mut Vec<u8>) {
    let mut x = 0;
    while x < SIZE {
        let color = new[x].min(15);
        if old[x].min(15) == color {
            x += 1;
            continue;
        }
        let same_color = new[x..]
            .iter()
            .take_while(|cell| cell.min(&&15) == &&color)
            .count();
        let last = (x..x + same_color)
            .rev()
            .find(|&at| old[at].min(15) != color)
            .unwrap_or(x);
        let run = x as u16 | ((last - x) as u16) << 6 | u16::from(color) << 12;
        bytes.extend(run.to_le_bytes());
        x = last + 1;
    }
}
