//! Hostile games: a play of such a game fails with a reason, and nothing else is affected.

use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Action, Catalog, CatalogError, EnvironmentError, Frame};
use rhae_games::Builtin;
use rhae_pyhost::{Games, GamesOptions, Limits};
use rhae_sandbox::Layers;

use crate::{fixtures, games, open, python, root};

/// Returns the reason for which a play of a hostile game fails.
fn reason(games: &Games, name: &str) -> String {
    let mut play = open(games, name);
    let EnvironmentError::Failed(reason) = play.act(Action::Action1).map(|_| ()).unwrap_err()
    else {
        panic!("the game fails")
    };
    // A failed play stays failed, for the same reason.
    assert_eq!(
        play.act(Action::Action2).map(|_| ()),
        Err(EnvironmentError::Failed(reason.clone())),
        "{name}"
    );
    assert!(play.fork().is_none() && play.snapshot().is_err());
    reason
}

/// Asserts that a play of the game fails for this reason and that its other plays continue.
fn assert_play_fails(games: &Games, name: &str, expected: &str) {
    let mut second = open(games, name);
    let mut third = open(games, name);
    let found = reason(games, name);
    assert!(
        found.contains(expected),
        "{name}: expected `{expected}` in `{found}`"
    );
    for play in [&mut second, &mut third] {
        assert!(
            play.act(Action::Action2).is_ok(),
            "{name}: another play was affected"
        );
    }
}

#[test]
fn exception_names_file_and_line() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    assert_play_fails(
        &games,
        "rais",
        "`rais-v1`: the game raised ZeroDivisionError",
    );
    assert!(reason(&games, "rais").contains("(rais.py, line 13)"));
}

#[test]
fn network_processes_and_files_are_inaccessible() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    let stolen = root().join("fixtures/games-hostile/writ/v1/writ.py.stolen");
    assert_play_fails(
        &games,
        "sock",
        "the game raised PermissionError: [Errno 1] Operation not permitted (sock.py",
    );
    assert_play_fails(
        &games,
        "fork",
        "the game raised PermissionError: [Errno 1] Operation not permitted (fork.py",
    );
    assert_play_fails(
        &games,
        "kill",
        "the game raised PermissionError: [Errno 1] Operation not permitted (kill.py",
    );
    // The folder does not exist in a private root.
    let home = reason(&games, "home");
    assert!(
        home.contains("PermissionError: [Errno 13]") || home.contains("FileNotFoundError"),
        "{home}"
    );
    assert_play_fails(
        &games,
        "writ",
        "the game raised PermissionError: [Errno 13] Permission denied",
    );
    assert!(!stolen.exists());
    let environment = reason(&games, "envs");
    assert!(
        !["KEY", "TOKEN", "HOME", "USER", "RHAE", "CARGO"]
            .iter()
            .any(|word| environment.contains(word)),
        "{environment}"
    );
}

#[test]
fn ending_process_fails_only_its_own_play() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    assert_play_fails(&games, "exit", "the game's process ended (exit status: 3)");
    assert_play_fails(
        &games,
        "crsh",
        "the game's process ended (signal: 11 (SIGSEGV)",
    );
    assert_play_fails(&games, "rubb", "the game's process broke the protocol");
}

#[test]
fn memory_limit_is_enforced() {
    let limits = Limits {
        action: Duration::from_secs(60),
        memory_mb: 1024,
    };
    let Some(games) = games(&root().join("fixtures/games-hostile"), limits) else {
        return;
    };
    assert_play_fails(&games, "aloc", "the game raised MemoryError (aloc.py");
}

#[test]
fn time_limit_is_enforced() {
    let limits = Limits {
        action: Duration::from_secs(3),
        ..Limits::default()
    };
    let Some(games) = games(&root().join("fixtures/games-hostile"), limits) else {
        return;
    };
    assert_play_fails(&games, "loop", "the game did not respond within 3 s");
    let error = games.open("init", 0).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("the game did not respond within 3 s"),
        "{error}"
    );
}

