//! The golden playthrough of a game: a readable text that shows, action by action, how its stored
//! solutions are played.

use std::fmt::Write;

use rhae_engine::{Episode, Frame, FrameBuffer, Game, LevelIndex, Levels, SIZE};

/// Plays the stored solution of every level with seed 0 and returns a transcript: the frame at the
/// start of each level, and the number and the hash of the frames of every action.
pub fn playthrough<G: Game>() -> String {
    let facts = &G::FACTS;
    let levels = Levels::<G>::new(0);
    let mut text = format!(
        "{}, seed 0: the stored solutions, action by action\n",
        facts.id
    );
    let mut frames = FrameBuffer::default();
    for index in 0..levels.count() {
        let level = LevelIndex(index);
        let mut episode = Episode::at(levels.clone(), level);
        let mut frame = Frame::filled(0);
        episode.draw(&mut frame);
        let _ = write!(text, "\nlevel {level}\n{}", readable(&frame));
        for action in facts.solution(level) {
            frames.clear();
            let step = episode.act(action, &mut frames);
            let seen = frames.frames();
            let note = if step.changed { "" } else { "  unchanged" };
            let _ = writeln!(
                text,
                "{:<8} {:>3} frames  {:016x}{note}",
                action.to_string(),
                seen.len(),
                Frame::hash_all(seen)
            );
        }
        let _ = writeln!(
            text,
            "{} levels completed, {}",
            episode.completed(),
            episode.status().name()
        );
    }
    text
}

/// Formats a frame at half its size. Each 2 × 2 block shows the colour of its last cell, and the
/// most common colour is a dot.
fn readable(frame: &Frame) -> String {
    let mut counts = [0; 16];
    frame
        .cells()
        .iter()
        .for_each(|&cell| counts[usize::from(cell & 15)] += 1);
    let ground = (0..16)
        .max_by_key(|&color| counts[usize::from(color)])
        .unwrap_or(0_u8);
    let mut text = String::new();
    for y in (1..SIZE).step_by(2) {
        let row = (1..SIZE).step_by(2).map(|x| frame.get(x, y));
        text.extend(row.map(|cell| {
            if cell == ground {
                '.'
            } else {
                char::from_digit(u32::from(cell), 16).unwrap_or('?')
            }
        }));
        text.push('\n');
    }
    text
}
