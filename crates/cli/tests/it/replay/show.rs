//! Tests of `rhae replay show` in a real terminal.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{Fixture, RHAE, fails, solved_levels, text};
use crate::play::tmux::Terminal;
use crate::rhae::rhae;

fn board(terminal: &Terminal) -> Vec<String> {
    terminal
        .picture()
        .lines()
        .skip(1)
        .take(32)
        .map(str::to_owned)
        .collect()
}

#[test]
fn stepping_changes_the_entry_and_the_board() {
    let fixture = Fixture::new();
    let solved = solved_levels(&fixture, 2);
    let entries = fs::read_to_string(&solved).unwrap().lines().count() - 2;
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    terminal.type_line(&format!(
        "{RHAE} replay show {} --speed 0.5; echo code=$?",
        text(&solved)
    ));
    for part in [
        "hk26-v1",
        &format!("of {entries}"),
        "level 1 of 8",
        "not finished",
        "0.5×",
        "space pause",
    ] {
        terminal.wait_for(part);
    }
    terminal.send("Space");
    terminal.wait_for("paused");
    let entry = |number: usize| {
        format!(
            "entry {number:>width$} of {entries}",
            width = entries.to_string().len()
        )
    };
    terminal.send("Home");
    terminal.wait_for(&entry(1));
    terminal.wait_for("new game");
    let first = board(&terminal);
    terminal.send("Right");
    terminal.wait_for(&entry(2));
    // The reasoning is shown without its escape sequences.
    terminal.wait_for("[2J]0;ownedremark 1 on the way");
    terminal.wait_until("the board changes", |terminal| board(terminal) != first);
    terminal.send("Left");
    terminal.wait_for(&entry(1));
    terminal.wait_until("the first board is shown again", |terminal| {
        board(terminal) == first
    });
    terminal.send("NPage");
    terminal.wait_for(&entry(11));
    terminal.send("S-Left");
    terminal.wait_for(&entry(1));
    terminal.send("n");
    terminal.wait_for("completed level 1");
    terminal.wait_for("level 2 of 8");
    terminal.send("p");
    terminal.wait_for(&entry(1));
    terminal.send("End");
    terminal.wait_for(&entry(entries));
    terminal.wait_for("level 3 of 8");
    terminal.send("+");
    terminal.wait_for("1× paused");
    terminal.send("-");
    terminal.wait_for("0.5× paused");
    // At the end, space restarts playback.
    terminal.send("Space");
    terminal.wait_for(&entry(2));
    terminal.send("q");
    terminal.wait_for("code=0");
}

#[test]
fn click_position_and_missing_effect_are_shown() {
    let fixture = Fixture::new();
    let recording = fixture.text();
    let line = recording
        .lines()
        .position(|line| line.contains("\"6@") && line.contains("\"unchanged\":true"))
        .unwrap();
    let position = recording
        .lines()
        .nth(line)
        .unwrap()
        .split("6@")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .replace(',', ", ");
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    terminal.type_line(&format!("{RHAE} replay show {}", text(&fixture.recording)));
    terminal.wait_for("entry");
    terminal.send("Space");
    terminal.wait_for("paused");
    terminal.send("Home");
    terminal.wait_for("new game");
    for _ in 1..line {
        terminal.send("Right");
    }
    terminal.wait_for(&format!("ACTION6 at {position}"));
    terminal.wait_for("changed nothing");
    terminal.send("q");
    terminal.wait_for("$");
}

#[test]
fn recording_with_times_is_shown_at_its_recorded_pace() {
    let fixture = Fixture::new();
    // The recording of a reproducible agent has no times, so that it is the same in every run.
    let untimed = text(&fixture.recording);
    let arguments = ["replay", "show", "--recorded-pace", untimed];
    rhae(fixture.folder.path(), &arguments).failed_with("the recording has no times");
    let timed = |(index, line): (usize, &str)| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line.get("action").is_some() {
            line["t_ms"] = (100 * index).into();
        }
        format!("{line}\n")
    };
    let lines: String = fixture.text().lines().enumerate().map(timed).collect();
    let recording = fixture.with("timed.jsonl", &lines);
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    let recording = text(&recording);
    terminal.type_line(&format!("{RHAE} replay show --recorded-pace {recording}"));
    terminal.wait_for("1× recorded");
    terminal.send("q");
    terminal.wait_for("$");
}

#[test]
fn every_quit_key_restores_the_terminal() {
    let fixture = Fixture::new();
    let toolkit = fixture.converted(&fixture.recording, "toolkit");
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    terminal.type_line("echo before-the-show");
    for (key, file) in [
        ("q", &fixture.recording),
        ("C-c", &toolkit),
        ("Escape", &toolkit),
    ] {
        terminal.type_line(&format!(
            "{RHAE} replay show {}; echo code=$?-{key}",
            text(file)
        ));
        terminal.wait_for("level 1 of 8");
        assert_eq!(terminal.modes(), "cursor 0 alternate 1 mouse 0");
        assert!(!terminal.text().contains("before-the-show"));
        terminal.send(key);
        terminal.wait_for(&format!("code=0-{key}"));
        assert_eq!(terminal.modes(), "cursor 1 alternate 0 mouse 0");
        assert!(terminal.text().contains("before-the-show"));
    }
    terminal.type_line("echo 'still echoing'");
    terminal.wait_for("$ echo 'still echoing'");
}

#[test]
fn signal_restores_the_terminal() {
    let fixture = Fixture::new();
    let id = fixture.path("pid");
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    let show = format!(
        "echo $$ > {}; exec {RHAE} replay show {}",
        text(&id),
        text(&fixture.recording)
    );
    terminal.type_line(&format!("sh -c '{show}'; echo code=$?"));
    terminal.wait_for("level 1 of 8");
    let id = fs::read_to_string(&id).unwrap();
    assert!(
        Command::new("kill")
            .args(["-s", "TERM", id.trim()])
            .status()
            .unwrap()
            .success()
    );
    terminal.wait_for("code=143");
    assert_eq!(terminal.modes(), "cursor 1 alternate 0 mouse 0");
}

#[test]
fn level_flag_starts_at_a_level_of_the_recording() {
    let fixture = Fixture::new();
    let solved = solved_levels(&fixture, 2);
    fails(
        &["show", text(&solved), "--level", "9"],
        &["does not reach level 9"],
    );
    let Some(terminal) = Terminal::open(94, 32) else {
        return;
    };
    terminal.type_line(&format!("{RHAE} replay show {} --level 2", text(&solved)));
    terminal.wait_for("level 2 of 8");
    terminal.resize(60, 20);
    terminal.wait_for("This terminal has 60 x 20 characters");
    terminal.wait_for("The board needs 64 x 38");
    terminal.send("q");
    terminal.wait_while("This terminal");
}

#[test]
fn missing_terminal_is_an_error_with_advice() {
    let fixture = Fixture::new();
    let advice = [
        "`rhae replay show` needs a terminal",
        "without pipes",
        "`rhae replay render`",
    ];
    fails(&["show", text(&fixture.recording)], &advice);
    fails(
        &["show", text(&fixture.path("absent.jsonl"))],
        &["cannot read"],
    );
}
