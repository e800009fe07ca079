//! The conformance suite: the rules that every native game must satisfy.

use rhae_engine::{
    Action, ActionKind, CELLS, Environment, Episode, Frame, FrameBuffer, Game, LevelIndex, Levels,
    MAX_FRAMES, NativeEnvironment, NoFrames, Observation, PACKED_BITS, PlayState, Rng, StateOf,
    key_of,
};

/// The number of random actions that most checks take on each level.
const STEPS: usize = 400;

/// Checks a game against every rule, on every level and with several seeds if the game is seeded.
///
/// # Panics
///
/// Panics with a description of the first rule that the game violates.
pub fn conforms<G: Game>() {
    let facts = &G::FACTS;
    let id = facts.game_id();
    assert!(
        (2..=254).contains(&facts.level_count()),
        "{id}: {} levels",
        facts.level_count()
    );
    assert!(
        !facts.actions.is_empty() && !facts.actions.contains(ActionKind::Reset),
        "{id}: `actions` must not be empty and must not list RESET"
    );
    for seed in if facts.seeded {
        vec![0, 1, 2, 3]
    } else {
        vec![0]
    } {
        let levels = Levels::<G>::new(seed);
        for index in 0..levels.count() {
            let level = LevelIndex(index);
            let at = format!("{id} level {level} seed {seed}");
            check_determinism::<G>(&levels, level, &at);
            check_drawing_is_pure::<G>(&levels, level, &at);
            check_snapshots::<G>(&levels, level, &at);
            check_packing::<G>(&levels, level, &at);
            check_reset::<G>(&levels, level, &at);
            check_unoffered_actions::<G>(&levels, level, &at);
            if facts.actions.contains(ActionKind::Action7) {
                check_undo::<G>(&levels, level, &at);
            }
            if facts.actions.contains(ActionKind::Action6) {
                check_listed_clicks::<G>(&levels, level, &at);
            }
        }
    }
    check_solutions::<G>();
}

/// Returns a random offered action, or RESET if the episode is over.
fn any_action<G: Game>(episode: &Episode<G>, rng: &mut Rng) -> Action {
    if episode.status() != PlayState::NotFinished {
        return Action::Reset;
    }
    let kinds: Vec<ActionKind> = episode.offered().iter().collect();
    match *rng
        .choose(&kinds)
        .expect("a game offers at least one action")
    {
        ActionKind::Action6 => {
            // Half of the clicks hit a listed cell, so that random play makes progress.
            let cells: Vec<_> =
                G::clicks(episode.levels().get(episode.level()), episode.state()).collect();
            match rng.choose(&cells) {
                Some(&(x, y)) if rng.below(2) == 0 => Action::Action6 { x, y },
                _ => Action::Action6 {
                    x: rng.below(64) as u8,
                    y: rng.below(64) as u8,
                },
            }
        }
        kind => kind.simple().expect("only a click has coordinates"),
    }
}

/// Checks that two episodes with the same actions produce identical and valid frames. Halfway, one
/// episode is replaced with a clone of the other.
fn check_determinism<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(1, 0);
    let (mut one, mut two) = (
        Episode::at(levels.clone(), level),
        Episode::at(Levels::<G>::new(levels.seed()), level),
    );
    let (mut seen_by_one, mut seen_by_two) = (FrameBuffer::default(), FrameBuffer::default());
    for step in 0..STEPS {
        if step == STEPS / 2 {
            two = one.clone();
        }
        let action = if rng.below(60) == 0 {
            Action::Reset
        } else {
            any_action(&one, &mut rng)
        };
        seen_by_one.clear();
        seen_by_two.clear();
        let (first, second) = (
            one.act(action, &mut seen_by_one),
            two.act(action, &mut seen_by_two),
        );
        assert_eq!(
            first, second,
            "{at}: equal episodes return different steps after {action}"
        );
        assert!(
            seen_by_one.frames() == seen_by_two.frames(),
            "{at}: equal episodes produce different frames after {action}"
        );
        assert_eq!(
            one.key(),
            two.key(),
            "{at}: equal episodes have different keys after {action}"
        );
        let count = seen_by_one.frames().len();
        assert!(
            (1..=MAX_FRAMES).contains(&count),
            "{at}: {count} frames after {action}"
        );
        assert!(
            seen_by_one.frames().iter().all(Frame::is_valid),
            "{at}: a colour above 15 after {action}"
        );
        let mut settled = Frame::from_cells([0xFF; CELLS]);
        one.draw(&mut settled);
        assert!(
            seen_by_one.frames().last() == Some(&settled),
            "{at}: the last frame is not the settled frame, or `draw` does not set every cell"
        );
        assert_eq!(
            one.status() == PlayState::Win,
            one.completed() == one.level_count(),
            "{at}"
        );
    }
}

