//! An official board end to end: a server with a semi-private set, a scripted model that plays it in
//! competition mode, and the states that its row goes through.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_board::{Audience, Command};
use rhae_board_service::{
    BoardService, RunFiles, board_set, check_export, export_board, verify_run,
};
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::{HarnessError, LocationRequest, ModelOptions, RunRequest};
use rhae_llm::Models;
use rhae_protocol::{
    BOARD_RULES, BoardDefinition, BoardKind, BoardSystem, Digest, ServerRecord, SetVisibility,
};
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::{Value, json};

use crate::client::Client;
use crate::fixture_catalog::FixtureCatalog;
use crate::test_server::{Access, TestServer};

const MODELS: &str = r#"[models.words]
provider = "mock"
replies = ["ACTION1", "ACTION4", "ACTION2"]
"#;

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.unwrap().as_millis()).unwrap()
}

/// Starts a server whose environments are semi-private.
fn start(folder: &Path) -> TestServer {
    let sets: HashMap<_, _> = FixtureCatalog
        .list()
        .into_iter()
        .map(|info| (info.id, GameSet::SemiPrivate))
        .collect();
    let access = Access {
        keys: true,
        sets: Some(sets),
        ..Access::default()
    };
    let (config, options) = (Config::default(), SqliteOptions::default());
    TestServer::start_fixtures(folder, Arc::new(FixtureCatalog), config, options, &access)
}

/// Runs the scripted model on the server in competition mode, or locally. Without names it plays all
/// environments.
fn play(
    folder: &Path,
    name: &str,
    games: Option<&str>,
    location: &LocationRequest,
    catalog: &Arc<dyn Catalog>,
) -> PathBuf {
    let out = folder.join(name);
    let request = RunRequest {
        agent: "model:words".to_owned(),
        games: games.map(str::to_owned),
        competition: location.server.is_some(),
        model: ModelOptions {
            models: Models::parse(MODELS).unwrap(),
            ..ModelOptions::default()
        },
        out: Some(out.clone()),
        ..RunRequest::default()
    };
    let load = |_: &[PathBuf]| Ok::<_, HarnessError>(Arc::clone(catalog));
    let run = location.prepare(request, load).unwrap();
    run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})
        .unwrap();
    out
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let names = ["config.json", "journal.jsonl"].map(str::to_owned);
    let recordings = std::fs::read_dir(folder.join("recordings")).unwrap();
    let recordings = recordings.map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        format!("recordings/{name}")
    });
    let all = names.into_iter().chain(recordings);
    all.filter(|name| !name.ends_with(".txt"))
        .map(|name| {
            (
                name.clone(),
                std::fs::read_to_string(folder.join(&name)).unwrap(),
            )
        })
        .collect()
}

fn system() -> BoardSystem {
    let json = json!({
        "name": "Words", "version": "1",
        "authors": [{"name": "Organiser", "link": "https://example.org"}],
        "description": "A model without tools.", "code_url": "https://example.org/code",
        "models": ["words"], "exposure": "none"
    });
    serde_json::from_value(json).unwrap()
}

/// Returns the hash of the system prompt of a run.
fn prompt(folder: &Path) -> Digest {
    let files = RunFiles::read(folder).unwrap();
    let definition = definition(Digest::from(""));
    let run = verify_run(&definition, &files, &FixtureCatalog).unwrap();
    run.prompt_sha256.unwrap()
}

fn definition(prompt: Digest) -> BoardDefinition {
    BoardDefinition {
        rules_version: BOARD_RULES,
        kind: BoardKind::Official,
        title: "Semi-private".to_owned(),
        set: board_set(
            "fixtures",
            SetVisibility::SemiPrivate,
            &FixtureCatalog.list(),
        ),
        method: "docs-2026-04".to_owned(),
        budget: "5x".to_owned(),
        prompt_sha256: Some(prompt),
        people: None,
    }
}

