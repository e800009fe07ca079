//! One test for each rule of the original agent and of the default form, and tests of whole plays.

use rhae_engine::{ActionKind, ActionSet};

use super::boosted_trees::{Ensemble, Sample};
use super::features::FEATURES;
use super::identities::Identity;
use super::state_graph::ordered_objects;
use super::*;
use crate::test_plays::{play_builtin, view};

const CLICKS: ActionSet = ActionSet::of(&[ActionKind::Action6]);
const TWO_KEYS: ActionSet = ActionSet::of(&[ActionKind::Action1, ActionKind::Action2]);

/// A graph whose states have two keys and no objects.
fn graph(states: u128) -> (StateGraph, Vec<StateId>) {
    let mut graph = StateGraph::default();
    let scene = Scene::of(&Frame::filled(0));
    let identities = &mut Identities::new(Form::Faithful);
    let ids = (0..states)
        .map(|key| graph.insert(key, StateInput::default(), &scene, TWO_KEYS, identities))
        .collect();
    (graph, ids)
}

fn record(graph: &mut StateGraph, from: StateId, action: u16, to: StateId) {
    let priors = &mut Priors::default();
    graph.record(from, action, Successor::State(to), Some(StateId(0)), priors);
}

#[test]
fn state_is_the_exact_frame_and_the_score() {
    let mut agent = BlindSquirrel::faithful(1);
    let (plain, mut dotted) = (Frame::filled(0), Frame::filled(0));
    dotted.set(0, 63, 1);
    for frame in [&plain, &dotted, &plain] {
        let frames = [frame.clone()];
        agent.act(&view(&frames, TWO_KEYS)).unwrap();
    }
    assert_eq!(agent.graph.states.len(), 2);
}

#[test]
fn objects_are_ordered_by_regularity_area_color_and_position() {
    let mut frame = Frame::filled(0); // the background has a hole, so it is irregular
    frame.rect(40, 40, 2, 2, 3);
    frame.rect(30, 10, 2, 2, 9);
    frame.rect(10, 10, 2, 2, 9);
    frame.rect(20, 20, 5, 5, 4);
    let scene = Scene::of(&frame);
    let centers: Vec<(u8, u8)> = ordered_objects(&scene)
        .into_iter()
        .map(|id| scene.object(id).center)
        .collect();
    assert_eq!(centers[..4], [(22, 22), (10, 10), (30, 10), (40, 40)]);
    assert_eq!(centers.len(), 5);
}

#[test]
fn actions_are_five_simple_ones_and_one_per_object() {
    let mut frame = Frame::filled(0);
    frame.rect(10, 10, 2, 2, 9);
    let scene = Scene::of(&frame);
    let mut graph = StateGraph::default();
    let identities = &mut Identities::new(Form::Faithful);
    let both = graph.insert(
        1,
        StateInput::default(),
        &scene,
        TWO_KEYS.with(ActionKind::Action6),
        identities,
    );
    assert_eq!(graph.states[both.index()].actions.len(), 7);
    let keys = graph.insert(2, StateInput::default(), &scene, TWO_KEYS, identities);
    assert_eq!(graph.states[keys.index()].actions.len(), 5);
}

#[test]
fn action_that_is_not_offered_is_bad() {
    let (graph, ids) = graph(1);
    let ratings: Vec<Rating> = (0..5)
        .map(|index| graph.action(ids[0], index).rating)
        .collect();
    assert_eq!(ratings[..2], [Rating::Unknown; 2]);
    assert_eq!(ratings[2..], [Rating::Bad; 3]);
}

#[test]
fn click_is_a_random_cell_of_the_object() {
    let mut frame = Frame::filled(0);
    frame.rect(20, 30, 5, 5, 9);
    let frames = [frame];
    let mut clicks: Vec<Action> = (0..60)
        .map(|seed| {
            BlindSquirrel::faithful(seed)
                .act(&view(&frames, CLICKS))
                .unwrap()
                .action
        })
        .filter(|click| {
            matches!(
                click,
                Action::Action6 {
                    x: 20..=24,
                    y: 30..=34
                }
            )
        })
        .collect();
    assert!(
        clicks.len() > 25,
        "the first object has the prior 1, the other one 0.5"
    );
    clicks.sort_unstable();
    clicks.dedup();
    assert!(clicks.len() > 10);
}

#[test]
fn unchanged_state_is_bad_and_another_state_good() {
    let (mut graph, ids) = graph(3);
    record(&mut graph, ids[1], 0, ids[1]);
    record(&mut graph, ids[1], 1, ids[2]);
    assert_eq!(graph.action(ids[1], 0).rating, Rating::Bad);
    assert_eq!(graph.action(ids[1], 1).rating, Rating::Good);
}

