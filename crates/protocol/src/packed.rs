//! Observations packed for a viewer: what changed from frame to frame, as bands of runs.
//!
//! The form (version 1; the decoder is in the player's script). All numbers are unsigned, those of two bytes little-endian.
//!
//! ```text
//! film   = moment*
//! moment = head levels_completed:u8 frames:u16 [x:u8 y:u8] frame{frames}
//! head   = action:bits 0–2, state:bits 3–4 (0 going on, 1 won, 2 lost), changed:bit 5, counted:bit 6, full reset:bit 7
//!          x and y are there if the action is 6
//! frame  = bands:u8 band{bands}
//! band   = y:u8 height:u8 runs:u8 run{runs}          the same runs in `height` rows from row y on
//! run    = u16: x:bits 0–5, length − 1:bits 6–11, colour:bits 12–15
//! ```
//!
//! A frame is given against the one before it, also across moments; the one before the first is all of colour 0. Games
//! draw in blocks, so rows that change alike are the rule: a moved block takes 8 bytes.
//!
//! Invariant: unpacking gives back every cell; cells outside the sixteen colours are packed as 15.

use rhae_engine::{Action, Frame, PlayState, SIZE};

/// The version of the packed form, which viewers check.
pub const PACKED_VERSION: u32 = 1;

/// Bytes of a band before its runs.
const BAND_HEAD: usize = 3;

/// An observation and the command that led to it, as a viewer needs it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The command.
    pub action: Action,
    /// One frame or an animation, the settled picture last.
    pub frames: &'a [Frame],
    /// Where the play stood afterwards.
    pub state: PlayState,
    /// Levels completed afterwards.
    pub levels_completed: u8,
    /// Whether the command changed the state.
    pub changed: bool,
    /// Whether it counted as an action.
    pub counted: bool,
    /// Whether it started the game anew.
    pub full_reset: bool,
}

/// Packs one observation after the other.
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
    /// Adds an observation, against the last frame of the one before.
    pub fn pack(&mut self, shown: Shown<'_>, bytes: &mut Vec<u8>) {
        let state = match shown.state {
            PlayState::NotFinished => 0,
            PlayState::Win => 1,
            PlayState::GameOver => 2,
        };
        let flags = [shown.changed, shown.counted, shown.full_reset];
        let flags = flags
            .into_iter()
            .enumerate()
            .fold(0, |bits, (index, flag)| {
                bits | u8::from(flag) << (5 + index)
            });
        bytes.extend([
            shown.action.kind().id() | state << 3 | flags,
            shown.levels_completed,
        ]);
        let count = u16::try_from(shown.frames.len()).unwrap_or(u16::MAX);
        bytes.extend(count.to_le_bytes());
        if let Action::Action6 { x, y } = shown.action {
            bytes.extend([x, y]);
        }
        // An observation has at most 1,001 frames; of a longer one the last are kept, because the settled one is last.
        for frame in &shown.frames[shown.frames.len() - usize::from(count)..] {
            pack_frame(&self.before, frame, bytes);
            self.before.copy_from(frame);
        }
    }
}

fn pack_frame(before: &Frame, frame: &Frame, bytes: &mut Vec<u8>) {
    let bands_at = bytes.len();
    bytes.push(0);
    // Where the band begins that the row above is in.
    let mut open: Option<usize> = None;
    for (y, (old, new)) in before.rows().zip(frame.rows()).enumerate() {
        // Most rows are as they were.
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

/// The runs of one row: each begins and ends with a changed cell and has one colour.
fn push_runs(old: &[u8], new: &[u8], bytes: &mut Vec<u8>) {
    let mut x = 0;
    while x < SIZE {
        let color = new[x].min(15);
        if old[x].min(15) == color {
            x += 1;
            continue;
        }
        let alike = new[x..]
            .iter()
            .take_while(|cell| cell.min(&&15) == &&color)
            .count();
        let last = (x..x + alike)
            .rev()
            .find(|&at| old[at].min(15) != color)
            .unwrap_or(x);
        let run = x as u16 | ((last - x) as u16) << 6 | u16::from(color) << 12;
        bytes.extend(run.to_le_bytes());
        x = last + 1;
    }
}

/// Standard base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, index| {
            bits << 8 | u32::from(chunk.get(index).copied().unwrap_or(0))
        });
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= chunk.len() {
                char::from(DIGITS[index])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_standard_one() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{7f}?>~", "fz8+fg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
