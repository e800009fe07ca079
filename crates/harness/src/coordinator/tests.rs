use std::path::Path;
use std::sync::atomic::AtomicBool;

use rhae_games::Builtin;
use rhae_protocol::WorkErrorCode::{InvalidRequest, NotVerified, OtherSoftware, StaleLease};
use rhae_runs::{RunFolder, load_lines};
use serde_json::{Value, json};

use super::*;
use crate::Budget;
use crate::run::play_unit;
use crate::{LocationRequest, ResumeOptions, RunRequest, RunSpec, open_run};

/// A policy under which a lease has ended by the time of the next request.
const ENDED_AT_ONCE: LeasePolicy = LeasePolicy {
    duration_ms: 0,
    heartbeat_ms: 0,
    max_losses: 3,
};

fn load(_: &[PathBuf]) -> Result<Arc<dyn Catalog>, HarnessError> {
    Ok(Arc::new(Builtin))
}

fn located(out: &Path) -> LocatedRun {
    let location = LocationRequest::default();
    if out.exists() {
        let (folder, config) = open_run(out).unwrap();
        let options = ResumeOptions::default();
        return location
            .prepare_resumed(folder, config, &options, load)
            .unwrap();
    }
    let request = RunRequest {
        agent: "random".to_owned(),
        games: Some("kq19,ny40".to_owned()),
        budget: Budget::PerPlay(20),
        out: Some(out.to_owned()),
        ..RunRequest::default()
    };
    location.prepare(request, load).unwrap()
}

fn post<T: DeserializeOwned>(
    coordinator: &Coordinator,
    name: &str,
    body: &impl Serialize,
) -> Result<T, WorkErrorCode> {
    let body = serde_json::to_vec(body).unwrap();
    let answer = coordinator.answer(&format!("/work/{name}"), &body);
    if answer.status == 200 {
        return Ok(serde_json::from_str(&answer.body).unwrap());
    }
    let refusal: WorkRefusal = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(refusal.error.status(), answer.status);
    Err(refusal.error)
}

fn lease(coordinator: &Coordinator, worker: &str) -> LeaseReply {
    let request = LeaseRequest {
        worker: worker.to_owned(),
        source_digests: BTreeMap::new(),
    };
    post(coordinator, "lease", &request).unwrap()
}

fn leased(coordinator: &Coordinator, worker: &str) -> WorkLease {
    match lease(coordinator, worker) {
        LeaseReply::Leased(lease) => lease,
        other => panic!("{other:?}"),
    }
}

/// Plays a unit as a worker does.
fn played(run: &LocatedRun, lease: &WorkLease) -> WorkReport {
    let temp = tempfile::tempdir().unwrap();
    let spec = RunSpec {
        config: run.spec.config.clone(),
        agent: run.spec.agent.clone(),
        folder: RunFolder::create(&temp.path().join("play"), &run.spec.config).unwrap(),
        jobs: 1,
        resumed: false,
    };
    let go = AtomicBool::new(false);
    let result = play_unit(&spec, &Builtin, lease.repeat, &lease.game_id, &go);
    let result = result.unwrap().unwrap();
    let recording = std::fs::read_to_string(spec.folder.file(&result.recording)).unwrap();
    WorkReport {
        unit: lease.unit.clone(),
        epoch: lease.epoch,
        result,
        recording: Some(recording),
        files: BTreeMap::new(),
    }
}

fn journaled_plays(out: &Path) -> usize {
    let lines: Vec<JournalLine> = load_lines(out).unwrap();
    plays(lines).len()
}

#[test]
fn frozen_worker_is_refused_and_its_result_is_compared() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let run = located(&out);
    let coordinator = Coordinator::open(&run, ENDED_AT_ONCE).unwrap();
    let slow = leased(&coordinator, "slow");
    let fast = leased(&coordinator, "fast");
    assert_eq!((slow.epoch, fast.epoch), (1, 2));
    assert_eq!(slow.unit, fast.unit);
    assert_eq!(
        post(&coordinator, "result", &played(&run, &slow)),
        Err::<(), _>(StaleLease)
    );
    let report = played(&run, &fast);
    assert_eq!(post(&coordinator, "result", &report), Ok(()));
    // The worker repeats a request whose response it did not get.
    assert_eq!(post(&coordinator, "result", &report), Ok(()));
    assert_eq!(
        post(&coordinator, "result", &played(&run, &slow)),
        Err::<(), _>(StaleLease)
    );
    assert_eq!(journaled_plays(&out), 1);
    let leases = std::fs::read_to_string(out.join(LEASES)).unwrap();
    let last: Value = serde_json::from_str(leases.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "discarded");
    assert_eq!(last["same"], true, "the random agent is reproducible");
    assert!(coordinator.notes().is_empty(), "{:?}", coordinator.notes());
}

