//! B13: names can be erased, because only salted hashes are chained.

use rhae_protocol::{BoardFlag, BoardRecord, RetractionReason};

use super::{Desk, flags, later};
use crate::fixtures::{community, run, system};
use crate::{Board, ChainError, Command, ORGANISER, Rejection, ReplayError, Rule, erased_records};
use crate::{names, verify_board};

/// Erases the names of a row, as a database does it.
fn erase(desk: &mut Desk, entry: &str) -> Result<(), Rejection> {
    let erased = erased_records(desk.board.state(), &desk.log, &entry.into());
    let command = Command::Erase {
        entry: entry.into(),
    };
    desk.now_ms += 1_000;
    let records = desk.board.prepare(desk.now_ms, ORGANISER, &command)?;
    desk.board.commit(&records).unwrap();
    for record in erased {
        let index = usize::try_from(record.seq).unwrap() - 1;
        desk.log[index] = record;
    }
    desk.log.extend(records);
    assert_eq!(Board::replay(&desk.log).as_ref(), Ok(&desk.board));
    Ok(())
}

/// Returns a board on which Ada has a registered, contested and released row, and Eve another one.
fn released() -> Desk {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada Lovelace", vec![later(run("a", 1, &[20, 50]))]);
    desk.registered_row("e", "Eve", vec![later(run("e", 1, &[30, 60]))]);
    // Ada has announced more runs, which have no row yet.
    let mut second = system("A", "Ada Lovelace");
    second.version = "2".to_owned();
    desk.register("later", &second, &[1]).unwrap();
    let contest = Command::Contest {
        entry: "a".into(),
        text: "Is this right?".to_owned(),
    };
    desk.execute_as("Bo", &contest).unwrap();
    desk.execute(Command::Release).unwrap();
    desk
}

fn text(records: &[BoardRecord]) -> String {
    serde_json::to_string(records).unwrap()
}

#[test]
fn b13_erased_names_leave_a_log_that_verifies() {
    let mut desk = released();
    assert!(text(&desk.log).contains("Ada Lovelace") && text(&desk.log).contains("Bo"));
    let (head, rank) = (desk.log[5].hash.clone(), desk.row("a").rank);
    assert_eq!(desk.row("a").authors[0].name, "Ada Lovelace");
    assert_eq!(desk.row("a").contest.unwrap().by, "Bo");
    let evidence = |desk: &Desk| {
        let flags = desk.row("a").flags.into_iter();
        let mut contested = flags.filter(|flag| flag.flag == BoardFlag::Contested);
        contested.next().unwrap().evidence
    };
    assert_eq!(evidence(&desk), "by Bo");

    erase(&mut desk, "a").unwrap();
    let log = text(&desk.log);
    assert!(!log.contains("Ada") && !log.contains("\"Bo\""), "{log}");
    assert!(log.contains("Eve"));
    // The chain and the release before the erasure are those that readers already know.
    assert_eq!(verify_board(&desk.log), []);
    assert_eq!(desk.log[5].hash, head);
    let row = desk.row("a");
    let author = &row.authors[0];
    assert_eq!(
        (author.name.as_str(), author.link.as_str()),
        (names::ERASED, "")
    );
    assert_eq!(row.contest.unwrap().by, names::ERASED);
    assert_eq!(evidence(&desk), "by (erased)");
    assert_eq!(row.rank, rank);
    assert_eq!(desk.row("e").authors[0].name, "Eve");
    // A later release follows from the log without names too.
    desk.execute(Command::Release).unwrap();
    assert_eq!(verify_board(&desk.log), []);

    let again = erase(&mut desk, "a").unwrap_err();
    assert_eq!((again.rule(), again), (Rule::B13, Rejection::NoNames));
    assert!(matches!(
        erase(&mut desk, "x"),
        Err(Rejection::UnknownEntry(_))
    ));
}

#[test]
fn b13_names_of_retracted_rows_and_closed_boards_can_be_erased() {
    let mut desk = released();
    let retract = Command::Retract {
        entry: "a".into(),
        reason: RetractionReason::Author,
        note: "a wrong prompt".to_owned(),
    };
    desk.execute_as("Ada Lovelace", &retract).unwrap();
    let close = Command::Close {
        reason: "the end".to_owned(),
    };
    desk.execute(close).unwrap();
    erase(&mut desk, "a").unwrap();
    assert!(!text(&desk.log).contains("Ada"));
    assert_eq!(desk.row("a").retraction.unwrap().by, names::ERASED);
}

#[test]
fn b13_changed_names_are_detected() {
    let desk = released();
    let index = desk.log.iter().position(|one| !one.names.is_empty());
    let index = index.unwrap();
    let changed = |change: fn(&mut BoardRecord)| {
        let mut log = desk.log.clone();
        change(&mut log[index]);
        Board::replay(&log).map(|_| ())
    };
    let wrong = Err(ReplayError::Chain(ChainError::Name(index as u64 + 1)));
    assert_eq!(changed(|_| ()), Ok(()));
    let renamed = changed(|record| {
        record.names[0].text.push('!');
    });
    assert_eq!(renamed, wrong);
    // A name for which the record has no hash is not a name of the record.
    let added = changed(|record| {
        let mut more = record.names[0].clone();
        more.salt.push('x');
        record.names.push(more);
    });
    assert_eq!(added, wrong);
}

#[test]
fn authors_are_recognised_although_their_hashes_differ() {
    let mut desk = released();
    // The same author may have a second version, and no other author may use the name.
    let mut second = system("a", " ADA  Lovelace");
    second.version = "2".to_owned();
    desk.submit("a2", &second, None).unwrap();
    let taken = desk.submit("a3", &system("a", "Mallory"), None);
    assert_eq!(taken, Err(Rejection::NameTaken("a".to_owned())));
    let copy = |settings: &str| {
        let mut copy = later(run(settings, 7, &[20, 50, 60]));
        for play in &mut copy.plays {
            play.logs
                .clone_from(&run("z", 7, &[20, 50, 60]).plays[0].logs);
        }
        copy
    };
    desk.submit("first", &system("First", "Ada Lovelace"), None)
        .unwrap();
    desk.add("first", copy("one")).unwrap();
    desk.submit("own", &system("Own", "Ada Lovelace"), None)
        .unwrap();
    desk.add("own", copy("two")).unwrap();
    desk.submit("other", &system("Other", "Eve"), None).unwrap();
    desk.add("other", copy("three")).unwrap();
    assert!(!flags(&desk.row("own")).contains(&BoardFlag::Copied));
    assert!(flags(&desk.row("other")).contains(&BoardFlag::Copied));
}
