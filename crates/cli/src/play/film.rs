//! The frames of an answer, shown one after another at the environment's speed.

use std::time::{Duration, Instant};

use rhae_engine::Frame;

/// Frames and how far they have been shown.
pub(crate) struct Film {
    frames: Vec<Frame>,
    shown: usize,
    /// The frame to stop at; the one after it, if any, is shown by [`Film::finish`].
    stop: usize,
    /// When the next frame is due; `None` once stopped.
    due: Option<Instant>,
    pace: Duration,
}

impl Film {
    /// A still picture.
    pub(crate) fn still(frame: Frame, frames_per_second: u8) -> Self {
        let pace = Duration::from_secs(1) / u32::from(frames_per_second.max(1));
        Self {
            frames: vec![frame],
            shown: 0,
            stop: 0,
            due: None,
            pace,
        }
    }

    /// Begins to show frames, of which there is at least one. If held, it stops before the last.
    pub(crate) fn start(&mut self, frames: &[Frame], held: bool, now: Instant) {
        assert!(!frames.is_empty(), "an answer has at least one frame");
        self.frames = frames.to_vec();
        self.shown = 0;
        self.stop = frames.len().saturating_sub(if held { 2 } else { 1 });
        self.due = (self.stop > 0).then(|| now + self.pace);
    }

    /// The picture to show.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frames[self.shown]
    }

    /// Whether it is still moving.
    pub(crate) const fn is_running(&self) -> bool {
        self.due.is_some()
    }

    /// How long to wait for the next frame; `None` if there is none.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(now))
    }

    /// Shows the next frame if it is due. After a delay none is left out: one sees every step.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.due.is_some_and(|due| due <= now) {
            self.shown += 1;
            self.due = (self.shown < self.stop).then(|| now + self.pace);
        }
    }

    /// Shows the frame to stop at.
    pub(crate) fn skip(&mut self) {
        self.shown = self.stop;
        self.due = None;
    }

    /// Shows the last frame of all.
    pub(crate) fn finish(&mut self) {
        self.stop = self.frames.len() - 1;
        self.skip();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_at_their_pace_and_stop() {
        let frames: Vec<Frame> = (0..4).map(Frame::filled).collect();
        let mut film = Film::still(Frame::filled(9), 10);
        let begin = Instant::now();
        assert_eq!((film.frame().get(0, 0), film.wait(begin)), (9, None));
        film.start(&frames, true, begin);
        assert_eq!(
            (film.frame().get(0, 0), film.wait(begin)),
            (0, Some(Duration::from_millis(100)))
        );
        film.tick(begin + Duration::from_millis(99));
        assert_eq!(film.frame().get(0, 0), 0);
        film.tick(begin + Duration::from_millis(100));
        film.tick(begin + Duration::from_millis(200));
        assert_eq!((film.frame().get(0, 0), film.is_running()), (2, false));
        film.finish();
        assert_eq!(film.frame().get(0, 0), 3);
    }

    #[test]
    fn a_single_frame_is_shown_at_once() {
        let mut film = Film::still(Frame::filled(0), 0);
        film.start(&[Frame::filled(7)], true, Instant::now());
        assert_eq!((film.frame().get(0, 0), film.is_running()), (7, false));
    }
}
