//! The destinations of the frames of an action: a reusable buffer, or none.

use crate::Frame;

/// The maximum number of frames of a native game's action that a [`FrameBuffer`] stores.
pub const MAX_FRAMES: usize = 1000;

/// Receives the frames of an action while the game executes it.
///
/// A game passes each frame as a closure that draws it. A sink that discards frames, such as
/// [`NoFrames`], never calls the closure, so a search spends no time on drawing animations.
///
/// **Invariant:** the rules of a game do not depend on the sink. The state and the outcome of a
/// step are the same whether or not its frames are drawn.
///
/// # Examples
///
/// ```
/// use rhae_engine::{FrameBuffer, FrameSink, NoFrames};
///
/// // A flash of three frames.
/// fn flash(sink: &mut impl FrameSink) {
///     for color in [0, 15, 0] {
///         sink.frame(|frame| frame.clear(color));
///     }
/// }
///
/// let mut buffer = FrameBuffer::default();
/// flash(&mut buffer);
/// assert_eq!(buffer.frames().len(), 3);
/// assert_eq!(buffer.frames()[1].get(0, 0), 15);
/// flash(&mut NoFrames); // draws nothing
/// ```
pub trait FrameSink {
    /// Whether the sink keeps frames. If it does not, a game may skip work that is needed only for
    /// drawing.
    const DRAWS: bool;

    /// Receives one frame. The closure must set every cell, because the frame that it receives may
    /// hold an older image.
    fn frame(&mut self, draw: impl FnOnce(&mut Frame));
}

/// Discards all frames without drawing them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFrames;

impl FrameSink for NoFrames {
    const DRAWS: bool = false;

    #[inline(always)]
    fn frame(&mut self, _draw: impl FnOnce(&mut Frame)) {}
}

/// Stores frames in memory that is reused for the next action.
#[derive(Clone, Debug, Default)]
pub struct FrameBuffer {
    frames: Vec<Frame>,
    used: usize,
}

impl FrameBuffer {
    /// Creates an empty buffer that can hold this many frames before it allocates.
    pub fn with_capacity(frames: usize) -> Self {
        Self {
            frames: vec![Frame::filled(0); frames],
            used: 0,
        }
    }

    /// Removes all frames but keeps their memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Returns the frames received since the last [`clear`](Self::clear).
    pub fn frames(&self) -> &[Frame] {
        &self.frames[..self.used]
    }

    /// Replaces the content with copies of `frames`.
    pub fn set(&mut self, frames: &[Frame]) {
        self.clear();
        for frame in frames {
            self.frame(|own| own.copy_from(frame));
        }
    }
}

/// Takes ownership of the frames of a hosted game. [`MAX_FRAMES`] does not apply: the official
/// engine produces up to 1,001 frames.
impl From<Vec<Frame>> for FrameBuffer {
    fn from(frames: Vec<Frame>) -> Self {
        Self {
            used: frames.len(),
            frames,
        }
    }
}

impl FrameSink for FrameBuffer {
    const DRAWS: bool = true;

    /// Stores one frame. Once there are [`MAX_FRAMES`], each further frame replaces the last one,
    /// so that the settled frame is always present and always last.
    #[inline]
    fn frame(&mut self, draw: impl FnOnce(&mut Frame)) {
        if self.used < MAX_FRAMES {
            if self.used == self.frames.len() {
                self.frames.push(Frame::filled(0));
            }
            self.used += 1;
        }
        draw(&mut self.frames[self.used - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_beyond_the_limit_replace_the_last_frame() {
        let mut buffer = FrameBuffer::with_capacity(2);
        for _ in 0..MAX_FRAMES {
            buffer.frame(|frame| frame.clear(1));
        }
        buffer.frame(|frame| frame.clear(7));
        assert_eq!(buffer.frames().len(), MAX_FRAMES);
        assert_eq!(buffer.frames().last(), Some(&Frame::filled(7)));
    }

    #[test]
    fn cleared_buffer_is_empty_and_reusable() {
        let mut buffer = FrameBuffer::default();
        buffer.frame(|frame| frame.clear(3));
        buffer.clear();
        assert!(buffer.frames().is_empty());
        buffer.set(&[Frame::filled(4), Frame::filled(5)]);
        assert_eq!(buffer.frames(), [Frame::filled(4), Frame::filled(5)]);
    }
}
