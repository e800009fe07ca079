//! `rhae run --agent rgb:NAME`: agents that combine a model with tools, against a local server that
//! implements a provider's API.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::rhae::{Outcome, command};

/// Returns an interpreter. Without one, returns `None` and reports the test as skipped.
pub(crate) fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/python/arc-agi-0.9.9/bin/python");
    if python.is_file() {
        return Some(python);
    }
    rhae_testkit::skip("no Python interpreter in target/python");
    None
}

/// The code with which the scripted model finds out where the play is.
const CODE: &str = "bs = boards()
level = bs[-1]['score'] + 1
print('STATE', level, sum(1 for b in bs if b['action'] > 0 and b['level'] == level))";

/// A model that plays kq19: it studies the log with Python, then plans the next five actions.
pub(crate) fn player_model(request: &ModelRequest) -> ModelAnswer {
    let last = &request.turns.last().unwrap().1;
    let Some(state) = last.strip_prefix("STATE ") else {
        return ModelAnswer::call("python", &json!({"code": CODE}));
    };
    let (level, done) = state.trim().split_once(' ').unwrap();
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let solution = solutions.lines().nth(level.parse::<usize>().unwrap() - 1);
    let actions: Vec<String> = solution
        .unwrap()
        .split(' ')
        .skip(done.parse().unwrap())
        .take(5)
        .map(|id| format!("ACTION{id}"))
        .collect();
    format!("[BRIEFING]\nb\n[PLAN]\np\n[ACTIONS]\n{}", json!(actions)).into()
}

/// Creates a folder with a configuration of the model `big` on the server.
pub(crate) fn folder(server: &ModelServer) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.big]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"\"\nbase_url = \"{}/v1\"\nstream = true
retries = {{ attempts = 12, first_pause_s = 0.001, longest_pause_s = 0.01 }}
breaker = {{ failures = 1000 }}
request = {{ max_output_tokens = 100 }}
prices = {{ date = \"2026-11-01\", input = 1, output = 10 }}",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    folder
}

pub(crate) fn run(folder: &Path, python: &Path, arguments: &[&str]) -> Outcome {
    let python = python.to_str().unwrap();
    let first = ["run", "--json", "--python", python];
    let mut command = command(folder, &[&first, arguments].concat());
    command.env_remove("RHAE_MODELS").output().unwrap().into()
}

pub(crate) fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns what the server bills in millionths of a US dollar.
pub(crate) fn billed(served: &[ServedRequest]) -> u64 {
    let cost = |entry: &ServedRequest| entry.input_tokens + 10 * entry.output_tokens;
    served.iter().map(cost).sum()
}

/// Returns a cost in millionths of a US dollar.
pub(crate) fn micro(value: &Value) -> u64 {
    (value.as_f64().unwrap_or(0.0) * 1e6).round() as u64
}

#[test]
fn run_is_scored_reported_and_can_be_replayed() {
    let Some(python) = python() else { return };
    let server = ModelServer::start(Faults::mixed(20, 3), player_model);
    let folder = folder(&server);
    let arguments = [
        "--agent", "rgb:big", "--games", "kq19", "--out", "out", "--budget", "22",
    ];
    let summary = run(folder.path(), &python, &arguments).succeeded().json();
    assert_eq!(
        (&summary["agent"], &summary["finished"]),
        (&"rgb:big".into(), &true.into())
    );
    assert_eq!(summary["environments"][0]["levels_completed"], 2.0);
    let digest = summary["prompts_sha256"].as_str().unwrap();
    assert_eq!(digest.len(), 64);
    let config = read(&folder.path().join("out/config.json"));
    assert_eq!(config["model"]["prompts_sha256"], digest);
    // The books of the run and of the server agree to the millionth of a dollar.
    let served = server.served();
    let unknown: Vec<ServedRequest> = served
        .iter()
        .filter(|entry| matches!(entry.fault, Fault::Cut | Fault::Close | Fault::Malformed))
        .cloned()
        .collect();
    let spent = &summary["spent"];
    assert_eq!(spent["calls"].as_u64(), Some(served.len() as u64));
    assert_eq!(spent["uncounted"].as_u64(), Some(unknown.len() as u64));
    assert_eq!(
        micro(&spent["cost_usd"]) + billed(&unknown),
        billed(&served)
    );
    let recording = folder.path().join("out/recordings/1-kq19-v1.jsonl");
    assert!(
        fs::read_to_string(recording)
            .unwrap()
            .contains("\"step\":\"5/5\"")
    );
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("rgb:big"));
    let replay = ["replay", "verify", "out/recordings/1-kq19-v1.jsonl"];
    let verified = command(folder.path(), &replay).output().unwrap();
    assert!(verified.status.success());
}