#[test]
fn return_to_the_first_state_is_bad() {
    let (mut graph, ids) = graph(2);
    record(&mut graph, ids[1], 0, ids[0]);
    assert_eq!(graph.action(ids[1], 0).rating, Rating::Bad);
}

#[test]
fn lost_level_is_bad_and_is_reset() {
    let frames = [Frame::filled(0)];
    let mut agent = BlindSquirrel::faithful(1);
    agent.act(&view(&frames, TWO_KEYS)).unwrap();
    let (from, action) = agent.last.unwrap();
    let lost = View {
        state: PlayState::GameOver,
        ..view(&frames, TWO_KEYS)
    };
    assert_eq!(agent.act(&lost).unwrap().action, Action::Reset);
    assert_eq!(agent.graph.action(from, action).rating, Rating::Bad);
    assert_eq!(
        agent.graph.action(from, action).successor,
        Some(Successor::Lost)
    );
}

#[test]
fn dead_ends_propagate_backwards() {
    let (mut graph, ids) = graph(4);
    // 1 -> 2 -> 3; the other actions of 1 and 2 change nothing.
    record(&mut graph, ids[0], 0, ids[1]);
    for (from, to) in [(1, 2), (2, 3)] {
        record(&mut graph, ids[from], 0, ids[to]);
        record(&mut graph, ids[from], 1, ids[from]);
    }
    record(&mut graph, ids[3], 0, ids[3]);
    assert_eq!(graph.action(ids[2], 0).rating, Rating::Good);
    record(&mut graph, ids[3], 1, ids[3]);
    for &from in &ids[..3] {
        assert_eq!(graph.action(from, 0).rating, Rating::Bad, "{from:?}");
    }
    assert_eq!(graph.action(ids[0], 1).rating, Rating::Unknown);
}

#[test]
fn prior_depends_on_kind_rank_and_results() {
    let mut priors = Priors::default();
    let of = |id: u16| Identity {
        id,
        rank: id.saturating_sub(5),
        twins: 1,
    };
    let weights: Vec<f64> = [0, 4, 5, 6, 7, 20].map(|id| priors.weight(of(id))).to_vec();
    assert_eq!(weights, [1.0, 1.0, 1.0, 0.5, 0.25, 0.1]);
    priors.count(of(0), false);
    assert_eq!(priors.weight(of(0)), 0.5);
    for _ in 0..9 {
        priors.count(of(0), false);
    }
    assert_eq!(priors.weight(of(0)), 0.1);
    priors.count(of(6), true);
    priors.count(of(6), true);
    priors.count(of(6), true);
    priors.count(of(6), false);
    assert_eq!(priors.weight(of(6)), 0.75);
}

#[test]
fn faithful_identity_is_the_position_and_the_default_one_is_the_class() {
    let mut frame = Frame::filled(0);
    for (x, color) in [(4, 9), (14, 8), (24, 9), (34, 9)] {
        frame.rect(x, 20, 4, 4, color);
    }
    let identities = |form, frame: &Frame| {
        let scene = Scene::of(frame);
        let order = ordered_objects(&scene);
        Identities::new(form).of_objects(&scene, &order)
    };
    let ids = |found: &[Identity]| found.iter().map(|one| one.id).collect::<Vec<_>>();
    let faithful = identities(Form::Faithful, &frame);
    assert_eq!(ids(&faithful), [5, 6, 7, 8, 9]);
    assert!(faithful.iter().all(|one| one.twins == 1));
    // Three squares of colour 9, the one of colour 8, the background.
    let by_class = identities(Form::ByClass, &frame);
    assert_eq!(ids(&by_class), [5, 5, 5, 6, 7]);
    let twins: Vec<u16> = by_class.iter().map(|one| one.twins).collect();
    assert_eq!(twins, [3, 3, 3, 1, 1]);
    let ranks: Vec<u16> = by_class.iter().map(|one| one.rank).collect();
    assert_eq!(ranks, [0, 0, 0, 1, 2]);
}

#[test]
fn objects_of_a_class_share_its_weight() {
    let mut priors = Priors::default();
    let of = |twins| Identity {
        id: 5,
        rank: 0,
        twins,
    };
    assert_eq!(priors.weight(of(4)), 0.25);
    priors.count(of(4), false);
    assert_eq!(priors.weight(of(4)), 0.125);
}

