//! Animation of the frames of one action at the environment's frame rate.

use std::time::{Duration, Instant};

use rhae_engine::Frame;

/// The frames of the last action, and which of them is shown.
pub(crate) struct Animation {
    frames: Vec<Frame>,
    shown: usize,
    /// The index of the frame at which the animation stops. If that is not the last frame,
    /// [`Animation::finish`] shows the last one.
    stop: usize,
    /// The time of the next frame; `None` once stopped.
    due: Option<Instant>,
    frame_time: Duration,
}

impl Animation {
    /// Creates a stopped animation of one frame.
    pub(crate) fn still(frame: Frame, frames_per_second: u8) -> Self {
        let frame_time = Duration::from_secs(1) / u32::from(frames_per_second.max(1));
        Self {
            frames: vec![frame],
            shown: 0,
            stop: 0,
            due: None,
            frame_time,
        }
    }

    /// Starts to show `frames` one after the other. With `hold`, the animation of several frames
    /// stops at the last but one, until [`Animation::finish`] is called.
    ///
    /// # Panics
    ///
    /// Panics if `frames` is empty.
    pub(crate) fn start(&mut self, frames: &[Frame], hold: bool, now: Instant) {
        assert!(!frames.is_empty(), "a step has at least one frame");
        self.frames = frames.to_vec();
        self.shown = 0;
        self.stop = frames.len().saturating_sub(if hold { 2 } else { 1 });
        self.due = (self.stop > 0).then(|| now + self.frame_time);
    }

    /// Returns the frame to show.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frames[self.shown]
    }

    /// Returns whether further frames are scheduled.
    pub(crate) const fn is_running(&self) -> bool {
        self.due.is_some()
    }

    /// Returns the time until the next frame, or `None` once stopped.
    pub(crate) fn time_to_next_frame(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// Shows the next frame if it is due. A late call also advances by one frame only, so no frame
    /// is skipped.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.due.is_some_and(|due| due <= now) {
            self.shown += 1;
            self.due = (self.shown < self.stop).then(|| now + self.frame_time);
        }
    }

    /// Jumps to the frame to stop at.
    pub(crate) fn skip(&mut self) {
        self.shown = self.stop;
        self.due = None;
    }

    /// Jumps to the last frame.
    pub(crate) fn finish(&mut self) {
        self.stop = self.frames.len() - 1;
        self.skip();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_advance_at_the_frame_rate_and_stop() {
        let frames: Vec<Frame> = (0..4).map(Frame::filled).collect();
        let mut animation = Animation::still(Frame::filled(9), 10);
        let start = Instant::now();
        assert_eq!(
            (
                animation.frame().get(0, 0),
                animation.time_to_next_frame(start)
            ),
            (9, None)
        );
        animation.start(&frames, true, start);
        assert_eq!(
            (
                animation.frame().get(0, 0),
                animation.time_to_next_frame(start)
            ),
            (0, Some(Duration::from_millis(100)))
        );
        animation.tick(start + Duration::from_millis(99));
        assert_eq!(animation.frame().get(0, 0), 0);
        animation.tick(start + Duration::from_millis(100));
        animation.tick(start + Duration::from_millis(200));
        assert_eq!(
            (animation.frame().get(0, 0), animation.is_running()),
            (2, false)
        );
        animation.finish();
        assert_eq!(animation.frame().get(0, 0), 3);
    }

    #[test]
    fn single_frame_needs_no_animation() {
        let mut animation = Animation::still(Frame::filled(0), 0);
        animation.start(&[Frame::filled(7)], true, Instant::now());
        assert_eq!(
            (animation.frame().get(0, 0), animation.is_running()),
            (7, false)
        );
    }
}