/// Checks that a step without frames leads to the same state as a step with frames.
fn check_drawing_is_pure<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(2, 0);
    let (mut drawn, mut blind) = (
        Episode::at(levels.clone(), level),
        Episode::at(levels.clone(), level),
    );
    let mut frames = FrameBuffer::default();
    for _ in 0..STEPS {
        let action = any_action(&drawn, &mut rng);
        frames.clear();
        drawn.act(action, &mut frames);
        blind.act(action, &mut NoFrames);
        assert!(
            drawn.state() == blind.state() && drawn.key() == blind.key(),
            "{at}: drawing changes the state, after {action}"
        );
    }
}

/// Checks that an environment restored from a snapshot behaves like the original from then on,
/// including RESET and undo.
fn check_snapshots<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    /// Returns the comparable content of an observation, with its frames as a hash.
    fn content(seen: &Observation) -> impl PartialEq + std::fmt::Debug + use<> {
        let status = (
            seen.action,
            seen.state,
            seen.levels_completed,
            seen.available,
        );
        (
            status,
            seen.full_reset,
            seen.counted,
            seen.changed,
            Frame::hash_all(seen.frames.frames()),
        )
    }
    let mut rng = Rng::new(7, u64::from(level.0));
    let mut saved = NativeEnvironment::from_episode(Episode::at(levels.clone(), level));
    let mut restored: Option<NativeEnvironment<G>> = None;
    for step in 0..STEPS {
        // Some snapshots are taken late, when the undo buffer has already dropped boards. Others
        // are taken while a restored environment is already being compared with the original.
        if step % 97 == 0 || rng.below(40) == 0 {
            let bytes = saved
                .snapshot()
                .expect("native environments never fail")
                .expect("native environments support snapshots");
            let mut other = NativeEnvironment::<G>::new(levels.seed());
            let settled = other
                .restore(&bytes)
                .unwrap_or_else(|error| panic!("{at}: {error}"))
                .settled();
            assert!(
                settled == saved.observation().settled(),
                "{at}: a restored environment shows a different frame"
            );
            assert!(
                other.snapshot() == Ok(Some(bytes)),
                "{at}: a restored environment has a different snapshot"
            );
            restored = Some(other);
        }
        let action = match rng.below(60) {
            0 => Action::Reset,
            1..=20 if G::FACTS.actions.contains(ActionKind::Action7) && step > STEPS / 2 => {
                Action::Action7
            }
            _ => any_action(saved.episode(), &mut rng),
        };
        let expected = content(saved.act(action).expect("native environments never fail"));
        if let Some(other) = &mut restored {
            let found = content(other.act(action).expect("native environments never fail"));
            assert_eq!(
                found, expected,
                "{at}: a restored environment returns a different observation"
            );
            assert_eq!(
                other.episode().key(),
                saved.episode().key(),
                "{at}: a restored environment has a different state after {action}"
            );
        }
    }
}

/// Checks that RESET restores the first state of the level exactly.
fn check_reset<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(3, 0);
    let fresh = Episode::at(levels.clone(), level);
    let mut episode = fresh.clone();
    for _ in 0..STEPS {
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
        if episode.level() == level && episode.status() != PlayState::Win && action != Action::Reset
        {
            let mut again = episode.clone();
            let step = again.act(Action::Reset, &mut NoFrames);
            assert!(
                step.counted && !step.full_reset,
                "{at}: a RESET after an action must count and must reset only the level"
            );
            assert!(
                again.state() == fresh.state() && again.key() == fresh.key(),
                "{at}: RESET does not restore the level"
            );
        }
    }
}

/// Checks that an action that is not offered is counted but does not change the state.
fn check_unoffered_actions<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(4, 0);
    let mut episode = Episode::at(levels.clone(), level);
    for _ in 0..STEPS {
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
        if episode.status() != PlayState::NotFinished {
            continue;
        }
        let offered = episode.offered();
        for kind in ActionKind::ALL
            .into_iter()
            .filter(|&kind| kind != ActionKind::Reset && !offered.contains(kind))
        {
            let before = episode.state().clone();
            let step = episode.act(
                kind.simple().unwrap_or(Action::Action6 { x: 5, y: 5 }),
                &mut NoFrames,
            );
            assert!(
                step.counted && !step.changed && *episode.state() == before,
                "{at}: {kind} is not offered but has an effect"
            );
        }
    }
}

