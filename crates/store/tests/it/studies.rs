//! Logs of human studies.

use rhae_engine::Action;
use rhae_protocol::{Digest, StudyChain, StudyEvent, StudyId, StudyRecord};
use rhae_store::{IdempotencyKey, Owner, Snapshot, StoreError, StudyAppend, StudyFile};

use crate::fixture::{Fixture, on_both_stores};
use crate::{card, entry, new_play};

on_both_stores!(
    records_are_appended_only_after_the_last_one,
    chains_of_erased_people_are_removed_with_the_append,
    of_two_servers_one_appends,
    plays_of_erased_people_are_removed_with_the_append,
    refused_append_leaves_no_file
);

fn record(seq: u64, chain: StudyChain) -> StudyRecord {
    StudyRecord {
        seq,
        chain,
        position: seq,
        at_ms: 1_000 + seq,
        event: StudyEvent::Commented {
            text: "ä\"\0\n".to_owned(),
        },
        previous: Digest::from("00"),
        hash: Digest::from("ff"),
    }
}

/// Returns an append of some records to the chain of the study, with a file.
pub(crate) fn append(study: &str, last_seq: u64, count: u64) -> StudyAppend {
    StudyAppend {
        study: study.into(),
        last_seq,
        records: (last_seq + 1..=last_seq + count)
            .map(|seq| record(seq, StudyChain::Study))
            .collect(),
        removed: Vec::new(),
        removed_plays: Vec::new(),
        file: Some(StudyFile {
            name: format!("after-{last_seq}"),
            content: "{}".to_owned(),
        }),
    }
}

async fn records_are_appended_only_after_the_last_one(fixture: &Fixture) {
    let store = fixture.studies.as_ref();
    let (lab, other) = (StudyId::from("lab"), StudyId::from("Other"));
    assert_eq!(store.studies().await.unwrap(), []);
    let first = append("lab", 0, 3);
    store.append_study(first.clone()).await.unwrap();
    let again = store.append_study(first.clone()).await;
    assert_eq!(again, Err(StoreError::StudyConflict(3)));
    assert!(again.unwrap_err().is_retryable());
    let ahead = store.append_study(append("lab", 4, 1)).await;
    assert_eq!(ahead, Err(StoreError::StudyConflict(3)));
    store.append_study(append("lab", 3, 2)).await.unwrap();
    store.append_study(append("Other", 0, 1)).await.unwrap();

    assert_eq!(store.studies().await.unwrap(), [other, lab.clone()]);
    let all = store.study_records(&lab, 0, 100).await.unwrap();
    assert_eq!(all[..3], first.records);
    assert_eq!(all.len(), 5);
    let page = store.study_records(&lab, 1, 2).await.unwrap();
    assert_eq!(page, all[1..3]);
    let unknown = StudyId::from("none");
    assert_eq!(store.study_records(&unknown, 0, 9).await.unwrap(), []);
    let files = store.study_files(&lab).await.unwrap();
    let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["after-0", "after-3"]);
}

async fn chains_of_erased_people_are_removed_with_the_append(fixture: &Fixture) {
    let store = fixture.studies.as_ref();
    let person = |id: &str| StudyChain::Participant(id.into());
    let chains = [StudyChain::Study, person("p1"), person("p10")];
    let records = chains.clone().into_iter().zip(1..);
    let first = StudyAppend {
        records: records.map(|(chain, seq)| record(seq, chain)).collect(),
        ..append("lab", 0, 0)
    };
    store.append_study(first).await.unwrap();
    let erasure = StudyAppend {
        removed: vec![person("p1"), StudyChain::Sitting("p10".into())],
        ..append("lab", 3, 1)
    };
    let late = StudyAppend {
        last_seq: 2,
        ..erasure.clone()
    };
    let refused = store.append_study(late).await;
    assert_eq!(refused, Err(StoreError::StudyConflict(3)));
    store.append_study(erasure).await.unwrap();
    let left = store.study_records(&"lab".into(), 0, 9).await.unwrap();
    let left: Vec<_> = left.iter().map(|one| one.seq).collect();
    assert_eq!(left, [1, 3, 4]);
}

async fn plays_of_erased_people_are_removed_with_the_append(fixture: &Fixture) {
    let store = fixture.store.as_ref();
    let card = card(store).await;
    let mut plays = Vec::new();
    for index in 0..2 {
        let new = new_play(card);
        let play = store.open_play(new.clone()).await.unwrap();
        let key = IdempotencyKey {
            owner: Owner([7; 32]),
            key: format!("key-{index}"),
            digest: [1; 32],
        };
        let entry = entry(Action::Action1);
        let appended = store.append_idempotent(play, card, 1, entry, 3_000, Some(key));
        appended.await.unwrap();
        let snapshot = Snapshot {
            entries: 2,
            bytes: vec![1],
        };
        store.save_snapshot(play, snapshot).await.unwrap();
        plays.push((new.id, play));
    }
    let erasure = StudyAppend {
        removed_plays: vec![plays[0].0],
        ..append("lab", 0, 1)
    };
    fixture.studies.append_study(erasure).await.unwrap();
    assert_eq!(store.play(plays[0].0).await.unwrap(), None);
    assert_eq!(store.log(plays[0].1).await.unwrap(), []);
    assert_eq!(store.snapshots(plays[0].1).await.unwrap(), []);
    let late = store.append(plays[0].1, card, 2, entry(Action::Action1), 4_000);
    assert!(late.await.is_err());
    // The other play of the card continues.
    let append = store.append(plays[1].1, card, 2, entry(Action::Action1), 4_000);
    append.await.unwrap();
    assert_eq!(store.log(plays[1].1).await.unwrap().len(), 3);
}

async fn of_two_servers_one_appends(fixture: &Fixture) {
    let other = fixture.other_studies().await;
    let stores = [&fixture.studies, &other];
    for round in 0..10 {
        let append = |index: usize| {
            let mut append = append("lab", round, 1);
            append.file = None;
            append.records[0].position = index as u64;
            stores[index].append_study(append)
        };
        let (one, two) = tokio::join!(append(0), append(1));
        let refused = Err(StoreError::StudyConflict(round + 1));
        let winner = match (&one, &two) {
            (Ok(()), lost) if *lost == refused => 0,
            (lost, Ok(())) if *lost == refused => 1,
            results => panic!("{results:?}"),
        };
        let stored = other.study_records(&"lab".into(), round, 9).await.unwrap();
        assert_eq!(stored.len(), 1);
        assert_eq!(stored[0].position, winner);
    }
}

async fn refused_append_leaves_no_file(fixture: &Fixture) {
    let store = fixture.studies.as_ref();
    let refused = store.append_study(append("lab", 7, 1)).await;
    assert_eq!(refused, Err(StoreError::StudyConflict(0)));
    assert_eq!(store.study_files(&"lab".into()).await.unwrap(), []);
    // A file never changes: the whole append fails.
    store.append_study(append("lab", 0, 1)).await.unwrap();
    let mut second = append("lab", 1, 1);
    if let Some(file) = &mut second.file {
        file.name = "after-0".to_owned();
    }
    assert!(store.append_study(second).await.is_err());
    let records = store.study_records(&"lab".into(), 0, 9).await.unwrap();
    assert_eq!(records.len(), 1);
}