#[test]
fn syntax_error_names_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("synt/v1");
    std::fs::create_dir_all(&game).unwrap();
    std::fs::write(
        game.join("metadata.json"),
        r#"{"game_id": "synt-v1", "class_name": "Synt"}"#,
    )
    .unwrap();
    std::fs::write(
        game.join("synt.py"),
        "import arcengine\n\nclass Synt(arcengine.ARCBaseGame:\n    pass\n",
    )
    .unwrap();
    let Some(games) = games(
        folder.path(),
        Limits {
            action: Duration::from_secs(60),
            ..Limits::default()
        },
    ) else {
        return;
    };
    let error = games.open("synt", 0).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("the game raised SyntaxError") && error.contains("(synt.py, line 3)"),
        "{error}"
    );
}

/// The test starts a second launcher inside the sandbox. It cannot apply any layer of isolation, as
/// on a system that provides none.
#[test]
fn games_do_not_run_without_a_sandbox_unless_allowed() {
    let Some(python) = python() else { return };
    let launcher = env!("CARGO_BIN_EXE_rhae-sandboxed");
    let bare = |unsafe_host: bool| {
        let outer = [
            launcher,
            "--read",
            "/",
            "--memory-mb",
            "4096",
            "--cpu-seconds",
            "1000",
            "--",
            launcher,
        ];
        let options = GamesOptions {
            folders: vec![root().join("fixtures/games")],
            launcher: outer.map(Into::into).to_vec(),
            python: Some(python.clone()),
            unsafe_host,
            limits: Limits {
                action: Duration::from_secs(60),
                ..Limits::default()
            },
        };
        Games::load(Arc::new(Builtin), options).unwrap()
    };
    assert_eq!(bare(false).layers().unwrap(), Layers::default());
    assert!(matches!(
        bare(false).ready(),
        Err(CatalogError::Unavailable(_))
    ));
    let error = bare(false)
        .open("wk31", 0)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(
            "this system lacks Landlock (files), seccomp (network, processes), resource limits"
        ),
        "{error}"
    );
    assert!(error.contains("--unsafe-host"), "{error}");
    assert!(open(&bare(true), "wk31").act(Action::Action4).is_ok());
}

#[test]
fn this_system_provides_all_required_layers() {
    let Some(games) = fixtures("games") else {
        return;
    };
    let layers = games.layers().unwrap();
    assert!(layers.missing().is_empty(), "only {layers}");
    let shared: Arc<dyn Catalog> = Arc::new(games);
    assert_eq!(shared.ready(), Ok(()));
    let sandbox = shared.sandbox().unwrap().unwrap();
    assert!(sandbox.starts_with(&layers.to_string()), "{sandbox}");
    assert!(!shared.hosted_games().is_empty());
    let builtin: Arc<dyn Catalog> = Arc::new(Builtin);
    assert_eq!(builtin.sandbox(), Ok(None));
    assert_eq!(builtin.hosted_games(), []);
}

#[test]
fn printed_output_is_not_mistaken_for_a_reply() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    let mut play = open(&games, "prnt");
    for _ in 0..50 {
        play.act(Action::Action1).unwrap();
    }
}

#[test]
fn unusual_values_of_the_official_engine_are_accepted() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    let mut play = open(&games, "cell");
    let seen = play.act(Action::Action1).unwrap();
    assert_eq!(seen.frames.frames().len(), 1001);
    assert_eq!(seen.settled().get(40, 40), 99);
    let error = play
        .act(Action::Action1)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ValueError: Action took too many frames"),
        "{error}"
    );
}

#[test]
fn nondeterministic_game_is_detected() {
    let Some(games) = fixtures("games-hostile") else {
        return;
    };
    let mut play = open(&games, "rand");
    for _ in 0..8 {
        play.act(Action::Action1).unwrap();
    }
    let seen = Frame::hash_all(play.observation().frames.frames());
    let snapshot = play.snapshot().unwrap().unwrap();
    let error = open(&games, "rand")
        .restore(&snapshot)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the game is not deterministic: entry "),
        "{error} ({seen:x})"
    );
}
