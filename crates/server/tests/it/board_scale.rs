//! A leaderboard of 10,000 rows: its pages contain some of the rows, and are computed once.

use rhae_board_service::board_set;
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_protocol::{
    BOARD_RULES, BoardAuthor, BoardClaim, BoardCost, BoardCount, BoardDefinition, BoardEvent,
    BoardKind, BoardPlay, BoardRecord, BoardRun, BoardSystem, CostBasis, Digest, Exposure,
    SetVisibility,
};
use rhae_store::BoardAppend;
use rhae_study::{digest, text_digest};
use serde_json::json;

use crate::test_server::TestServer;

const ROWS: u32 = 10_000;
const GAMES: [&str; 3] = ["kq19-v1", "ny40-v1", "ym39-v1"];

/// A log under construction.
#[derive(Default)]
struct Log(Vec<BoardRecord>);

impl Log {
    fn push(&mut self, event: BoardEvent) {
        let zero = Digest("0".repeat(64));
        let previous = self.0.last().map_or(zero, |record| record.hash.clone());
        let mut record = BoardRecord {
            seq: self.0.len() as u64 + 1,
            at_ms: 1_799_000_000_000,
            actor: "organiser".to_owned(),
            event,
            previous,
            hash: Digest::from(""),
            names: Default::default(),
        };
        record.hash = digest(&json!({"seq": record.seq, "at_ms": record.at_ms,
            "actor": record.actor, "event": record.event, "previous": record.previous}));
        self.0.push(record);
    }
}

fn system(number: u32) -> BoardSystem {
    BoardSystem {
        name: format!("System {number}"),
        version: "1".to_owned(),
        authors: vec![BoardAuthor {
            name: format!("Author {number}"),
            link: "https://example.org".to_owned(),
            affiliation: None,
        }],
        description: "A row of a large board.".to_owned(),
        code_url: "https://example.org".to_owned(),
        models: vec!["none".to_owned()],
        exposure: Exposure::None,
        hardware: None,
        paper_url: None,
    }
}

/// Returns a run in which the first level of every environment took some actions.
fn run(number: u32) -> BoardRun {
    let play = |(index, id): (u32, &&str)| BoardPlay {
        environment: (**id).into(),
        seed: 0,
        runs: vec![vec![BoardCount {
            actions: 10 + (number * (7 + index)) % 97,
            effective: 10,
            completed: true,
        }]],
        logs: Vec::new(),
        recording: Digest::from(""),
    };
    BoardRun {
        digest: text_digest(&number.to_string()),
        run_id: number.to_string(),
        software: "rhae".to_owned(),
        agent: "random".to_owned(),
        settings: text_digest("random"),
        prompt_sha256: None,
        keeps_reasoning: false,
        budget: "5x".to_owned(),
        env_seed: 0,
        started_ms: 1_798_000_000_000,
        server: None,
        competition: false,
        cost: BoardCost {
            basis: CostBasis::Priced,
            usd_micro: Some(u64::from(number % 1_000) * 10_000),
            prices: None,
        },
        tiered: false,
        plays: (0..).zip(&GAMES).map(play).collect(),
        answers: Vec::new(),
    }
}

fn log() -> Vec<BoardRecord> {
    let games: Vec<_> = GAMES.iter().map(|id| Builtin.find(id).unwrap()).collect();
    let definition = BoardDefinition {
        rules_version: BOARD_RULES,
        kind: BoardKind::Community,
        title: "Large".to_owned(),
        set: board_set("three", SetVisibility::Public, &games),
        method: "docs-2026-04".to_owned(),
        budget: "5x".to_owned(),
        prompt_sha256: None,
        people: None,
    };
    let mut log = Log::default();
    log.push(BoardEvent::Created {
        board: "large".into(),
        set: digest(&definition.set),
        definition: Box::new(definition),
    });
    for number in 0..ROWS {
        let entry = format!("row-{number}").as_str().into();
        log.push(BoardEvent::Submitted {
            entry,
            system: Box::new(system(number)),
            registration: None,
            claim: BoardClaim::default(),
        });
        log.push(BoardEvent::Replayed {
            entry: format!("row-{number}").as_str().into(),
            runs: vec![run(number)],
        });
    }
    log.0
}

#[test]
fn pages_of_a_large_board_have_some_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let append = BoardAppend {
        board: "large".into(),
        last_seq: 0,
        records: log(),
        files: Vec::new(),
        replaced: Vec::new(),
    };
    let store = server.board_store();
    server.runtime.block_on(store.append_board(append)).unwrap();
    let client = server.client("k");
    let read = |query: &str| client.get(&format!("/api/boards/large{query}")).success();
    let first = read("");
    assert_eq!(first["row_count"], ROWS);
    assert_eq!(first["rows"].as_array().unwrap().len(), 100);
    let rank = |page: &serde_json::Value, row: usize| page["rows"][row]["rank"]["rank"].as_u64();
    assert_eq!(rank(&first, 0), Some(1));
    // Comparing 50 million pairs would take too long, so there is no range.
    assert!(first["rows"][0]["rank"].get("best").is_none());
    let last = read("?offset=9990&limit=50");
    assert_eq!(last["rows"].as_array().unwrap().len(), 10);
    assert!(rank(&last, 9) >= rank(&last, 0) && rank(&last, 0) > Some(9_000));
    assert_eq!(read("?limit=5000")["rows"].as_array().unwrap().len(), 1_000);
    assert_eq!(client.get("/api/boards/large?limit=x").status, 400);

    let page = client.get("/boards/large?page=100").text;
    assert!(
        page.contains("Page 100 of 100") && page.len() < 200_000,
        "{}",
        page.len()
    );
    let row = client.get("/api/boards/large/entries/row-7").success();
    assert_eq!(row["history"].as_array().unwrap().len(), 2);
    assert!(client.get("/boards/large/plot.svg").text.len() < 60_000);
    for path in [
        "/boards",
        "/boards/large",
        "/boards/large?page=50",
        "/boards/large/row-7",
    ] {
        let begun = std::time::Instant::now();
        for _ in 0..20 {
            assert_eq!(client.get(path).status, 200);
        }
        println!("{path} takes {:?}", begun.elapsed() / 20);
    }
}
