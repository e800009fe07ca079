//! `rhae runs`: removal of run folders.

use std::fs;

use crate::rhae::{Outcome, command};

fn rhae(folder: &std::path::Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments).output().unwrap().into()
}

#[test]
fn only_run_folders_are_removed_and_only_with_consent() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let run = [
        "run", "--agent", "random", "--games", "kq19", "--budget", "5", "--tag", "old", "--out",
        "runs/a",
    ];
    rhae(folder, &run).succeeded();
    fs::create_dir(folder.join("runs/other")).unwrap();
    fs::write(folder.join("runs/other/notes.txt"), "mine").unwrap();

    let listed = rhae(folder, &["runs", "list", "--tag", "old"]).succeeded();
    assert!(listed.out.contains("runs/a") && listed.out.contains("finished"));
    let listed = rhae(folder, &["runs", "list", "--tag", "new"]).succeeded();
    assert!(listed.out.contains("no runs in `runs`"), "{}", listed.out);
    let shown = rhae(folder, &["runs", "show", "a"]).succeeded();
    assert!(shown.out.contains("tags      old"), "{}", shown.out);

    rhae(folder, &["runs", "rm", "a"]).failed_with("add --yes");
    // Nothing is removed if one of the folders is not a run.
    rhae(folder, &["runs", "rm", "--yes", "a", "other"]).failed_with("is not a run folder");
    assert!(folder.join("runs/a/config.json").exists());
    rhae(folder, &["runs", "rm", "--yes", "a"]).succeeded();
    assert!(!folder.join("runs/a").exists());
    assert!(folder.join("runs/other/notes.txt").exists());
}
