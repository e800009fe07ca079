//! Tests of `rhae run --shard` and `rhae merge`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::rhae::{Outcome, command, rhae};

/// What may differ between a merged run and a run on one machine: times, paths and ids.
const VOLATILE: [&str; 11] = [
    "at_ms",
    "card_id",
    "ended_ms",
    "folder",
    "guid",
    "report",
    "run_id",
    "seconds",
    "started_ms",
    "step_ms",
    "t_ms",
];

const RUN: [&str; 11] = [
    "run",
    "--agent",
    "random",
    "--games",
    "kq19,ny40,ym39",
    "--seed",
    "7",
    "--repeat",
    "2",
    "--budget",
    "60",
];

/// Plays shard `index` of `count` in the folder `sINDEX`.
fn shard(folder: &Path, index: u32, count: u32) -> Outcome {
    let (shard, out) = (format!("{index}/{count}"), format!("s{index}"));
    let arguments = [&RUN[..], &["--shard", &shard, "--out", &out]].concat();
    rhae(folder, &arguments)
}

pub(crate) fn without_volatile(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            fields.values_mut().for_each(without_volatile);
        }
        Value::Array(items) => items.iter_mut().for_each(without_volatile),
        _ => {}
    }
}

/// Returns the JSON values of a file, one for each line or one for the whole file.
fn values(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let whole = serde_json::from_str(&text).map(|value| vec![value]);
    let lines = || text.lines().map(serde_json::from_str).collect();
    let mut values: Vec<Value> = whole.or_else(|_| lines()).unwrap();
    values.iter_mut().for_each(without_volatile);
    values
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Compares two run folders, except for times, paths and ids.
pub(crate) fn assert_same_run(one: &Path, other: &Path) {
    assert_eq!(names(one), names(other));
    let recordings = names(&one.join("recordings"));
    assert_eq!(recordings, names(&other.join("recordings")));
    let files = names(one).into_iter();
    let files = files.filter(|name| name.ends_with(".json"));
    let recordings = recordings.iter().map(|name| format!("recordings/{name}"));
    for file in files.chain(recordings) {
        assert_eq!(
            values(&one.join(&file)),
            values(&other.join(&file)),
            "{file}"
        );
    }
    // Plays end in any order.
    let journal = |folder: &Path| -> BTreeSet<String> {
        let values = values(&folder.join("journal.jsonl")).into_iter();
        values.map(|value| value.to_string()).collect()
    };
    assert_eq!(journal(one), journal(other));
}

#[test]
fn merged_shards_equal_a_local_run() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let local = rhae(folder, &[&RUN[..], &["--out", "local", "--json"]].concat()).succeeded();
    for index in 0..3 {
        let outcome = shard(folder, index, 3).succeeded();
        assert!(
            outcome.err.contains("is complete: 2 of 6 plays"),
            "{}",
            outcome.err
        );
    }
    let merge = ["merge", "s2", "s0", "s1", "--out", "merged", "--json"];
    let merged = rhae(folder, &merge).succeeded();
    let [mut local, mut merged] = [local.json(), merged.json()];
    without_volatile(&mut local);
    without_volatile(&mut merged);
    assert_eq!(local, merged);
    assert_same_run(&folder.join("local"), &folder.join("merged"));
    // The result is a run folder like any other, and is never overwritten.
    rhae(folder, &["score", "run", "merged"]).succeeded();
    rhae(folder, &merge).failed_with("exists and is not empty");
    rhae(folder, &["merge", "local", "--out", "other"]).failed_with("was not started with --shard");
}

