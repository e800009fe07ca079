//! Films packed for the player: what changed from frame to frame, as bands of runs, in base64.
//!
//! The form (version 1; the decoder is in `player.js`). All numbers are unsigned, those of two bytes little-endian.
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

use rhae_engine::{Frame, PlayState, SIZE};
use serde_json::{Value, json};

use crate::Film;

/// The version of the packed form, which the player checks.
pub const PACKED_VERSION: u32 = 1;

/// What `<rhae-player>` takes: a JSON object with the packed film, safe inside a `<script>` element.
pub fn player_data(film: &Film) -> String {
    let reasoning: Vec<Value> = film
        .moments
        .iter()
        .enumerate()
        .filter_map(|(index, moment)| moment.reasoning.as_ref().map(|text| json!([index, text])))
        .collect();
    let data = json!({
        "version": PACKED_VERSION,
        "title": film.title,
        "subtitle": film.subtitle,
        "frames_per_second": film.frames_per_second,
        "win_levels": film.win_levels,
        "packed": base64(&pack(film)),
        "reasoning": reasoning,
    });
    script_safe(&data.to_string())
}

/// JSON in which no HTML parser can find an end of the script or a comment: `<` only occurs in JSON's strings.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// The film's frames and counts as bytes.
pub(crate) fn pack(film: &Film) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = Frame::filled(0);
    for moment in &film.moments {
        let state = match moment.state {
            PlayState::NotFinished => 0,
            PlayState::Win => 1,
            PlayState::GameOver => 2,
        };
        let flags = [moment.changed, moment.counted, moment.full_reset];
        let flags = flags.into_iter().enumerate().fold(0, |bits, (index, flag)| bits | u8::from(flag) << (5 + index));
        bytes.extend([moment.action.kind().id() | state << 3 | flags, moment.levels_completed]);
        let count = u16::try_from(moment.frames.len()).unwrap_or(u16::MAX);
        bytes.extend(count.to_le_bytes());
        if let Some((x, y)) = moment.click() {
            bytes.extend([x as u8, y as u8]);
        }
        // An observation has at most 1,001 frames; of a longer one the last are kept, because the settled one is last.
        for frame in &moment.frames[moment.frames.len() - usize::from(count)..] {
            pack_frame(&before, frame, &mut bytes);
            before.copy_from(frame);
        }
    }
    bytes
}

fn pack_frame(before: &Frame, frame: &Frame, bytes: &mut Vec<u8>) {
    let bands_at = bytes.len();
    bytes.push(0);
    let mut open: Option<(usize, Vec<u8>)> = None;
    for (y, (old, new)) in before.rows().zip(frame.rows()).enumerate() {
        let runs = changed_runs(old, new);
        if let Some((start, same)) = &open
            && *same == runs
            && !runs.is_empty()
        {
            bytes[*start + 1] += 1;
            continue;
        }
        open = None;
        if !runs.is_empty() {
            let start = bytes.len();
            bytes[bands_at] += 1;
            bytes.extend([y as u8, 1, (runs.len() / 2) as u8]);
            bytes.extend(&runs);
            open = Some((start, runs));
        }
    }
}

/// The runs of one row: each begins and ends with a changed cell and has one colour.
fn changed_runs(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut x = 0;
    while x < SIZE {
        let color = new[x].min(15);
        if old[x].min(15) == color {
            x += 1;
            continue;
        }
        let alike = new[x..].iter().take_while(|cell| cell.min(&&15) == &&color).count();
        let last = (x..x + alike).rev().find(|&at| old[at].min(15) != color).unwrap_or(x);
        let run = x as u16 | ((last - x) as u16) << 6 | u16::from(color) << 12;
        runs.extend(run.to_le_bytes());
        x = last + 1;
    }
    runs
}

