//! Tests of `rhae play` in a real terminal: tmux sends the keys and captures the screen.

pub(crate) mod tmux;

use std::fs;
use std::process::{Command, Stdio};

use rhae_games::Builtin;
use rhae_protocol::{Ending, Recording};
use rhae_session::replay;

use self::tmux::Terminal;

const RHAE: &str = env!("CARGO_BIN_EXE_rhae");

/// Opens a terminal and starts a play of hk26. Returns `None` if tmux is missing and the
/// environment allows skipping.
fn start_play(columns: u16, rows: u16, flags: &str) -> Option<Terminal> {
    let terminal = Terminal::open(columns, rows)?;
    terminal.type_line(&format!("{RHAE} play hk26 {flags}; echo code=$?"));
    terminal.wait_for("level 1 of 8");
    Some(terminal)
}

/// Returns the rows of the board with the characters of level 1 of hk26, in a terminal of 80 x 40.
fn characters(terminal: &Terminal) -> Vec<String> {
    terminal
        .picture()
        .lines()
        .skip(9)
        .take(12)
        .map(str::to_owned)
        .collect()
}

fn board(terminal: &Terminal) -> Vec<String> {
    terminal
        .picture()
        .lines()
        .skip(1)
        .take(32)
        .map(str::to_owned)
        .collect()
}

/// Presses and releases the left mouse button at a position counted from 1.
fn click(terminal: &Terminal, column: u16, row: u16) {
    terminal.send_bytes(format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m").as_bytes());
}

#[test]
fn arrow_key_changes_the_board_and_counts() {
    let Some(terminal) = start_play(80, 40, "") else {
        return;
    };
    for text in ["actions 0", "space ACTION5", "u undo   r reset   q quit"] {
        terminal.wait_for(text);
    }
    let before = characters(&terminal);
    terminal.send("Right");
    terminal.wait_for("actions 1");
    terminal.wait_until("the board changes", |terminal| {
        characters(terminal) != before
    });
}

#[test]
fn undo_reverts_one_action_and_reset_the_level() {
    let Some(terminal) = start_play(80, 40, "") else {
        return;
    };
    let (initial, before) = (board(&terminal), characters(&terminal));
    terminal.send("d");
    terminal.wait_for("actions 1");
    terminal.wait_until("the board changes", |terminal| {
        characters(terminal) != before
    });
    terminal.send("u");
    terminal.wait_for("actions 2");
    terminal.wait_until("the action is undone", |terminal| {
        characters(terminal) == before
    });
    assert_eq!(board(&terminal), initial);
    terminal.send("r");
    terminal.wait_for("actions 3");
    terminal.wait_until("the level is restarted", |terminal| {
        board(terminal) == initial
    });
    // A second RESET would restart the whole game.
    terminal.send("r");
    terminal.wait_for("y restarts it");
    terminal.send("y");
    terminal.wait_for("actions 0");
    terminal.send("r");
    terminal.wait_for("nothing to reset");
}

#[test]
fn clicks_by_mouse_and_cursor_reach_their_cells() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("play.jsonl");
    let Some(terminal) = start_play(80, 40, &format!("--record {}", file.display())) else {
        return;
    };
    let before = characters(&terminal);
    click(&terminal, 1, 1);
    click(&terminal, 8 + 50 + 1, 1 + 11 + 1);
    terminal.wait_for("actions 1");
    terminal.wait_until("another character is selected", |terminal| {
        characters(terminal) != before
    });
    terminal.send("c");
    terminal.wait_for("x 32 y 32");
    terminal.send("Left");
    terminal.send("Down");
    terminal.wait_for("x 31 y 33");
    terminal.send("Enter");
    terminal.wait_for("actions 2");
    terminal.send("q");
    terminal.wait_for("code=0");
    assert!(
        terminal.text().contains("recording: "),
        "{}",
        terminal.text()
    );

    let recording = Recording::parse(&fs::read_to_string(&file).unwrap()).unwrap();
    let actions: Vec<String> = recording
        .entries
        .iter()
        .map(|entry| entry.action.to_string())
        .collect();
    assert_eq!(actions, ["0", "6@50,22", "6@31,33"]);
    assert_eq!(
        (recording.header.agent.as_str(), &recording.ending),
        ("human", &Some(Ending::Stopped))
    );
    assert_eq!(replay(&Builtin, &recording).unwrap().mismatch, None);

    terminal.type_line(&format!(
        "clear; {RHAE} play hk26 --record {}; echo code=$?",
        file.display()
    ));
    terminal.wait_for("code=1");
    assert!(terminal.text().contains("already exists"));
}

