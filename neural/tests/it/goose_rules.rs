use rhae_agents::{Agent, AgentError, View};
use rhae_engine::{Action, ActionKind, ActionSet, Frame, PlayState};
use rhae_neural::{Goose, GooseOptions, NetworkKind};

use crate::{Parameters, view};

const TWO_KEYS: ActionSet = ActionSet::of(&[ActionKind::Action1, ActionKind::Action2]);

fn goose(change: impl FnOnce(&mut GooseOptions)) -> Goose {
    let mut options = GooseOptions::original(NetworkKind::Lite);
    change(&mut options);
    Goose::new(options, 1)
}

fn act(agent: &mut Goose, frame: &Frame, available: ActionSet) -> Action {
    let frames = [frame.clone()];
    agent.act(&view(&frames, available)).unwrap().action
}

/// A frame that differs for each number below 4,096.
fn numbered(number: usize) -> Frame {
    let mut frame = Frame::filled(5);
    frame.set(number % 64, number / 64, 9);
    frame
}

#[test]
fn label_says_whether_any_cell_changed() {
    let mut agent = goose(|_| {});
    for number in [0, 0, 1] {
        act(&mut agent, &numbered(number), TWO_KEYS);
    }
    let labels: Vec<bool> = agent
        .samples()
        .samples()
        .iter()
        .map(|sample| sample.has_effect)
        .collect();
    // The second action may be the same as the first one, and its pair is then known.
    assert!(!labels[0] && labels.len() <= 2, "{labels:?}");
    assert!(labels.len() == 1 || labels[1], "{labels:?}");
}

#[test]
fn network_is_trained_every_five_actions_from_64_samples_on() {
    let mut agent = goose(|_| {});
    let untrained = Parameters::of(agent.learner().network());
    for number in 0..64 {
        act(&mut agent, &numbered(number), TWO_KEYS);
    }
    assert_eq!(agent.samples().samples().len(), 63);
    assert!(Parameters::of(agent.learner().network()) == untrained);
    act(&mut agent, &numbered(64), TWO_KEYS);
    let trained = Parameters::of(agent.learner().network());
    assert!(trained != untrained);
    for number in 65..69 {
        act(&mut agent, &numbered(number), TWO_KEYS);
    }
    assert!(Parameters::of(agent.learner().network()) == trained);
    act(&mut agent, &numbered(69), TWO_KEYS);
    assert!(Parameters::of(agent.learner().network()) != trained);
}

#[test]
fn level_change_drops_the_samples_and_the_network() {
    for keep_weights in [false, true] {
        let mut agent = goose(|options| options.keep_weights = keep_weights);
        for number in 0..4 {
            act(&mut agent, &numbered(number), TWO_KEYS);
        }
        assert_eq!(agent.samples().samples().len(), 3);
        let before = Parameters::of(agent.learner().network());
        let frames = [numbered(4)];
        let next = View {
            levels_completed: 1,
            ..view(&frames, TWO_KEYS)
        };
        agent.act(&next).unwrap();
        assert_eq!(agent.samples().samples().len(), 0);
        let after = Parameters::of(agent.learner().network());
        assert_eq!(after == before, keep_weights);
        assert_eq!(after.shapes, before.shapes);
    }
}

#[test]
fn lost_level_is_reset_and_the_frame_after_it_is_no_result() {
    let mut agent = goose(|_| {});
    act(&mut agent, &numbered(0), TWO_KEYS);
    let frames = [numbered(1)];
    let lost = View {
        state: PlayState::GameOver,
        ..view(&frames, TWO_KEYS)
    };
    assert_eq!(agent.act(&lost).unwrap().action, Action::Reset);
    assert_eq!(agent.samples().samples().len(), 1);
    act(&mut agent, &numbered(0), TWO_KEYS);
    assert_eq!(agent.samples().samples().len(), 1);
}

#[test]
fn undo_is_never_used_and_nothing_usable_ends_the_play() {
    let undo = ActionSet::of(&[ActionKind::Action7]);
    let frames = [Frame::filled(5)];
    let mut agent = goose(|_| {});
    let stuck = agent.act(&view(&frames, undo));
    assert!(matches!(stuck, Err(AgentError::Stuck(_))), "{stuck:?}");
    act(&mut agent, &frames[0], TWO_KEYS);
    assert_eq!(act(&mut agent, &frames[0], undo), Action::Reset);
    assert!(agent.act(&view(&frames, undo)).is_err());
    let with_key = undo.with(ActionKind::Action3);
    for number in 0..20 {
        assert_eq!(
            act(&mut agent, &numbered(number), with_key),
            Action::Action3
        );
    }
}

#[test]
fn known_actions_without_effect_are_skipped_until_all_are_known() {
    let mut agent = goose(|options| options.skip_known = true);
    let mut actions: Vec<Action> = (0..2)
        .map(|_| act(&mut agent, &numbered(0), TWO_KEYS))
        .collect();
    actions.sort_unstable();
    assert_eq!(actions, [Action::Action1, Action::Action2]);
    let third = act(&mut agent, &numbered(0), TWO_KEYS);
    assert!(TWO_KEYS.contains(third.kind()));
}

/// A board that never changes, with a bar that every action shortens by two cells.
fn with_bar(used: usize) -> Frame {
    let mut frame = Frame::filled(0);
    frame.rect(20, 20, 4, 4, 8);
    frame.rect(0, 63, 64 - 2 * used, 1, 9);
    frame
}

#[test]
fn masked_labels_ignore_status_bars() {
    let labels = |mask_status_bars| -> Vec<bool> {
        let mut agent = goose(|options| {
            options.mask_status_bars = mask_status_bars;
            options.skip_known = mask_status_bars;
        });
        for used in 0..20 {
            act(&mut agent, &with_bar(used), TWO_KEYS);
        }
        let samples = agent.samples().samples().iter();
        samples.map(|sample| sample.has_effect).collect()
    };
    assert_eq!(labels(false), [true; 19]);
    // The board is one state without its bar, so there is one sample for each key.
    assert_eq!(labels(true), [false; 2]);
}
