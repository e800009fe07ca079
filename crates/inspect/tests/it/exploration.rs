//! [`Explorer`] on built-in environments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rhae_engine::LevelIndex;
use rhae_games::Builtin;
use rhae_inspect::{
    ExploreOptions, ExploreProgress, Explorer, GraphFormat, InspectError, LevelOutputs,
};
use rhae_protocol::Recording;
use rhae_session::replay;

#[test]
fn level_has_a_report_a_graph_a_picture_and_a_recording_that_replays() {
    let options = ExploreOptions {
        checks: Some(100),
        ..ExploreOptions::default()
    };
    let explorer = Explorer::open(&Builtin, "bx20", options, Arc::default()).unwrap();
    let outputs = LevelOutputs {
        graph: Some(GraphFormat::Dot),
        picture: true,
        recording: true,
    };
    let mut phases = Vec::new();
    let level = explorer
        .explore(LevelIndex(1), &outputs, &mut |progress| {
            phases.push(progress);
        })
        .unwrap();
    assert!(level.report.complete && level.report.stopped_by.is_none());
    assert_eq!((level.report.level, level.report.checked_actions), (2, 100));
    assert_eq!(
        level.report.layers.iter().sum::<usize>(),
        level.report.nodes
    );
    assert_eq!(
        phases.last(),
        Some(&ExploreProgress::Analysing {
            nodes: level.report.nodes
        })
    );
    assert!(level.graph.unwrap().unwrap().starts_with("digraph"));
    assert!(level.picture.unwrap().starts_with("<svg"));
    let bytes = level.recording.unwrap().unwrap();
    let recording = Recording::parse(&String::from_utf8(bytes).unwrap()).unwrap();
    let replayed = replay(&Builtin, &recording).unwrap();
    assert!(replayed.mismatch.is_none());
    assert_eq!(replayed.play.current().observation.levels_completed, 2);
}

#[test]
fn interrupted_search_reports_the_states_found_so_far() {
    let interrupt = Arc::new(AtomicBool::new(false));
    let options = ExploreOptions::default();
    let explorer = Explorer::open(&Builtin, "kq19", options, Arc::clone(&interrupt)).unwrap();
    let level = explorer
        .explore(LevelIndex(7), &LevelOutputs::default(), &mut |progress| {
            let is_searching = matches!(progress, ExploreProgress::Searching(_));
            interrupt.fetch_or(is_searching, Ordering::Relaxed);
        })
        .unwrap();
    assert_eq!(level.report.stopped_by.as_deref(), Some("interrupt"));
    assert!(level.report.nodes > 1 && level.report.frontier > 0);
    assert_eq!(level.report.checked_actions, 0);
}

#[test]
fn unknown_environment_and_level_are_rejected() {
    let options = ExploreOptions::default();
    assert!(matches!(
        Explorer::open(&Builtin, "zz99", options, Arc::default()).err(),
        Some(InspectError::Catalog(_))
    ));
    let explorer = Explorer::open(&Builtin, "kq19", options, Arc::default()).unwrap();
    let error = explorer
        .explore(LevelIndex(8), &LevelOutputs::default(), &mut |_| ())
        .unwrap_err();
    assert_eq!(error.to_string(), "`kq19-v1` has levels 1 to 8, found 9");
}

#[test]
fn recording_without_a_win_is_an_error_beside_the_report() {
    let mut options = ExploreOptions::default();
    options.search.limits.nodes = 10;
    let explorer = Explorer::open(&Builtin, "kq19", options, Arc::default()).unwrap();
    let outputs = LevelOutputs {
        recording: true,
        ..LevelOutputs::default()
    };
    let level = explorer
        .explore(LevelIndex(0), &outputs, &mut |_| ())
        .unwrap();
    assert_eq!(level.report.stopped_by.as_deref(), Some("nodes"));
    assert!(matches!(level.recording, Some(Err(InspectError::NoWin))));
}
