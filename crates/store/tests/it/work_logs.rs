//! Logs of coordinators.

use rhae_protocol::{UnitKey, WorkEvent};
use rhae_store::{StoreError, WorkAppend};

use crate::fixture::{Fixture, on_both_stores};

on_both_stores!(events_are_appended_only_after_the_last_one);

/// Returns an append of some leases.
pub(crate) fn append(job: &str, last_seq: u64, count: u64) -> WorkAppend {
    let event = |seq: u64| WorkEvent::Leased {
        unit: UnitKey(format!("unit ä\"{seq}")),
        epoch: 1,
        worker: "w\\".to_owned(),
        until_ms: u64::MAX,
    };
    WorkAppend {
        job: job.to_owned(),
        last_seq,
        events: (last_seq + 1..=last_seq + count).map(event).collect(),
    }
}

async fn events_are_appended_only_after_the_last_one(fixture: &Fixture) {
    let store = fixture.work.as_ref();
    assert_eq!(store.work_events("one", 0, 10).await.unwrap(), []);
    let first = append("one", 0, 3);
    store.append_work(first.clone()).await.unwrap();
    // A coordinator that did not see these events changes nothing.
    let again = store.append_work(first.clone()).await;
    assert_eq!(again, Err(StoreError::WorkConflict(3)));
    assert!(again.unwrap_err().is_retryable());
    let ahead = store.append_work(append("one", 4, 1)).await;
    assert_eq!(ahead, Err(StoreError::WorkConflict(3)));
    store.append_work(append("one", 3, 2)).await.unwrap();
    store.append_work(append("two", 0, 1)).await.unwrap();
    let all = store.work_events("one", 0, 10).await.unwrap();
    assert_eq!((&all[..3], all.len()), (&first.events[..], 5));
    let page = store.work_events("one", 1, 2).await.unwrap();
    assert_eq!(page, all[1..3]);
    assert_eq!(store.work_events("two", 0, 10).await.unwrap().len(), 1);
}
