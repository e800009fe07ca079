//! Hostile games that try to leave the sandbox, on this system and on imitated older ones.
//!
//! Each game lists the attempts that were not refused, including those that failed for a reason
//! other than a missing permission. A game whose attempt succeeds may also kill this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Action, EnvironmentError};
use rhae_games::Builtin;
use rhae_pyhost::{Games, GamesOptions, Limits};

use crate::{open, python, root};

/// Options of the launcher that imitate a system.
const SYSTEMS: [&[&str]; 3] = [
    &[],
    // Linux 5.13 with namespaces, and in a container that denies them.
    &["--max-landlock-abi", "1"],
    &["--max-landlock-abi", "1", "--without-namespaces"],
];

/// Loads the games of a folder on a system.
fn games_on(system: &[&str], folder: &Path) -> Option<Games> {
    let launcher = [env!("CARGO_BIN_EXE_rhae-sandboxed")];
    let options = GamesOptions {
        folders: vec![folder.to_owned()],
        launcher: launcher.iter().chain(system).map(Into::into).collect(),
        python: Some(python()?),
        unsafe_host: false,
        limits: Limits {
            action: Duration::from_secs(60),
            ..Limits::default()
        },
    };
    Some(Games::load(Arc::new(Builtin), options).unwrap())
}

fn hostile() -> std::path::PathBuf {
    root().join("fixtures/games-hostile")
}

/// Returns the reason for which the hostile action of a game fails.
fn failure(games: &Games, name: &str) -> String {
    let mut play = open(games, name);
    match play.act(Action::Action1) {
        Err(EnvironmentError::Failed(reason)) => reason,
        Err(error) => panic!("{name}: {error}"),
        Ok(_) => panic!("{name}: the action did not fail"),
    }
}

/// Asserts that the sandbox of every system refuses every attempt of these games.
fn assert_refused(names: &[&str]) {
    for system in SYSTEMS {
        let Some(games) = games_on(system, &hostile()) else {
            return;
        };
        assert!(games.layers().unwrap().missing().is_empty());
        for name in names {
            let reason = failure(&games, name);
            assert!(
                reason.contains("RuntimeError: not refused: nothing"),
                "{system:?}: {reason}"
            );
        }
    }
}

#[test]
fn signals_to_other_processes_are_refused() {
    assert_refused(&["fcnt", "sigs"]);
}

#[test]
fn signals_by_devices_and_timers_are_refused() {
    assert_refused(&["ioct", "timr"]);
}

#[test]
fn access_to_other_processes_is_refused() {
    assert_refused(&["ptrc", "schd"]);
}

#[test]
fn new_processes_and_process_properties_are_refused() {
    assert_refused(&["thrd", "prct"]);
}

#[test]
fn memory_outside_the_limit_and_sockets_are_refused() {
    assert_refused(&["memf", "absn"]);
}

#[test]
fn other_interfaces_of_the_kernel_are_refused() {
    assert_refused(&["urng", "link"]);
}

#[test]
fn files_about_processes_and_the_program_itself_are_unreadable() {
    assert_refused(&["proc", "binr"]);
}

#[test]
fn readable_file_cannot_be_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("trnc/v1");
    std::fs::create_dir_all(&game).unwrap();
    for name in ["metadata.json", "trnc.py"] {
        std::fs::copy(hostile().join("trnc/v1").join(name), game.join(name)).unwrap();
    }
    let victim = game.join("victim.txt");
    std::fs::write(&victim, "valuable").unwrap();
    for system in SYSTEMS {
        let Some(games) = games_on(system, folder.path()) else {
            return;
        };
        let reason = failure(&games, "trnc");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "valuable");
        assert!(
            reason.contains("not refused: nothing"),
            "{system:?}: {reason}"
        );
    }
}

#[test]
fn other_files_do_not_exist_in_a_private_root() {
    for system in &SYSTEMS[..2] {
        let Some(games) = games_on(system, &hostile()) else {
            return;
        };
        if !games.layers().unwrap().private_root {
            rhae_testkit::skip("this system does not allow a private root");
            return;
        }
        let reason = failure(&games, "stat");
        assert!(
            reason.contains("not refused: nothing"),
            "{system:?}: {reason}"
        );
    }
}

#[test]
fn much_output_is_discarded() {
    for system in SYSTEMS {
        let Some(games) = games_on(system, &hostile()) else {
            return;
        };
        let reason = failure(&games, "outp");
        assert!(
            reason.contains("all output was accepted"),
            "{system:?}: {reason}"
        );
    }
}

#[test]
fn older_systems_refuse_network_processes_and_files() {
    for system in &SYSTEMS[1..] {
        let Some(games) = games_on(system, &hostile()) else {
            return;
        };
        for name in ["sock", "fork", "kill", "writ", "home"] {
            let reason = failure(&games, name);
            // In a private root, the files of the user do not exist.
            assert!(
                reason.contains("PermissionError") || reason.contains("FileNotFoundError"),
                "{system:?}: {reason}"
            );
        }
    }
}

#[test]
fn games_do_not_run_without_landlock() {
    let Some(games) = games_on(&["--max-landlock-abi", "0"], &root().join("fixtures/games")) else {
        return;
    };
    assert_eq!(games.layers().unwrap().missing(), ["Landlock (files)"]);
    let error = rhae_engine::Catalog::open(&games, "wk31", 0)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("this system lacks Landlock (files)"),
        "{error}"
    );
}
