//! One test for each rule of the original agent, and tests of whole plays.

use rhae_engine::{ActionKind, Frame};

use super::level_graph::Outcome;
use super::*;
use crate::test_plays::{play_builtin, view};

const CLICKS: ActionSet = ActionSet::of(&[ActionKind::Action6]);
const TWO_KEYS: ActionSet = ActionSet::of(&[ActionKind::Action1, ActionKind::Action2]);

fn lost(frames: &[Frame]) -> View<'_> {
    View {
        state: PlayState::GameOver,
        ..view(frames, TWO_KEYS)
    }
}

fn tiers_of(frame: &Frame) -> Vec<u8> {
    let mask = StatusBarMask::of_first_frame(frame);
    let found = targets(&mask.scene(frame), CLICKS);
    found.iter().map(|(_, tier)| *tier).collect()
}

/// A graph with nodes of one action each tier.
fn graph(nodes: u128, tiers: &[u8]) -> (LevelGraph, Vec<NodeId>) {
    let mut graph = LevelGraph::default();
    let ids = (0..nodes)
        .map(|key| graph.insert(key, tiers.iter().copied()))
        .collect();
    (graph, ids)
}

#[test]
fn status_bar_is_elongated_along_a_near_edge() {
    let masked = |x, y, width, height| {
        let mut frame = Frame::filled(0);
        frame.rect(x, y, width, height, 9);
        let mask = StatusBarMask::of_first_frame(&frame);
        !mask.cells().is_empty()
    };
    assert!(masked(10, 0, 15, 3));
    assert!(masked(10, 61, 10, 2));
    assert!(masked(61, 20, 2, 10));
    assert!(!masked(10, 1, 15, 3), "not completely within 3 cells");
    assert!(!masked(10, 0, 14, 3), "less than 5:1");
    assert!(!masked(0, 0, 2, 9), "4.5:1 along the left edge");
}

#[test]
fn status_bar_is_one_of_three_twins_on_the_same_edge() {
    let mut frame = Frame::filled(0);
    frame.rect(4, 0, 2, 2, 9);
    frame.rect(8, 0, 2, 2, 9);
    frame.rect(12, 62, 2, 2, 9);
    assert!(StatusBarMask::of_first_frame(&frame).cells().is_empty());
    frame.rect(12, 1, 2, 2, 8);
    assert!(StatusBarMask::of_first_frame(&frame).cells().is_empty());
    frame.rect(16, 1, 2, 2, 9);
    let mask = StatusBarMask::of_first_frame(&frame);
    assert_eq!(mask.cells().len(), 12, "the three of colour 9 at the top");
}

#[test]
fn masked_cells_are_zero_in_the_hash_and_one_object_in_the_segmentation() {
    let mut first = Frame::filled(3);
    first.rect(0, 63, 64, 1, 9);
    let mask = StatusBarMask::of_first_frame(&first);
    let mut later = first.clone();
    later.rect(0, 63, 20, 1, 5);
    assert_eq!(mask.key(&first, CLICKS), mask.key(&later, CLICKS));
    assert_eq!(mask.scene(&later).objects().len(), 2);
    later.rect(0, 62, 1, 1, 5);
    assert_ne!(mask.key(&first, CLICKS), mask.key(&later, CLICKS));
}

#[test]
fn clicks_have_five_tiers() {
    let mut frame = Frame::filled(0); // 3: neither salient nor medium
    frame.rect(0, 0, 64, 1, 9); // 4: a status bar
    frame.rect(10, 10, 2, 32, 6); // 0: salient and medium
    frame.rect(20, 10, 4, 4, 5); // 1: medium
    frame.rect(30, 10, 1, 4, 15); // 2: salient
    assert_eq!(tiers_of(&frame), [4, 3, 0, 1, 2]);
    let mut wide = Frame::filled(0);
    wide.rect(10, 10, 33, 4, 6);
    assert_eq!(tiers_of(&wide), [3, 2]);
}

#[test]
fn simple_actions_one_to_five_join_tier_zero() {
    let all = ActionKind::ALL.into_iter().skip(1);
    let offered = all.fold(ActionSet::EMPTY, ActionSet::with);
    let found = targets(&Scene::of(&Frame::filled(0)), offered);
    let simple: Vec<u8> = found
        .iter()
        .filter_map(|(target, tier)| match target {
            Target::Simple(kind) => Some(kind.id() * 10 + tier),
            Target::Object(_) => None,
        })
        .collect();
    assert_eq!(simple, [10, 20, 30, 40, 50]);
    assert_eq!(found.len(), 6, "and one object");
}

