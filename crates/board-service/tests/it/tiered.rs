//! Rows of tiered runs, whose order of ease the board has frozen.

use std::path::PathBuf;

use rhae_board_service::{freeze_order, frozen_order};
use rhae_engine::{Catalog, GameInfo};
use rhae_games::Builtin;
use rhae_protocol::{BoardFlag, TierEnvironment, TierFile};

use crate::fixture::{Desk, RunRequest, now_ms, play_request, system};

/// A seed with which the random agent completes a level of kq19.
const SEED: u64 = 3;

/// Creates a board of four environments of which random play completes a level for certain.
async fn ordered() -> (Desk, TierFile) {
    let mut desk = Desk::empty(now_ms()).await;
    let infos: Vec<GameInfo> = ["kq19", "ym39", "ny40", "bx20"]
        .map(|game| Builtin.find(game).unwrap())
        .to_vec();
    let set = &mut desk.definition.set;
    *set = rhae_board_service::board_set("four", set.visibility, &infos);
    let chances = [
        ("bx20-v1", 1.0),
        ("ym39-v1", 1.0),
        ("kq19-v1", 1.0),
        ("ny40-v1", 0.123_456_789_01),
    ];
    let order = TierFile {
        version: 1,
        budget: "5x".to_owned(),
        environments: chances
            .map(|(id, chance)| TierEnvironment {
                id: id.to_owned(),
                chance,
                people: None,
            })
            .to_vec(),
    };
    freeze_order(set, &order);
    let definition = desk.definition.clone();
    let created = desk.service.create(desk.now_ms, &desk.id, definition);
    created.await.unwrap();
    (desk, order)
}

fn tiered(desk: &Desk, name: &str, order: &TierFile, all_tiers: bool) -> PathBuf {
    let request = RunRequest {
        games: Some("kq19,ym39,ny40,bx20".to_owned()),
        seed: SEED,
        tiers: Some(order.clone()),
        all_tiers,
        ..RunRequest::default()
    };
    play_request(desk.folder.path(), name, request)
}

#[tokio::test]
async fn stopped_registered_run_is_ranked_at_once_by_its_lower_bound() {
    let (desk, _) = ordered().await;
    // The chances are rounded up, so that they stay upper bounds.
    let frozen = frozen_order(&desk.definition).unwrap();
    let ids: Vec<&str> = frozen
        .environments
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(ids, ["bx20-v1", "ym39-v1", "kq19-v1", "ny40-v1"]);
    assert_eq!(frozen.environments[3].chance, 0.123_456_790);

    let ada = system("A", "Ada");
    desk.register("r", &ada, &[SEED]).await.unwrap();
    let run = tiered(&desk, "stopped", &frozen, false);
    desk.submit("a", &ada, Some("r"), &[&run]).await.unwrap();
    let row = desk.row("a").await;
    let score = row.score.unwrap();
    assert_eq!((score.played, score.environments), (3, 4));
    assert_eq!(row.rank.unwrap().rank, 1);
    assert_eq!(row.flags[0].flag, BoardFlag::Partial);
    let sum: f64 = row.environments.iter().map(|one| one.scores[0]).sum();
    assert!((score.mean - sum / 4.0).abs() < 1e-9);
}

#[tokio::test]
async fn run_with_all_tiers_covers_the_set() {
    let (desk, order) = ordered().await;
    let ada = system("A", "Ada");
    desk.register("r", &ada, &[SEED]).await.unwrap();
    let run = tiered(&desk, "all", &order, true);
    desk.submit("a", &ada, Some("r"), &[&run]).await.unwrap();
    let row = desk.row("a").await;
    assert_eq!((row.score.unwrap().played, row.flags), (4, Vec::new()));
    assert_eq!(row.rank.unwrap().rank, 1);
}

#[tokio::test]
async fn run_that_stopped_by_chances_of_its_own_has_no_rank_yet() {
    let (desk, order) = ordered().await;
    let mut definition = desk.definition.clone();
    // On the second board, random play never completes a level, so any progress is promoted.
    for environment in &mut definition.set.environments {
        environment.luck_nano = Some(0);
    }
    let second = Desk {
        id: "second".into(),
        ..desk
    };
    let created = second.service.create(second.now_ms, &second.id, definition);
    created.await.unwrap();
    let ada = system("A", "Ada");
    second.register("r", &ada, &[SEED]).await.unwrap();
    let run = tiered(&second, "stopped", &order, false);
    second.submit("a", &ada, Some("r"), &[&run]).await.unwrap();
    let row = second.row("a").await;
    let progress = row
        .environments
        .iter()
        .any(|one| one.levels_completed > 0.0);
    assert!(progress, "the random agent completes no level");
    assert_eq!(row.rank, None);
}
