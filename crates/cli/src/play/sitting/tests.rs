use rhae_engine::LevelIndex;
use rhae_protocol::Recording;
use rhae_session::{Builtin, Catalog, ResetRule, replay};

use super::*;

fn sitting() -> Sitting {
    Sitting::new(
        Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official),
        None,
    )
}

fn does(sitting: &mut Sitting, wish: Wish) {
    assert!(!sitting.fulfil(wish, Instant::now()).unwrap());
}

fn solve_level(sitting: &mut Sitting, level: u8) {
    for action in rhae_games::find("hk26")
        .unwrap()
        .facts
        .solution(LevelIndex(level))
    {
        match action {
            Action::Action6 { x, y } => sitting.click(x, y, Instant::now()).unwrap(),
            other => does(sitting, Wish::Act(other)),
        }
    }
    sitting.film_mut().skip();
}

fn message(sitting: &Sitting) -> String {
    sitting.message().map(|(text, _)| text).unwrap_or_default()
}

#[test]
fn a_key_in_an_animation_shows_its_end_and_is_carried_out() {
    let mut sitting = sitting();
    does(&mut sitting, Wish::Act(Action::Action4));
    assert!(sitting.film().is_running());
    does(&mut sitting, Wish::Act(Action::Action4));
    assert_eq!(sitting.actions(), (2, 2));
}

#[test]
fn a_won_level_waits_to_be_left() {
    let mut sitting = sitting();
    solve_level(&mut sitting, 0);
    assert_eq!(
        (sitting.focus(), sitting.level(), sitting.actions()),
        (Focus::LevelWon, (1, 8), (7, 7))
    );
    assert_eq!(
        message(&sitting),
        "Level 1 completed with 7 actions. Space, enter or a click leads to level 2."
    );
    let won = sitting.frame().clone();
    does(&mut sitting, Wish::GoOn);
    assert_ne!(*sitting.frame(), won);
    assert_eq!(
        (sitting.focus(), sitting.level(), sitting.actions()),
        (Focus::Board, (2, 8), (0, 7))
    );
}

#[test]
fn a_restart_of_the_whole_game_is_asked_for() {
    let mut sitting = sitting();
    does(&mut sitting, Wish::Reset);
    assert!(message(&sitting).contains("nothing to reset"));
    solve_level(&mut sitting, 0);
    does(&mut sitting, Wish::GoOn);
    does(&mut sitting, Wish::Reset);
    assert_eq!(sitting.focus(), Focus::Question);
    does(&mut sitting, Wish::Decline);
    assert_eq!((sitting.focus(), sitting.level().0), (Focus::Board, 2));
    // After an action RESET is for the level alone, and a second one would be for the game again.
    does(&mut sitting, Wish::Act(Action::Action3));
    does(&mut sitting, Wish::Reset);
    assert_eq!(
        (sitting.focus(), sitting.level().0, sitting.actions()),
        (Focus::Board, 2, (2, 9))
    );
    does(&mut sitting, Wish::Reset);
    assert_eq!(sitting.focus(), Focus::Question);
    does(&mut sitting, Wish::Confirm);
    assert_eq!(
        (sitting.focus(), sitting.level().0, sitting.actions()),
        (Focus::Board, 1, (0, 0))
    );
}

#[test]
fn the_whole_game_can_be_won_and_begun_again() {
    let mut sitting = sitting();
    for level in 0..8 {
        solve_level(&mut sitting, level);
        does(
            &mut sitting,
            if level < 7 { Wish::GoOn } else { Wish::Nothing },
        );
    }
    assert_eq!((sitting.state_word(), sitting.level()), ("won", (8, 8)));
    assert!(message(&sitting).starts_with("You won: all 8 levels completed."));
    let actions = sitting.actions();
    does(&mut sitting, Wish::Act(Action::Action1));
    assert_eq!(sitting.actions(), actions);
    does(&mut sitting, Wish::Reset);
    assert_eq!(sitting.focus(), Focus::Question);
    does(&mut sitting, Wish::Confirm);
    assert_eq!((sitting.state_word(), sitting.level()), ("playing", (1, 8)));
}

#[test]
fn a_won_play_is_recorded_as_won_and_can_be_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("play.jsonl");
    let mut sitting = sitting();
    sitting.recorder = Some(Recorder::create(&file, &sitting.play, 0).unwrap());
    let again = Recorder::create(&file, &sitting.play, 0);
    assert!(again.is_err_and(|error| error.to_string().contains("exists already")));
    for level in 0..8 {
        solve_level(&mut sitting, level);
        does(&mut sitting, Wish::GoOn);
    }
    assert_eq!(sitting.end(None).unwrap().as_deref(), Some(file.as_path()));
    let recording = Recording::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(recording.ending, Some(Ending::Won));
    assert_eq!(sitting.tally().runs()[0].ending, "won");
    let replayed = replay(&Builtin, &recording).unwrap();
    assert_eq!(
        (replayed.mismatch, replayed.play.tally().actions()),
        (None, sitting.tally().actions())
    );
}

#[test]
fn a_lost_level_names_the_key_and_takes_no_actions() {
    let mut sitting = sitting();
    while sitting.state() == PlayState::NotFinished {
        does(&mut sitting, Wish::Act(Action::Action5));
    }
    sitting.film_mut().skip();
    assert_eq!(
        (sitting.state_word(), message(&sitting).as_str()),
        (
            "lost",
            "Level 1 is lost. r starts it again, which counts as an action."
        )
    );
    let (actions, _) = sitting.actions();
    does(&mut sitting, Wish::Act(Action::Action1));
    assert_eq!(sitting.actions().0, actions);
    does(&mut sitting, Wish::Reset);
    assert_eq!(
        (sitting.state_word(), sitting.actions().0),
        ("playing", actions + 1)
    );
}

#[test]
fn the_cursor_stays_on_the_board_and_clicks() {
    let mut sitting = sitting();
    does(&mut sitting, Wish::ToggleCursor);
    assert_eq!(
        (sitting.focus(), sitting.cursor()),
        (Focus::Cursor, Some((32, 32)))
    );
    for _ in 0..10 {
        does(&mut sitting, Wish::MoveCursor(8, -8));
    }
    assert_eq!(sitting.cursor(), Some((63, 0)));
    does(&mut sitting, Wish::ClickAtCursor);
    assert_eq!(sitting.actions().0, 1);
    does(&mut sitting, Wish::ToggleCursor);
    assert_eq!(sitting.cursor(), None);
}