#[test]
fn click_is_a_random_cell_of_the_component() {
    let mut frame = Frame::filled(0);
    frame.rect(20, 30, 5, 5, 9);
    let frames = [frame];
    let clicks: Vec<Action> = (0..40)
        .map(|seed| {
            JustExplore::new(seed)
                .act(&view(&frames, CLICKS))
                .unwrap()
                .action
        })
        .collect();
    let mut distinct = clicks.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 10, "{distinct:?}");
    assert!(clicks.iter().all(|click| matches!(
        click,
        Action::Action6 {
            x: 20..=24,
            y: 30..=34
        }
    )));
}

#[test]
fn untested_action_of_the_current_node_comes_first() {
    let mut agent = JustExplore::new(1);
    let frames = [Frame::filled(0)];
    let mut actions: Vec<Action> = (0..2)
        .map(|_| agent.act(&view(&frames, TWO_KEYS)).unwrap().action)
        .collect();
    actions.sort_unstable();
    assert_eq!(actions, [Action::Action1, Action::Action2]);
}

#[test]
fn same_frame_is_a_fail_and_another_frame_a_success() {
    let (mut graph, nodes) = graph(2, &[0, 0]);
    graph.record(nodes[0], 0, nodes[0], false);
    graph.record(nodes[0], 1, nodes[1], false);
    assert_eq!(graph.outcome(nodes[0], 0), Outcome::Fail);
    assert_eq!(graph.outcome(nodes[0], 1), Outcome::Success(nodes[1]));
}

#[test]
fn closed_node_takes_a_shortest_path_to_the_frontier() {
    let (mut graph, nodes) = graph(4, &[0, 0]);
    // 0 leads to 1 and 2, both closed. 1 leads to 2, and 2 to the frontier 3.
    graph.record(nodes[0], 0, nodes[1], false);
    graph.record(nodes[0], 1, nodes[2], false);
    graph.record(nodes[1], 0, nodes[2], false);
    graph.record(nodes[1], 1, nodes[0], false);
    graph.record(nodes[2], 0, nodes[3], false);
    graph.record(nodes[2], 1, nodes[2], false);
    assert!(graph.untested(nodes[0]).is_empty());
    assert_eq!(graph.steps_to_frontier(nodes[0]), [1]);
    assert_eq!(graph.steps_to_frontier(nodes[1]), [0]);
    assert_eq!(graph.steps_to_frontier(nodes[2]), [0]);
}

#[test]
fn next_tier_opens_when_the_frontier_is_exhausted() {
    let (mut graph, nodes) = graph(1, &[0, 2]);
    assert_eq!(graph.untested(nodes[0]), [0]);
    graph.record(nodes[0], 0, nodes[0], false);
    assert!(graph.untested(nodes[0]).is_empty());
    assert!(graph.steps_to_frontier(nodes[0]).is_empty());
    assert!(graph.open_next_tier() && graph.open_next_tier());
    assert_eq!(graph.active_tier(), 2);
    assert_eq!(graph.untested(nodes[0]), [1], "the node is open again");
    assert!(graph.open_next_tier() && graph.open_next_tier());
    assert!(!graph.open_next_tier(), "there are five tiers");
}

#[test]
fn suspicious_transition_is_ignored_until_seen_three_times() {
    let (mut graph, nodes) = graph(2, &[0]);
    for _ in 0..2 {
        graph.record(nodes[1], 0, nodes[0], true);
        assert_eq!(graph.outcome(nodes[1], 0), Outcome::Untested);
    }
    graph.record(nodes[1], 0, nodes[0], true);
    assert_eq!(graph.outcome(nodes[1], 0), Outcome::Success(nodes[0]));
}

