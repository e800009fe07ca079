use std::collections::BTreeSet;

use rhae_protocol::{StudyStage, WithdrawnData};
use rhae_study::{
    EndRequest, ExportTable, PersonCommand, Preset, SittingCommand, private_tables, public_tables,
};

use crate::lab::{Lab, MINUTE, protocol, unsolved};

/// Thirteen people of the worked example, a pilot and a person who withdrew.
fn lab() -> Lab {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 1), ("bb22-v1", 1)]);
    let groups = [
        ("25-34", "employed", 6),
        ("35-44", "employed", 4),
        ("35-44", "not employed", 3),
    ];
    let mut number = 0;
    for (age, work, count) in groups {
        for _ in 0..count {
            let id = format!("p{number:02}");
            number += 1;
            let sitting = lab.sit(&id);
            lab.describe(&id, &[("age", age), ("work", work)]);
            lab.solve(&sitting, &[40], MINUTE);
            lab.end(&sitting);
            let text = "fun\twith\nbreaks".to_owned();
            lab.sitting(&sitting, SittingCommand::Comment { text });
        }
    }
    lab.enrol("pilot", StudyStage::Pilot);
    let pilot = lab.start("pilot");
    lab.leave(&pilot, &[40], MINUTE);
    lab.end(&pilot);
    let gone = lab.sit("gone");
    lab.leave(&gone, &[40], MINUTE);
    lab.person(
        "gone",
        PersonCommand::Withdraw {
            data: WithdrawnData::Keep,
            receipt: "r".to_owned(),
            counts: None,
        },
    );
    lab
}

fn table<'a>(tables: &'a [ExportTable], name: &str) -> &'a ExportTable {
    tables.iter().find(|table| table.name == name).unwrap()
}

fn column<'a>(table: &'a ExportTable, name: &str) -> Vec<&'a str> {
    let at = table
        .columns
        .iter()
        .position(|column| column.name == name)
        .unwrap();
    table.rows.iter().map(|row| row[at].as_str()).collect()
}

#[test]
fn tables_are_rectangular_with_unique_keys_and_described_columns() {
    let lab = lab();
    let mut tables = private_tables(lab.study.state(), &lab.log);
    tables.extend(public_tables(lab.study.state()));
    for table in &tables {
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len()),
            "{}",
            table.name
        );
        let keys: BTreeSet<_> = column(table, "row_id").into_iter().collect();
        assert_eq!(keys.len(), table.rows.len(), "{}", table.name);
        assert!(
            table
                .columns
                .iter()
                .all(|column| !column.description.is_empty())
        );
        let lines = table.to_tsv().lines().count();
        assert_eq!(lines, table.rows.len() + 1, "{}", table.name);
    }
}

#[test]
fn private_tables_contain_every_row() {
    let lab = lab();
    let tables = private_tables(lab.study.state(), &lab.log);
    let rows = |name: &str| table(&tables, name).rows.len();
    assert_eq!(
        (rows("participants"), rows("sittings"), rows("attempts")),
        (15, 15, 15)
    );
    assert_eq!(rows("events"), lab.log.len());
    // The pilot is not part of the table for baselines.
    assert_eq!(rows("humans"), 14);
    assert!(
        table(&tables, "sittings")
            .to_tsv()
            .contains("fun with breaks")
    );
}

#[test]
fn public_answers_are_shared_by_at_least_five_people() {
    let lab = lab();
    let tables = public_tables(lab.study.state());
    let people = table(&tables, "participants");
    assert_eq!(
        people.rows.len(),
        13,
        "neither the pilot nor the person who withdrew"
    );
    let classes: Vec<_> = column(people, "age")
        .into_iter()
        .zip(column(people, "work"))
        .collect();
    let count = |age: &str, work: &str| classes.iter().filter(|&&one| one == (age, work)).count();
    assert_eq!((count("25-34", "employed"), count("35-44", "")), (6, 7));
}

#[test]
fn public_tables_contain_no_times_comments_or_ids() {
    let lab = lab();
    let text: String = public_tables(lab.study.state())
        .iter()
        .map(ExportTable::to_tsv)
        .collect();
    for secret in ["2026-", "fun", "p00", "s-p", "key-", "gone", "pilot"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[test]
fn table_for_baselines_omits_the_level_of_an_interruption() {
    let mut lab = Lab::open(protocol(Preset::Rhae1), &[("aa11-v1", 3)]);
    let sitting = lab.sit("p1");
    lab.begin(&sitting);
    lab.wait(5 * MINUTE);
    let request = EndRequest::Staff {
        by: "staff".to_owned(),
        reason: "fire alarm".to_owned(),
    };
    let counts = Some(unsolved(&[20, 30]));
    lab.sitting(&sitting, SittingCommand::End { request, counts });
    let tables = private_tables(lab.study.state(), &lab.log);
    let humans = table(&tables, "humans");
    assert_eq!(
        (column(humans, "level"), column(humans, "actions")),
        (vec!["1"], vec!["20"])
    );
    assert_eq!(table(&tables, "levels").rows.len(), 2);
}
