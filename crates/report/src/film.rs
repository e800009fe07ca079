//! A film: the replayed form of a recording, which every picture is made from.
//!
//! Invariant: the first moment is the opening RESET, and every moment has at least one frame, the settled one last. The
//! drawing code passes over a moment without frames rather than fail on it.
//!
//! What a film deliberately does not know: how it was replayed, the score, the baselines.

use rhae_engine::{Action, Frame, Observation, PlayState};
use serde_json::Value;

/// A play with all its frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// What was played.
    pub title: String,
    /// By whom, under which seed: one line.
    pub subtitle: String,
    /// The speed of the environment's animations.
    pub frames_per_second: u8,
    /// How many levels there are.
    pub win_levels: u8,
    /// Every observation in order, the opening RESET first.
    pub moments: Vec<Moment>,
}

/// One command and what it showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The command.
    pub action: Action,
    /// One frame or an animation, the settled picture last.
    pub frames: Vec<Frame>,
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
    /// What the player said about it.
    pub reasoning: Option<String>,
}

/// What one level took in one run of a film.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelTally {
    /// Counted actions.
    pub actions: u64,
    /// Those of them that changed nothing.
    pub unchanged: u64,
}

impl Film {
    /// A film without moments.
    pub fn new(
        title: impl Into<String>,
        subtitle: impl Into<String>,
        frames_per_second: u8,
        win_levels: u8,
    ) -> Self {
        Self {
            title: title.into(),
            subtitle: subtitle.into(),
            frames_per_second,
            win_levels,
            moments: Vec::new(),
        }
    }

    /// Adds what an environment answered.
    pub fn push(&mut self, observation: &Observation, reasoning: Option<&Value>) {
        self.moments.push(Moment::new(observation, reasoning));
    }

    /// Counted actions.
    pub fn actions(&self) -> usize {
        self.moments.iter().filter(|moment| moment.counted).count()
    }

    /// How long one frame of an animation is shown, in milliseconds.
    pub(crate) fn frame_ms(&self) -> u32 {
        1000 / u32::from(self.frames_per_second.clamp(1, 60))
    }

    /// The counts of each run, level by level; a full reset begins another run. An action belongs to the level that it was
    /// taken in.
    pub fn tallies(&self) -> Vec<Vec<LevelTally>> {
        let mut runs = vec![vec![LevelTally::default(); usize::from(self.win_levels)]];
        let mut level = 0;
        for (index, moment) in self.moments.iter().enumerate() {
            if index > 0 && moment.full_reset {
                runs.push(vec![LevelTally::default(); usize::from(self.win_levels)]);
            } else if let Some(tally) = runs.last_mut().and_then(|run| run.get_mut(level)) {
                tally.actions += u64::from(moment.counted);
                tally.unchanged += u64::from(moment.counted && !moment.changed);
            }
            level = usize::from(moment.levels_completed);
        }
        runs
    }
}

impl Moment {
    /// An environment's answer as a moment.
    pub fn new(observation: &Observation, reasoning: Option<&Value>) -> Self {
        Self {
            action: observation.action,
            frames: observation.frames.frames().to_vec(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            changed: observation.changed,
            counted: observation.counted,
            full_reset: observation.full_reset,
            reasoning: reasoning.map(reasoning_text),
        }
    }

    /// The clicked cell, if it was a click.
    pub(crate) fn click(&self) -> Option<(usize, usize)> {
        match self.action {
            Action::Action6 { x, y } => Some((usize::from(x), usize::from(y))),
            _ => None,
        }
    }
}

/// Reasoning as text: a string as it stands, anything else as indented JSON.
fn reasoning_text(reasoning: &Value) -> String {
    match reasoning {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A square that walks to the right, five steps a level, with one useless click and an animation at each level's end.
    pub(crate) fn walking_square(levels: u8) -> Film {
        let mut film = Film::new("wa1k-v1", "tester · seed 0", 20, levels);
        let draw = |level: u8, x: usize| {
            let mut frame = Frame::filled(5);
            frame.rect(4, 4, 56, 56, 4 - level % 3);
            frame.rect(8 + x * 8, 28, 8, 8, 8 + level % 8);
            frame.rect(48, 28, 8, 8, 14);
            frame
        };
        let moment = |action, frames, levels_completed| Moment {
            action,
            frames,
            state: if levels_completed == levels {
                PlayState::Win
            } else {
                PlayState::NotFinished
            },
            levels_completed,
            changed: true,
            counted: action != Action::Reset,
            full_reset: action == Action::Reset,
            reasoning: None,
        };
        film.moments
            .push(moment(Action::Reset, vec![draw(0, 0)], 0));
        for level in 0..levels {
            let mut click = moment(
                Action::Action6 {
                    x: 10 + 7 * level,
                    y: 40,
                },
                vec![draw(level, 0)],
                level,
            );
            click.changed = false;
            click.reasoning = Some(format!("Level {}: what does this cell do?", level + 1));
            film.moments.push(click);
            for x in 1..5 {
                film.moments
                    .push(moment(Action::Action4, vec![draw(level, x)], level));
            }
            let mut frames: Vec<Frame> = (0..6)
                .map(|step| Frame::filled([14, 11][step % 2]))
                .collect();
            frames.push(draw((level + 1).min(levels - 1), 0));
            film.moments
                .push(moment(Action::Action4, frames, level + 1));
        }
        film
    }

    #[test]
    fn actions_belong_to_the_level_they_were_taken_in() {
        let mut film = walking_square(2);
        film.moments.push(Moment {
            levels_completed: 0,
            state: PlayState::NotFinished,
            ..film.moments[0].clone()
        });
        film.moments.push(film.moments[2].clone());
        let tally = LevelTally {
            actions: 6,
            unchanged: 1,
        };
        let second = LevelTally {
            actions: 1,
            unchanged: 0,
        };
        assert_eq!(
            film.tallies(),
            [vec![tally, tally], vec![second, LevelTally::default()]]
        );
        assert_eq!(film.actions(), 13);
    }

    #[test]
    fn reasoning_that_is_not_text_is_shown_as_json() {
        assert_eq!(reasoning_text(&serde_json::json!("go left")), "go left");
        assert_eq!(
            reasoning_text(&serde_json::json!({"plan": 1})),
            "{\n  \"plan\": 1\n}"
        );
    }
}
