//! The laws that every native game keeps.

use rhae_engine::{
    Action, ActionKind, CELLS, Environment, Episode, Frame, FrameBuffer, Game, LevelIndex, Levels,
    MAX_FRAMES, Native, NoFrames, Observation, PACKED_BITS, PlayState, Rng, StateOf, key_of,
};

/// How many random actions each law is tried on, at each level.
const STEPS: usize = 400;

/// Checks a game against every law; panics with the law that is broken.
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
        "{id}: RESET is always there and never listed"
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
            twins_agree::<G>(&levels, level, &at);
            searching_sees_the_same::<G>(&levels, level, &at);
            a_restored_play_goes_on_as_the_saved_one::<G>(&levels, level, &at);
            packed_states_come_back::<G>(&levels, level, &at);
            reset_restores::<G>(&levels, level, &at);
            actions_that_are_not_offered_do_nothing::<G>(&levels, level, &at);
            if facts.actions.contains(ActionKind::Action7) {
                undo_restores_every_board::<G>(&levels, level, &at);
            }
            if facts.actions.contains(ActionKind::Action6) {
                listed_clicks_are_all_that_matter::<G>(&levels, level, &at);
            }
        }
    }
    solutions_win::<G>();
}

/// A random offered action.
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
            // Half of the clicks go where they may matter, so that random play gets anywhere at all.
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

/// Two plays of the same actions, one of which is a clone made half-way, see valid and equal frames.
fn twins_agree<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
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
        assert_eq!(first, second, "{at}: twins disagree after {action}");
        assert!(
            seen_by_one.frames() == seen_by_two.frames(),
            "{at}: twins see different frames after {action}"
        );
        assert_eq!(
            one.key(),
            two.key(),
            "{at}: twins have different keys after {action}"
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
            "{at}: the last frame is not the settled one, or `draw` leaves cells out"
        );
        assert_eq!(
            one.status() == PlayState::Win,
            one.completed() == one.level_count(),
            "{at}"
        );
    }
}

/// A step that draws nothing leads to the same state as one that draws.
fn searching_sees_the_same<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
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

/// At random moments of random play a snapshot put into a new play gives the same answers ever after, RESET and undo included.
fn a_restored_play_goes_on_as_the_saved_one<G: Game>(
    levels: &Levels<G>,
    level: LevelIndex,
    at: &str,
) {
    /// What an answer says, its pictures as a hash.
    fn answer(seen: &Observation) -> impl PartialEq + std::fmt::Debug + use<> {
        let said = (
            seen.action,
            seen.state,
            seen.levels_completed,
            seen.available,
        );
        (
            said,
            seen.full_reset,
            seen.counted,
            seen.changed,
            Frame::hash_all(seen.frames.frames()),
        )
    }
    let mut rng = Rng::new(7, u64::from(level.0));
    let mut saved = Native::from_episode(Episode::at(levels.clone(), level));
    let mut restored: Option<Native<G>> = None;
    for step in 0..STEPS {
        // A few of the plays are restored late, when undo has forgotten boards; others in the middle of what a restored one does.
        if step % 97 == 0 || rng.below(40) == 0 {
            let bytes = saved
                .snapshot()
                .expect("a native play can be saved")
                .expect("a native play has snapshots");
            let mut other = Native::<G>::new(levels.seed());
            let settled = other
                .restore(&bytes)
                .unwrap_or_else(|error| panic!("{at}: {error}"))
                .settled();
            assert!(
                settled == saved.observation().settled(),
                "{at}: a restored play shows another picture"
            );
            assert!(
                other.snapshot() == Ok(Some(bytes)),
                "{at}: a restored play is saved as something else"
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
        let expected = answer(saved.act(action).expect("native games never fail"));
        if let Some(other) = &mut restored {
            let found = answer(other.act(action).expect("native games never fail"));
            assert_eq!(found, expected, "{at}: a restored play answers otherwise");
            assert_eq!(
                other.episode().key(),
                saved.episode().key(),
                "{at}: a restored play is elsewhere after {action}"
            );
        }
    }
}

/// RESET gives back the level's first state exactly.
fn reset_restores<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
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
                "{at}: a RESET after an action is a level reset"
            );
            assert!(
                again.state() == fresh.state() && again.key() == fresh.key(),
                "{at}: RESET does not restore the level"
            );
        }
    }
}

/// An action that is not offered is counted and changes nothing.
fn actions_that_are_not_offered_do_nothing<G: Game>(
    levels: &Levels<G>,
    level: LevelIndex,
    at: &str,
) {
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
                "{at}: {kind} is not offered but acts"
            );
        }
    }
}

/// A level packs all its states or none; those that are packed come back, and different ones are packed differently.
fn packed_states_come_back<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
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
            "{at}: a state does not pack, but the first one does"
        );
        assert!(
            back.as_ref() == Some(episode.state()),
            "{at}: a packed state does not come back"
        );
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
    }
}

/// Undo walks back through every board to the first, also past what is kept at hand.
fn undo_restores_every_board<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
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
                "{at}: undo does not restore the board before"
            );
        }
    }
}

/// Every click does what one of the listed clicks does, or nothing to the board.
fn listed_clicks_are_all_that_matter<G: Game>(levels: &Levels<G>, level: LevelIndex, at: &str) {
    let mut rng = Rng::new(6, 0);
    let mut episode = Episode::at(levels.clone(), level);
    for step in 0..60 {
        if episode.status() == PlayState::NotFinished && episode.level() == level && step % 12 == 0
        {
            every_click_is_listed::<G>(levels.get(level), episode.state(), at);
        }
        let action = any_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
    }
}

fn every_click_is_listed<G: Game>(level: &G::Level, state: &StateOf<G>, at: &str) {
    let after = |x: u8, y: u8| {
        let mut after = state.clone();
        let outcome = G::step(level, &mut after, Action::Action6 { x, y }, &mut NoFrames);
        (outcome, key_of(&after))
    };
    let listed = G::clicks(level, state).map(|(x, y)| {
        assert!(
            Action::click(x, y).is_some(),
            "{at}: `clicks` lists {x},{y}, which is not on the frame"
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
                "{at}: the click at {x},{y} does something that `clicks` does not list"
            );
        }
    }
}

/// The stored solutions win, one level after the other, and are as long as the facts say.
fn solutions_win<G: Game>() {
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
                "{} level {level}: the solution's length is not the one behind the baseline",
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
