use rhae_protocol::{ParticipantId, PaymentItem, PaymentLine};
use rhae_study::{
    Command, LedgerTotals, MoneyCommand, Preset, Rejection, ReviewCommand, SittingCommand,
    books_balance,
};

use crate::lab::{Lab, MINUTE, protocol};

const POOL: [(&str, u32); 6] = [
    ("aa11-v1", 1),
    ("bb22-v1", 1),
    ("cc33-v1", 1),
    ("dd44-v1", 1),
    ("ee55-v1", 1),
    ("ff66-v1", 1),
];

fn lab() -> Lab {
    Lab::open(protocol(Preset::Rhae1), &POOL)
}

#[test]
fn fee_and_four_solves_are_150_dollars() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    for _ in 0..4 {
        lab.solve(&sitting, &[40], 5 * MINUTE);
    }
    for _ in 0..2 {
        lab.leave(&sitting, &[40], 5 * MINUTE);
    }
    assert_eq!(lab.next(&sitting), None);
    let state = lab.study.state();
    assert_eq!(state.ledger.total_of(&"p1".into()), 15_000);
    assert_eq!(state.ledger.total_of_item(PaymentItem::Bonus), 2_000);
    assert!(books_balance(state));
}

#[test]
fn excluded_sitting_with_two_solves_is_paid_140_dollars() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    for _ in 0..2 {
        lab.solve(&sitting, &[40], 5 * MINUTE);
    }
    for _ in 0..4 {
        lab.leave(&sitting, &[10], MINUTE);
    }
    assert_eq!(lab.next(&sitting), None);
    let state = lab.study.state();
    assert!(state.sittings[&"s-p1".into()].is_excluded(1));
    assert_eq!(state.ledger.total_of(&"p1".into()), 14_000);
    assert!(books_balance(state));
}

#[test]
fn leaving_after_31_minutes_pays_65_dollars() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.leave(&sitting, &[80], 20 * MINUTE);
    lab.leave(&sitting, &[80], 11 * MINUTE);
    lab.end(&sitting);
    assert_eq!(lab.study.state().ledger.total_of(&"p1".into()), 6_500);
}

#[test]
fn exclusion_and_undo_do_not_change_the_ledger() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.solve(&sitting, &[40], 5 * MINUTE);
    lab.end(&sitting);
    let before = lab.study.state().ledger.clone();
    let exclude = ReviewCommand::Exclude {
        exclusion: "x1".into(),
        position: None,
        by: "ann".to_owned(),
        reason: "phone call".to_owned(),
        evidence: "note of staff".to_owned(),
    };
    lab.run(&Command::Review("s-p1".into(), exclude));
    assert_eq!(lab.study.state().ledger, before);
    let undo = ReviewCommand::Undo {
        exclusion: "x1".into(),
        by: "bob".to_owned(),
        reason: "another person".to_owned(),
    };
    lab.run(&Command::Review("s-p1".into(), undo));
    assert_eq!(lab.study.state().ledger, before);
}

#[test]
fn payments_advance_once_and_requests_can_be_repeated() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.solve(&sitting, &[40], 5 * MINUTE);
    lab.end(&sitting);
    let key = || "s-p1/fee".into();
    let send = |batch: &str| {
        let batch = batch.to_owned();
        Command::Money(MoneyCommand::Send { key: key(), batch })
    };
    let confirm = Command::Money(MoneyCommand::Confirm { key: key() });
    assert!(matches!(
        lab.attempt(&confirm),
        Err(Rejection::PaymentStatus { .. })
    ));
    lab.run(&send("monday"));
    assert_eq!(lab.run(&send("monday")), []);
    assert!(matches!(
        lab.attempt(&send("friday")),
        Err(Rejection::PaymentStatus { .. })
    ));
    lab.run(&confirm);
    assert_eq!(lab.run(&confirm), []);
    let state = lab.study.state();
    let totals = LedgerTotals {
        due_minor: 500,
        sent_minor: 0,
        confirmed_minor: 2_167,
    };
    assert_eq!(state.ledger.totals(), totals);
    assert_eq!(totals.total_minor(), state.ledger.total_of(&"p1".into()));
    assert_eq!(
        state.ledger.payment_list()[&ParticipantId::from("p1")].len(),
        1
    );
}

#[test]
fn adjustments_need_a_note_and_the_currency_of_the_study() {
    let mut lab = lab();
    let sitting = lab.sit("p1");
    lab.end(&sitting);
    let line = PaymentLine {
        key: "fix-1".into(),
        participant: "p1".into(),
        item: PaymentItem::Adjustment,
        amount_minor: -200,
        currency: "USD".to_owned(),
        note: "paid twice in cash".to_owned(),
    };
    let adjust = |line: &PaymentLine| Command::Money(MoneyCommand::Adjust(line.clone()));
    let mut wrong = line.clone();
    wrong.currency = "EUR".to_owned();
    assert!(matches!(
        lab.attempt(&adjust(&wrong)),
        Err(Rejection::Amount(_))
    ));
    let mut silent = line.clone();
    silent.note.clear();
    assert_eq!(
        lab.attempt(&adjust(&silent)).unwrap_err(),
        Rejection::NoReason
    );
    let mut fee = line.clone();
    fee.item = PaymentItem::Fee;
    assert!(matches!(
        lab.attempt(&adjust(&fee)),
        Err(Rejection::Amount(_))
    ));
    lab.run(&adjust(&line));
    assert_eq!(lab.run(&adjust(&line)), []);
    assert_eq!(lab.study.state().ledger.total_of(&"p1".into()), 2_167 - 200);
    assert!(books_balance(lab.study.state()));
}

#[test]
fn site_with_its_own_fee_pays_it() {
    let mut lab = Lab::draft(protocol(Preset::Rhae1), &POOL);
    lab.setup(rhae_study::SetupCommand::AddSite {
        site: "web".into(),
        seats: 0,
        languages: Default::default(),
        fee_minor: Some(11_500),
    });
    lab.setup(rhae_study::SetupCommand::Freeze);
    lab.setup(rhae_study::SetupCommand::Open);
    lab.person(
        "p1",
        rhae_study::PersonCommand::Enrol {
            person_key: "k".into(),
            site: "web".into(),
            source: "prolific".to_owned(),
            stage: rhae_protocol::StudyStage::Live,
            families_seen: Default::default(),
        },
    );
    lab.consent("p1");
    let sitting = lab.start("p1");
    for _ in 0..6 {
        lab.solve(&sitting, &[40], MINUTE);
    }
    lab.sitting(&sitting, SittingCommand::Next);
    assert_eq!(
        lab.study.state().ledger.total_of(&"p1".into()),
        11_500 + 3_000
    );
}
