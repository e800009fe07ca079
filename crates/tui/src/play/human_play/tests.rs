use rhae_engine::{Catalog, LevelIndex};
use rhae_games::Builtin;
use rhae_protocol::Recording;
use rhae_session::{ResetRule, replay};

use super::*;

fn new_play() -> HumanPlay {
    play_of("hk26")
}

fn play_of(id: &str) -> HumanPlay {
    HumanPlay::new(
        Play::new(Builtin.open(id, 0).unwrap(), ResetRule::Official),
        None,
    )
}

fn press(human_play: &mut HumanPlay, command: KeyCommand) {
    assert!(!human_play.handle(command, Instant::now()).unwrap());
}

fn solve_level(human_play: &mut HumanPlay, level: u8) {
    for action in rhae_games::find("hk26")
        .unwrap()
        .facts
        .solution(LevelIndex(level))
    {
        match action {
            Action::Action6 { x, y } => human_play.click(x, y, Instant::now()).unwrap(),
            other => press(human_play, KeyCommand::Act(other)),
        }
    }
    human_play.animation_mut().skip();
}

fn message(human_play: &HumanPlay) -> String {
    human_play
        .message()
        .map(|(text, _)| text)
        .unwrap_or_default()
}

#[test]
fn key_during_an_animation_skips_it_and_is_executed() {
    let mut human_play = new_play();
    press(&mut human_play, KeyCommand::Act(Action::Action4));
    assert!(human_play.animation().is_running());
    press(&mut human_play, KeyCommand::Act(Action::Action4));
    assert_eq!(human_play.actions(), (2, 2));
}

#[test]
fn completed_level_waits_for_the_player_to_continue() {
    let mut human_play = new_play();
    solve_level(&mut human_play, 0);
    assert_eq!(
        (human_play.focus(), human_play.level(), human_play.actions()),
        (Focus::LevelWon, (1, 8), (7, 7))
    );
    assert_eq!(
        message(&human_play),
        "Level 1 completed with 7 actions. Space, enter or a click continues to level 2."
    );
    let won = human_play.frame().clone();
    press(&mut human_play, KeyCommand::NextLevel);
    assert_ne!(*human_play.frame(), won);
    assert_eq!(
        (human_play.focus(), human_play.level(), human_play.actions()),
        (Focus::Board, (2, 8), (0, 7))
    );
}

#[test]
fn restart_of_the_whole_game_needs_confirmation() {
    let mut human_play = new_play();
    press(&mut human_play, KeyCommand::Reset);
    assert!(message(&human_play).contains("nothing to reset"));
    solve_level(&mut human_play, 0);
    press(&mut human_play, KeyCommand::NextLevel);
    press(&mut human_play, KeyCommand::Reset);
    assert_eq!(human_play.focus(), Focus::RestartPrompt);
    press(&mut human_play, KeyCommand::Cancel);
    assert_eq!(
        (human_play.focus(), human_play.level().0),
        (Focus::Board, 2)
    );
    // After an action, RESET restarts only the level; a second RESET would restart the game.
    press(&mut human_play, KeyCommand::Act(Action::Action3));
    press(&mut human_play, KeyCommand::Reset);
    assert_eq!(
        (
            human_play.focus(),
            human_play.level().0,
            human_play.actions()
        ),
        (Focus::Board, 2, (2, 9))
    );
    press(&mut human_play, KeyCommand::Reset);
    assert_eq!(human_play.focus(), Focus::RestartPrompt);
    press(&mut human_play, KeyCommand::Confirm);
    assert_eq!(
        (
            human_play.focus(),
            human_play.level().0,
            human_play.actions()
        ),
        (Focus::Board, 1, (0, 0))
    );
}

#[test]
fn won_game_can_be_restarted() {
    let mut human_play = new_play();
    for level in 0..8 {
        solve_level(&mut human_play, level);
        press(
            &mut human_play,
            if level < 7 {
                KeyCommand::NextLevel
            } else {
                KeyCommand::Ignore
            },
        );
    }
    assert_eq!(
        (human_play.state_label(), human_play.level()),
        ("won", (8, 8))
    );
    assert!(message(&human_play).starts_with("You won: all 8 levels completed."));
    let actions = human_play.actions();
    press(&mut human_play, KeyCommand::Act(Action::Action1));
    assert_eq!(human_play.actions(), actions);
    press(&mut human_play, KeyCommand::Reset);
    assert_eq!(human_play.focus(), Focus::RestartPrompt);
    press(&mut human_play, KeyCommand::Confirm);
    assert_eq!(
        (human_play.state_label(), human_play.level()),
        ("playing", (1, 8))
    );
}

#[test]
fn won_play_is_recorded_as_won_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("play.jsonl");
    let mut human_play = new_play();
    human_play.recorder = Some(Recorder::create(&file, &human_play.play, 0).unwrap());
    let again = Recorder::create(&file, &human_play.play, 0);
    assert!(again.is_err_and(|error| error.to_string().contains("already exists")));
    for level in 0..8 {
        solve_level(&mut human_play, level);
        press(&mut human_play, KeyCommand::NextLevel);
    }
    assert_eq!(
        human_play.end(None).unwrap().as_deref(),
        Some(file.as_path())
    );
    let recording = Recording::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(recording.ending, Some(Ending::Won));
    assert_eq!(human_play.tally().runs()[0].ending, Some(Ending::Won));
    let replayed = replay(&Builtin, &recording).unwrap();
    assert_eq!(
        (replayed.mismatch, replayed.play.tally().actions()),
        (None, human_play.tally().actions())
    );
}

#[test]
fn lost_level_ignores_actions_and_names_the_restart_key() {
    let mut human_play = play_of("pz19");
    press(&mut human_play, KeyCommand::ToggleCursor);
    press(&mut human_play, KeyCommand::MoveCursor(-16, -11));
    // Every punch at a wrong place ruins a sheet, of which the level has few.
    for _ in 0..10 {
        if human_play.state() == PlayState::NotFinished {
            press(&mut human_play, KeyCommand::ClickAtCursor);
        }
    }
    assert_eq!(human_play.state(), PlayState::GameOver);
    human_play.animation_mut().skip();
    assert_eq!(
        (human_play.state_label(), message(&human_play).as_str()),
        (
            "lost",
            "Level 1 is lost. r restarts it and counts as an action."
        )
    );
    let (actions, _) = human_play.actions();
    press(&mut human_play, KeyCommand::Act(Action::Action1));
    assert_eq!(human_play.actions().0, actions);
    press(&mut human_play, KeyCommand::Reset);
    assert_eq!(
        (human_play.state_label(), human_play.actions().0),
        ("playing", actions + 1)
    );
}

#[test]
fn cursor_stays_on_the_board_and_clicks() {
    let mut human_play = new_play();
    press(&mut human_play, KeyCommand::ToggleCursor);
    assert_eq!(
        (human_play.focus(), human_play.cursor()),
        (Focus::Cursor, Some((32, 32)))
    );
    for _ in 0..10 {
        press(&mut human_play, KeyCommand::MoveCursor(8, -8));
    }
    assert_eq!(human_play.cursor(), Some((63, 0)));
    press(&mut human_play, KeyCommand::ClickAtCursor);
    assert_eq!(human_play.actions().0, 1);
    press(&mut human_play, KeyCommand::ToggleCursor);
    assert_eq!(human_play.cursor(), None);
}