/// Standard base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, index| bits << 8 | u32::from(chunk.get(index).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhae_engine::{Action, CELLS};

    use super::*;
    use crate::Moment;
    use crate::film::tests::walking_square;

    struct Unpacked {
        head: u8,
        levels_completed: u8,
        click: Option<(usize, usize)>,
        frames: Vec<Frame>,
    }

    /// The decoder of `player.js` once more, frame by frame.
    fn unpack(bytes: &[u8]) -> Vec<Unpacked> {
        let mut bytes = bytes.iter().copied();
        let mut moments = Vec::new();
        let mut frame = Frame::filled(0);
        while let Some(head) = bytes.next() {
            let mut next = || bytes.next().unwrap();
            let levels_completed = next();
            let count = u16::from_le_bytes([next(), next()]);
            let click = (head & 7 == 6).then(|| (usize::from(next()), usize::from(next())));
            let mut frames = Vec::new();
            for _ in 0..count {
                for _ in 0..next() {
                    let (y, height, runs) = (next(), next(), next());
                    for _ in 0..runs {
                        let run = usize::from(u16::from_le_bytes([next(), next()]));
                        frame.rect(run & 63, usize::from(y), (run >> 6 & 63) + 1, usize::from(height), (run >> 12) as u8);
                    }
                }
                frames.push(frame.clone());
            }
            moments.push(Unpacked { head, levels_completed, click, frames });
        }
        moments
    }

    fn assert_comes_back(film: &Film) {
        let moments = unpack(&pack(film));
        assert_eq!(moments.len(), film.moments.len());
        for (back, moment) in moments.into_iter().zip(&film.moments) {
            let head = back.head;
            assert_eq!(head & 7, moment.action.kind().id());
            assert_eq!([PlayState::NotFinished, PlayState::Win, PlayState::GameOver][usize::from(head >> 3 & 3)], moment.state);
            assert_eq!([5, 6, 7].map(|bit| head >> bit & 1 == 1), [moment.changed, moment.counted, moment.full_reset]);
            assert_eq!(back.levels_completed, moment.levels_completed);
            assert_eq!(back.click, moment.click());
            assert!(back.frames == moment.frames);
        }
    }

    /// Frames of a few blocks, which share rows, over noise in a corner, which does not.
    fn frames() -> impl Strategy<Value = Frame> {
        let block = (0..SIZE, 0..SIZE, 1..SIZE, 1..SIZE, 0u8..16);
        let noise = (0..CELLS, proptest::collection::vec(0u8..16, 0..200));
        (0u8..16, proptest::collection::vec(block, 0..6), noise).prop_map(|(color, blocks, (start, cells))| {
            let mut frame = Frame::filled(color);
            for (x, y, width, height, color) in blocks {
                frame.rect(x, y, width, height, color);
            }
            for (cell, color) in frame.cells_mut()[start..].iter_mut().zip(cells) {
                *cell = color;
            }
            frame
        })
    }

    proptest! {
        #[test]
        fn every_frame_comes_back(shown in proptest::collection::vec(proptest::collection::vec(frames(), 1..4), 1..5), x in 0u8..64, y in 0u8..64, flags in any::<[bool; 3]>()) {
            let mut film = Film::new("", "", 20, 1);
            for (index, frames) in shown.into_iter().enumerate() {
                film.moments.push(Moment {
                    action: if index % 2 == 0 { Action::Action6 { x, y } } else { Action::Action7 },
                    frames,
                    state: [PlayState::NotFinished, PlayState::Win, PlayState::GameOver][index % 3],
                    levels_completed: index as u8,
                    changed: flags[0],
                    counted: flags[1],
                    full_reset: flags[2],
                    reasoning: None,
                });
            }
            assert_comes_back(&film);
        }
    }

    #[test]
    fn a_moved_block_takes_few_bytes() {
        let film = walking_square(5);
        assert_comes_back(&film);
        let moved = Film { moments: film.moments[2..4].to_vec(), ..film.clone() };
        let first = Film { moments: film.moments[2..3].to_vec(), ..film };
        // Four bytes for the moment, eight for its frame.
        assert_eq!(pack(&moved).len() - pack(&first).len(), 12);
    }

    #[test]
    fn base64_is_the_standard_one() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{7f}?>~", "fz8+fg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn hostile_reasoning_cannot_leave_the_script() {
        let mut film = walking_square(1);
        let hostile = "</script><script>alert(1)</script><!--";
        film.moments[1].reasoning = Some(hostile.to_owned());
        let data = player_data(&film);
        assert!(!data.contains('<'));
        let back: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(back["reasoning"][0][1], hostile);
    }
}
