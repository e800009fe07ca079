//! The data of the browser player: a film in the packed form of [`rhae_protocol::Packer`].
//!
//! The decoder is in `assets/reel.js`.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rhae_protocol::{ModelUsage, ObservationView, PACKED_VERSION, Packer};
use serde_json::{Value, json};

use crate::reasoning::bounded_reasoning;
use crate::{Film, ModelWork, Moment, perceive};

/// The bytes of reasoning on a page. A page with more opens slowly.
pub(crate) const MAX_REASONING_BYTES: usize = 16 << 20;

/// Returns the data of a `<rhae-player>` element: a JSON object with the packed film, safe inside a
/// `<script>` element.
///
/// ```
/// use rhae_report::{Film, player_data};
///
/// let data = player_data(&Film::new("</script>", "example", 20, 1));
/// assert!(!data.contains('<'));
/// let data: serde_json::Value = serde_json::from_str(&data)?;
/// assert_eq!(data["title"], "</script>");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn player_data(film: &Film) -> String {
    player_data_within(film, MAX_REASONING_BYTES)
}

/// Returns the same data with at most `max_reasoning` bytes of reasoning.
pub(crate) fn player_data_within(film: &Film, max_reasoning: usize) -> String {
    script_safe(&film_data(film, max_reasoning).to_string())
}

/// Returns the same data with what perception sees in each moment, which the player can show.
pub(crate) fn player_data_with_perception(film: &Film) -> String {
    let perceptions = perceive(film).into_iter().map(|seen| seen.to_json());
    let mut data = film_data(film, MAX_REASONING_BYTES);
    data["perception"] = perceptions.collect();
    script_safe(&data.to_string())
}

fn film_data(film: &Film, max_reasoning: usize) -> Value {
    let reasoning = bounded_reasoning(film, max_reasoning);
    let mut data = json!({
        "version": PACKED_VERSION,
        "title": film.title,
        "subtitle": film.subtitle,
        "frames_per_second": film.frames_per_second,
        "win_levels": film.win_levels,
        "packed": BASE64_STANDARD.encode(pack(film)),
        "reasoning": reasoning,
    });
    if let Some(times) = film.times() {
        data["times"] = times.into();
    }
    let work = work_rows(film.moments.iter().map(|moment| moment.work));
    if !work.is_empty() {
        data["work"] = work.into();
    }
    data
}

/// Returns what the model of an agent did before each moment, as the browser player shows it: the
/// moment, requests, input tokens, output tokens, cost, cost up to then, and tokens in context.
pub fn work_rows(moments: impl IntoIterator<Item = Option<ModelWork>>) -> Vec<Value> {
    let mut total = ModelUsage::default();
    let mut rows = Vec::new();
    for (index, work) in moments.into_iter().enumerate() {
        let Some(work) = work else { continue };
        let spent = work.spent;
        total += spent;
        rows.push(json!([
            index,
            spent.calls,
            spent.input_tokens,
            spent.output_tokens,
            spent.cost_usd,
            total.cost_usd,
            work.context_tokens
        ]));
    }
    rows
}

