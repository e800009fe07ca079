//! Click maps of real plays.

use rhae_engine::{Action, Catalog, LevelIndex};
use rhae_games::Builtin;
use rhae_study_service::{CountError, click_map};
use uuid::Uuid;

use crate::counting::{solution, store_play, store_play_of};
use crate::fixture::Fixture;

const GAME: &str = "ym39-v1";

#[tokio::test]
async fn clicks_of_all_people_are_added_by_level() {
    let fixture = Fixture::sqlite().await;
    let store = fixture.database().store();
    let facts = rhae_games::find(GAME).unwrap().facts;
    let levels = [0, 1].map(|level| facts.solution(LevelIndex(level)));
    let both: Vec<Action> = levels.concat();
    let plays = [
        store_play_of(store.as_ref(), GAME, &both).await,
        store_play_of(store.as_ref(), GAME, &levels[0]).await,
    ];
    let map = click_map(store.as_ref(), &Builtin, &plays).await.unwrap();
    let clicks = |actions: &[Action]| {
        let clicks = actions
            .iter()
            .filter(|one| matches!(one, Action::Action6 { .. }));
        u32::try_from(clicks.count()).unwrap()
    };
    let expected = [2 * clicks(&levels[0]), clicks(&levels[1])];
    assert!(expected.iter().all(|&count| count > 0));
    let found: Vec<(u32, u32)> = map.iter().map(|one| (one.level, one.clicks)).collect();
    assert_eq!(found, [(1, expected[0]), (2, expected[1])]);
    let sum: u32 = map[0].cells.iter().map(|cell| cell.clicks).sum();
    assert_eq!(sum, expected[0]);
    // The board is the first frame of the level.
    let opened = Builtin.open(GAME, 0).unwrap();
    let first = opened.observation().settled();
    let digits: Vec<u8> = map[0]
        .board
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap())
        .collect();
    assert_eq!(digits.as_slice(), first.cells());
    assert_ne!(map[0].board, map[1].board);
}

#[tokio::test]
async fn environment_without_clicks_has_no_map_and_unknown_plays_are_reported() {
    let fixture = Fixture::sqlite().await;
    let store = fixture.database().store();
    let play = store_play(store.as_ref(), &solution(0)).await;
    let map = click_map(store.as_ref(), &Builtin, &[play]).await.unwrap();
    assert_eq!(map, []);
    let missing = [Uuid::nil().to_string()];
    let refused = click_map(store.as_ref(), &Builtin, &missing).await;
    assert!(matches!(refused, Err(CountError::UnknownPlay(_))));
}
