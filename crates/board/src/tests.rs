//! The rules of boards, by their numbers.

mod answers;
mod ease;
mod history;
mod names;

use rhae_protocol::{
    BoardClaim, BoardDefinition, BoardFlag, BoardRecord, BoardRow, BoardRun, BoardSystem,
    CostBasis, EntryId, VerificationState,
};

use crate::fixtures::{START_MS, community, official, run, system};
use crate::{
    Audience, Board, Command, ORGANISER, REGISTRATION_MS, Rejection, Rule, board_rows, compare_rows,
};

/// A board with its log and a clock that advances by a second with each command.
struct Desk {
    board: Board,
    log: Vec<BoardRecord>,
    now_ms: u64,
}

impl Desk {
    fn open(definition: BoardDefinition) -> Self {
        let (board, log) = Board::create(START_MS, "main".into(), definition).unwrap();
        Self {
            board,
            log,
            now_ms: START_MS,
        }
    }

    fn execute_as(&mut self, actor: &str, command: &Command) -> Result<(), Rejection> {
        self.now_ms += 1_000;
        let salt = self.now_ms.to_string();
        let records = self
            .board
            .prepare_sealed(self.now_ms, actor, command, &salt)?;
        self.board.commit(&records).unwrap();
        self.log.extend(records);
        assert_eq!(Board::replay(&self.log).as_ref(), Ok(&self.board));
        Ok(())
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers construct the command"
    )]
    fn execute(&mut self, command: Command) -> Result<(), Rejection> {
        self.execute_as(ORGANISER, &command)
    }

    fn register(&mut self, id: &str, system: &BoardSystem, seeds: &[u64]) -> Result<(), Rejection> {
        self.execute(Command::Register {
            registration: id.into(),
            system: Box::new(system.clone()),
            seeds: seeds.to_vec(),
        })
    }

    fn submit(
        &mut self,
        entry: &str,
        system: &BoardSystem,
        registration: Option<&str>,
    ) -> Result<(), Rejection> {
        self.execute(Command::Submit {
            entry: entry.into(),
            system: Box::new(system.clone()),
            registration: registration.map(Into::into),
            claim: BoardClaim::default(),
        })
    }

    fn add(&mut self, entry: &str, run: BoardRun) -> Result<(), Rejection> {
        self.execute(Command::AddRun {
            entry: entry.into(),
            run: Box::new(run),
        })
    }

    /// Registers a system with one seed for each run, submits it and adds the runs.
    fn registered_row(&mut self, name: &str, author: &str, runs: Vec<BoardRun>) {
        let system = system(name, author);
        let seed =
            |(number, run): (u64, &BoardRun)| run.plays.first().map_or(number, |play| play.seed);
        let seeds: Vec<u64> = (0..).zip(&runs).map(seed).collect();
        self.register(name, &system, &seeds).unwrap();
        self.submit(name, &system, Some(name)).unwrap();
        for run in runs {
            self.add(name, run).unwrap();
        }
    }

    fn rows(&self) -> Vec<BoardRow> {
        board_rows(self.board.state(), Audience::Public)
    }

    fn row(&self, entry: &str) -> BoardRow {
        let mut rows = self.rows().into_iter();
        rows.find(|row| row.entry == EntryId::from(entry)).unwrap()
    }
}

fn later(mut run: BoardRun) -> BoardRun {
    run.started_ms = START_MS + 600_000;
    run
}

fn on_server(mut run: BoardRun) -> BoardRun {
    run.server = Some("https://example.org".to_owned());
    run.competition = true;
    later(run)
}

fn flags(row: &BoardRow) -> Vec<BoardFlag> {
    row.flags.iter().map(|flag| flag.flag).collect()
}

fn rule_of(result: Result<(), Rejection>) -> Rule {
    result.unwrap_err().rule()
}

#[test]
fn every_rule_has_a_text() {
    for rule in Rule::ALL {
        assert!(rule.text().ends_with('.') && rule.to_string().starts_with('B'));
    }
}

#[test]
fn b1_closed_board_stays_readable_and_accepts_nothing() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[20, 50]))]);
    let close = Command::Close {
        reason: "the set has a new version".to_owned(),
    };
    desk.execute(close).unwrap();
    assert_eq!(desk.rows().len(), 1);
    assert_eq!(
        rule_of(desk.submit("b", &system("b", "Bo"), None)),
        Rule::B1
    );
}

#[test]
fn b1_runs_must_have_what_the_board_fixes() {
    let mut desk = Desk::open(community());
    desk.submit("a", &system("a", "Ada"), None).unwrap();
    let mut refused = |change: fn(&mut BoardRun)| {
        let mut changed = run("a", 1, &[30]);
        change(&mut changed);
        assert_eq!(rule_of(desk.add("a", changed)), Rule::B1);
    };
    refused(|run| run.budget = "none".to_owned());
    refused(|run| run.env_seed = 7);
    refused(|run| run.plays[0].environment = "zz99-v1".into());
}

