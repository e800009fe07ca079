//! Boards, systems and runs for the tests of this crate.

use rhae_protocol::{
    BOARD_RULES, BoardAuthor, BoardCost, BoardCount, BoardDefinition, BoardEnvironment, BoardKind,
    BoardLevel, BoardPlay, BoardRun, BoardSet, BoardSystem, CostBasis, Digest, Exposure, LevelLog,
    SetVisibility,
};
use rhae_study::text_digest;

/// The time at which test boards are created, in November 2026.
pub(crate) const START_MS: u64 = 1_794_000_000_000;
pub(crate) const PROMPT: &str = "prompt";

/// The baselines are 20, 40 and 60 actions, twice the optima.
fn definition(kind: BoardKind, visibility: SetVisibility) -> BoardDefinition {
    let level = |baseline: u32| BoardLevel {
        baseline,
        source: "humans".to_owned(),
        provisional: false,
        optimum: Some(baseline / 2),
    };
    let environment = |id: &str| BoardEnvironment {
        id: id.into(),
        built_in: false,
        source_digest: None,
        luck_nano: None,
        people: None,
        levels: [20, 40, 60].map(level).to_vec(),
    };
    BoardDefinition {
        rules_version: BOARD_RULES,
        kind,
        title: "A board".to_owned(),
        set: BoardSet {
            name: "three".to_owned(),
            visibility,
            environments: ["aa11-v1", "bb22-v1", "cc33-v1"].map(environment).to_vec(),
            tasks: None,
        },
        method: "docs-2026-04".to_owned(),
        budget: "5x".to_owned(),
        prompt_sha256: None,
        people: None,
    }
}

pub(crate) fn community() -> BoardDefinition {
    definition(BoardKind::Community, SetVisibility::Public)
}

pub(crate) fn official() -> BoardDefinition {
    BoardDefinition {
        prompt_sha256: Some(text_digest(PROMPT)),
        ..definition(BoardKind::Official, SetVisibility::SemiPrivate)
    }
}

pub(crate) fn system(name: &str, author: &str) -> BoardSystem {
    BoardSystem {
        name: name.to_owned(),
        version: "1".to_owned(),
        authors: vec![BoardAuthor {
            name: author.to_owned(),
            link: "https://example.org/me".to_owned(),
            affiliation: None,
        }],
        description: "A system.".to_owned(),
        code_url: "https://example.org/code".to_owned(),
        models: vec!["none".to_owned()],
        exposure: Exposure::None,
        hardware: None,
        paper_url: None,
    }
}

/// Returns a run with one play of each environment in which the first levels were completed with the
/// given numbers of actions. `settings` also tells the action logs of systems apart.
pub(crate) fn run(settings: &str, seed: u64, actions: &[u32]) -> BoardRun {
    let count = |&actions: &u32| BoardCount {
        actions,
        effective: actions,
        completed: true,
    };
    let play = |environment: &str| BoardPlay {
        environment: environment.into(),
        seed,
        runs: vec![actions.iter().map(count).collect()],
        logs: actions
            .iter()
            .zip(1..)
            .map(|(&actions, level)| LevelLog {
                level,
                actions,
                completed: true,
                digest: text_digest(&format!("{settings} {environment} {level} {actions}")),
            })
            .collect(),
        recording: text_digest("recording"),
    };
    BoardRun {
        digest: Digest(format!("{settings}-{seed}")),
        run_id: format!("{settings}-{seed}"),
        software: "rhae".to_owned(),
        agent: "model:one".to_owned(),
        settings: text_digest(settings),
        prompt_sha256: Some(text_digest(PROMPT)),
        keeps_reasoning: false,
        budget: "5x".to_owned(),
        env_seed: 0,
        started_ms: START_MS + 10_000,
        server: None,
        competition: false,
        cost: BoardCost {
            basis: CostBasis::Priced,
            usd_micro: Some(2_000_000),
            prices: None,
        },
        tiered: false,
        plays: ["aa11-v1", "bb22-v1", "cc33-v1"].map(play).to_vec(),
        answers: Vec::new(),
    }
}
