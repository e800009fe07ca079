use rhae_agents::{Agent, View};
use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
use rhae_neural::{Goose, GooseOptions, NetworkKind};

/// Plays a built-in environment and returns the actions.
fn play(agent: &mut dyn Agent, game: &str, count: usize) -> Vec<Action> {
    let mut environment = Builtin.open(game, 0).unwrap();
    let step = |_| {
        let observation = environment.observation();
        let view = View {
            frames: observation.frames.frames(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            win_levels: observation.win_levels,
            available: observation.available,
            full_reset: observation.full_reset,
        };
        let action = agent.act(&view).unwrap().action;
        environment.act(action).unwrap();
        action
    };
    (0..count).map(step).collect()
}

#[test]
fn two_plays_with_one_seed_are_equal() {
    // Long enough for several training steps.
    let played = |seed| {
        let options = GooseOptions::original(NetworkKind::Lite);
        let mut agent = Goose::new(options, seed);
        let actions = play(&mut agent, "hk26", 110);
        assert!(agent.samples().samples().len() > 64);
        (actions, agent.learner().network().clone())
    };
    let ((first, network), (second, same)) = (played(7), played(7));
    assert_eq!(first, second);
    assert!(crate::Parameters::of(&network) == crate::Parameters::of(&same));
    assert_ne!(first, played(8).0);
}

#[test]
fn all_improvements_together_play_every_environment() {
    let options = GooseOptions {
        network: NetworkKind::Lite,
        mask_status_bars: true,
        keep_weights: true,
        eval_mode: true,
        skip_known: true,
    };
    for game in ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"] {
        let actions = play(&mut Goose::new(options, 1), game, 70);
        let mut distinct = actions.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 1, "{game}");
    }
}