#[test]
fn b2_official_board_accepts_only_general_models() {
    let mut desk = Desk::open(official());
    let one = system("a", "organiser");
    desk.register("r", &one, &[1]).unwrap();
    desk.submit("a", &one, Some("r")).unwrap();
    let mut refused = |change: fn(&mut BoardRun), expected: fn(&Rejection) -> bool| {
        let mut changed = on_server(run("a", 1, &[30]));
        change(&mut changed);
        let rejection = desk.add("a", changed).unwrap_err();
        assert!(expected(&rejection), "{rejection}");
    };
    refused(
        |run| run.agent = "rgb:one".to_owned(),
        |one| matches!(one, Rejection::Agent(_)),
    );
    refused(
        |run| run.prompt_sha256 = None,
        |one| *one == Rejection::Prompt,
    );
    refused(
        |run| run.keeps_reasoning = true,
        |one| *one == Rejection::Reasoning,
    );
    refused(
        |run| run.competition = false,
        |one| *one == Rejection::NotCompetition,
    );
    refused(
        |run| run.plays[0].environment = "kq19-v1".into(),
        |one| one.to_string().contains("such as the public one"),
    );
    desk.add("a", on_server(run("a", 1, &[30]))).unwrap();
    // Before the organiser confirms the run, the row is not ranked.
    assert_eq!(desk.row("a").rank, None);
    let certify = Command::Certify {
        entry: "a".into(),
        statement: "played by the organiser".to_owned(),
    };
    desk.execute(certify).unwrap();
    let row = desk.row("a");
    assert_eq!(
        (row.state, row.rank.unwrap().rank),
        (VerificationState::Official, 1)
    );
}

#[test]
fn b3_runs_must_be_registered_before_they_start() {
    let mut desk = Desk::open(community());
    let one = system("a", "Ada");
    desk.now_ms = START_MS + 500_000;
    desk.register("r", &one, &[1, 2]).unwrap();
    desk.submit("a", &one, Some("r")).unwrap();
    assert_eq!(
        desk.add("a", run("a", 1, &[30])),
        Err(Rejection::StartedBefore)
    );
    let unknown = desk.add("a", later(run("a", 9, &[30])));
    assert_eq!(unknown, Err(Rejection::Seed(9)));
    desk.now_ms = START_MS + 2_000_000;
    desk.add("a", later(run("a", 1, &[30]))).unwrap();
    // One of two repeats is missing, so the row has no rank yet.
    assert_eq!(desk.row("a").rank, None);
    assert!(matches!(
        desk.add("a", later(run("a", 1, &[20]))),
        Err(Rejection::RunTwice(_))
    ));
    desk.add("a", later(run("a", 2, &[30]))).unwrap();
    assert_eq!(desk.row("a").rank.unwrap().rank, 1);
    let mut future = run("a", 2, &[30]);
    future.started_ms = desk.now_ms + 3_600_000;
    assert_eq!(desk.add("a", future), Err(Rejection::StartedInFuture));
}

#[test]
fn b3_missing_registered_plays_count_as_0_after_14_days() {
    let mut desk = Desk::open(community());
    let one = system("a", "Ada");
    desk.register("r", &one, &[1, 2]).unwrap();
    desk.submit("a", &one, Some("r")).unwrap();
    desk.now_ms = START_MS + 2_000_000;
    desk.add("a", later(run("a", 1, &[20, 40, 60]))).unwrap();
    desk.now_ms += REGISTRATION_MS;
    desk.execute(Command::CatchUp).unwrap();
    let row = desk.row("a");
    assert_eq!(flags(&row), [BoardFlag::Abandoned]);
    assert_eq!(
        (row.score.unwrap().mean, row.score.unwrap().repeats),
        (50.0, 2)
    );
    assert_eq!(row.rank.unwrap().rank, 1);
    // It is recorded once.
    let records = desk.log.len();
    desk.execute(Command::CatchUp).unwrap();
    assert_eq!(desk.log.len(), records);
}

