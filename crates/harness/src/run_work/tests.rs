use std::path::Path;
use std::sync::atomic::AtomicBool;

use rhae_games::Builtin;
use rhae_protocol::WorkErrorCode::{InvalidRequest, NotVerified, OtherSoftware, StaleLease};
use rhae_protocol::{
    LeaseLoss, LeaseReply, LeaseRequest, SOFTWARE, WorkErrorCode, WorkJob, WorkLease, WorkLines,
    WorkRefusal, WorkReport, WorkerHello,
};
use rhae_runs::{RunFolder, load_lines};
use rhae_work_service::LeasePolicy;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::Budget;
use crate::run::{PlayedUnit, play_unit};
use crate::{LocationRequest, ResumeOptions, RunRequest, RunSpec, open_run};

/// A policy under which a lease has ended by the time of the next request.
const ENDED_AT_ONCE: LeasePolicy = LeasePolicy {
    duration_ms: 0,
    heartbeat_ms: 0,
    max_failures: 3,
    max_losses: 3,
};

type RunCoordinator = Coordinator<RunWork>;
type Lease = WorkLease<PlayTask>;
type Report = WorkReport<PlayReport>;

fn opened(run: &LocatedRun, policy: LeasePolicy) -> RunCoordinator {
    let options = CoordinatorOptions {
        policy,
        ..CoordinatorOptions::default()
    };
    RunWork::coordinate(run, options).unwrap()
}

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
    coordinator: &RunCoordinator,
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

fn lease(coordinator: &RunCoordinator, worker: &str) -> LeaseReply<PlayTask> {
    let request = LeaseRequest {
        worker: worker.to_owned(),
        source_digests: BTreeMap::new(),
        units: 1,
    };
    post(coordinator, "lease", &request).unwrap()
}

fn leased(coordinator: &RunCoordinator, worker: &str) -> Lease {
    match lease(coordinator, worker) {
        LeaseReply::Leased { mut leases } => leases.remove(0),
        other => panic!("{other:?}"),
    }
}

/// Plays a unit as a worker does.
fn played(run: &LocatedRun, lease: &Lease) -> Report {
    let temp = tempfile::tempdir().unwrap();
    let spec = RunSpec {
        config: run.spec.config.clone(),
        agent: run.spec.agent.clone(),
        folder: RunFolder::create(&temp.path().join("play"), &run.spec.config).unwrap(),
        jobs: 1,
        resumed: false,
    };
    let go = AtomicBool::new(false);
    let task = &lease.task;
    let played = play_unit(&spec, &Builtin, task.repeat, &task.game_id, &go);
    let PlayedUnit::Played(result) = played.unwrap() else {
        panic!("nothing stops the play")
    };
    let recording = std::fs::read_to_string(spec.folder.file(&result.recording)).unwrap();
    WorkReport {
        unit: lease.unit.clone(),
        epoch: lease.epoch,
        result: PlayReport {
            result,
            recording: Some(recording),
            files: BTreeMap::new(),
        },
        stop: None,
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
    let coordinator = opened(&run, ENDED_AT_ONCE);
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
    let leases = std::fs::read_to_string(out.join("leases.jsonl")).unwrap();
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
    let coordinator = opened(&run, LeasePolicy::default());
    let lease = leased(&coordinator, "w");
    let report = played(&run, &lease);
    let refused = |change: fn(&mut PlayReport)| {
        let mut changed = report.clone();
        change(&mut changed.result);
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
        changed.result.files.insert(path.to_owned(), String::new());
        assert_eq!(
            post(&coordinator, "result", &changed),
            Err::<(), _>(NotVerified),
            "{path}"
        );
    }
    assert_eq!(journaled_plays(&out), 0);
    assert!(!out.join(&report.result.result.recording).exists());
    assert_eq!(post(&coordinator, "result", &report), Ok(()));
    assert!(out.join(&report.result.result.recording).exists());
}

#[test]
fn other_software_and_malformed_requests_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let run = located(&temp.path().join("run"));
    let coordinator = opened(&run, LeasePolicy::default());
    let hello = WorkerHello {
        software: SOFTWARE.to_owned(),
        software_digest: Digest("00".to_owned()),
    };
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
    let coordinator = opened(&run, LeasePolicy::default());
    let request = |digest: &str| LeaseRequest {
        worker: "w".to_owned(),
        source_digests: BTreeMap::from([("kq19-v1".to_owned(), digest.to_owned())]),
        units: 1,
    };
    let refused = post::<LeaseReply<PlayTask>>(&coordinator, "lease", &request("bb"));
    assert_eq!(refused, Err(OtherSoftware));
    assert!(post::<LeaseReply<PlayTask>>(&coordinator, "lease", &request("aa")).is_ok());
}

