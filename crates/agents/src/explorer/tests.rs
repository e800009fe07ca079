//! One test for each rule of the explorer: frames in, action out.

use rhae_engine::ActionSet;

use super::classes::{ActionClass, POSTPONED};
use super::*;
use crate::test_plays::{play_builtin, view};

const CLICKS: ActionSet = ActionSet::of(&[ActionKind::Action6]);
const KEYS: ActionSet = ActionSet::of(&[ActionKind::Action1, ActionKind::Action2]);

fn act(agent: &mut Explorer, frame: &Frame, available: ActionSet) -> Action {
    let frames = [frame.clone()];
    agent.act(&view(&frames, available)).unwrap().action
}

/// Lets the agent take actions in a world that `step` moves and `draw` shows.
fn play<S>(
    agent: &mut Explorer,
    world: &mut S,
    available: ActionSet,
    actions: usize,
    step: impl Fn(&mut S, Action),
    draw: impl Fn(&S) -> Frame,
) -> Vec<Action> {
    (0..actions)
        .map(|_| {
            let action = act(agent, &draw(world), available);
            step(world, action);
            action
        })
        .collect()
}

/// A frame with squares of these colours in a row, and a dot that shows a number.
fn squares(colors: &[u8], number: usize) -> Frame {
    let mut frame = Frame::filled(0);
    for (index, &color) in colors.iter().enumerate() {
        frame.rect(4 + 10 * index, 30, 5, 5, color);
    }
    frame.rect(10 + number, 50, 2, 2, 3);
    frame
}

fn clicked_color(frame: &Frame, action: Action) -> Option<u8> {
    match action {
        Action::Action6 { x, y } => Some(frame.get(x.into(), y.into())),
        _ => None,
    }
}

#[test]
fn class_without_effect_is_postponed_and_tried_in_the_end() {
    // Blue squares count up, red ones do nothing.
    let colors = [8, 9, 8, 9, 8];
    let step = |number: &mut usize, action| {
        if clicked_color(&squares(&colors, *number), action) == Some(9) {
            *number += 1;
        }
    };
    let mut agent = Explorer::new(3);
    let mut number = 0;
    let draw = |number: &usize| squares(&colors, *number);
    let actions = play(&mut agent, &mut number, CLICKS, 40, step, draw);
    let red = |actions: &[Action]| {
        let colors = actions
            .iter()
            .map(|&action| clicked_color(&squares(&colors, 0), action));
        colors.filter(|&color| color == Some(8)).count()
    };
    assert!(number > 25, "{number} effects in 40 clicks");
    assert!(red(&actions[10..]) <= 1, "{actions:?}");

    // Without other squares, the red ones are all tried at every state.
    let mut agent = Explorer::new(3);
    let alone = squares(&[8, 8, 8], 0);
    let mut clicked: Vec<Action> = (0..8).map(|_| act(&mut agent, &alone, CLICKS)).collect();
    clicked.retain(|&action| clicked_color(&alone, action) == Some(8));
    clicked.sort_unstable();
    clicked.dedup();
    assert_eq!(clicked.len(), 3);
}

#[test]
fn key_is_given_up_after_eight_states_without_effect() {
    let mut classes = Classes::default();
    let key = classes.id(ActionClass::Key(ActionKind::Action1));
    for state in 0..7 {
        classes.record(key, state, false);
        assert!(classes.chance(key, false) > 0.34, "after state {state}");
    }
    classes.record(key, 7, false);
    assert!((classes.chance(key, false) - POSTPONED).abs() < 1e-9);
}

#[test]
fn classes_are_known_on_the_next_level() {
    let colors = [8, 8, 9, 8];
    for seed in 0..5 {
        let mut agent = Explorer::new(seed);
        let mut number = 0;
        let step = |number: &mut usize, action| {
            if clicked_color(&squares(&colors, *number), action) == Some(9) {
                *number += 1;
            }
        };
        play(&mut agent, &mut number, CLICKS, 20, step, |&number| {
            squares(&colors, number)
        });
        let next = squares(&[8, 8, 8, 8, 9], 30);
        let frames = [next.clone()];
        let level = View {
            levels_completed: 1,
            ..view(&frames, CLICKS)
        };
        let action = agent.act(&level).unwrap().action;
        assert_eq!(clicked_color(&next, action), Some(9), "seed {seed}");
    }
}

#[test]
fn status_bar_is_not_a_part_of_the_state() {
    // Every action shortens a bar and does nothing else.
    let draw = |&used: &usize| {
        let mut frame = squares(&[9], 0);
        frame.rect(0, 62, 64 - used, 2, 14);
        frame
    };
    let mut agent = Explorer::new(1);
    play(&mut agent, &mut 0, KEYS, 12, |used, _| *used += 1, draw);
    assert_eq!(agent.graph.len(), 1);
}

/// A corridor in which ACTION1 goes forward. There is no way back except undo.
fn corridor(position: usize) -> Frame {
    let mut frame = Frame::filled(0);
    frame.rect(4 * position, 20, 4, 4, 9);
    frame
}

