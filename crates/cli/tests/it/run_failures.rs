//! Tests of `rhae run` with invalid input and failing agents.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::rhae::{Outcome, command, rhae};

fn run_agent(folder: &Path, agent: &str, more: &[&str]) -> Outcome {
    rhae(
        folder,
        &[
            &[
                "run",
                "--agent-cmd",
                agent,
                "--games",
                "ny40,kq19",
                "--out",
                "r",
                "--json",
            ],
            more,
        ]
        .concat(),
    )
}

/// Returns the ending of every play of a run, with its message.
fn endings(folder: &Path) -> Vec<(String, String)> {
    let card: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("r/scorecard.json")).unwrap())
            .unwrap();
    let runs = card["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|environment| environment["runs"][0].clone());
    let text = |run: &Value, field: &str| run[field].as_str().unwrap_or_default().to_owned();
    runs.map(|run| (text(&run, "ending"), text(&run, "message")))
        .collect()
}

#[test]
fn documented_python_agent_plays() {
    if !std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return rhae_testkit::skip("python3 is missing");
    }
    let folder = tempfile::tempdir().unwrap();
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agent.py");
    assert!(
        fs::read_to_string(&agent).unwrap().lines().count() <= 30,
        "the example is short"
    );
    let summary = run_agent(folder.path(), &format!("python3 {}", agent.display()), &[])
        .succeeded()
        .json();
    assert_eq!(summary["failed_plays"], 0, "{summary}");
    assert!(
        endings(folder.path())
            .iter()
            .all(|(ending, _)| ending == "budget" || ending == "won")
    );
    let recording = fs::read_to_string(folder.path().join("r/recordings/1-ny40-v1.jsonl")).unwrap();
    assert!(recording.contains("tried so far") && recording.contains("t_ms"));
    rhae(
        folder.path(),
        &[
            "replay",
            "verify",
            "r/recordings/1-ny40-v1.jsonl",
            "r/recordings/1-kq19-v1.jsonl",
        ],
    )
    .succeeded();
}

#[test]
fn failing_agent_ends_its_plays_but_not_the_run() {
    for (agent, reason) in [
        ("exit 3", "the agent's process ended (exit status: 3)"),
        ("echo nonsense; cat > /dev/null", "is not a reply"),
        (
            "echo '{\"action\":\"JUMP\"}'; cat > /dev/null",
            "is not an action",
        ),
        (
            "echo '{\"action\":6,\"x\":99,\"y\":0}'; cat > /dev/null",
            "needs `x` and `y`",
        ),
        (
            "head -c 3000000 /dev/zero | tr '\\0' x; cat > /dev/null",
            "more than 1 MiB",
        ),
        (
            "no-such-program-anywhere",
            "the agent's process ended (exit status: 127)",
        ),
        (
            "while read -r line; do echo '{\"action\":0}'; done",
            "consecutive commands that were not counted",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // The command fails because every play failed.
        let outcome = run_agent(folder.path(), agent, &[]).failed_with("(2 plays)");
        assert_eq!(
            outcome.json()["failed_plays"],
            2,
            "{agent}: {}",
            outcome.out
        );
        assert!(outcome.err.contains(reason), "{agent}: {}", outcome.err);
        for (ending, message) in endings(folder.path()) {
            assert_eq!(ending, "failed", "{agent}");
            assert!(message.contains(reason), "{agent}: {message}");
        }
    }
}

#[test]
fn agent_that_times_out_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "echo $$ >> pids; sleep 1000 & echo $! >> pids; wait";
    run_agent(folder.path(), agent, &["--step-timeout", "0.5"])
        .failed_with("gave no action within 0.5 s (2 plays)");
    assert!(
        endings(folder.path())
            .iter()
            .all(|(_, message)| message == "the agent gave no action within 0.5 s")
    );
    let pids = fs::read_to_string(folder.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 4);
    pids.lines().for_each(assert_ended);
}

/// Waits until a process has ended.
fn assert_ended(pid: &str) {
    // A killed process may be a zombie that has not been reaped.
    let ended = || {
        fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
    };
    let ends = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        ended()
    });
    assert!(ends, "process {pid} is still running");
}

#[test]
fn agent_that_closes_its_input_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "echo $$ >> pids; exec 0<&-; sleep 1000";
    let outcome =
        run_agent(folder.path(), agent, &["--step-timeout", "2"]).failed_with("failed: the agent");
    assert_eq!(outcome.json()["failed_plays"], 2);
    fs::read_to_string(folder.path().join("pids"))
        .unwrap()
        .lines()
        .for_each(assert_ended);
}

