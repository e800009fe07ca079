//! Integration tests of both stores, with real SQLite files and a real PostgreSQL server.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod backup;
mod boards;
mod commits;
mod failures;
mod files;
mod fixture;
mod idempotency;
mod identities;
mod keys;
mod lists;
mod rules;
mod servers;
mod shares;
mod sharing;
mod silence;
mod simulations;
mod snapshots;
mod studies;
mod summaries;
mod usage;
mod work_logs;

use std::path::Path;

use rhae_engine::{Action, PlayState};
use rhae_protocol::{Details, Entry, ResetRule};
use rhae_store::{
    CardId, CardKey, NewCard, NewPlay, Owner, PlayId, PlayKey, SqliteOptions, SqliteStore, Store,
};
use serde_json::json;
use uuid::Uuid;

pub(crate) async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default())
        .await
        .unwrap()
}

pub(crate) fn new_card() -> NewCard {
    NewCard {
        id: CardId(Uuid::new_v4()),
        owner: Owner([7; 32]),
        tags: vec!["agent".to_owned(), "ä\"\n".to_owned()],
        source_url: Some("https://example.org".to_owned()),
        opaque: Some(json!({"a": [1, null]})),
        competition: false,
        games: vec!["ab12-v1".parse().unwrap(), "ab13-v1".parse().unwrap()],
        only_one: false,
        max_open: None,
        lasting: false,
        opened_ms: 1_000,
    }
}

pub(crate) fn entry(action: Action) -> Entry {
    Entry {
        action,
        hash: u64::MAX - 5,
        frames: None,
        state: PlayState::NotFinished,
        levels_completed: 3,
        full_reset: action == Action::Reset,
        counted: action != Action::Reset,
        changed: Some(true),
        details: Details {
            reasoning: Some(json!({"why": "probe"})),
            ..Details::default()
        },
    }
}

pub(crate) fn new_play(card: CardKey) -> NewPlay {
    NewPlay {
        id: PlayId(Uuid::new_v4()),
        card,
        game_id: "ab12-v1".parse().unwrap(),
        seed: u64::MAX,
        rule: ResetRule::LevelsOnly,
        win_levels: 8,
        source_digest: Some("ab".repeat(32)),
        only_one: false,
        max_plays: None,
        opening: entry(Action::Reset),
        at_ms: 2_000,
    }
}

/// Opens a card and returns its key.
pub(crate) async fn card(store: &dyn Store) -> CardKey {
    let card = new_card();
    store.open_card(card.clone()).await.unwrap();
    store.card(card.id).await.unwrap().unwrap().key
}

/// Opens a card with a play.
pub(crate) async fn card_with_play(store: &dyn Store) -> (CardKey, PlayKey) {
    let card = card(store).await;
    (card, store.open_play(new_play(card)).await.unwrap())
}