/// Escapes `<` in JSON, which occurs only in strings, so that an HTML parser finds neither the end
/// of the script nor the start of a comment in it.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Packs the frames and counts of a film.
pub(crate) fn pack(film: &Film) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut packer = Packer::default();
    for moment in &film.moments {
        let Moment {
            action,
            state,
            levels_completed,
            changed,
            counted,
            full_reset,
            ..
        } = *moment;
        let frames = &moment.frames;
        packer.pack(
            ObservationView {
                action,
                frames,
                state,
                levels_completed,
                changed,
                counted,
                full_reset,
            },
            &mut bytes,
        );
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhae_engine::{Action, CELLS, Frame, PlayState, SIZE};

    use super::*;
    use crate::film::tests::walking_square;

    struct Unpacked {
        head: u8,
        levels_completed: u8,
        click: Option<(usize, usize)>,
        frames: Vec<Frame>,
    }

    /// A second implementation of the decoder in `reel.js`.
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
                        frame.rect(
                            run & 63,
                            usize::from(y),
                            (run >> 6 & 63) + 1,
                            usize::from(height),
                            (run >> 12) as u8,
                        );
                    }
                }
                frames.push(frame.clone());
            }
            moments.push(Unpacked {
                head,
                levels_completed,
                click,
                frames,
            });
        }
        moments
    }

    fn assert_round_trips(film: &Film) {
        let moments = unpack(&pack(film));
        assert_eq!(moments.len(), film.moments.len());
        for (back, moment) in moments.into_iter().zip(&film.moments) {
            let head = back.head;
            assert_eq!(head & 7, moment.action.kind().id());
            assert_eq!(
                [PlayState::NotFinished, PlayState::Win, PlayState::GameOver]
                    [usize::from(head >> 3 & 3)],
                moment.state
            );
            assert_eq!(
                [5, 6, 7].map(|bit| head >> bit & 1 == 1),
                [moment.changed, moment.counted, moment.full_reset]
            );
            assert_eq!(back.levels_completed, moment.levels_completed);
            assert_eq!(back.click, moment.click());
            assert!(back.frames == moment.frames);
        }
    }

    /// Generates frames with a few blocks, which repeat the same row, and with noise, whose rows
    /// differ.
    fn frames() -> impl Strategy<Value = Frame> {
        let block = (0..SIZE, 0..SIZE, 1..SIZE, 1..SIZE, 0u8..16);
        let noise = (0..CELLS, proptest::collection::vec(0u8..16, 0..200));
        (0u8..16, proptest::collection::vec(block, 0..6), noise).prop_map(
            |(color, blocks, (start, cells))| {
                let mut frame = Frame::filled(color);
                for (x, y, width, height, color) in blocks {
                    frame.rect(x, y, width, height, color);
                }
                for (cell, color) in frame.cells_mut()[start..].iter_mut().zip(cells) {
                    *cell = color;
                }
                frame
            },
        )
    }

    proptest! {
        #[test]
        fn every_frame_round_trips(shown in proptest::collection::vec(proptest::collection::vec(frames(), 1..4), 1..5), x in 0u8..64, y in 0u8..64, flags in any::<[bool; 3]>()) {
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
                    work: None,
                    t_ms: None,
                });
            }
            assert_round_trips(&film);
        }
    }

    #[test]
    fn moved_block_takes_twelve_bytes() {
        let film = walking_square(5);
        assert_round_trips(&film);
        let moved = Film {
            moments: film.moments[2..4].to_vec(),
            ..film.clone()
        };
        let first = Film {
            moments: film.moments[2..3].to_vec(),
            ..film
        };
        // The moment takes four bytes and its frame eight.
        assert_eq!(pack(&moved).len() - pack(&first).len(), 12);
    }

    #[test]
    fn film_of_ten_thousand_requests_stays_small() {
        let mut film = walking_square(1);
        let step = film.moments[2].clone();
        let work = ModelWork {
            spent: ModelUsage {
                calls: 1,
                input_tokens: 900,
                output_tokens: 100,
                cost_usd: Some(0.25),
                ..ModelUsage::default()
            },
            context_tokens: Some(1000),
        };
        for number in 0..10_000 {
            film.moments.push(Moment {
                reasoning: Some(format!("{number} {}", "x".repeat(5_000))),
                work: Some(work),
                ..step.clone()
            });
        }
        let data = player_data(&film);
        assert!(
            data.len() < MAX_REASONING_BYTES + (2 << 20),
            "{}",
            data.len()
        );
        let data: Value = serde_json::from_str(&data).unwrap();
        let rows = data["work"].as_array().unwrap();
        assert_eq!(rows.len(), 10_000);
        assert_eq!(
            rows[9_999],
            json!([10_006, 1, 900, 100, 0.25, 2500.0, 1000])
        );
        let text = data["reasoning"].as_array().unwrap().last().unwrap()[1].as_str();
        let text = text.unwrap();
        assert!(text.starts_with("9999 xx") && text.ends_with("the whole text]"));
    }

    #[test]
    fn reasoning_cannot_close_the_script_element() {
        let mut film = walking_square(1);
        let hostile = "</script><script>alert(1)</script><!--";
        film.moments[1].reasoning = Some(hostile.to_owned());
        let data = player_data(&film);
        assert!(!data.contains('<'));
        let back: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(back["reasoning"][0][1], hostile);
    }
}
