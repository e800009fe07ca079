//! Animations as sequences of events.

use rhae_engine::Frame;

use crate::{Bounds, Change, Matching, Scene};

/// Something that happened to one object during an animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnimationEvent {
    /// The index of the first frame that shows the change.
    pub first_frame: usize,
    /// The index of the last frame that shows the change. Movements in one direction over several
    /// frames are one event.
    pub last_frame: usize,
    /// The colour of the object, before the change if it existed then.
    pub color: u8,
    /// The bounds before the change, `None` if the object did not exist.
    pub from: Option<Bounds>,
    /// The bounds after the change, `None` if the object does not exist any more.
    pub to: Option<Bounds>,
    /// The change. The vector of a movement is its sum over all frames.
    pub change: Change,
}

/// Reads animations into events. It keeps its buffers.
#[derive(Clone, Default)]
pub struct AnimationReader {
    before: Scene,
    after: Scene,
    matching: Matching,
}

impl AnimationReader {
    /// Returns what happens from the settled frame before an action to the last frame after it, in
    /// the order in which it begins.
    ///
    /// Changes of the background are left out, because everything that moves changes it.
    pub fn read(&mut self, settled: &Frame, frames: &[Frame]) -> Vec<AnimationEvent> {
        let mut events: Vec<AnimationEvent> = Vec::new();
        self.before.read(settled);
        let mut moving: Vec<Option<usize>> = vec![None; self.before.objects().len()];
        for (index, frame) in frames.iter().enumerate() {
            self.after.read(frame);
            self.matching.update(&self.before, &self.after);
            let mut next_moving = vec![None; self.after.objects().len()];
            let background = self.before.background();
            for event in self.matching.events() {
                if event.before == Some(background) && event.change != Change::SplitOff {
                    continue;
                }
                let running = event.before.and_then(|id| moving[usize::from(id.0)]);
                let to = event.after.map(|id| self.after.object(id).bounds);
                let extended = running.filter(|&at| extend(&mut events[at], event.change));
                let position = extended.unwrap_or_else(|| {
                    let from = event.before.map(|id| self.before.object(id));
                    let new = event.after.map(|id| self.after.object(id));
                    events.push(AnimationEvent {
                        first_frame: index,
                        last_frame: index,
                        color: from.or(new).expect("an event has an object").color,
                        from: from.map(|object| object.bounds),
                        to,
                        change: event.change,
                    });
                    events.len() - 1
                });
                events[position].last_frame = index;
                events[position].to = to;
                if let (Some(after), Change::Moved { .. }) = (event.after, event.change) {
                    next_moving[usize::from(after.0)] = Some(position);
                }
            }
            moving = next_moving;
            std::mem::swap(&mut self.before, &mut self.after);
        }
        events
    }
}

/// Adds a movement to an event if it continues in the same direction, and returns whether it did.
fn extend(event: &mut AnimationEvent, change: Change) -> bool {
    let (
        Change::Moved { dx, dy },
        Change::Moved {
            dx: more_x,
            dy: more_y,
        },
    ) = (event.change, change)
    else {
        return false;
    };
    if (dx.signum(), dy.signum()) != (more_x.signum(), more_y.signum()) {
        return false;
    }
    event.change = Change::Moved {
        dx: dx.saturating_add(more_x),
        dy: dy.saturating_add(more_y),
    };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(x: usize, y: usize) -> Frame {
        let mut frame = Frame::filled(0);
        frame.rect(x, y, 3, 3, 9);
        frame
    }

    #[test]
    fn slide_is_one_event_and_a_turn_begins_another() {
        let frames = [ball(12, 10), ball(14, 10), ball(16, 10), ball(16, 13)];
        let events = AnimationReader::default().read(&ball(10, 10), &frames);
        let found: Vec<_> = events
            .iter()
            .map(|event| (event.first_frame, event.last_frame, event.change))
            .collect();
        assert_eq!(
            found,
            [
                (0, 2, Change::Moved { dx: 6, dy: 0 }),
                (3, 3, Change::Moved { dx: 0, dy: 3 })
            ]
        );
        assert_eq!(events[0].from.unwrap().left, 10);
        assert_eq!(events[0].to.unwrap().left, 16);
    }

    #[test]
    fn flash_is_recorded_although_the_settled_frame_is_unchanged() {
        let mut lit = ball(10, 10);
        lit.rect(10, 10, 3, 3, 11);
        let events = AnimationReader::default().read(&ball(10, 10), &[lit, ball(10, 10)]);
        let changes: Vec<_> = events.iter().map(|event| event.change).collect();
        assert_eq!(
            changes,
            [
                Change::Recolored { from: 9, to: 11 },
                Change::Recolored { from: 11, to: 9 }
            ]
        );
    }
}