#[test]
fn class_that_never_had_an_effect_is_rarely_clicked_on_the_next_level() {
    // Only the square of colour 9 has an effect: it changes the number of the dots.
    let squares = |dots: usize| {
        let mut frame = Frame::filled(0);
        frame.rect(4, 20, 4, 4, 8);
        frame.rect(24, 20, 4, 4, 9);
        frame.rect(44, 20, 4, 4, 10);
        (0..dots).for_each(|dot| frame.rect(2 * dot, 50, 1, 1, 3));
        frame
    };
    let mut clicks = (0, 0);
    for seed in 0..20 {
        let mut agent = BlindSquirrel::new(seed);
        let mut dots = 1;
        for step in 0..60 {
            let frames = [squares(1 + dots % 20)];
            let now = View {
                levels_completed: u8::from(step >= 40),
                ..view(&frames, CLICKS)
            };
            let action = agent.act(&now).unwrap().action;
            let Action::Action6 { x, y } = action else {
                panic!("only clicks are offered");
            };
            let color = frames[0].get(x.into(), y.into());
            dots += usize::from(color == 9);
            if step >= 40 {
                clicks.0 += usize::from(color == 9);
                clicks.1 += usize::from(color == 8 || color == 10);
            }
        }
    }
    assert!(clicks.0 > 2 * clicks.1, "{clicks:?}");
}

#[test]
fn way_back_to_the_first_state_is_bad_in_the_faithful_form_only() {
    let frames = [Frame::filled(0), Frame::filled(1)];
    let rating = |mut agent: BlindSquirrel| {
        agent.act(&view(&frames[..1], TWO_KEYS)).unwrap();
        agent.act(&view(&frames[1..], TWO_KEYS)).unwrap();
        let (from, action) = agent.last.unwrap();
        agent.act(&view(&frames[..1], TWO_KEYS)).unwrap();
        agent.graph.action(from, action).rating
    };
    assert_eq!(rating(BlindSquirrel::faithful(1)), Rating::Bad);
    assert_eq!(rating(BlindSquirrel::new(1)), Rating::Good);
}

#[test]
fn first_loss_is_believed_in_the_faithful_form_only() {
    let frames = [Frame::filled(0)];
    let lost = View {
        state: PlayState::GameOver,
        ..view(&frames, TWO_KEYS)
    };
    let ratings = |mut agent: BlindSquirrel| {
        let mut ratings = Vec::new();
        // The same action is taken at each attempt if the other one is known to have no effect.
        agent.act(&view(&frames, TWO_KEYS)).unwrap();
        agent.act(&view(&frames, TWO_KEYS)).unwrap();
        for _ in 0..2 {
            let (from, action) = agent.last.unwrap();
            assert_eq!(agent.act(&lost).unwrap().action, Action::Reset);
            ratings.push(agent.graph.action(from, action).rating);
            agent.act(&view(&frames, TWO_KEYS)).unwrap();
        }
        ratings
    };
    assert_eq!(ratings(BlindSquirrel::faithful(1))[0], Rating::Bad);
    assert_eq!(
        ratings(BlindSquirrel::new(1)),
        [Rating::Unknown, Rating::Bad]
    );
}

#[test]
fn status_bar_is_a_part_of_the_state_in_the_faithful_form_only() {
    let frame = |used: usize| {
        let mut frame = Frame::filled(0);
        frame.rect(20, 20, 4, 4, 9);
        frame.rect(0, 63, 64 - used, 1, 14);
        frame
    };
    let states = |mut agent: BlindSquirrel| {
        for used in 0..30 {
            agent.act(&view(&[frame(used)], TWO_KEYS)).unwrap();
        }
        agent.graph.states.len()
    };
    assert_eq!(states(BlindSquirrel::faithful(1)), 30);
    assert_eq!(states(BlindSquirrel::new(1)), 1);
}

#[test]
fn bad_actions_are_avoided_until_everything_is_bad() {
    let frames = [Frame::filled(0)];
    let mut agent = BlindSquirrel::faithful(1);
    let mut actions: Vec<Action> = (0..2)
        .map(|_| agent.act(&view(&frames, TWO_KEYS)).unwrap().action)
        .collect();
    actions.sort_unstable();
    assert_eq!(actions, [Action::Action1, Action::Action2]);
    for _ in 0..20 {
        let action = agent.act(&view(&frames, TWO_KEYS)).unwrap().action;
        assert!(TWO_KEYS.contains(action.kind()));
    }
}

#[test]
fn targets_are_relative_decreases_of_the_distance_to_the_win() {
    let (mut graph, ids) = graph(4);
    record(&mut graph, ids[0], 0, ids[1]);
    record(&mut graph, ids[1], 0, ids[2]);
    record(&mut graph, ids[1], 1, ids[1]);
    record(&mut graph, ids[0], 1, ids[3]);
    let priors = &mut Priors::default();
    graph.record(ids[2], 0, Successor::Win, Some(ids[0]), priors);
    // State 3 cannot reach the win, so its distance is that from the first state.
    assert_eq!(targets::distances(&graph, Some(ids[0])), [3, 2, 1, 1]);
    let values: Vec<f32> = targets::samples(&graph, Some(ids[0]))
        .iter()
        .map(|sample| sample.value)
        .collect();
    let third = 1.0 / 3.0;
    assert_eq!(values, [third, 2.0 / 3.0, third, -1.0, third]);
}