#[test]
fn return_to_the_first_frame_by_an_animation_is_suspicious() {
    let (start, other) = (Frame::filled(0), Frame::filled(1));
    let outcome_after = |frames: &[Frame]| {
        let mut agent = JustExplore::new(1);
        agent
            .act(&view(std::slice::from_ref(&start), TWO_KEYS))
            .unwrap();
        agent
            .act(&view(std::slice::from_ref(&other), TWO_KEYS))
            .unwrap();
        let (from, action) = agent.last.unwrap();
        agent.act(&view(frames, TWO_KEYS)).unwrap();
        agent.graph.outcome(from, action)
    };
    let animation = [other.clone(), start.clone()];
    assert_eq!(outcome_after(&animation), Outcome::Untested);
    assert!(matches!(
        outcome_after(&animation[1..]),
        Outcome::Success(_)
    ));
}

#[test]
fn transition_over_a_game_over_is_suspicious() {
    let mut agent = JustExplore::new(1);
    let (start, over) = ([Frame::filled(0)], [Frame::filled(2)]);
    agent.act(&view(&start, TWO_KEYS)).unwrap();
    let (from, action) = agent.last.unwrap();
    assert_eq!(agent.act(&lost(&over)).unwrap().action, Action::Reset);
    agent.act(&view(&start, TWO_KEYS)).unwrap();
    assert_eq!(agent.graph.outcome(from, action), Outcome::Untested);
}

#[test]
fn contradiction_replaces_the_target_only_if_nearer_to_the_frontier() {
    let (mut graph, nodes) = graph(4, &[0]);
    // 3 is the frontier; 0 -> 1 -> 2 -> 3.
    for pair in nodes.windows(2) {
        graph.record(pair[0], 0, pair[1], false);
    }
    graph.record(nodes[1], 0, nodes[0], false);
    assert_eq!(graph.outcome(nodes[1], 0), Outcome::Success(nodes[2]));
    graph.record(nodes[0], 0, nodes[2], false);
    assert_eq!(graph.outcome(nodes[0], 0), Outcome::Success(nodes[2]));
    assert_eq!(graph.steps_to_frontier(nodes[0]), [0]);
}

#[test]
fn result_that_is_contradicted_three_times_in_a_row_is_replaced() {
    let (mut graph, nodes) = graph(3, &[0]);
    graph.record(nodes[0], 0, nodes[1], false);
    for _ in 0..2 {
        graph.record(nodes[0], 0, nodes[0], false);
        assert_eq!(graph.outcome(nodes[0], 0), Outcome::Success(nodes[1]));
    }
    graph.record(nodes[0], 0, nodes[0], false);
    assert_eq!(graph.outcome(nodes[0], 0), Outcome::Fail);
}

#[test]
fn graph_is_dropped_at_a_level_change_and_at_a_full_reset() {
    let frames = [Frame::filled(0)];
    let view = view(&frames, TWO_KEYS);
    for next in [
        View {
            levels_completed: 1,
            ..view
        },
        View {
            full_reset: true,
            ..view
        },
    ] {
        let mut agent = JustExplore::new(1);
        for _ in 0..2 {
            agent.act(&view).unwrap();
        }
        agent.act(&next).unwrap();
        let (node, _) = agent.last.unwrap();
        assert_eq!(agent.graph.untested(node).len(), 2);
    }
}

#[test]
fn exhausted_graph_is_started_again() {
    let mut agent = JustExplore::new(1);
    let frames = [Frame::filled(0)];
    for _ in 0..100 {
        let action = agent.act(&view(&frames, TWO_KEYS)).unwrap().action;
        assert!(TWO_KEYS.contains(action.kind()));
    }
}

#[test]
fn nothing_offered_ends_the_play_and_never_restarts_the_game() {
    let frames = [Frame::filled(0)];
    let mut agent = JustExplore::new(1);
    assert_eq!(
        agent.act(&view(&frames, ActionSet::EMPTY)),
        Err(nothing_offered())
    );
    let mut agent = JustExplore::new(1);
    agent.act(&view(&frames, TWO_KEYS)).unwrap();
    let action = agent.act(&view(&frames, ActionSet::EMPTY)).unwrap().action;
    assert_eq!(action, Action::Reset);
    assert_eq!(
        agent.act(&view(&frames, ActionSet::EMPTY)),
        Err(nothing_offered())
    );
}

#[test]
fn two_plays_with_one_seed_are_equal() {
    let play = |seed| play_builtin(JustExplore::new(seed), "kq19", 500);
    assert_eq!(play(7), play(7));
    assert_ne!(play(7), play(8));
}