/// Checks that a level packs either all of its states or none, and that unpacking restores the
/// packed state. Different states are therefore packed differently.
fn check_packing<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let rules = levels.get(level);
    if G::pack(rules, &G::start(rules)).is_none() {
        return;
    }
    let mut rng = Rng::new(7, 0);
    let mut episode = Episode::at(levels.clone(), level);
    for _ in 0..STEPS {
        if episode.level() != level {
            episode = Episode::at(levels.clone(), level);
        }
        let packed = G::pack(rules, episode.state());
        let back = packed.and_then(|packed| G::unpack(rules, packed));
        assert!(
            packed.is_some_and(|packed| packed >> PACKED_BITS == 0),
            "{at}: the first state can be packed, but a later one cannot"
        );
        assert!(
            back.as_ref() == Some(episode.state()),
            "{at}: unpacking a packed state returns a different state"
        );
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
    }
}

/// Checks that undo restores every board back to the first, including boards that the undo buffer
/// has dropped.
fn check_undo<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(5, 0);
    for length in [3, 30, STEPS] {
        let mut episode = Episode::at(levels.clone(), level);
        let mut boards = vec![episode.state().board.clone()];
        for _ in 0..length {
            let action = any_action(&episode, &mut rng);
            let mut ahead = episode.clone();
            ahead.act(action, &mut NoFrames);
            if action == Action::Action7
                || ahead.status() != PlayState::NotFinished
                || ahead.level() != level
            {
                continue;
            }
            episode = ahead;
            if boards.last() != Some(&episode.state().board) {
                boards.push(episode.state().board.clone());
            }
        }
        while episode.status() == PlayState::NotFinished && boards.len() > 1 {
            boards.pop();
            episode.act(Action::Action7, &mut NoFrames);
            assert!(
                boards.last() == Some(&episode.state().board),
                "{at}: undo does not restore the previous board"
            );
        }
    }
}

/// Checks that every click either has the effect of a listed click or the one effect that all
/// remaining clicks share.
fn check_listed_clicks<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(6, 0);
    let mut episode = Episode::at(levels.clone(), level);
    for step in 0..60 {
        if episode.status() == PlayState::NotFinished && episode.level() == level && step % 12 == 0
        {
            check_all_clicks::<G>(levels.get(level), episode.state(), at);
        }
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
    }
}

fn check_all_clicks<G: Game>(level: &G::Level, state: &StateOf<G>, at: &str) {
    let after = |x: u8, y: u8| {
        let mut after = state.clone();
        let outcome = G::step(level, &mut after, Action::Action6 { x, y }, &mut NoFrames);
        (outcome, key_of(&after))
    };
    let listed = G::clicks(level, state).map(|(x, y)| {
        assert!(
            Action::click(x, y).is_some(),
            "{at}: `clicks` lists {x},{y}, which is outside the frame"
        );
        after(x, y)
    });
    let listed: Vec<_> = listed.collect();
    let mut idle = None;
    for (x, y) in (0..64).flat_map(|y| (0..64).map(move |x| (x, y))) {
        let result = after(x, y);
        if !listed.contains(&result) {
            assert!(
                *idle.get_or_insert(result) == result,
                "{at}: the click at {x},{y} has an effect that no click listed by `clicks` has"
            );
        }
    }
}

/// Checks that the stored solutions win all levels in order, and that their lengths match the
/// baselines.
fn check_solutions<G: Game>() {
    let facts = &G::FACTS;
    let mut episode = Episode::<G>::new(0);
    for (index, baseline) in facts.baselines.iter().enumerate() {
        let level = LevelIndex(u8::try_from(index).expect("at most 254 levels"));
        let solution = facts.solution(level);
        assert!(
            !solution.is_empty(),
            "{} level {level}: no stored solution",
            facts.id
        );
        if let Some(length) = baseline.solution_length() {
            assert_eq!(
                solution.len(),
                length as usize,
                "{} level {level}: the length of the solution differs from the one of the baseline",
                facts.id
            );
        }
        for (step, &action) in solution.iter().enumerate() {
            assert_eq!(
                episode.completed(),
                level.0,
                "{} level {level}: won after {step} of {} actions",
                facts.id,
                solution.len()
            );
            episode.act(action, &mut NoFrames);
        }
        assert_eq!(
            episode.completed(),
            level.0 + 1,
            "{} level {level}: the stored solution does not win",
            facts.id
        );
    }
    assert_eq!(episode.status(), PlayState::Win);
}