#[test]
fn agent_may_exit_after_the_step_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "while read -r line; do case $line in *'\"end\"'*) sleep 0.4; exit;; esac; case $line in *frame*) echo '{\"action\":1}';; esac; done";
    let summary = run_agent(
        folder.path(),
        agent,
        &["--step-timeout", "0.3", "--budget", "5"],
    )
    .succeeded()
    .json();
    assert_eq!(summary["failed_plays"], 0, "{summary}");
    assert!(
        endings(folder.path())
            .iter()
            .all(|(ending, _)| ending == "budget")
    );
}

#[test]
fn sigterm_kills_the_agents() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "echo $$ >> pids; sleep 1000";
    let arguments = ["run", "--agent-cmd", agent, "--games", "ny40", "--out", "r"];
    let child = command(folder.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pids = folder.path().join("pids");
    assert!((0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::read_to_string(&pids).is_ok_and(|text| text.ends_with('\n'))
    }));
    // No other process may resume the run while it is in progress.
    rhae(folder.path(), &["run", "--resume", "r"])
        .failed_with("another process is using this run folder");
    assert!(
        std::process::Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let outcome: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.code, Some(130), "{}", outcome.err);
    fs::read_to_string(&pids)
        .unwrap()
        .lines()
        .for_each(assert_ended);
}

#[test]
fn report_of_a_long_play_has_a_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "--agent",
        "random",
        "--games",
        "kq19,ny40",
        "--budget",
        "60000",
        "--out",
        "r",
    ];
    rhae(folder.path(), &arguments).succeeded();
    let report = fs::metadata(folder.path().join("r/report.html"))
        .unwrap()
        .len();
    assert!(report < 20_000_000, "{report} bytes");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(
        page.contains("actions are shown here") && !page.contains("only the first 0 actions"),
        "the first play is shown"
    );
    rhae(
        folder.path(),
        &["replay", "verify", "r/recordings/1-kq19-v1.jsonl"],
    )
    .succeeded();
}

#[test]
fn ignored_reset_survives_conversion() {
    let folder = tempfile::tempdir().unwrap();
    // In a run, RESET before the first action is ignored.
    let agent = "n=0; while read -r line; do case $line in *frame*) n=$((n+1)); if [ $n -le 2 ]; then echo '{\"action\":0}'; else echo '{\"action\":4}'; fi;; esac; done";
    rhae(
        folder.path(),
        &[
            "run",
            "--agent-cmd",
            agent,
            "--games",
            "ny40",
            "--budget",
            "6",
            "--out",
            "r",
        ],
    )
    .succeeded();
    let recording = "r/recordings/1-ny40-v1.jsonl";
    assert!(
        fs::read_to_string(folder.path().join(recording))
            .unwrap()
            .contains("\"uncounted\":true")
    );
    for format in ["toolkit", "agents", "rhae"] {
        let out = format!("{format}.jsonl");
        rhae(
            folder.path(),
            &[
                "replay", "convert", recording, "--to", format, "--out", &out,
            ],
        )
        .succeeded();
        rhae(folder.path(), &["replay", "verify", &out]).succeeded();
    }
}

#[test]
fn escape_sequences_of_a_recording_are_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    rhae(
        folder.path(),
        &[
            "run", "--agent", "random", "--games", "ny40", "--budget", "3", "--out", "r",
        ],
    )
    .succeeded();
    let text = fs::read_to_string(folder.path().join("r/recordings/1-ny40-v1.jsonl")).unwrap();
    fs::write(
        folder.path().join("evil.jsonl"),
        text.replace("\"action\":\"0\"", "\"action\":\"\\u001b[31mEVIL\""),
    )
    .unwrap();
    let outcome = rhae(folder.path(), &["replay", "verify", "evil.jsonl"]).failed_with("EVIL");
    assert!(!outcome.err.contains('\u{1b}'));
}