#[test]
fn b3_unregistered_best_of_five_stays_replayed_and_cannot_have_five_rows() {
    let mut desk = Desk::open(community());
    desk.submit("best", &system("best", "Ada"), None).unwrap();
    desk.add("best", on_server(run("a", 4, &[20, 40]))).unwrap();
    let witness = Command::Witness {
        entry: "best".into(),
        cards: vec!["c1".to_owned()],
    };
    assert_eq!(desk.execute(witness), Err(Rejection::Unregistered));
    let row = desk.row("best");
    assert_eq!(row.state, VerificationState::Replayed);
    assert!(row.does_not_prove.contains("no other try was dropped") && !row.registered);
    desk.submit("second", &system("second", "ADA"), None)
        .unwrap();
    let again = desk.add("second", later(run("a", 5, &[20])));
    assert_eq!(again, Err(Rejection::SameSystem("best".into())));
    // Further runs enter the mean of the row.
    desk.add("best", later(run("a", 5, &[]))).unwrap();
    let before = row.score.unwrap().mean;
    assert_eq!(desk.row("best").score.unwrap().mean, before / 2.0);
    assert_eq!(
        desk.add("best", later(run("b", 6, &[30]))),
        Err(Rejection::MixedSettings)
    );
}

#[test]
fn b4_names_are_unique_after_folding() {
    let mut desk = Desk::open(community());
    desk.submit("a", &system("Café", "Ada"), None).unwrap();
    let taken = desk.submit("b", &system("CAFE\u{301}", "Bo"), None);
    assert!(matches!(taken, Err(Rejection::NameTaken(_))));
    let same = desk.submit("b", &system("café", "Ada"), None);
    assert!(matches!(same, Err(Rejection::Duplicate(_))));
    let mut newer = system("café", "Ada");
    newer.version = "2".to_owned();
    desk.submit("b", &newer, None).unwrap();
    assert!(flags(&desk.row("a")).contains(&BoardFlag::Superseded));
}

#[test]
fn b5_claims_are_shown_without_a_number_and_unranked() {
    let mut desk = Desk::open(community());
    let claim = BoardClaim {
        score_nano: Some(99_000_000_000),
        cost_usd_micro: Some(1),
        ..BoardClaim::default()
    };
    desk.execute(Command::Submit {
        entry: "a".into(),
        system: Box::new(system("a", "Ada")),
        registration: None,
        claim,
    })
    .unwrap();
    let row = desk.row("a");
    assert_eq!(
        (row.state, row.rank, row.score),
        (VerificationState::Claimed, None, None)
    );
    assert!(row.does_not_prove.starts_with("Anything"));
    let refuse = Command::RefuseRun {
        entry: "a".into(),
        reason: "entry 3 does not replay".to_owned(),
    };
    desk.execute(refuse).unwrap();
    assert_eq!(
        desk.row("a").failure.as_deref(),
        Some("entry 3 does not replay")
    );
    assert_eq!(desk.row("a").state, VerificationState::Claimed);
}

#[test]
fn b5_witnessed_needs_competition_cards() {
    let mut desk = Desk::open(community());
    let witness = |entry: &str| Command::Witness {
        entry: entry.into(),
        cards: vec!["c1".to_owned()],
    };
    desk.registered_row("local", "Ada", vec![later(run("a", 1, &[30]))]);
    assert_eq!(
        desk.execute(witness("local")),
        Err(Rejection::NotCompetition)
    );
    desk.registered_row("remote", "Bo", vec![on_server(run("b", 1, &[30]))]);
    desk.execute(witness("remote")).unwrap();
    assert_eq!(desk.row("remote").state, VerificationState::Witnessed);
}

#[test]
fn b5_reproduction_compares_with_three_fresh_reruns() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[20, 40]))]);
    let reproduce = |seeds: [u64; 3], actions: [u32; 3]| Command::Reproduce {
        entry: "a".into(),
        runs: seeds
            .into_iter()
            .zip(actions)
            .map(|(seed, actions)| run("a", seed, &[20, actions]))
            .collect(),
    };
    let used = desk.execute(reproduce([1, 2, 3], [40, 41, 42]));
    assert_eq!(used, Err(Rejection::UsedSeed(1)));
    let two = desk.execute(reproduce([2, 2, 3], [40, 41, 42]));
    assert!(matches!(two, Err(Rejection::Reruns { found: 1, .. })));
    // Reruns that are far worse contest the row.
    desk.execute(reproduce([2, 3, 4], [150, 151, 152])).unwrap();
    assert_eq!(desk.row("a").state, VerificationState::Replayed);
    assert!(flags(&desk.row("a")).contains(&BoardFlag::Contested));
    desk.execute(reproduce([2, 3, 4], [38, 41, 44])).unwrap();
    assert_eq!(desk.row("a").state, VerificationState::Reproduced);
}