pub(crate) fn spawn(folder: &Path, python: &Path, arguments: &[&str]) -> Child {
    let python = python.to_str().unwrap();
    command(folder, &[arguments, &["--python", python]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn limits_and_settings_are_checked_before_anything_is_sent() {
    let Some(python) = python() else { return };
    let server = ModelServer::start(Faults::none(), player_model);
    let folder = folder(&server);
    let arguments = [
        "--agent", "rgb:big", "--games", "kq19", "--budget", "7", "--out", "out",
    ];
    let refused = run(
        folder.path(),
        &python,
        &[&arguments[..], &["--max-cost", "0.001"]].concat(),
    )
    .failed_with("the spend limit of 0.001 USD is too small");
    assert!(server.served().is_empty() && !folder.path().join("out").exists());
    let smallest = refused
        .err
        .split("the smallest limit that allows it is ")
        .nth(1);
    let smallest = smallest.unwrap().split(' ').next().unwrap();
    let limited = [&arguments[..], &["--max-cost", smallest]].concat();
    let stopped = run(folder.path(), &python, &limited);
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("the spend limit is reached"),
        "{}",
        stopped.err
    );
    let paid = server.served().len();
    assert!(
        paid >= 1 && billed(&server.served()) <= (smallest.parse::<f64>().unwrap() * 1e6) as u64
    );
    // The prompts must be those of the start.
    let prompts = folder.path().join("prompts/rgb");
    fs::create_dir_all(&prompts).unwrap();
    fs::write(prompts.join("system.md"), "Be brave.").unwrap();
    run(
        folder.path(),
        &python,
        &["--resume", "out", "--prompts", "prompts"],
    )
    .failed_with("the prompts of the agent differ from the start of the run");
    let resumed = run(
        folder.path(),
        &python,
        &["--resume", "out", "--max-cost", "5"],
    );
    let summary = resumed.succeeded().json();
    assert_eq!(summary["environments"][0]["levels_completed"], 1.0);
    assert_eq!(
        summary["spent"]["calls"].as_u64(),
        Some(server.served().len() as u64)
    );
    run(folder.path(), &python, &["--agent", "rgb:small"]).failed_with("there is no model `small`");
    run(folder.path(), &python, &["--agent", "rbg:big"]).failed_with("`rgb:MODEL`");
    run(
        folder.path(),
        &python,
        &["--agent", "random", "--prompts", "prompts"],
    )
    .failed_with("require `--agent model:NAME` or another agent with a model");
    run(
        folder.path(),
        &python,
        &["--agent", "model:big", "--prompts", "prompts"],
    )
    .failed_with("`model:NAME` has none");
}

#[test]
fn estimate_prices_the_models_of_a_team() {
    let Some(python) = python() else { return };
    let server = ModelServer::start(Faults::none(), player_model);
    let folder = folder(&server);
    let models = folder.path().join("models.toml");
    let big = fs::read_to_string(&models).unwrap();
    let cheap = big
        .replace("[models.big]", "[models.small]")
        .replace("input = 1, output = 10", "input = 0.1, output = 1");
    let free = big.replace("[models.big]", "[models.unpriced]");
    let free = free[..free.find("prices").unwrap()].to_owned();
    fs::write(&models, format!("{big}\n{cheap}\n{free}")).unwrap();
    let estimate = |agent: &str| {
        let arguments = ["--agent", agent, "--games", "kq19", "--estimate"];
        run(folder.path(), &python, &arguments).succeeded().json()
    };
    let cost = |estimate: &Value, scenario: &str| {
        let cost = &estimate["total"]["cost_usd"][scenario];
        cost.as_f64().unwrap()
    };
    let alone = estimate("orchestrator:big");
    // The solver costs a tenth of the others.
    let team = estimate("orchestrator:big,solver=small,theorist=big");
    for (scenario, share) in [("low", 0.1), ("likely", 2.1 / 3.0), ("high", 1.0)] {
        let expected = share * cost(&alone, scenario);
        let found = cost(&team, scenario);
        assert!((found / expected - 1.0).abs() < 1e-9, "{scenario}: {team}");
    }
    let said = "any model of the team (big, and those of the roles solver, theorist) may send";
    assert!(team["assumptions"].to_string().contains(said), "{team}");
    assert!(!alone["assumptions"].to_string().contains("team"));
    let unknown = estimate("orchestrator:big,solver=unpriced");
    assert_eq!(unknown["total"].get("cost_usd"), None);
    let said = "the price of a role's model is unknown";
    assert!(
        unknown["assumptions"].to_string().contains(said),
        "{unknown}"
    );
    assert!(server.served().is_empty() && !folder.path().join("runs").exists());
}

/// A model that counts the boards of the log with Python, then moves right and left.
fn counting_model(request: &ModelRequest) -> ModelAnswer {
    let last = &request.turns.last().unwrap().1;
    if !last.starts_with("BOARDS ") {
        let code = "print('BOARDS', len(boards()))";
        return ModelAnswer::call("python", &json!({"code": code}));
    }
    "[BRIEFING]\nb\n[PLAN]\nthere and back\n[ACTIONS]\n[\"ACTION4\", \"ACTION3\"]"
        .to_owned()
        .into()
}

/// Returns the film of the first player on a page.
fn film_of(page: &Path) -> Value {
    let page = fs::read_to_string(page).unwrap();
    let data = page.split("<script type=\"application/json\">").nth(1);
    let data = data.unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn requests_are_shown_next_to_the_frames_of_a_hosted_game() {
    let Some(python) = python() else { return };
    let server = ModelServer::start(Faults::none(), counting_model);
    let folder = folder(&server);
    let games = crate::hosted_games::fixtures("games");
    let arguments = [
        "--agent",
        "rgb:big",
        "--games",
        "wk31",
        "--games-dir",
        &games,
        "--host-seconds",
        "60",
        "--budget",
        "5",
        "--out",
        "out",
    ];
    let summary = run(folder.path(), &python, &arguments).succeeded().json();
    assert_eq!(summary["environments"][0]["game_id"], "wk31-v1");
    // The run folder names the games, so the recording can be rendered without them.
    let recording = "out/recordings/1-wk31-v1.jsonl";
    let page = "page.html";
    let render = [
        "replay", "render", recording, "--format", "html", "--out", page, "--python",
    ];
    let render = [
        &render[..],
        &[python.to_str().unwrap(), "--host-seconds", "60"],
    ]
    .concat();
    let rendered: Outcome = command(folder.path(), &render).output().unwrap().into();
    rendered.succeeded();
    for page in ["out/report.html", page] {
        let film = film_of(&folder.path().join(page));
        // Plans have two actions, so that the actions 1, 3 and 5 have two requests each.
        let work = film["work"].as_array().unwrap();
        let moments: Vec<&Value> = work.iter().map(|row| &row[0]).collect();
        assert_eq!(moments, [1, 3, 5], "{page}");
        assert!(work.iter().all(|row| row[1] == 2), "{page}: {work:?}");
        let total = &work.last().unwrap()[5];
        assert_eq!(micro(total), billed(&server.served()), "{page}");
        let reasoning = film["reasoning"].as_array().unwrap();
        let texts: Vec<&str> = reasoning
            .iter()
            .map(|row| row[1].as_str().unwrap())
            .collect();
        let expected = "CALL OF python\nprint('BOARDS', len(boards()))\n→ BOARDS 1";
        assert!(texts[0].contains(expected), "{page}: {}", texts[0]);
        assert!(
            texts[0].contains("REQUEST 2 OF 2 ("),
            "{page}: {}",
            texts[0]
        );
        assert!(
            texts[0].contains("PLAN\nthere and back"),
            "{page}: {}",
            texts[0]
        );
    }
}
