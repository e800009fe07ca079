//! Tests of bars and counters on drawn frames.

use super::*;

const KEYS: [ActionKind; 2] = [ActionKind::Action1, ActionKind::Action4];

fn observe(steps: usize, keys: &[ActionKind], frame: impl Fn(usize) -> Frame) -> StatusBars {
    let mut bars = StatusBars::default();
    for step in 0..steps {
        bars.observe(keys[step % keys.len()], &frame(step), &frame(step + 1));
    }
    bars
}

#[test]
fn shrinking_and_growing_bars_are_recognised_and_movers_are_not() {
    for grows in [false, true] {
        let bars = observe(5, &KEYS, |step| {
            let mut frame = Frame::filled(0);
            frame.rect(0, 62, 64, 2, 3);
            let length = if grows { 3 * step + 3 } else { 60 - 3 * step };
            frame.rect(0, 62, length, 2, 9);
            frame.rect(4 * step, 20, 4, 4, 3);
            frame
        });
        assert_eq!(bars.mask().len(), 128, "grows: {grows}");
        assert_eq!(bars.indicators().len(), 1, "{:?}", bars.indicators());
        let left = bars.indicators()[0].actions_left().unwrap();
        assert_eq!(left, if grows { 16 } else { 15 });
    }
}

#[test]
fn trail_in_a_corridor_needs_more_evidence_than_a_bar() {
    let trail = |step: usize| {
        let mut frame = Frame::filled(0);
        frame.rect(0, 30, 64, 2, 3);
        frame.rect(0, 30, 2 * step + 2, 2, 9);
        frame
    };
    assert!(observe(6, &KEYS[..1], trail).indicators().is_empty());
    assert_eq!(observe(6, &KEYS, trail).indicators().len(), 1);
}

#[test]
fn bar_that_moves_only_every_second_action_is_recognised() {
    let keys = [KEYS[0], KEYS[0], KEYS[1]];
    let bars = observe(7, &keys, |step| {
        let mut frame = Frame::filled(0);
        frame.rect(2, 1, 1, 60 - step / 2, 9);
        frame
    });
    assert_eq!(bars.indicators().len(), 1);
    assert!(bars.mask().contains(2, 1) && bars.mask().contains(2, 60));
}

#[test]
fn counter_near_the_edge_is_masked() {
    let bars = observe(8, &KEYS, |step| {
        let mut frame = Frame::filled(0);
        // The digits of a number, as bits.
        for bit in 0..4 {
            frame.rect(50 + 3 * bit, 2, 2, 3, (step >> bit & 1) as u8 * 9);
        }
        frame
    });
    assert!(matches!(bars.indicators(), [one] if one.kind == IndicatorKind::Counter));
}

#[test]
fn object_that_moves_to_and_fro_at_the_edge_is_not_a_counter() {
    let bars = observe(12, &KEYS, |step| {
        let mut frame = Frame::filled(0);
        frame.rect([4, 8, 12, 8][step % 4], 2, 4, 4, 9);
        frame
    });
    assert_eq!(bars.indicators(), []);
}

#[test]
fn counter_that_turns_out_to_show_the_board_is_withdrawn() {
    let shown = [0, 1, 2, 3, 4, 5, 6, 5, 6];
    let frame = |step: usize| {
        let mut frame = Frame::filled(0);
        for bit in 0..4 {
            frame.rect(50 + 3 * bit, 2, 2, 3, (shown[step] >> bit & 1) as u8 * 9);
        }
        frame
    };
    assert!(!observe(6, &KEYS, frame).mask().is_empty());
    let mut bars = observe(8, &KEYS, frame);
    assert!(bars.mask().is_empty(), "{:?}", bars.indicators());
    for step in 0..6 {
        bars.observe(KEYS[step % 2], &frame(step), &frame(step + 1));
    }
    assert!(bars.mask().is_empty(), "the cells are not masked again");
}

#[test]
fn bar_of_a_game_that_charges_only_some_actions_is_recognised() {
    let keys = [KEYS[0], KEYS[1], ActionKind::Action2, ActionKind::Action6];
    let used = [0, 1, 2, 2, 2, 2, 2, 3, 4, 4, 5, 6];
    let bars = observe(11, &keys, |step| {
        let mut frame = Frame::filled(0);
        frame.rect(2, 58, 60, 3, 3);
        frame.rect(2, 58, 60 - 2 * used[step], 3, 10);
        frame
    });
    assert_eq!(bars.indicators().len(), 1);
}

/// Five objects in a row, of which the first ones are used up.
fn pips(used: usize) -> Frame {
    let mut frame = Frame::filled(0);
    for pip in 0..5 {
        frame.rect(10 + 5 * pip, 60, 3, 3, if pip < used { 4 } else { 9 });
        frame.set(11 + 5 * pip, 61, 3);
    }
    frame
}

#[test]
fn row_of_equal_objects_that_are_used_up_is_a_bar() {
    let bars = observe(3, &KEYS, pips);
    let [one] = bars.indicators() else {
        panic!("{:?}", bars.indicators());
    };
    assert_eq!(one.actions_left(), Some(2));
    assert_eq!(bars.mask().len(), 23 * 3);
    // A click may change an object that it hits, so three clicks are not enough.
    let clicks = &[ActionKind::Action6];
    assert_eq!(observe(3, clicks, pips).indicators(), []);
    assert_eq!(observe(4, clicks, pips).indicators().len(), 1);
    let out_of_order = |step: usize| {
        let mut frame = pips(0);
        for pip in &[0, 3, 1, 2][..step] {
            frame.rect(10 + 5 * pip, 60, 3, 3, 4);
        }
        frame
    };
    assert_eq!(observe(4, &KEYS, out_of_order).indicators(), []);
}

#[test]
fn undo_gives_back_what_an_action_used_up() {
    let mut bars = StatusBars::default();
    let undo = ActionKind::Action7;
    for (kind, before, after) in [
        (KEYS[0], 0, 1),
        (undo, 1, 0),
        (KEYS[1], 0, 1),
        (KEYS[0], 1, 2),
        (KEYS[1], 2, 3),
    ] {
        bars.observe(kind, &pips(before), &pips(after));
    }
    assert_eq!(bars.indicators().len(), 1);
}

#[test]
fn indicators_survive_a_new_attempt() {
    let mut bars = observe(5, &KEYS, |step| {
        let mut frame = Frame::filled(0);
        frame.rect(0, 63, 64 - step, 1, 9);
        frame
    });
    let mask = *bars.mask();
    bars.start_attempt();
    assert_eq!(*bars.mask(), mask);
    assert!(!mask.is_empty());
}
