//! Agents in processes: their standard error, and what they find in their environment.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rhae_agents::MAX_STDERR_BYTES;
use rhae_harness::{RunRequest, load_plays};
use rhae_protocol::Ending;

use crate::scripted::{Script, Scripts, ending, execute};

fn games() -> Scripts {
    let script = Script {
        open: |_| Ok(()),
        react: |_, _| Ok(()),
    };
    Scripts::new([("noth-v1", script)])
}

fn request(out: &std::path::Path, command: &str) -> RunRequest {
    RunRequest {
        agent_cmd: Some(command.to_owned()),
        budget: rhae_harness::Budget::PerPlay(20),
        out: Some(out.to_owned()),
        ..RunRequest::default()
    }
}

#[test]
fn agent_that_writes_without_end_to_standard_error_is_not_blocked() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let agent = "yes noise >&2 & while read -r line; do case $line in *frame*) head -c 200000 /dev/zero >&2; echo '{\"action\":1}';; *end*) exit;; esac; done";
    let results = execute(&games(), request(&out, agent));
    assert_eq!(ending(&results, "noth-v1").0, Ending::Budget);
    let stored = fs::read(out.join("recordings/1-noth-v1.stderr.txt")).unwrap();
    assert!(stored.len() > MAX_STDERR_BYTES, "{}", stored.len());
    assert!(
        stored.len() < MAX_STDERR_BYTES + (66 << 10),
        "{}",
        stored.len()
    );
    let marker = &stored[MAX_STDERR_BYTES..MAX_STDERR_BYTES + 60];
    let marker = String::from_utf8_lossy(marker);
    assert!(
        marker.contains("[rhae: the output is longer than"),
        "{marker}"
    );
}

#[test]
fn last_line_of_a_long_output_explains_the_failure() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let agent = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo 'it hurts' >&2; exit 1";
    let results = execute(&games(), request(&out, agent));
    let (ended, message) = ending(&results, "noth-v1");
    assert_eq!(ended, Ending::Failed);
    assert!(
        message.ends_with("; last line on standard error: `it hurts`"),
        "{message}"
    );
    let stored = fs::read_to_string(out.join("recordings/1-noth-v1.stderr.txt")).unwrap();
    assert!(stored.ends_with("x\nit hurts\n"));
}

#[test]
fn child_that_keeps_standard_error_open_does_not_delay_the_result() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    // The child leaves the process group, so it survives its parent. It ends on its own in any case.
    let child = "for i in $(seq 200); do [ -e stop ] && exit; sleep 0.05; done";
    let agent =
        format!("setsid sh -c '{child}' > /dev/null < /dev/null & echo 'last words' >&2; exit 1");
    let agent = format!("cd '{}'; {agent}", temp.path().display());
    let results = execute(&games(), request(&out, &agent));
    let (ended, message) = ending(&results, "noth-v1");
    assert_eq!(ended, Ending::Failed);
    assert!(message.contains("`last words`"), "{message}");
    fs::write(temp.path().join("stop"), "").unwrap();
}

#[test]
fn agent_gets_the_id_of_its_play_and_a_folder() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let agent = "cd / && printf '%s' \"$RHAE_PLAY_ID\" > \"$RHAE_OUTPUT_DIR/id.txt\"; exit 1";
    execute(&games(), request(&out, agent));
    let plays = load_plays(&out).unwrap();
    let folder = out.join("outputs").join(&plays[0].guid);
    assert_eq!(
        fs::read_to_string(folder.join("id.txt")).unwrap(),
        plays[0].guid
    );
    // A folder without files is removed.
    let out = temp.path().join("other");
    execute(&games(), request(&out, "exit 1"));
    assert_eq!(fs::read_dir(out.join("outputs")).unwrap().count(), 0);
}

#[test]
fn agent_that_is_terminated_together_with_its_run_is_interrupted() {
    let temp = tempfile::tempdir().unwrap();
    let terminated = temp.path().join("terminated");
    let agent = format!("touch '{}'; kill -TERM $$", terminated.display());
    let run = |out: &str, interrupt: &AtomicBool| {
        let games = games();
        let out = temp.path().join(out);
        let prepared = request(&out, &agent).prepare(&games, None).unwrap();
        rhae_harness::run(&prepared.spec, &games, interrupt, &mut |_| {}).unwrap()
    };
    // A scheduler ends all processes of a job; the run handles its signal a little later.
    let interrupt = AtomicBool::new(false);
    let results = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !terminated.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            interrupt.store(true, Ordering::Relaxed);
        });
        run("interrupted", &interrupt)
    });
    assert!(!results.summary.finished);
    assert_eq!(load_plays(&temp.path().join("interrupted")).unwrap(), []);
    // An agent that is terminated alone has failed.
    let results = run("failed", &AtomicBool::new(false));
    assert_eq!(results.summary.failed_plays, 1);
    let (_, message) = ending(&results, "noth-v1");
    assert!(message.contains("signal: 15 (SIGTERM)"), "{message}");
}
