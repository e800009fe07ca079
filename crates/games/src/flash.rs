//! The blinking that shows the reason for a refusal, a win or a loss.

use rhae_engine::{Frame, FrameSink};

/// Passes three frames to `sink`: one with a mark, one without it, and one with it again.
///
/// `draw` draws the frame without the mark. It runs once, because copying a frame is faster than
/// drawing it again.
pub(crate) fn flash<S: FrameSink>(
    sink: &mut S,
    draw: impl FnOnce(&mut Frame),
    mark: impl Fn(&mut Frame),
) {
    if !S::DRAWS {
        return;
    }
    let mut plain = Frame::filled(0);
    draw(&mut plain);
    for lit in [true, false, true] {
        sink.frame(|frame| {
            frame.copy_from(&plain);
            if lit {
                mark(frame);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use rhae_engine::FrameBuffer;

    use super::*;

    #[test]
    fn mark_is_in_the_first_and_the_last_frame() {
        let mut buffer = FrameBuffer::default();
        flash(
            &mut buffer,
            |frame| frame.clear(3),
            |frame| frame.set(5, 6, 8),
        );
        let colors = buffer.frames().iter().map(|frame| frame.get(5, 6));
        assert_eq!(colors.collect::<Vec<_>>(), [8, 3, 8]);
        assert!(buffer.frames().iter().all(|frame| frame.get(0, 0) == 3));
    }
}
