use rhae_engine::{Frame, Rng};
use rhae_neural::{ActionIndex, SampleBuffer};

fn action(index: usize) -> ActionIndex {
    ActionIndex::new(index).unwrap()
}

/// Inserts a sample for a frame of one colour.
fn insert(buffer: &mut SampleBuffer, color: u8, index: usize) -> bool {
    let frame = Frame::filled(color);
    buffer.insert(&frame, &frame, action(index), true)
}

#[test]
fn each_pair_of_frame_and_action_is_stored_once() {
    let mut buffer = SampleBuffer::new(10);
    assert!(insert(&mut buffer, 1, 0));
    assert!(!insert(&mut buffer, 1, 0));
    assert!(insert(&mut buffer, 1, 4100));
    assert!(insert(&mut buffer, 2, 0));
    assert_eq!(buffer.samples().len(), 3);
    buffer.clear();
    assert!(buffer.samples().is_empty());
    assert!(insert(&mut buffer, 1, 0));
}

#[test]
fn full_buffer_replaces_the_oldest_sample_and_still_knows_its_pair() {
    let mut buffer = SampleBuffer::new(3);
    for color in 0..5 {
        assert!(insert(&mut buffer, color, 0));
    }
    let mut colors: Vec<u8> = buffer
        .samples()
        .iter()
        .map(|sample| sample.frame.cells().next().unwrap())
        .collect();
    colors.sort_unstable();
    assert_eq!(colors, [2, 3, 4]);
    assert!(
        !insert(&mut buffer, 0, 0),
        "an evicted pair does not enter again"
    );
    assert_eq!(buffer.samples().len(), 3);
}

#[test]
fn pair_is_identified_by_the_frame_without_status_bars() {
    let mut buffer = SampleBuffer::new(3);
    let identity = Frame::filled(0);
    assert!(buffer.insert(&Frame::filled(1), &identity, action(0), false));
    assert!(!buffer.insert(&Frame::filled(2), &identity, action(0), false));
    let stored = &buffer.samples()[0].frame;
    assert!(
        stored.cells().all(|cell| cell == 1),
        "the network sees the exact frame"
    );
}

#[test]
fn actions_without_effect_are_listed_by_frame() {
    let mut buffer = SampleBuffer::new(10);
    let (here, there) = (Frame::filled(1), Frame::filled(2));
    for (frame, index, has_effect) in [
        (&here, 4100, false),
        (&here, 3, true),
        (&here, 0, false),
        (&there, 1, false),
    ] {
        buffer.insert(frame, frame, action(index), has_effect);
    }
    let listed: Vec<ActionIndex> = buffer.without_effect(&here).collect();
    assert_eq!(listed, [action(0), action(4100)]);
    assert_eq!(buffer.without_effect(&Frame::filled(3)).count(), 0);
}

#[test]
fn batch_is_drawn_without_replacement_and_needs_enough_samples() {
    let mut buffer = SampleBuffer::new(100);
    for index in 0..63 {
        insert(&mut buffer, 1, index);
    }
    let mut rng = Rng::new(1, 0);
    assert!(buffer.batch(64, &mut rng).is_none());
    insert(&mut buffer, 1, 63);
    let indices = |rng: &mut Rng, count| -> Vec<usize> {
        let batch = buffer.batch(count, rng).unwrap();
        batch.iter().map(|sample| sample.action.index()).collect()
    };
    let mut all = indices(&mut rng, 64);
    assert_ne!(all, (0..64).collect::<Vec<usize>>());
    all.sort_unstable();
    assert_eq!(all, (0..64).collect::<Vec<usize>>());
    assert_ne!(indices(&mut rng, 8), indices(&mut rng, 8));
}
