//! `rhae compare` and `rhae report` of runs with models: cost and tokens are those that the provider
//! billed.

use std::fs;
use std::path::Path;

use rhae_testkit::{Faults, ModelServer, ServedRequest};
use serde_json::Value;

use crate::rhae::{Outcome, command};

/// The price of a million input and output tokens of each model; `unpriced` has no prices.
const MODELS: [(&str, Option<(u64, u64)>); 3] = [
    ("cheap", Some((1, 10))),
    ("dear", Some((3, 40))),
    ("unpriced", None),
];

fn write_models(folder: &Path, server: &ModelServer) {
    let model = |(name, prices): (&str, Option<(u64, u64)>)| {
        let prices = prices.map_or_else(String::new, |(input, output)| {
            format!("prices = {{ date = \"2026-11-01\", input = {input}, output = {output} }}\n")
        });
        format!(
            "[models.{name}]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{}/v1\"\nrequest = {{ max_output_tokens = 100 }}\n{prices}",
            server.url()
        )
    };
    let models: Vec<String> = MODELS.into_iter().map(model).collect();
    fs::write(folder.join("models.toml"), models.join("\n")).unwrap();
}

fn rhae(folder: &Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments)
        .env("RHAE_TEST_KEY", "sk-test")
        .env_remove("RHAE_MODELS")
        .output()
        .unwrap()
        .into()
}

fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn costs_and_tokens_of_models_are_those_that_were_billed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let server = ModelServer::start(Faults::none(), |request| {
        ["ACTION1", "ACTION4"][request.turns.len() / 2 % 2].to_owned()
    });
    write_models(folder, &server);
    let repeats = 2.0;
    let mut served: Vec<Vec<ServedRequest>> = Vec::new();
    for (name, _) in MODELS {
        let before = server.served().len();
        let agent = format!("model:{name}");
        let limits = ["--games", "kq19,ny40", "--budget", "4", "--repeat", "2"];
        let run = [&["run", "--agent", &agent, "--out", name], &limits[..]];
        rhae(folder, &run.concat()).succeeded();
        served.push(server.served().split_off(before));
    }
    let names = MODELS.map(|(name, _)| name);
    let compare = |flags: &[&str]| rhae(folder, &[&["compare"], &names[..], flags].concat());
    let document = compare(&["--json"]).succeeded().json();
    for ((run, (name, prices)), served) in document["runs"]
        .as_array()
        .unwrap()
        .iter()
        .zip(MODELS)
        .zip(&served)
    {
        assert_eq!(served.len(), 2 * 2 * 4, "{name}");
        let sum = |count: fn(&ServedRequest) -> u64| served.iter().map(count).sum::<u64>();
        let input = sum(|request| request.input_tokens);
        let output = sum(|request| request.output_tokens);
        assert_near(&run["input_tokens"], input as f64 / repeats);
        assert_near(&run["output_tokens"], output as f64 / repeats);
        let Some((input_price, output_price)) = prices else {
            assert_eq!(run["cost_usd"], Value::Null, "{name}");
            assert_eq!(run["on_frontier"], false, "{name}");
            continue;
        };
        let micro_dollars = input * input_price + output * output_price;
        assert_near(&run["cost_usd"], micro_dollars as f64 / 1e6 / repeats);
    }
    // The models play alike, so the cheaper one is on the frontier and the other is not.
    let on_frontier = |at: usize| &document["runs"][at]["on_frontier"];
    assert_eq!(
        (on_frontier(0), on_frontier(1)),
        (&true.into(), &false.into())
    );

    let text = compare(&[]).succeeded().out;
    assert!(text.contains("cost USD  tokens in/out"), "{text}");
    assert!(text.contains("unknown"), "{text}");
    compare(&["--html", "page.html"]).succeeded();
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    let cost = document["runs"][1]["cost_usd"].as_f64().unwrap();
    assert!(page.contains(&format!("${cost:.4}")) && page.contains(">unknown<"));
    let table = rhae(folder, &[&["report"], &names[..]].concat()).succeeded();
    assert!(
        table.out.contains("Tokens in/out | Cost USD"),
        "{}",
        table.out
    );
    assert!(table.out.contains(&format!("{cost:.4}")), "{}", table.out);
}