#[test]
fn restarted_coordinator_continues_with_the_next_epoch() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let run = located(&out);
    let coordinator = opened(&run, LeasePolicy::default());
    let first = leased(&coordinator, "w1");
    let second = leased(&coordinator, "w2");
    assert_eq!(lease(&coordinator, "w3"), LeaseReply::Wait);
    assert_eq!(post(&coordinator, "result", &played(&run, &first)), Ok(()));
    // Killed: nothing is written any more.
    drop(coordinator);

    let run = located(&out);
    let coordinator = opened(&run, LeasePolicy::default());
    assert_eq!(coordinator.workload().progress().done, 1);
    let again = leased(&coordinator, "w4");
    assert_eq!((&again.unit, again.epoch), (&second.unit, 2));
    assert_eq!(
        post(&coordinator, "result", &played(&run, &second)),
        Err::<(), _>(StaleLease)
    );
    assert_eq!(post(&coordinator, "result", &played(&run, &again)), Ok(()));
    assert_eq!(lease(&coordinator, "w4"), LeaseReply::Finished);
    let results = coordinator.workload().conclude().unwrap();
    assert!(results.summary.finished);
    assert_eq!(results.summary.run_id, run.spec.config.run_id);
    assert_eq!(journaled_plays(&out), 2);
}

#[test]
fn play_that_ends_its_workers_is_given_up() {
    let temp = tempfile::tempdir().unwrap();
    let run = located(&temp.path().join("run"));
    let policy = LeasePolicy {
        max_failures: 2,
        ..LeasePolicy::default()
    };
    let coordinator = opened(&run, policy);
    for worker in ["w1", "w2", "w3", "w4"] {
        leased(&coordinator, worker);
        coordinator
            .end_worker(worker, LeaseLoss::WorkerEnded)
            .unwrap();
    }
    assert_eq!(lease(&coordinator, "w5"), LeaseReply::Finished);
    let notes = coordinator.notes();
    assert_eq!(
        notes[0],
        "kq19-v1 in repeat 1 failed: 2 workers ended while they executed it, and 0 were lost"
    );
    assert_eq!(notes.len(), 2);
    assert!(!coordinator.workload().conclude().unwrap().summary.finished);
}

#[test]
fn resumed_run_tries_a_failed_play_again() {
    let temp = tempfile::tempdir().unwrap();
    let out = temp.path().join("run");
    let policy = LeasePolicy {
        max_failures: 1,
        ..LeasePolicy::default()
    };
    let coordinator = opened(&located(&out), policy);
    let failed = leased(&coordinator, "w1");
    coordinator
        .end_worker("w1", LeaseLoss::WorkerEnded)
        .unwrap();
    assert_eq!(coordinator.given_up(), std::slice::from_ref(&failed.unit));
    drop(coordinator);
    let coordinator = opened(&located(&out), policy);
    let again = leased(&coordinator, "w2");
    assert_eq!((again.unit, again.epoch), (failed.unit, 2));
}

#[test]
fn run_without_a_model_has_no_log() {
    let temp = tempfile::tempdir().unwrap();
    let run = located(&temp.path().join("run"));
    let coordinator = opened(&run, LeasePolicy::default());
    let lease = leased(&coordinator, "w");
    let lines = WorkLines {
        unit: lease.unit,
        epoch: lease.epoch,
        after: 0,
        lines: vec!["{}".to_owned()],
    };
    assert_eq!(post::<()>(&coordinator, "log", &lines), Err(NotVerified));
}
