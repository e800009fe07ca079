//! Everything that has happened in a play, append-only.

use std::fmt::Write as _;

use rhae_engine::{Action, Frame, PlayState};
use serde_json::{Value, json};

use crate::action_text::action_text;
use crate::board::{board_text, changes_text};
use crate::threaded::Observation;

/// The steps that one text lists.
const MAX_STEPS: usize = 200;

/// What an action led to, as the program predicts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    LevelCompleted,
    GameOver,
}

impl Status {
    /// Returns the status after an action.
    pub(crate) fn of(before: &Observation, after: &Observation) -> Self {
        if after.levels_completed != before.levels_completed || after.state == PlayState::Win {
            Self::LevelCompleted
        } else if after.state == PlayState::GameOver {
            Self::GameOver
        } else {
            Self::Running
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::LevelCompleted => "LEVEL_COMPLETED",
            Self::GameOver => "GAME_OVER",
        }
    }
}

/// One entry: the start of an attempt, or a step.
#[derive(Clone)]
struct Entry {
    /// The number of the step; the starts of attempts have that of the step before.
    number: usize,
    /// The action; `None` for the start of an attempt.
    action: Option<Action>,
    status: Status,
    /// The level on which the action was taken, from 1.
    level: u8,
    frame: Frame,
    /// The last frame that shows the completed level, if the action completed one and was animated.
    winning_frame: Option<Frame>,
}

/// The timeline of a play.
#[derive(Clone)]
pub(crate) struct Timeline {
    entries: Vec<Entry>,
    steps: usize,
}

/// How much of a timeline an interpreter has.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    entries: usize,
}

impl Timeline {
    pub(crate) fn new(first: &Observation) -> Self {
        let mut timeline = Self {
            entries: Vec::new(),
            steps: 0,
        };
        timeline.restart(first);
        timeline
    }

    /// Returns the number of steps.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns whether no action was taken since the start of the level or the last RESET.
    pub(crate) fn is_untouched(&self) -> bool {
        self.entries
            .last()
            .is_none_or(|last| last.action.is_none() || last.status == Status::LevelCompleted)
    }

    /// Adds the start of an attempt.
    pub(crate) fn restart(&mut self, observation: &Observation) {
        self.entries.push(Entry {
            number: self.steps,
            action: None,
            status: Status::Running,
            level: observation.levels_completed + 1,
            frame: observation.settled().clone(),
            winning_frame: None,
        });
    }

    /// Adds a step.
    pub(crate) fn add(&mut self, action: Action, before: &Observation, after: &Observation) {
        self.steps += 1;
        let status = Status::of(before, after);
        let winning_frame = match &after.frames[..] {
            [.., last, _] if status == Status::LevelCompleted => Some(last.clone()),
            _ => None,
        };
        self.entries.push(Entry {
            number: self.steps,
            action: Some(action),
            status,
            level: before.levels_completed + 1,
            frame: after.settled().clone(),
            winning_frame,
        });
    }

    /// Returns the board after a step; `winning` selects the last frame of a level that the step
    /// completed.
    pub(crate) fn board(&self, step: usize, winning: bool) -> Option<&Frame> {
        let mut entries = self.entries.iter().rev();
        let entry = entries.find(|entry| entry.number == step)?;
        if winning {
            return entry.winning_frame.as_ref();
        }
        Some(&entry.frame)
    }

    /// Returns the entries that an interpreter does not have yet. If it was restarted, these are
    /// all.
    pub(crate) fn news(&self, reader: &mut Reader, is_restarted: bool) -> Value {
        let first = if is_restarted { 0 } else { reader.entries };
        reader.entries = self.entries.len();
        let rows = |frame: &Frame| json!(board_text(frame).lines().collect::<Vec<_>>());
        let entry = |entry: &Entry| {
            let mut described = json!({
                "number": entry.number,
                "action": entry.action.map(action_text),
                "status": entry.status.name(),
                "level": entry.level,
                "rows": rows(&entry.frame),
            });
            if let Some(frame) = &entry.winning_frame {
                described["winning_rows"] = rows(frame);
            }
            described
        };
        json!({
            "restart": first == 0,
            "entries": self.entries[first..].iter().map(entry).collect::<Vec<_>>(),
        })
    }