#[test]
fn official_row_is_witnessed_and_certified() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let server = start(at);
    server.clock.set_ms(now_ms());
    let service = BoardService::new(server.board_store());
    let (organiser, reader) = (
        server.client(&server.admin_key()),
        server.client(&server.key(&[GameSet::Public])),
    );
    let remote = |key: String| LocationRequest {
        server: Some(server.url().to_owned()),
        key: Some(key),
        games_dirs: Vec::new(),
    };
    let fixtures: Arc<dyn Catalog> = Arc::new(FixtureCatalog);
    let builtin: Arc<dyn Catalog> = Arc::new(Builtin);
    let local = LocationRequest::default();
    let public = play(at, "public", Some("kq19"), &local, &builtin);
    let practice = play(
        at,
        "practice",
        Some("zz01"),
        &remote(server.key(&[GameSet::SemiPrivate])),
        &fixtures,
    );

    server.clock.set_ms(now_ms());
    let id = "closed".into();
    let created = service.create(now_ms(), &id, definition(prompt(&practice)));
    server.runtime.block_on(created).unwrap();
    let register = Command::Register {
        registration: "r1".into(),
        system: Box::new(system()),
        seeds: vec![0],
    };
    let registered = service.execute(&id, now_ms(), "Organiser", &register, Vec::new());
    server.runtime.block_on(registered).unwrap();
    server.clock.set_ms(now_ms());
    let run = play(
        at,
        "run",
        None,
        &remote(server.key(&[GameSet::SemiPrivate])),
        &fixtures,
    );

    only_the_registered_run_is_accepted(&organiser, &public, &practice, &run);
    row_is_ranked_after_its_certification(&organiser, &reader, &practice, &run);
    export_is_complete_only_for_the_organiser(&server, &service, at);
}

fn only_the_registered_run_is_accepted(
    organiser: &Client,
    public: &Path,
    practice: &Path,
    run: &Path,
) {
    let entries = "/api/boards/closed/entries";
    let body = |entry: &str, registration: Value, folder: &Path| {
        json!({"entry": entry, "system": system(), "registration": registration,
            "runs": [texts(folder)]})
    };
    let refused = organiser.post(entries, &body("public", Value::Null, public));
    refused.assert_error(409, "BOARD_REJECTED");
    assert!(
        refused.text.contains("such as the public one"),
        "{}",
        refused.text
    );
    // A run that was made before it was registered is not of the registration.
    let early = organiser.post(entries, &body("words", json!("r1"), practice));
    assert!(
        early.text.contains("before it was registered"),
        "{}",
        early.text
    );
    let submitted = organiser.post(entries, &body("words", json!("r1"), run));
    assert_eq!(
        submitted.success()["state"],
        "replayed",
        "{}",
        submitted.text
    );
}

fn row_is_ranked_after_its_certification(
    organiser: &Client,
    reader: &Client,
    practice: &Path,
    run: &Path,
) {
    // The row is not ranked before the organiser confirms it.
    let row = || reader.get("/api/boards/closed/entries/words").success()["row"].clone();
    assert_eq!(row()["rank"], Value::Null);
    let commands = "/api/boards/closed/commands";
    let card = |folder: &Path| -> String {
        let text = std::fs::read_to_string(folder.join("server.json")).unwrap();
        let record: ServerRecord = serde_json::from_str(&text).unwrap();
        record.cards[0].card_id.clone()
    };
    let witness = |card: &str| {
        organiser.post(
            commands,
            &json!({"command": "witness", "entry": "words", "cards": [card]}),
        )
    };
    let practised = witness(&card(practice));
    let reason = "was opened before the runs were registered";
    assert!(practised.text.contains(reason), "{}", practised.text);
    let witnessed = witness(&card(run));
    assert_eq!(
        witnessed.success()["state"],
        "witnessed",
        "{}",
        witnessed.text
    );
    let certify = json!({"command": "certify", "entry": "words", "statement": "We ran it."});
    let certified = organiser.post(commands, &certify);
    assert_eq!(
        certified.success()["state"],
        "official",
        "{}",
        certified.text
    );
    let row = row();
    assert_eq!(row["rank"]["rank"], 1);
    assert_eq!(row["environments"], Value::Null);
    assert!(
        row["does_not_prove"]
            .as_str()
            .unwrap()
            .contains("training data")
    );
    organiser
        .post(commands, &json!({"command": "release"}))
        .success();
}

/// Exports the board for both audiences, and checks the complete export on its own files.
fn export_is_complete_only_for_the_organiser(
    server: &TestServer,
    service: &BoardService,
    at: &Path,
) {
    let export = |name: &str, audience| {
        let folder = at.join(name);
        let id = "closed".into();
        let exported = export_board(service, &id, &folder, audience, Vec::new());
        let manifest = server.runtime.block_on(exported).unwrap();
        (folder, manifest.complete)
    };
    let (aggregates, complete) = export("aggregates", Audience::Public);
    assert!(!complete && check_export(&aggregates, &FixtureCatalog).is_err());
    let (all, complete) = export("all", Audience::Organiser);
    let check = check_export(&all, &FixtureCatalog).unwrap();
    assert!(complete);
    assert_eq!(check.findings, [""; 0]);
    assert_eq!((check.rows, check.replayed, check.releases), (1, 2, 1));
}