#[test]
fn false_results_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let run = located(&out);
    let coordinator = Coordinator::open(&run, LeasePolicy::default()).unwrap();
    let lease = leased(&coordinator, "w");
    let report = played(&run, &lease);
    let refused = |change: fn(&mut WorkReport)| {
        let mut changed = report.clone();
        change(&mut changed);
        assert_eq!(
            post(&coordinator, "result", &changed),
            Err::<(), _>(NotVerified)
        );
    };
    refused(|report| report.result.runs[0].levels[0].completed = true);
    refused(|report| report.result.runs[0].levels[0].actions -= 1);
    refused(|report| report.result.repeat = 2);
    refused(|report| report.result.guid = "other".to_owned());
    refused(|report| report.result.recording = "../journal.jsonl".to_owned());
    refused(|report| report.recording = None);
    refused(|report| {
        let text = report.recording.as_mut().unwrap();
        *text = text.replacen("\"levels\":0", "\"levels\":1", 1);
    });
    for path in ["config.json", "../x", "outputs/x", "outputs/../config.json"] {
        let mut changed = report.clone();
        changed.files.insert(path.to_owned(), String::new());
        assert_eq!(
            post(&coordinator, "result", &changed),
            Err::<(), _>(NotVerified),
            "{path}"
        );
    }
    assert_eq!(journaled_plays(&out), 0);
    assert!(!out.join(&report.result.recording).exists());
    assert_eq!(post(&coordinator, "result", &report), Ok(()));
    assert!(out.join(&report.result.recording).exists());
}

#[test]
fn other_software_and_malformed_requests_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let run = located(&temp.path().join("run"));
    let coordinator = Coordinator::open(&run, LeasePolicy::default()).unwrap();
    let mut hello = WorkerHello {
        software: SOFTWARE.to_owned(),
        software_digest: software_digest().unwrap(),
    };
    let job: WorkJob = post(&coordinator, "job", &hello).unwrap();
    assert_eq!(job.config, run.spec.config);
    hello.software_digest = Digest("00".to_owned());
    assert_eq!(
        post(&coordinator, "job", &hello),
        Err::<WorkJob, _>(OtherSoftware)
    );
    assert_eq!(
        post(&coordinator, "job", &json!({})),
        Err::<WorkJob, _>(InvalidRequest)
    );
    assert_eq!(
        post(&coordinator, "teleport", &hello),
        Err::<WorkJob, _>(InvalidRequest)
    );
}

#[test]
fn worker_with_other_games_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let mut run = located(&temp.path().join("run"));
    let digests = &mut run.spec.config.identity.source_digests;
    digests.insert("kq19-v1".to_owned(), "aa".to_owned());
    let coordinator = Coordinator::open(&run, LeasePolicy::default()).unwrap();
    let request = |digest: &str| LeaseRequest {
        worker: "w".to_owned(),
        source_digests: BTreeMap::from([("kq19-v1".to_owned(), digest.to_owned())]),
    };
    let refused = post::<LeaseReply>(&coordinator, "lease", &request("bb"));
    assert_eq!(refused, Err(OtherSoftware));
    assert!(post::<LeaseReply>(&coordinator, "lease", &request("aa")).is_ok());
}

#[test]
fn restarted_coordinator_continues_with_the_next_epoch() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let run = located(&out);
    let coordinator = Coordinator::open(&run, LeasePolicy::default()).unwrap();
    let first = leased(&coordinator, "w1");
    let second = leased(&coordinator, "w2");
    assert_eq!(lease(&coordinator, "w3"), LeaseReply::Wait);
    assert_eq!(post(&coordinator, "result", &played(&run, &first)), Ok(()));
    // Killed: nothing is written any more.
    drop(coordinator);

    let run = located(&out);
    let coordinator = Coordinator::open(&run, LeasePolicy::default()).unwrap();
    assert_eq!(coordinator.progress().done, 1);
    let again = leased(&coordinator, "w4");
    assert_eq!((&again.unit, again.epoch), (&second.unit, 2));
    assert_eq!(
        post(&coordinator, "result", &played(&run, &second)),
        Err::<(), _>(StaleLease)
    );
    assert_eq!(post(&coordinator, "result", &played(&run, &again)), Ok(()));
    assert_eq!(lease(&coordinator, "w4"), LeaseReply::Finished);
    let results = coordinator.conclude().unwrap();
    assert!(results.summary.finished);
    assert_eq!(results.summary.run_id, run.spec.config.run_id);
    assert_eq!(journaled_plays(&out), 2);
}

#[test]
fn play_that_ends_its_workers_is_given_up() {
    let temp = tempfile::tempdir().unwrap();
    let run = located(&temp.path().join("run"));
    let policy = LeasePolicy {
        max_losses: 2,
        ..LeasePolicy::default()
    };
    let coordinator = Coordinator::open(&run, policy).unwrap();
    for worker in ["w1", "w2", "w3", "w4"] {
        leased(&coordinator, worker);
        coordinator.end_worker(worker).unwrap();
    }
    assert_eq!(lease(&coordinator, "w5"), LeaseReply::Finished);
    let notes = coordinator.notes();
    assert_eq!(
        notes[0],
        "kq19-v1 in repeat 1 is given up: 2 workers ended while they played it"
    );
    assert_eq!(notes.len(), 2);
    assert!(!coordinator.conclude().unwrap().summary.finished);
}
