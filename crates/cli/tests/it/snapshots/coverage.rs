//! Tests that every command has a snapshot of its help, and that every command with `--json` has a
//! snapshot of its document.

use super::{Kind, commands, help, snapshot_name};

/// Commands with `--json` whose document cannot be pinned, each with the reason.
const WITHOUT_DOCUMENT: [(&str, &str); 2] = [
    (
        "bench validate",
        "it builds state graphs of up to a million states for all environments, which takes minutes",
    ),
    (
        "bench hosted",
        "it needs a Python with the package `rhae`, which only the Python tests have",
    ),
];

/// Returns the commands that need a snapshot and have none.
///
/// `needed` lists the snapshot names of the commands, `stored` the names of the snapshot files. A
/// file belongs to a command if it has its name, or its name followed by `-` and a variant.
fn missing(needed: &[String], stored: &[String]) -> Vec<String> {
    let has_snapshot = |name: &String| stored.iter().any(|file| command_of(file) == name);
    needed
        .iter()
        .filter(|name| !has_snapshot(name))
        .cloned()
        .collect()
}

/// Returns the part of a snapshot's name that identifies its command.
fn command_of(snapshot: &str) -> &str {
    snapshot
        .split_once('-')
        .map_or(snapshot, |(command, _)| command)
}

#[test]
fn every_command_has_a_help_snapshot() {
    let commands = commands::all();
    assert!(commands.len() > 40, "the walk found too few commands");
    let needed: Vec<String> = commands.iter().map(|one| help::name(&one.path)).collect();
    let stored = Kind::Help.stored();
    let missing = missing(&needed, &stored);
    assert!(missing.is_empty(), "no help snapshot of {missing:?}");
    let stale: Vec<&String> = stored.iter().filter(|it| !needed.contains(it)).collect();
    assert!(stale.is_empty(), "help snapshots of no command: {stale:?}");
}

#[test]
fn every_json_document_has_a_snapshot() {
    let needed: Vec<String> = commands::all()
        .iter()
        .filter(|command| command.prints_json())
        .filter(|command| {
            WITHOUT_DOCUMENT
                .iter()
                .all(|(path, _)| *path != command.path)
        })
        .map(|command| snapshot_name(&command.path, ""))
        .collect();
    assert!(needed.len() > 25, "too few commands have `--json`");
    let stored = Kind::Json.stored();
    let missing = missing(&needed, &stored);
    assert!(missing.is_empty(), "no JSON snapshot of {missing:?}");
    let stale: Vec<&String> = stored
        .iter()
        .filter(|file| needed.iter().all(|name| name != command_of(file)))
        .collect();
    assert!(stale.is_empty(), "JSON snapshots of no command: {stale:?}");
}

#[test]
fn a_command_without_a_snapshot_is_reported() {
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|&it| it.to_owned()).collect() };
    let stored = names(&["arc_score", "arc_score-several", "keys_list-empty"]);
    assert_eq!(
        missing(
            &names(&["arc_score", "arc_teleport", "keys_list", "arc"]),
            &stored
        ),
        ["arc_teleport", "arc"]
    );
    assert!(missing(&names(&["arc_score", "keys_list"]), &stored).is_empty());
}

#[test]
fn exceptions_name_commands_that_exist() {
    let commands = commands::all();
    for (path, reason) in WITHOUT_DOCUMENT {
        assert!(
            commands
                .iter()
                .any(|one| one.path == path && one.prints_json()),
            "`{path}` ({reason}) is no command with `--json`"
        );
    }
}
