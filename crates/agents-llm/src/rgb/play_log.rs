//! The append-only log of a play, as text.
//!
//! Each entry begins with a line `=== ACTION n: NAME | level l | attempt a | … | STATE ===` and ends
//! with the board, 64 lines of hexadecimal digits. In between it says what changed, what the last
//! actions changed, and what was already tried on the board that the action started from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::fmt::Write as _;

use rhae_engine::{Action, Frame};

use crate::action_text::action_text;
use crate::board::{board_text, changes_text};
use crate::threaded::Observation;

/// The number of earlier actions whose changes an entry repeats.
const RECENT: usize = 5;

/// An executed action.
pub(super) struct Entry<'a> {
    pub(super) action: Action,
    pub(super) before: &'a Observation,
    pub(super) after: &'a Observation,
    /// The number of the action in its plan and the size of the plan; absent for actions of the
    /// player itself.
    pub(super) step: Option<(usize, usize)>,
}

/// The log of a play.
#[derive(Default)]
pub(super) struct PlayLog {
    text: String,
    /// The start of each line in `text`.
    line_starts: Vec<usize>,
    actions: usize,
    attempt: u32,
    plan: String,
    /// One line about each of the last actions.
    recent: Vec<String>,
    /// What was tried on each board of the current level: the action and what it did.
    tried: BTreeMap<Vec<u8>, Vec<String>>,
}

impl PlayLog {
    /// Writes the first board.
    pub(super) fn start(&mut self, first: &Observation) {
        self.attempt = 1;
        let mut text = format!(
            "=== ACTION 0: START | level {} | attempt 1 | score {} | {} ===\n",
            first.levels_completed + 1,
            first.levels_completed,
            first.state.name()
        );
        push_board(&mut text, first.settled());
        self.push(&text);
    }

    /// Notes the plan that the next entries belong to.
    pub(super) fn start_plan(&mut self, plan: &str) {
        self.plan = plan.replace(['\r', '\n'], " ");
    }

    /// Writes an action and the board after it.
    pub(super) fn append(&mut self, entry: &Entry<'_>) {
        let Entry {
            action,
            before,
            after,
            step,
        } = entry;
        let action = *action;
        let name = action_text(action);
        self.actions += 1;
        if action == Action::Reset {
            self.attempt += 1;
        }
        let new_level = after.levels_completed != before.levels_completed;
        let step = step.map_or_else(String::new, |(number, of)| {
            format!(" | plan step {number}/{of}")
        });
        let mut text = format!(
            "=== ACTION {}: {name} | level {} | attempt {}{step} | score {} | {} ===\n",
            self.actions,
            before.levels_completed + 1,
            self.attempt,
            after.levels_completed,
            after.state.name()
        );
        if !self.plan.is_empty() {
            let _ = writeln!(text, "[PLAN] {}", self.plan);
        }
        let changes = if new_level {
            "the level is completed; the board shows the next one".to_owned()
        } else {
            changes_text(before.settled(), after.settled())
        };
        let _ = writeln!(text, "[CHANGES] {changes}");
        if !self.recent.is_empty() {
            text.push_str("[RECENT]\n");
            for line in &self.recent {
                let _ = writeln!(text, "  {line}");
            }
        }
        self.push_tried(&mut text, entry, &changes);
        if after.frames.len() > 1 {
            let _ = writeln!(
                text,
                "[ANIMATION] {} frames; the board is the last",
                after.frames.len()
            );
        }
        push_board(&mut text, after.settled());
        self.push(&text);
        if self.recent.len() == RECENT {
            self.recent.remove(0);
        }
        self.recent
            .push(format!("{}: {name}: {changes}", self.actions));
        if new_level {
            self.tried.clear();
            self.attempt = 1;
            self.recent.clear();
        }
    }

    /// Returns the number of lines.
    pub(super) fn lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns the whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns a line without its end, numbered from 1.
    pub(super) fn line(&self, number: usize) -> Option<&str> {
        let start = *self.line_starts.get(number.checked_sub(1)?)?;
        let end = self.line_starts.get(number).copied();
        Some(self.text[start..end.unwrap_or(self.text.len())].trim_end_matches('\n'))
    }

