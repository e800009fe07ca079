use proptest::prelude::*;
use rhae_protocol::{StudyChain, StudyRecord};
use rhae_study::{Command, Preset, ReviewCommand, Study};

use crate::lab::{Lab, MINUTE, protocol};

/// A log with two ended sittings, an exclusion and a pause.
fn log() -> Vec<StudyRecord> {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1), ("bb22-v1", 1)]);
    for id in ["p1", "p2"] {
        let sitting = lab.sit(id);
        lab.solve(&sitting, &[40], 2 * MINUTE);
        lab.leave(&sitting, &[50], 2 * MINUTE);
        lab.end(&sitting);
    }
    let exclude = ReviewCommand::Exclude {
        exclusion: "x1".into(),
        position: Some(1),
        by: "ann".to_owned(),
        reason: "helped".to_owned(),
        evidence: "note".to_owned(),
    };
    lab.run(&Command::Review("s-p1".into(), exclude));
    lab.log
}

/// Changes one value in the JSON of a record: a number, a text or a flag.
fn changed(record: &StudyRecord, which: usize) -> Option<StudyRecord> {
    fn leaves<'a>(value: &'a mut serde_json::Value, found: &mut Vec<&'a mut serde_json::Value>) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.values_mut().for_each(|value| leaves(value, found));
            }
            serde_json::Value::Array(items) => {
                items.iter_mut().for_each(|value| leaves(value, found));
            }
            leaf => found.push(leaf),
        }
    }
    let mut value = serde_json::to_value(record).unwrap();
    let mut found = Vec::new();
    leaves(&mut value, &mut found);
    let at = which % found.len();
    let leaf = &mut found[at];
    **leaf = match leaf {
        serde_json::Value::Number(number) => (number.as_u64()? + 1).into(),
        serde_json::Value::Bool(flag) => (!*flag).into(),
        serde_json::Value::String(text) => format!("{text}x").into(),
        _ => return None,
    };
    // A change that the form does not allow is detected when the record is read.
    serde_json::from_value(value).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_changed_value_is_detected(at in any::<prop::sample::Index>(), which in any::<usize>()) {
        let mut log = log();
        let at = at.index(log.len());
        if let Some(record) = changed(&log[at], which) {
            prop_assert_ne!(&record, &log[at]);
            log[at] = record;
            prop_assert!(Study::replay(&log).is_err());
        }
    }

    #[test]
    fn any_removed_record_is_detected(at in any::<prop::sample::Index>()) {
        let mut log = log();
        // Without its last record, a log is the log of an earlier time.
        let at = at.index(log.len() - 1);
        log.remove(at);
        prop_assert!(Study::replay(&log).is_err());
    }

    #[test]
    fn any_exchange_is_detected(one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>()) {
        let mut log = log();
        let (one, other) = (one.index(log.len()), other.index(log.len()));
        prop_assume!(one != other);
        log.swap(one, other);
        prop_assert!(Study::replay(&log).is_err());
    }
}

#[test]
fn end_of_a_sitting_cannot_be_cut_off() {
    let log = log();
    let chain = StudyChain::Sitting("s-p2".into());
    let last = log
        .iter()
        .rposition(|record| record.chain == chain)
        .unwrap();
    let mut cut = log;
    cut.remove(last);
    // Even with new numbers, the recorded head is missing.
    for (record, seq) in cut.iter_mut().zip(1..) {
        record.seq = seq;
    }
    assert!(Study::replay(&cut).is_err());
}
