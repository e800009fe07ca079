use super::*;

/// Returns a film of three levels with two actions each: a click without effect, and a step with
/// three frames that completes the level. Each settled frame is filled with the number of its
/// moment.
pub(crate) fn film() -> Film {
    let mut film = Film::new("wa1k-v1", "tester", 10, 3);
    let moment = |action, frames: Vec<Frame>, levels_completed| Moment {
        action,
        frames,
        state: if levels_completed == 3 {
            PlayState::Win
        } else {
            PlayState::NotFinished
        },
        levels_completed,
        changed: !matches!(action, Action::Action6 { .. }),
        counted: action != Action::Reset,
        full_reset: action == Action::Reset,
        reasoning: None,
        work: None,
        t_ms: None,
    };
    film.moments
        .push(moment(Action::Reset, vec![Frame::filled(0)], 0));
    for level in 0..3 {
        let number = 2 * level;
        film.moments.push(moment(
            Action::Action6 { x: 10, y: 20 },
            vec![Frame::filled(number + 1)],
            level,
        ));
        let frames = [14, 15, number + 2].map(Frame::filled).to_vec();
        film.moments
            .push(moment(Action::Action4, frames, level + 1));
    }
    film
}

fn player(now: Instant) -> Player {
    Player::new(film(), 1.0, 0, now).unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn film_plays_to_its_end_and_can_be_restarted() {
    let mut now = Instant::now();
    let mut player = player(now);
    let mut shown = vec![(player.entry().0, player.frame().get(0, 0))];
    while player.is_playing() {
        now += player.time_to_next_tick(now).unwrap();
        player.tick(now);
        let here = (player.entry().0, player.frame().get(0, 0));
        // A tick may only remove a click mark. The frame is then the same and is not added again.
        if shown.last() != Some(&here) {
            shown.push(here);
        }
    }
    assert_eq!(
        shown,
        [
            (1, 0),
            (2, 1),
            (3, 14),
            (3, 15),
            (3, 2),
            (4, 3),
            (5, 14),
            (5, 15),
            (5, 4),
            (6, 5),
            (7, 14),
            (7, 15),
            (7, 6)
        ]
    );
    assert_eq!(
        (
            player.state(),
            player.completed(),
            player.time_to_next_tick(now)
        ),
        (PlayState::Win, Some(3), None)
    );
    player.handle(PlayerCommand::TogglePause, now);
    assert_eq!((player.entry(), player.is_playing()), ((1, 7), true));
}

#[test]
fn display_time_depends_on_effect_and_speed() {
    let now = Instant::now();
    let mut player = player(now);
    assert_eq!(player.time_to_next_tick(now), Some(ms(300)));
    player.tick(now + ms(299));
    assert_eq!(player.entry(), (1, 7));
    player.tick(now + ms(300));
    assert_eq!(
        (player.entry(), player.time_to_next_tick(now + ms(300))),
        ((2, 7), Some(ms(120)))
    );
    player.handle(PlayerCommand::Faster, now);
    player.handle(PlayerCommand::Faster, now);
    assert_eq!(
        (player.speed(), player.time_to_next_tick(now)),
        (4.0, Some(ms(30)))
    );
    for _ in 0..20 {
        player.handle(PlayerCommand::Slower, now);
    }
    assert_eq!(player.speed(), MIN_SPEED);
}

#[test]
fn steps_pause_and_stay_within_the_film() {
    let now = Instant::now();
    let mut player = player(now);
    let mut after = |command: PlayerCommand| {
        player.handle(command, now);
        (player.entry().0, player.is_playing())
    };
    assert_eq!(after(PlayerCommand::Step(1)), (2, false));
    assert_eq!(after(PlayerCommand::Step(10)), (7, false));
    assert_eq!(after(PlayerCommand::Step(-1)), (6, false));
    assert_eq!(after(PlayerCommand::Step(-10)), (1, false));
    assert_eq!(after(PlayerCommand::TogglePause), (1, true));
    assert_eq!(after(PlayerCommand::End), (7, false));
    assert_eq!(after(PlayerCommand::Start), (1, false));
    assert_eq!(after(PlayerCommand::TogglePause), (1, true));
    assert_eq!(after(PlayerCommand::TogglePause), (1, false));
}

#[test]
fn level_keys_jump_to_the_first_frame_of_a_level() {
    let now = Instant::now();
    let mut player = player(now);
    let mut after = |command: PlayerCommand| {
        player.handle(command, now);
        (player.entry().0, player.level())
    };
    assert_eq!(after(PlayerCommand::NextLevel), (3, (2, 3)));
    assert_eq!(after(PlayerCommand::NextLevel), (5, (3, 3)));
    assert_eq!(after(PlayerCommand::NextLevel), (7, (3, 3)));
    assert_eq!(after(PlayerCommand::PreviousLevel), (3, (2, 3)));
    assert_eq!(after(PlayerCommand::Step(1)), (4, (2, 3)));
    assert_eq!(after(PlayerCommand::PreviousLevel), (1, (1, 3)));
    assert_eq!(after(PlayerCommand::PreviousLevel), (1, (1, 3)));
}

#[test]
fn level_changes_after_its_last_animation() {
    let now = Instant::now();
    let mut player = Player::new(film(), 1.0, 1, now).unwrap();
    player.tick(now + ms(120));
    assert_eq!(
        (player.entry().0, player.level(), player.completed()),
        (3, (1, 3), None)
    );
    player.tick(now + ms(220));
    player.tick(now + ms(320));
    assert_eq!(
        (player.entry().0, player.level(), player.completed()),
        (3, (2, 3), Some(1))
    );
    assert_eq!(player.actions(), (2, 6));
}

#[test]
fn click_mark_expires() {
    let now = Instant::now();
    let mut player = player(now);
    assert_eq!(player.marked_cell(), None);
    player.handle(PlayerCommand::Step(1), now);
    assert_eq!(
        (player.marked_cell(), player.time_to_next_tick(now)),
        (Some((10, 20)), Some(CLICK_MARK_TIME))
    );
    player.tick(now + CLICK_MARK_TIME);
    assert_eq!(
        (player.marked_cell(), player.time_to_next_tick(now)),
        (None, None)
    );
    player.handle(PlayerCommand::Step(1), now);
    assert_eq!(player.marked_cell(), None);
}

#[test]
fn film_without_frames_is_rejected() {
    let mut film = film();
    for moment in &mut film.moments {
        moment.frames.clear();
    }
    assert!(Player::new(film, 1.0, 0, Instant::now()).is_err());
}

#[test]
fn recorded_pace_takes_the_recorded_time_for_each_entry() {
    let mut now = Instant::now();
    let mut film = film();
    // The second action comes early, during its predecessor's animation at the usual speed.
    let times = [0, 5_000, 5_100, 5_101, 9_000, 9_000, 20_000];
    for (moment, time) in film.moments.iter_mut().zip(times) {
        moment.t_ms = Some(time);
    }
    let start = now;
    let mut player = Player::new(film, 1.0, 0, now).unwrap();
    player.handle(PlayerCommand::TogglePace, now);
    assert!(player.plays_at_recorded_pace());
    let mut begun = vec![0];
    while player.is_playing() {
        now += player.time_to_next_tick(now).unwrap();
        player.tick(now);
        if player.entry().0 > begun.len() {
            begun.push((now - start).as_millis());
        }
    }
    let expected = times.map(u128::from);
    assert_eq!(begun.len(), expected.len());
    for (begun, expected) in begun.iter().zip(expected) {
        assert!(begun.abs_diff(expected) <= 1, "{begun} {expected}");
    }
    // Twice the speed halves the recorded times.
    player.handle(PlayerCommand::Start, now);
    player.handle(PlayerCommand::Faster, now);
    player.handle(PlayerCommand::TogglePause, now);
    assert_eq!(player.time_to_next_tick(now), Some(ms(2_500)));
    player.handle(PlayerCommand::TogglePace, now);
    assert!(player.time_to_next_tick(now).unwrap() < ms(1_000));
}

#[test]
fn recorded_pace_needs_recorded_times() {
    let now = Instant::now();
    let mut player = player(now);
    player.handle(PlayerCommand::TogglePace, now);
    assert!(!player.plays_at_recorded_pace());
}
