//! Resumption of runs in folders that other users can change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::{
    Consent, HarnessError, LocatedRun, LocationRequest, ResumeOptions, RunRequest, open_run,
};

const COMMAND: &str = "echo 'it is' > executed; exit 1";

/// Creates the folder of a run that has not played yet.
fn start(folder: &Path, request: RunRequest) {
    let request = RunRequest {
        games: Some("kq19".to_owned()),
        out: Some(folder.to_owned()),
        ..request
    };
    request.prepare(&Builtin, None).unwrap();
}

fn start_command(temp: &Path) -> PathBuf {
    let folder = temp.join("run");
    let request = RunRequest {
        agent_cmd: Some(format!("cd '{}'; {COMMAND}", temp.display())),
        ..RunRequest::default()
    };
    start(&folder, request);
    folder
}

fn resume(folder: &Path, options: &ResumeOptions) -> Result<LocatedRun, HarnessError> {
    let (folder, config) = open_run(folder)?;
    let load = |_: &[PathBuf]| Ok(Arc::new(Builtin) as Arc<dyn Catalog>);
    LocationRequest::default().prepare_resumed(folder, config, options, load)
}

/// Checks that the command must be repeated, and that repeating it suffices.
fn assert_consent_is_needed(temp: &Path, folder: &Path, reason: &str) {
    let Err(error) = resume(folder, &ResumeOptions::default()) else {
        panic!("the run can be resumed");
    };
    let text = error.to_string();
    for part in [COMMAND, reason, "--agent-cmd", "writable only by you"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    let HarnessError::NeedsConsent { consent, .. } = error else {
        panic!("{text}");
    };
    assert!(matches!(&consent, Consent::AgentCommand(_)));
    assert!(!temp.join("executed").exists());
    let mut options = ResumeOptions::default();
    consent.grant(&mut options);
    resume(folder, &options).unwrap();
}

#[test]
fn command_of_an_own_folder_is_executed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = start_command(temp.path());
    let run = resume(&folder, &ResumeOptions::default()).unwrap();
    run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})
        .unwrap();
    assert!(temp.path().join("executed").exists());
}

#[test]
fn command_of_a_folder_that_others_can_write_must_be_repeated() {
    let temp = tempfile::tempdir().unwrap();
    let folder = start_command(temp.path());
    for path in [
        folder.join("config.json"),
        folder.clone(),
        temp.path().to_owned(),
    ] {
        let mode = fs::metadata(&path).unwrap().mode() & 0o7777;
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let name = path.canonicalize().unwrap();
        let reason = format!("other users can write to `{}`", name.display());
        assert_consent_is_needed(temp.path(), &folder, &reason);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    resume(&folder, &ResumeOptions::default()).unwrap();
}

#[test]
fn command_of_the_folder_of_another_user_must_be_repeated() {
    let temp = tempfile::tempdir().unwrap();
    let folder = start_command(temp.path());
    let own = fs::metadata(&folder).unwrap().uid();
    for path in [folder.join("config.json"), folder.clone()] {
        if chown(&path, Some(54_321), None).is_err() {
            return rhae_testkit::skip("only root can give files to another user");
        }
        assert_consent_is_needed(
            temp.path(),
            &folder,
            "belongs to another user (user id 54321)",
        );
        chown(&path, Some(own), None).unwrap();
    }
}

#[test]
fn repeated_command_must_be_that_of_the_run() {
    let temp = tempfile::tempdir().unwrap();
    let folder = start_command(temp.path());
    let other = ResumeOptions {
        agent_cmd: Some("true".to_owned()),
        ..ResumeOptions::default()
    };
    let error = resume(&folder, &other).map(drop).unwrap_err().to_string();
    assert!(error.contains("not with `true`"), "{error}");
    let built_in = temp.path().join("random");
    start(
        &built_in,
        RunRequest {
            agent: "random".to_owned(),
            ..RunRequest::default()
        },
    );
    let error = resume(&built_in, &other).map(drop).unwrap_err().to_string();
    assert!(error.contains("started without --agent-cmd"), "{error}");
    // A built-in agent needs no consent.
    fs::set_permissions(&built_in, Permissions::from_mode(0o777)).unwrap();
    resume(&built_in, &ResumeOptions::default()).unwrap();
}

#[test]
fn address_of_a_folder_that_others_can_write_must_be_repeated() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("run");
    start(&folder, RunRequest::default());
    // Nothing listens at this address.
    let config = fs::read_to_string(folder.join("config.json")).unwrap();
    let config = config.replace(
        "\"generator\"",
        "\"server\": \"http://127.0.0.1:1\", \"generator\"",
    );
    fs::write(folder.join("config.json"), config).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let error = resume(&folder, &ResumeOptions::default()).map(drop);
    let error = error.unwrap_err();
    assert!(matches!(
        &error,
        HarnessError::NeedsConsent { consent: Consent::Server(url), .. } if url == "http://127.0.0.1:1"
    ));
    assert!(error.to_string().contains("send your API key"), "{error}");
}
