//! Where the frames of a step go: into a buffer that is kept and reused, or nowhere.

use crate::Frame;

/// The most frames one action may give.
pub const MAX_FRAMES: usize = 1000;

/// Takes the frames of an animation as a game steps.
///
/// A game offers each intermediate frame as a closure that draws all of it, so that a search, which looks at no
/// picture, pays nothing for animations.
pub trait FrameSink {
    /// Whether frames are kept; a game may skip work that only pictures need when they are not.
    const DRAWS: bool;

    /// Takes one frame. The closure must draw every cell: what it is given holds an older picture.
    fn frame(&mut self, draw: impl FnOnce(&mut Frame));
}

/// Drops all frames without drawing them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFrames;

impl FrameSink for NoFrames {
    const DRAWS: bool = false;

    #[inline(always)]
    fn frame(&mut self, _draw: impl FnOnce(&mut Frame)) {}
}

/// Frames kept in memory that is used again for the next action.
#[derive(Clone, Debug, Default)]
pub struct FrameBuffer {
    frames: Vec<Frame>,
    used: usize,
}

impl FrameBuffer {
    /// A buffer that holds this many frames before it allocates again.
    pub fn with_capacity(frames: usize) -> Self {
        Self {
            frames: vec![Frame::filled(0); frames],
            used: 0,
        }
    }

    /// Forgets the frames but keeps their memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// The frames taken since the last [`clear`](Self::clear).
    pub fn frames(&self) -> &[Frame] {
        &self.frames[..self.used]
    }

    /// Replaces the content.
    pub fn set(&mut self, frames: &[Frame]) {
        self.clear();
        for frame in frames {
            self.frame(|own| own.copy_from(frame));
        }
    }
}

/// Frames from outside, as many as there are: the official engine gives up to 1,001.
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

    /// Past [`MAX_FRAMES`] the last frame is replaced: the settled picture is always there and always last.
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
    fn frames_beyond_the_limit_replace_the_last() {
        let mut buffer = FrameBuffer::with_capacity(2);
        for _ in 0..MAX_FRAMES {
            buffer.frame(|frame| frame.clear(1));
        }
        buffer.frame(|frame| frame.clear(7));
        assert_eq!(buffer.frames().len(), MAX_FRAMES);
        assert_eq!(buffer.frames().last(), Some(&Frame::filled(7)));
    }

    #[test]
    fn a_cleared_buffer_starts_over() {
        let mut buffer = FrameBuffer::default();
        buffer.frame(|frame| frame.clear(3));
        buffer.clear();
        assert!(buffer.frames().is_empty());
        buffer.set(&[Frame::filled(4), Frame::filled(5)]);
        assert_eq!(buffer.frames(), [Frame::filled(4), Frame::filled(5)]);
    }
}
