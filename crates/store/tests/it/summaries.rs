//! Stored counts of plays.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rhae_engine::{Action, PlayState};
use rhae_protocol::{Ending, Entry, RunOutcome};
use rhae_session::count_step;
use rhae_store::{CardKey, RunCounts, Store};

use crate::fixture::{Fixture, on_both_stores};
use crate::{card_with_play, entry};

on_both_stores!(
    stored_counts_equal_the_counts_of_the_log,
    corrupt_counts_are_recomputed,
    play_facts_match_the_log,
);

/// Counts the entries of a log with a straightforward reference implementation.
fn counted(log: &[Entry]) -> Vec<RunOutcome> {
    let mut runs: Vec<RunOutcome> = Vec::new();
    let mut level = 0;
    for entry in log {
        if runs.is_empty() || entry.full_reset {
            runs.last_mut()
                .into_iter()
                .for_each(|run| run.ending = Some(Ending::Reset));
            runs.push(RunOutcome::default());
            level = 0;
        }
        let run = runs.last_mut().unwrap();
        count_step(run, level, entry.into());
        level = usize::from(entry.levels_completed);
    }
    runs
}

fn entries() -> impl Strategy<Value = Entry> {
    let states = [PlayState::NotFinished, PlayState::Win, PlayState::GameOver];
    (any::<[bool; 4]>(), 0_u8..5, 0..states.len(), 0_u8..8).prop_map(
        move |([reset, counted, changed, full], levels, state, rare)| {
            let full_reset = reset && full && rare == 0;
            Entry {
                action: if reset {
                    Action::Reset
                } else {
                    Action::Action1
                },
                state: states[state],
                levels_completed: if full_reset { 0 } else { levels },
                full_reset,
                counted: counted && !full_reset,
                changed: Some(changed),
                ..entry(Action::Action1)
            }
        },
    )
}

async fn stored(store: &dyn Store, card: CardKey) -> Vec<RunOutcome> {
    store.card_runs(card).await.unwrap().pop().unwrap().runs
}

/// Covers all sources from which the store takes counts: the writer's cache, the stored row, and
/// the log of an older database.
async fn stored_counts_equal_the_counts_of_the_log(fixture: &Fixture) {
    let logs = (vec(entries(), 0..30), vec(entries(), 1..30));
    let mut runner = TestRunner::deterministic();
    for case in 0..24 {
        let (first, second) = logs.new_tree(&mut runner).unwrap().current();
        let mut store = Arc::clone(&fixture.store);
        let (card, play) = card_with_play(store.as_ref()).await;
        for (index, entry) in (1..).zip(first.clone()) {
            store.append(play, card, index, entry, 3_000).await.unwrap();
        }
        let mut log = std::vec![entry(Action::Reset)];
        log.extend(first);
        assert_eq!(stored(store.as_ref(), card).await, counted(&log));
        if case % 3 > 0 {
            // Only SQLite has databases from before counts were stored.
            if case % 3 == 2 && fixture.is_file() {
                fixture.sql("DELETE FROM runs").await;
            }
            store = fixture.another().await;
            assert_eq!(stored(store.as_ref(), card).await, counted(&log));
        }
        for (index, entry) in (log.len() as u32..).zip(second.clone()) {
            store.append(play, card, index, entry, 3_000).await.unwrap();
        }
        log.extend(second);
        let found = stored(store.as_ref(), card).await;
        assert_eq!(found, counted(&log));
        assert_eq!(found, RunCounts::outcomes(RunCounts::of_log(&log)));
        assert_eq!(store.runs(play).await.unwrap(), RunCounts::of_log(&log));
    }
}

async fn corrupt_counts_are_recomputed(fixture: &Fixture) {
    let (card, play) = card_with_play(fixture.store.as_ref()).await;
    fixture
        .store
        .append(play, card, 1, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    fixture.sql("UPDATE runs SET levels = 'nonsense'").await;
    let store = fixture.another().await;
    assert!(store.card_runs(card).await.is_err());
    store
        .append(play, card, 2, entry(Action::Action1), 3_000)
        .await
        .unwrap();
    assert_eq!(
        stored(store.as_ref(), card).await[0]
            .levels
            .iter()
            .map(|level| level.actions)
            .sum::<u32>(),
        2
    );
}

async fn play_facts_match_the_log(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    fixture.at(2_000).await;
    let (card, play) = card_with_play(store).await;
    for index in 1..=4 {
        let entry = Entry {
            state: PlayState::GameOver,
            counted: index != 2,
            ..entry(Action::Action1)
        };
        let at_ms = fixture.at(3_000 + u64::from(index)).await;
        store.append(play, card, index, entry, at_ms).await.unwrap();
    }
    let stored = store.plays_after(None, 10).await.unwrap().pop().unwrap();
    let facts = store.play_facts(stored.id).await.unwrap().unwrap();
    assert_eq!(
        (&facts.play, facts.competition, facts.closed_ms),
        (&stored, false, None)
    );
    assert_eq!(
        (facts.opened_ms, facts.last_ms, facts.entries, facts.actions),
        (2_000, 3_004, 5, 3)
    );
    assert_eq!(
        (facts.state, facts.levels_completed),
        (PlayState::GameOver, 3)
    );
    let tail = store.log_from(play, 3, 1).await.unwrap();
    assert_eq!(
        (
            tail.len(),
            tail[0].index,
            tail[0].at_ms,
            tail[0].entry.action
        ),
        (1, 3, 3_003, Action::Action1)
    );
    assert_eq!(store.log_from(play, 0, u32::MAX).await.unwrap().len(), 5);
    store
        .close_card(card, fixture.at(9_000).await)
        .await
        .unwrap();
    assert_eq!(
        store
            .play_facts(stored.id)
            .await
            .unwrap()
            .unwrap()
            .closed_ms,
        Some(9_000)
    );
    assert_eq!(store.play_count().await.unwrap(), 1);
    assert_eq!(store.plays_after(Some(play), 10).await.unwrap(), []);
}