#[test]
fn missing_shard_is_counted_and_refused_unless_allowed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    shard(folder, 0, 2).succeeded();
    rhae(folder, &["merge", "s0", "--out", "m"]).failed_with(
        "3 of 6 plays are missing (ny40-v1 in repeat 1, kq19-v1 in repeat 2, ym39-v1 in repeat 2); repeat the commands of shard 1/2, or add --allow-missing",
    );
    assert!(!folder.join("m").exists());
    let partial = rhae(
        folder,
        &["merge", "s0", "--out", "m", "--allow-missing", "--json"],
    );
    assert_eq!(partial.code, Some(3), "{}", partial.err);
    assert_eq!(partial.json()["finished"], false);
    assert_eq!(partial.json()["valid_results"]["n"], 3);
    // The missing plays can be played later.
    rhae(folder, &["run", "--resume", "m"]).succeeded();
    rhae(folder, &[&RUN[..], &["--out", "local"]].concat()).succeeded();
    let summaries = ["m", "local"].map(|run| values(&folder.join(run).join("summary.json")));
    assert_eq!(summaries[0], summaries[1]);
}

#[test]
fn killed_shard_is_repeated_with_the_same_command() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    // The agent acts in its first play, then waits until the file `hold` is removed.
    fs::write(folder.join("hold"), "").unwrap();
    let agent = "test -e played && while test -e hold; do sleep 0.02; done; touch played; \
                 while read -r line; do case \"$line\" in *observation*) \
                 echo '{\"action\":\"ACTION1\"}';; *'\"end\"'*) exit;; esac; done";
    let shard = |index: u32| {
        let shard = format!("{index}/2");
        let run = [
            "run",
            "--agent-cmd",
            agent,
            "--games",
            "kq19,ny40",
            "--repeat",
            "2",
            "--budget",
            "12",
            "--jobs",
            "1",
            "--shard",
            &shard,
            "--out",
            &format!("s{index}"),
        ];
        let mut command = command(folder, &run);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let journal = || fs::read_to_string(folder.join("s0/journal.jsonl")).unwrap_or_default();
    let mut killed = shard(0).spawn().unwrap();
    while !journal().contains("\"play\"") {
        assert!(killed.try_wait().unwrap().is_none(), "{}", journal());
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let merge = ["merge", "s0", "--out", "m"];
    rhae(folder, &merge).failed_with("3 of 4 plays are missing");

    fs::remove_file(folder.join("hold")).unwrap();
    for index in [0, 1] {
        let outcome: Outcome = shard(index).output().unwrap().into();
        outcome.succeeded();
    }
    assert!(journal().contains("\"resumed\":true"), "{}", journal());
    assert_eq!(journal().matches("\"event\":\"play\"").count(), 2);
    rhae(folder, &["merge", "s0", "s1", "--out", "m"]).succeeded();
    let recordings = names(&folder.join("m/recordings"));
    let recordings = recordings.iter().filter(|name| name.ends_with(".jsonl"));
    assert_eq!(recordings.count(), 4);
}

#[test]
fn shards_that_do_not_fit_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    shard(folder, 0, 2).succeeded();
    let other = |extra: &[&str]| rhae(folder, &[&RUN[..], extra].concat());
    other(&["--env-seed", "3", "--shard", "0/2", "--out", "s0"])
        .failed_with("contains a run with other settings: `env_seed` was 0 and is now 3");
    other(&["--shard", "1/2", "--out", "s0"]).failed_with("contains shard 0/2, not shard 1/2");
    other(&["--shard", "2/2", "--out", "s2"]).failed_with("`2/2` is not a shard");
    other(&["--env-seed", "3", "--shard", "1/2", "--out", "s1"]).succeeded();
    rhae(folder, &["merge", "s0", "s1", "--out", "m"])
        .failed_with("are shards of different runs: `env_seed` is 0 and 3");
    // A changed count is found by the replay.
    let journal = fs::read_to_string(folder.join("s0/journal.jsonl")).unwrap();
    let changed = journal.replacen("\"actions\":60", "\"actions\":59", 1);
    assert_ne!(journal, changed);
    fs::write(folder.join("s0/journal.jsonl"), changed).unwrap();
    rhae(folder, &["merge", "s0", "--out", "m", "--allow-missing"])
        .failed_with("the counts of the replay differ from the result");
    assert!(!folder.join("m").exists());
}