#[test]
fn b6_flags_never_change_a_score() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30, 50]))]);
    let before = desk.row("a").score;
    for flag in [
        BoardFlag::Stale,
        BoardFlag::Exposed,
        BoardFlag::Suspicious,
        BoardFlag::Copied,
    ] {
        let evidence = "seen".to_owned();
        let entry = EntryId::from("a");
        desk.execute(Command::Flag {
            entry,
            flag,
            evidence,
        })
        .unwrap();
    }
    let row = desk.row("a");
    assert_eq!(
        (row.score, row.rank.unwrap().rank, row.flags.len()),
        (before, 1, 4)
    );
    let entry = EntryId::from("a");
    let reason = "a mistake".to_owned();
    let flag = BoardFlag::Copied;
    desk.execute(Command::Unflag {
        entry: entry.clone(),
        flag,
        reason,
    })
    .unwrap();
    assert_eq!(desk.row("a").flags.len(), 3);
    let flag = BoardFlag::Retracted;
    let evidence = "no".to_owned();
    assert_eq!(
        rule_of(desk.execute(Command::Flag {
            entry,
            flag,
            evidence
        })),
        Rule::B6
    );
}

#[test]
fn b7_copied_logs_of_other_authors_are_flagged() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30, 50, 9]))]);
    desk.submit("b", &system("b", "Bo"), None).unwrap();
    let mut copy = later(run("a", 1, &[30, 50, 9]));
    copy.run_id = "other".to_owned();
    desk.add("b", copy).unwrap();
    let row = desk.row("b");
    assert_eq!(flags(&row), [BoardFlag::Copied]);
    // Two levels of at least ten actions in each of three environments.
    assert!(
        row.flags[0].evidence.contains("6 levels equal"),
        "{}",
        row.flags[0].evidence
    );
    assert_eq!(flags(&desk.row("a")), []);
    assert_eq!(row.score, desk.row("a").score);
}

#[test]
fn b7_optimal_play_at_first_contact_is_suspicious() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[10, 25]))]);
    assert_eq!(flags(&desk.row("a")), [BoardFlag::Suspicious]);
    // One action more than the optimum needs is not suspicious.
    desk.registered_row("b", "Bo", vec![later(run("b", 1, &[11, 21]))]);
    assert_eq!(flags(&desk.row("b")), []);
}

#[test]
fn b8_cost_is_that_of_all_runs_per_repeat() {
    let mut desk = Desk::open(community());
    let mut second = later(run("a", 2, &[30]));
    second.cost.usd_micro = Some(1_000_000);
    second.cost.basis = CostBasis::Measured;
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30])), second]);
    let cost = desk.row("a").cost;
    assert_eq!((cost.basis, cost.usd), (CostBasis::Priced, Some(1.5)));
    assert_eq!(cost.usd_per_environment, Some(0.5));
    assert!(cost.on_frontier);
    let mut unknown = later(run("b", 1, &[20]));
    unknown.cost = Default::default();
    desk.registered_row("b", "Bo", vec![unknown]);
    let cost = desk.row("b").cost;
    assert_eq!(
        (cost.basis, cost.usd, cost.on_frontier),
        (CostBasis::Unknown, None, false)
    );
}

#[test]
fn b11_ranks_have_ranges() {
    let mut desk = Desk::open(community());
    desk.registered_row("a", "Ada", vec![later(run("a", 1, &[30, 50]))]);
    desk.registered_row("b", "Bo", vec![later(run("b", 1, &[20, 40, 60]))]);
    desk.registered_row("c", "Cy", vec![later(run("c", 1, &[30, 50]))]);
    let rows = desk.rows();
    let ranks: Vec<(&str, usize)> = rows
        .iter()
        .map(|row| (row.entry.as_str(), row.rank.unwrap().rank))
        .collect();
    assert_eq!(ranks, [("b", 1), ("a", 2), ("c", 2)]);
    // Three environments cannot separate anything.
    assert!(
        rows.iter()
            .all(|row| (row.rank.unwrap().best, row.rank.unwrap().worst) == (Some(1), Some(3)))
    );
    let compared = compare_rows(desk.board.state(), &"b".into(), &"a".into());
    let compared = compared.unwrap().unwrap();
    assert_eq!((compared.environments, compared.differing), (3, 3));
    assert_eq!((compared.mean_a, compared.p), (100.0, 0.25));
}

#[test]
fn b12_hidden_sets_show_only_rounded_aggregates() {
    let mut desk = Desk::open(official());
    desk.registered_row("a", "organiser", vec![on_server(run("a", 1, &[30, 50]))]);
    let refuse = Command::RefuseRun {
        entry: "a".into(),
        reason: "bb22-v1: entry 3 does not replay".to_owned(),
    };
    desk.execute(refuse).unwrap();
    let row = desk.row("a");
    let mean = row.score.unwrap().mean;
    assert_eq!(mean, (mean * 100.0).round() / 100.0);
    assert!(row.environments.is_empty());
    assert_eq!(row.failure.as_deref(), Some("a run was not accepted"));
    let private = &board_rows(desk.board.state(), Audience::Organiser)[0];
    assert_eq!(private.environments.len(), 3);
    assert_ne!(private.score.unwrap().mean, mean);
}