    /// Describes steps: what each changed. The last board is added if `with_board` is set.
    pub(crate) fn describe(&self, first: usize, last: usize, with_board: bool) -> String {
        let mut text = String::new();
        let mut previous: Option<&Entry> = None;
        let mut shown = None;
        let mut count = 0;
        for entry in &self.entries {
            let is_inside = (first..=last).contains(&entry.number);
            if is_inside && count < MAX_STEPS {
                count += 1;
                shown = Some(entry);
                let changes = match (entry.action, previous) {
                    (Some(_), Some(before)) if entry.status != Status::LevelCompleted => {
                        changes_text(&before.frame, &entry.frame)
                    }
                    (Some(_), _) => "the frame shows the next level".to_owned(),
                    (None, _) => "an attempt begins".to_owned(),
                };
                let action = entry.action.map_or_else(|| "-".to_owned(), action_text);
                let _ = writeln!(
                    text,
                    "{}: level {}, {action}, {}: {changes}",
                    entry.number,
                    entry.level,
                    entry.status.name()
                );
            }
            previous = Some(entry);
        }
        if let Some(entry) = shown.filter(|_| with_board) {
            let _ = write!(
                text,
                "board after step {}:\n{}",
                entry.number,
                board_text(&entry.frame)
            );
        }
        if text.is_empty() {
            text = format!("the timeline has the steps 0 to {}", self.steps);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use rhae_engine::ActionSet;

    use super::*;

    fn observation(color: u8, levels_completed: u8, state: PlayState) -> Observation {
        Observation {
            frames: vec![Frame::filled(color)],
            state,
            levels_completed,
            win_levels: 3,
            available: ActionSet::ARROWS,
        }
    }

    #[test]
    fn timeline_has_attempts_and_steps() {
        let running = |color, level| observation(color, level, PlayState::NotFinished);
        let mut timeline = Timeline::new(&running(1, 0));
        assert!(timeline.is_untouched());
        timeline.add(Action::Action1, &running(1, 0), &running(2, 0));
        assert!(!timeline.is_untouched());
        let click = Action::click(40, 12).unwrap();
        let lost = observation(3, 0, PlayState::GameOver);
        timeline.add(click, &running(2, 0), &lost);
        timeline.restart(&running(1, 0));
        timeline.add(Action::Action2, &running(1, 0), &running(4, 1));
        assert!(timeline.is_untouched() && timeline.steps() == 3);
        let text = timeline.describe(0, 9, false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "0: level 1, -, RUNNING: an attempt begins");
        assert!(lines[1].starts_with("1: level 1, ACTION1, RUNNING: 4096 cells: 1>2"));
        assert!(lines[2].starts_with("2: level 1, ACTION6(12, 40), GAME_OVER"));
        assert!(lines[4].ends_with("LEVEL_COMPLETED: the frame shows the next level"));
        assert_eq!(timeline.describe(3, 3, true).lines().count(), 1 + 1 + 64);
        assert!(timeline.describe(7, 9, true).contains("steps 0 to 3"));
        let mut reader = Reader::default();
        let all = timeline.news(&mut reader, false);
        assert_eq!(
            (all["entries"].as_array().unwrap().len(), &all["restart"]),
            (5, &json!(true))
        );
        let none = timeline.news(&mut reader, false);
        assert_eq!(
            (none["entries"].as_array().unwrap().len(), &none["restart"]),
            (0, &json!(false))
        );
        let all = timeline.news(&mut reader, true);
        assert_eq!(all["entries"].as_array().unwrap().len(), 5);
        let mut animated = running(6, 2);
        animated.frames.insert(0, Frame::filled(5));
        timeline.add(Action::Action1, &running(4, 1), &animated);
        let color = |winning| timeline.board(4, winning).map(|frame| frame.get(0, 0));
        assert_eq!((color(false), color(true)), (Some(6), Some(5)));
        assert_eq!(timeline.board(5, false), None);
    }
}
