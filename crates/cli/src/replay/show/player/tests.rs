use super::*;

/// Three levels of two actions each: a click that changes nothing, and a step whose animation of three frames ends in the
/// next level. Each settled picture has the number of its moment as colour.
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
fn a_film_plays_frame_by_frame_to_its_end_and_again() {
    let mut now = Instant::now();
    let mut player = player(now);
    let mut shown = vec![(player.entry().0, player.frame().get(0, 0))];
    while player.is_playing() {
        now += player.wait(now).unwrap();
        player.tick(now);
        let here = (player.entry().0, player.frame().get(0, 0));
        // A mark that ends is a tick of its own.
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
        (player.state(), player.completed(), player.wait(now)),
        (PlayState::Win, Some(3), None)
    );
    player.fulfil(Wish::Pause, now);
    assert_eq!((player.entry(), player.is_playing()), ((1, 7), true));
}

#[test]
fn pictures_stay_for_their_time_and_speed_shortens_it() {
    let now = Instant::now();
    let mut player = player(now);
    assert_eq!(player.wait(now), Some(ms(300)));
    player.tick(now + ms(299));
    assert_eq!(player.entry(), (1, 7));
    player.tick(now + ms(300));
    assert_eq!(
        (player.entry(), player.wait(now + ms(300))),
        ((2, 7), Some(ms(120)))
    );
    player.fulfil(Wish::Faster, now);
    player.fulfil(Wish::Faster, now);
    assert_eq!((player.speed(), player.wait(now)), (4.0, Some(ms(30))));
    for _ in 0..20 {
        player.fulfil(Wish::Slower, now);
    }
    assert_eq!(player.speed(), SLOWEST);
}

#[test]
fn steps_stop_and_stay_within_the_film() {
    let now = Instant::now();
    let mut player = player(now);
    let mut after = |wish: Wish| {
        player.fulfil(wish, now);
        (player.entry().0, player.is_playing())
    };
    assert_eq!(after(Wish::Step(1)), (2, false));
    assert_eq!(after(Wish::Step(10)), (7, false));
    assert_eq!(after(Wish::Step(-1)), (6, false));
    assert_eq!(after(Wish::Step(-10)), (1, false));
    assert_eq!(after(Wish::Pause), (1, true));
    assert_eq!(after(Wish::End), (7, false));
    assert_eq!(after(Wish::Start), (1, false));
    assert_eq!(after(Wish::Pause), (1, true));
    assert_eq!(after(Wish::Pause), (1, false));
}

#[test]
fn levels_are_jumped_to_at_their_first_picture() {
    let now = Instant::now();
    let mut player = player(now);
    let mut after = |wish: Wish| {
        player.fulfil(wish, now);
        (player.entry().0, player.level())
    };
    assert_eq!(after(Wish::NextLevel), (3, (2, 3)));
    assert_eq!(after(Wish::NextLevel), (5, (3, 3)));
    assert_eq!(after(Wish::NextLevel), (7, (3, 3)));
    assert_eq!(after(Wish::PreviousLevel), (3, (2, 3)));
    assert_eq!(after(Wish::Step(1)), (4, (2, 3)));
    assert_eq!(after(Wish::PreviousLevel), (1, (1, 3)));
    assert_eq!(after(Wish::PreviousLevel), (1, (1, 3)));
}

#[test]
fn a_level_is_left_when_its_last_picture_has_moved() {
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
fn a_click_is_marked_for_a_moment() {
    let now = Instant::now();
    let mut player = player(now);
    assert_eq!(player.mark(), None);
    player.fulfil(Wish::Step(1), now);
    assert_eq!(
        (player.mark(), player.wait(now)),
        (Some((10, 20)), Some(MARK))
    );
    player.tick(now + MARK);
    assert_eq!((player.mark(), player.wait(now)), (None, None));
    player.fulfil(Wish::Step(1), now);
    assert_eq!(player.mark(), None);
}

#[test]
fn a_film_without_frames_is_refused() {
    let mut film = film();
    for moment in &mut film.moments {
        moment.frames.clear();
    }
    assert!(Player::new(film, 1.0, 0, Instant::now()).is_err());
}