#[test]
fn completed_level_waits_before_the_next_level() {
    let Some(terminal) = start_play(80, 40, "") else {
        return;
    };
    for key in ["Right", "Right", "Right", "Space", "Down", "Down", "Left"] {
        terminal.send(key);
    }
    terminal.wait_for("Level 1 completed with 7 actions.");
    assert!(terminal.text().contains("level 1 of 8"));
    // An action key must not act on the next level before that level is shown.
    terminal.send("Left");
    terminal.send("Enter");
    terminal.wait_for("level 2 of 8   actions 0 (7 in total)");
    terminal.send("r");
    terminal.wait_for("y restarts it");
    terminal.send("n");
    terminal.wait_while("y restarts it");
    assert!(terminal.text().contains("level 2 of 8"));
    terminal.send("q");
    terminal.wait_for("code=0");
    for part in [
        "hk26-v1: 1 of 8 levels completed with 7 actions",
        "7        14      115.0 %",
        "score 2.8 % (docs-2026-04)",
        "provisional",
    ] {
        assert!(
            terminal.text().contains(part),
            "{part} in\n{}",
            terminal.text()
        );
    }
}

#[test]
fn every_quit_key_restores_the_terminal() {
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    terminal.type_line("echo before-the-play");
    for key in ["q", "C-c", "Escape"] {
        terminal.type_line(&format!("{RHAE} play hk26; echo code=$?-{key}"));
        terminal.wait_for("level 1 of 8");
        assert_eq!(terminal.modes(), "cursor 0 alternate 1 mouse 1");
        assert!(!terminal.text().contains("before-the-play"));
        terminal.send(key);
        terminal.wait_for(&format!("code=0-{key}"));
        assert_eq!(terminal.modes(), "cursor 1 alternate 0 mouse 0");
        assert!(terminal.text().contains("before-the-play"));
    }
    // The terminal echoes input again, so it has left raw mode.
    terminal.type_line("echo 'still echoing'");
    terminal.wait_for("$ echo 'still echoing'");
}

#[test]
fn signals_restore_the_terminal_and_close_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let Some(terminal) = Terminal::open(80, 40) else {
            return;
        };
        let (file, id) = (
            folder.path().join(signal),
            folder.path().join(format!("{signal}.pid")),
        );
        let play = format!(
            "echo $$ > {}; exec {RHAE} play hk26 --record {}",
            id.display(),
            file.display()
        );
        terminal.type_line(&format!("sh -c '{play}'; echo code=$?"));
        terminal.wait_for("level 1 of 8");
        let id = fs::read_to_string(&id).unwrap();
        assert!(
            Command::new("kill")
                .args(["-s", signal, id.trim()])
                .status()
                .unwrap()
                .success()
        );
        terminal.wait_for(&format!("code={code}"));
        assert_eq!(terminal.modes(), "cursor 1 alternate 0 mouse 0");
        let recording = Recording::parse(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(recording.ending, Some(Ending::Stopped));
    }
}

#[test]
fn closed_terminal_ends_the_play() {
    let folder = tempfile::tempdir().unwrap();
    let (file, id) = (folder.path().join("play.jsonl"), folder.path().join("pid"));
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    let play = format!(
        "echo $$ > {}; exec {RHAE} play hk26 --record {}",
        id.display(),
        file.display()
    );
    terminal.type_line(&format!("sh -c '{play}'"));
    terminal.wait_for("level 1 of 8");
    let id = fs::read_to_string(&id).unwrap();
    terminal.close();
    tmux::wait_until("the process ends", || {
        !Command::new("kill")
            .args(["-0", id.trim()])
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    });
    let recording = Recording::parse(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(recording.ending, Some(Ending::Stopped));
}

#[test]
fn small_terminal_shows_a_notice_until_it_is_enlarged() {
    let Some(terminal) = Terminal::open(60, 20) else {
        return;
    };
    terminal.type_line(&format!("{RHAE} play hk26; echo code=$?"));
    terminal.wait_for("This terminal has 60 x 20 characters");
    terminal.wait_for("The board needs 64 x 38");
    // Actions are ignored while the board is not shown.
    terminal.send("Right");
    terminal.resize(80, 40);
    terminal.wait_for("level 1 of 8   actions 0");
    terminal.resize(150, 80);
    terminal.wait_until("the board is centred again", |terminal| {
        terminal
            .text()
            .lines()
            .any(|line| line.starts_with("           hk26-v1   level 1 of 8"))
    });
    // The zoom is 2 now, and the board starts at column 11 and row 5.
    click(&terminal, 1 + 11 + 2 * 50, 1 + 5 + 23);
    terminal.wait_for("actions 1");
    terminal.resize(40, 10);
    terminal.wait_for("This terminal has 40 x 10");
    terminal.send("q");
    terminal.wait_for("code=0");
}

#[test]
fn missing_terminal_is_an_error_with_advice() {
    let output = Command::new(RHAE)
        .args(["play", "hk26"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: `rhae play` needs a terminal") && error.contains("without pipes"),
        "{error}"
    );
    assert!(output.stdout.is_empty());

    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    terminal.type_line(&format!("{RHAE} play hk26 | cat"));
    terminal.wait_for("standard output is not a terminal");
    assert_eq!(terminal.modes(), "cursor 1 alternate 0 mouse 0");
}

#[test]
fn unknown_environment_is_named_in_the_error() {
    let output = Command::new(RHAE)
        .args(["play", "zz99"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("zz99"));
}