#[test]
fn undo_is_taken_if_it_is_shorter_than_the_way_back() {
    // Before the fork at position 7 only ACTION1 is offered. Both branches are dead ends, so the
    // untried key of the fork is one undo away, and eight steps over RESET.
    const FORK: usize = 7;
    let before = ActionSet::of(&[ActionKind::Action1, ActionKind::Action7]);
    let mut agent = Explorer::new(1);
    let mut log = Vec::new();
    let mut position = 0;
    for _ in 0..14 {
        let offered = match position {
            0..FORK => before,
            _ => KEYS.with(ActionKind::Action7),
        };
        let action = act(&mut agent, &corridor(position), offered);
        log.push((position, action));
        position = match action {
            Action::Action1 if position <= FORK => position + 1,
            Action::Action2 if position == FORK => FORK + 2,
            Action::Action7 if position > FORK => FORK,
            Action::Action7 => position.saturating_sub(1),
            Action::Reset => 0,
            _ => position,
        };
    }
    let is_back = |&(position, action): &(usize, Action)| {
        position > FORK && matches!(action, Action::Action7 | Action::Reset)
    };
    let back = log.iter().find(|step| is_back(step));
    assert!(
        matches!(back, Some((_, Action::Action7))),
        "the first step out of a dead end in {log:?}"
    );
}

#[test]
fn undo_that_does_not_lead_back_is_given_up() {
    let mut undo = UndoTrail::default();
    for node in 0..6 {
        undo.push(node);
    }
    assert_eq!(
        (undo.back(1), undo.back(6), undo.back(7)),
        (Some(5), Some(0), None)
    );
    undo.record_undo(5);
    assert_eq!(undo.back(1), Some(4));
    for _ in 0..2 {
        undo.push(7);
        undo.record_undo(9);
        undo.push(7);
    }
    assert_eq!(undo.back(1), None);
}

#[test]
fn action_that_loses_the_level_is_not_repeated_more_than_once() {
    // ACTION2 loses at every position, ACTION1 goes forward.
    let mut agent = Explorer::new(1);
    let mut losses = [0; 10];
    let mut position = 0;
    let mut lost = false;
    for _ in 0..120 {
        let frames = [corridor(position)];
        let state = if lost {
            PlayState::GameOver
        } else {
            PlayState::NotFinished
        };
        let now = View {
            state,
            ..view(&frames, KEYS)
        };
        let action = agent.act(&now).unwrap().action;
        match action {
            Action::Reset => (position, lost) = (0, false),
            Action::Action1 => position = (position + 1).min(9),
            _ => {
                lost = true;
                losses[position] += 1;
            }
        }
    }
    assert!(losses.iter().all(|&count| count <= 2), "{losses:?}");
    assert!(losses[0] >= 1, "everything is tried once: {losses:?}");
}

#[test]
fn part_of_a_thing_is_clicked_after_the_thing() {
    // A creature of three colours on a floor, and a separate square.
    let mut frame = Frame::filled(0);
    frame.rect(20, 20, 8, 8, 9);
    frame.rect(22, 22, 1, 2, 1);
    frame.rect(20, 28, 8, 2, 12);
    frame.rect(40, 40, 6, 6, 8);
    let scene = Scene::of(&frame);
    let choices = choices(&scene, CLICKS, &mut Classes::default());
    let whole = |x: u8, y: u8| {
        let object = scene.object(scene.object_at(x, y)).center;
        let click = Action::Action6 {
            x: object.0,
            y: object.1,
        };
        let found = choices.iter().find(|choice| choice.action == click);
        found.unwrap().whole
    };
    let body = scene.object(scene.object_at(20, 20)).center;
    assert_eq!(whole(20, 20), None);
    assert_eq!(whole(22, 22), Some(body));
    assert_eq!(whole(20, 28), Some(body));
    assert_eq!(whole(40, 40), None);
}

#[test]
fn parts_with_the_effect_of_their_thing_are_postponed() {
    let mut classes = Classes::default();
    let mut frame = Frame::filled(0);
    frame.rect(20, 20, 8, 8, 9);
    frame.rect(22, 22, 2, 2, 1);
    let choices = choices(&Scene::of(&frame), CLICKS, &mut classes);
    let part = choices
        .iter()
        .find(|choice| choice.whole.is_some())
        .unwrap();
    let unknown = classes.chance(part.class, true);
    classes.record_part(part.class, true);
    classes.record_part(part.class, true);
    assert!(classes.chance(part.class, true) < unknown / 10.0);
    classes.record_part(part.class, false);
    assert!((classes.chance(part.class, true) - unknown).abs() < 1e-9);
}

#[test]
fn nothing_offered_ends_the_play_and_never_restarts_the_game() {
    let frames = [Frame::filled(0)];
    let nothing = view(&frames, ActionSet::EMPTY);
    assert_eq!(Explorer::new(1).act(&nothing), Err(nothing_offered()));
    let mut agent = Explorer::new(1);
    agent.act(&view(&frames, KEYS)).unwrap();
    assert_eq!(agent.act(&nothing).unwrap().action, Action::Reset);
    assert_eq!(agent.act(&nothing), Err(nothing_offered()));
}

#[test]
fn two_plays_with_one_seed_are_equal() {
    let play = |seed| play_builtin(Explorer::new(seed), "hk26", 500);
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}