#[test]
fn replay_agent_plays_only_the_recorded_environment() {
    let folder = tempfile::tempdir().unwrap();
    rhae(
        folder.path(),
        &[
            "run", "--agent", "random", "--games", "ny40", "--budget", "30", "--out", "r",
        ],
    )
    .succeeded();
    let agent = "replay:r/recordings/1-ny40-v1.jsonl";
    rhae(
        folder.path(),
        &["run", "--agent", agent, "--games", "kq19", "--out", "s"],
    )
    .failed_with("the recording is of `ny40-v1`");
    let summary = rhae(
        folder.path(),
        &["run", "--agent", agent, "--out", "s", "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(summary["environments"].as_array().unwrap().len(), 1);
    assert_eq!(summary["environments"][0]["actions"], 30.0);
}

#[test]
fn standard_error_of_an_agent_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    run_agent(folder.path(), "echo 'it hurts' >&2; exit 1", &[]).failed_with("exit status: 1");
    assert_eq!(
        fs::read_to_string(folder.path().join("r/recordings/1-kq19-v1.stderr.txt")).unwrap(),
        "it hurts\n"
    );
}

#[test]
fn standard_error_on_disk_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "yes 'much ado' | head -n 400000 >&2; echo 'about nothing' >&2; exit 1";
    run_agent(folder.path(), agent, &[])
        .failed_with("exit status: 1); last line on standard error: `about nothing` (2 plays)");
    let stored = fs::read(folder.path().join("r/recordings/1-kq19-v1.stderr.txt")).unwrap();
    assert!(stored.len() < 1_200_000, "{} bytes", stored.len());
    let text = String::from_utf8(stored).unwrap();
    assert!(
        text.contains("\n[rhae: the output is longer than 1048576 bytes; only its end follows]\n")
    );
    assert!(text.ends_with("about nothing\n"));
}

#[test]
fn invalid_input_is_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cut.jsonl"), "{\"format\":\"rhae-rec").unwrap();
    for (arguments, reason) in [
        (["--games", "kq91"].as_slice(), "the nearest is `kq19-v1`"),
        (&["--games", "kq19,kq19-v1"], "named twice"),
        (&["--games", ","], "names no environment"),
        (&["--agent", "genius"], "there is no agent `genius`"),
        (&["--method", "best"], "expected `draft-2025`"),
        (&["--budget", "0x"], "is not a budget"),
        (&["--budget", "-4"], "is not a budget"),
        (&["--repeat", "-1"], "-1 is not in 1..=10000"),
        (&["--seed", "-1"], "invalid digit"),
        (&["--repeat", "0"], "0 is not in 1..=10000"),
        (&["--jobs", "0"], "0 is not in 1..=1024"),
        (
            &["--step-timeout", "0"],
            "--step-timeout must be more than 0",
        ),
        (
            &["--agent", "replay:missing.jsonl"],
            "cannot read `missing.jsonl`",
        ),
        (
            &["--agent", "replay:cut.jsonl"],
            "line 1: the line is cut off",
        ),
        (&["--resume", "missing"], "`missing` is not a run folder"),
    ] {
        rhae(folder.path(), &[&["run"], arguments].concat()).failed_with(reason);
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is written"
    );
}

#[test]
fn non_empty_output_folder_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("used")).unwrap();
    fs::write(folder.path().join("used/notes.txt"), "mine").unwrap();
    rhae(folder.path(), &["run", "--out", "used"]).failed_with("exists and is not empty");
    assert_eq!(fs::read_dir(folder.path().join("used")).unwrap().count(), 1);
    fs::write(folder.path().join("file"), "mine").unwrap();
    rhae(folder.path(), &["run", "--out", "file"])
        .failed_with("cannot use the output folder `file`");
}

#[test]
fn read_only_file_system_is_reported() {
    // Root ignores mode bits, so a mount in a new namespace makes the file system read-only.
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o ro none {0} && cd {0} && exec {1} run --games ny40 --out r",
        folder.path().display(),
        env!("CARGO_BIN_EXE_rhae")
    );
    let outcome = std::process::Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .output();
    let outcome: Outcome = match outcome {
        Ok(output) => output.into(),
        Err(error) => return rhae_testkit::skip(&format!("unshare cannot be run ({error})")),
    };
    if outcome.err.contains("unshare") || outcome.err.contains("mount:") {
        let reason = format!("mounting is not permitted ({})", outcome.err.trim());
        return rhae_testkit::skip(&reason);
    }
    outcome.failed_with("Read-only file system");
}

#[test]
fn run_of_another_version_cannot_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &["run", "--games", "ny40", "--out", "r"]).succeeded();
    let config = folder.path().join("r/config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace(concat!("rhae ", env!("CARGO_PKG_VERSION")), "rhae 99.0.0"),
    )
    .unwrap();
    rhae(folder.path(), &["run", "--resume", "r"]).failed_with("started by `rhae 99.0.0`");
}

#[test]
fn closed_pipe_is_not_an_error() {
    let shell = format!("{} games list | head -1", env!("CARGO_BIN_EXE_rhae"));
    let output = std::process::Command::new("sh")
        .args(["-c", &shell])
        .output()
        .unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // The help has examples.
    let help: Outcome = command(Path::new("."), &["run", "--help"])
        .output()
        .unwrap()
        .into();
    assert!(help.succeeded().out.contains("Examples:"));
}