#[test]
fn level_up_trains_the_model_and_starts_a_graph() {
    let (start, end) = ([Frame::filled(0)], [Frame::filled(1)]);
    let mut agent = BlindSquirrel::faithful(1);
    agent.act(&view(&start, TWO_KEYS)).unwrap();
    let next = View {
        levels_completed: 1,
        ..view(&end, TWO_KEYS)
    };
    agent.act(&next).unwrap();
    assert!(agent.model.values(&StateInput::default(), &[]).is_some());
    assert_eq!(agent.samples.len(), 1);
    assert_eq!(agent.samples[0].value, 1.0);
    assert_eq!(agent.graph.states.len(), 1);
}

#[test]
fn full_reset_starts_a_graph_without_training() {
    let frames = [Frame::filled(0)];
    let mut agent = BlindSquirrel::faithful(1);
    for _ in 0..2 {
        agent.act(&view(&frames, TWO_KEYS)).unwrap();
    }
    let restarted = View {
        full_reset: true,
        ..view(&frames, TWO_KEYS)
    };
    agent.act(&restarted).unwrap();
    assert!(agent.model.values(&StateInput::default(), &[]).is_none());
    let actions = &agent.graph.states[0].actions;
    assert!(actions.iter().all(|action| action.successor.is_none()));
}

#[test]
fn model_learns_an_interaction_of_frame_and_action() {
    let sample = |color: bool, key: bool| {
        let mut features = [0.0; FEATURES];
        features[0] = f32::from(u8::from(key));
        features[26] = f32::from(u8::from(color));
        Sample {
            features,
            value: if color == key { 0.5 } else { -0.5 },
        }
    };
    // Unequal numbers, because the greedy first split gains nothing in a balanced table.
    let mut samples = vec![sample(true, true); 20];
    samples.extend(vec![sample(false, false); 15]);
    samples.extend(vec![sample(true, false); 10]);
    samples.extend(vec![sample(false, true); 12]);
    let model = Ensemble::train(&samples);
    for sample in &samples {
        let value = model.value(&sample.features);
        assert!(
            (value - sample.value).abs() < 0.1,
            "{value} {}",
            sample.value
        );
    }
    assert_eq!(model, Ensemble::train(&samples));
}

/// Values an action by its kind alone, and checks that states contain their frames.
struct LastKey;

impl ValueModel for LastKey {
    fn train(&mut self, samples: &[ValueSample]) {
        assert!(samples.iter().all(|sample| sample.state.frame.is_some()));
    }

    fn values(&self, state: &StateInput, actions: &[ActionFeatures]) -> Option<Vec<f32>> {
        assert_eq!(state.frame.as_deref(), Some(&Frame::filled(1)));
        Some(actions.iter().map(|action| action[1]).collect())
    }

    fn reads_frames(&self) -> bool {
        true
    }
}

#[test]
fn given_model_is_trained_with_frames_and_decides() {
    let mut agent = BlindSquirrel::with_model(1, Box::new(LastKey));
    agent.act(&view(&[Frame::filled(0)], TWO_KEYS)).unwrap();
    let end = [Frame::filled(1)];
    let next = View {
        levels_completed: 1,
        ..view(&end, TWO_KEYS)
    };
    agent.act(&next).unwrap();
    let here = agent.first.unwrap();
    assert_eq!(agent.most_valuable(here), Some(1));
}

#[test]
fn nothing_offered_ends_the_play_and_never_restarts_the_game() {
    let frames = [Frame::filled(0)];
    let nothing = view(&frames, ActionSet::EMPTY);
    assert_eq!(
        BlindSquirrel::faithful(1).act(&nothing),
        Err(nothing_offered())
    );
    let mut agent = BlindSquirrel::faithful(1);
    agent.act(&view(&frames, TWO_KEYS)).unwrap();
    assert_eq!(agent.act(&nothing).unwrap().action, Action::Reset);
    assert_eq!(agent.act(&nothing), Err(nothing_offered()));
}

#[test]
fn two_plays_with_one_seed_are_equal() {
    let play = |agent| play_builtin(agent, "hk26", 500);
    for new in [BlindSquirrel::new, BlindSquirrel::faithful] {
        assert_eq!(play(new(7)), play(new(7)));
        assert_ne!(play(new(7)), play(new(8)));
    }
}