    fn push(&mut self, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.line_starts.push(start);
        let newlines = text.match_indices('\n').map(|(at, _)| start + at + 1);
        let end = self.text.len();
        self.line_starts.extend(newlines.filter(|&at| at < end));
    }

    /// Writes what was tried before on the board that an action started from, and adds the action.
    fn push_tried(&mut self, text: &mut String, entry: &Entry<'_>, changes: &str) {
        let board = entry.before.settled().cells().to_vec();
        let result = format!("{}: {changes}", action_text(entry.action));
        match self.tried.entry(board) {
            MapEntry::Vacant(vacant) => drop(vacant.insert(vec![result])),
            MapEntry::Occupied(mut known) => {
                text.push_str("[TRIED BEFORE ON THE SAME BOARD]\n");
                for line in known.get() {
                    let _ = writeln!(text, "  {line}");
                }
                if !known.get().contains(&result) {
                    known.get_mut().push(result);
                }
            }
        }
    }
}

fn push_board(text: &mut String, frame: &Frame) {
    text.push_str("[BOARD]\n");
    text.push_str(&board_text(frame));
}

#[cfg(test)]
mod tests {
    use rhae_engine::{ActionSet, PlayState};

    use super::*;

    fn observation(color: u8, levels_completed: u8) -> Observation {
        Observation {
            frames: vec![Frame::filled(color)],
            state: PlayState::NotFinished,
            levels_completed,
            win_levels: 3,
            available: ActionSet::ARROWS,
        }
    }

    fn append(log: &mut PlayLog, action: Action, before: &Observation, after: &Observation) {
        log.append(&Entry {
            action,
            before,
            after,
            step: Some((1, 2)),
        });
    }

    #[test]
    fn entries_say_what_changed_and_what_was_tried() {
        let mut log = PlayLog::default();
        let (first, second) = (observation(5, 0), observation(10, 0));
        log.start(&first);
        assert_eq!(log.lines(), 66);
        assert_eq!(
            log.line(1),
            Some("=== ACTION 0: START | level 1 | attempt 1 | score 0 | NOT_FINISHED ===")
        );
        assert_eq!(log.line(66), Some("5".repeat(64).as_str()));
        assert_eq!((log.line(67), log.line(0)), (None, None));
        log.start_plan("up\nand away");
        append(&mut log, Action::Action1, &first, &second);
        assert_eq!(
            log.line(67),
            Some(
                "=== ACTION 1: ACTION1 | level 1 | attempt 1 | plan step 1/2 | score 0 | NOT_FINISHED ==="
            )
        );
        assert_eq!(log.line(68), Some("[PLAN] up and away"));
        assert_eq!(
            log.line(69),
            Some("[CHANGES] 4096 cells: 5>a x4096 (rows 0-63, columns 0-63)")
        );
        append(&mut log, Action::Reset, &second, &first);
        append(&mut log, Action::Action1, &first, &second);
        let tail = log.text().rsplit("===\n").next().unwrap();
        assert!(
            tail.contains("[TRIED BEFORE ON THE SAME BOARD]\n  ACTION1: 4096 cells"),
            "{tail}"
        );
        assert!(tail.contains("[RECENT]\n  1: ACTION1: 4096 cells"));
        assert!(
            log.text()
                .contains("ACTION 3: ACTION1 | level 1 | attempt 2")
        );
    }

    #[test]
    fn new_level_starts_afresh() {
        let mut log = PlayLog::default();
        let (first, next) = (observation(5, 0), observation(5, 1));
        log.start(&first);
        append(&mut log, Action::Action1, &first, &next);
        append(&mut log, Action::Action1, &next, &next);
        let text = log.text();
        assert!(text.contains("[CHANGES] the level is completed"));
        assert!(text.contains("ACTION 2: ACTION1 | level 2 | attempt 1"));
        assert!(!text.contains("[TRIED") && !text.contains("[RECENT]"));
        assert!(text.contains("[CHANGES] nothing"));
        let joined: Vec<&str> = (1..=log.lines())
            .map(|line| log.line(line).unwrap())
            .collect();
        assert_eq!(joined.join("\n") + "\n", text);
    }
}
