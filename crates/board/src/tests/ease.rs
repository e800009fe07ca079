//! B10: rows that cover only the tiers that a run reached.

use rhae_protocol::{BoardDefinition, BoardFlag, BoardPlay, BoardRun};

use super::{Desk, flags, later};
use crate::check_definition;
use crate::fixtures::{community, run, system};

/// The chances of the easiest three of eight environments, of which k = 2 promotes and k = 1 does not.
const LUCK_NANO: [u64; 8] = [300_000_000, 100_000_000, 0, 0, 0, 0, 0, 0];

fn id(index: usize) -> String {
    format!("ee0{index}-v1")
}

/// Returns a board of eight environments in the order of ease.
fn ordered() -> BoardDefinition {
    let mut definition = community();
    let first = definition.set.environments[0].clone();
    definition.set.environments = (0..8)
        .map(|index| {
            let mut environment = first.clone();
            environment.id = id(index).as_str().into();
            environment.luck_nano = Some(LUCK_NANO[index]);
            environment
        })
        .collect();
    definition
}

/// Returns a tiered run of some environments, in the first of which a level was completed.
fn tiered(played: std::ops::Range<usize>, completed: usize) -> BoardRun {
    let template = later(run("a", 1, &[20]));
    let play = |index: usize| {
        let mut play = BoardPlay {
            environment: id(index).as_str().into(),
            ..template.plays[0].clone()
        };
        play.runs[0][0].completed = index < completed;
        play
    };
    BoardRun {
        tiered: true,
        plays: played.map(play).collect(),
        ..template.clone()
    }
}

fn rank_of(run: BoardRun) -> Option<usize> {
    let mut desk = Desk::open(ordered());
    desk.registered_row("a", "Ada", vec![run]);
    desk.row("a").rank.map(|rank| rank.rank)
}

#[test]
fn b10_stopped_run_is_ranked_by_its_lower_bound() {
    let mut desk = Desk::open(ordered());
    desk.registered_row("a", "Ada", vec![tiered(0..3, 1)]);
    let row = desk.row("a");
    assert_eq!(row.rank.unwrap().rank, 1);
    let score = row.score.unwrap();
    assert_eq!((score.played, score.environments), (3, 8));
    // One level of weight 1 of 6 in one of eight environments; the others count as 0.
    assert!((score.mean - 100.0 / 6.0 / 8.0).abs() < 1e-9, "{score:?}");
    assert_eq!(flags(&row), [BoardFlag::Partial]);
    assert_eq!(row.flags[0].evidence, "3 of 8 environments were played");
}

#[test]
fn b10_run_that_had_to_continue_has_no_rank_yet() {
    // Two completed environments lead to the next tier.
    assert_eq!(rank_of(tiered(0..3, 2)), None);
    assert_eq!(rank_of(tiered(0..8, 2)), Some(1));
    // A part of a tier, and environments that are not the easiest, are not a reached tier.
    assert_eq!(rank_of(tiered(0..2, 1)), None);
    assert_eq!(rank_of(tiered(3..6, 0)), None);
    assert_eq!(rank_of(tiered(0..4, 1)), None);
    // Only a run with tiers may stop.
    let mut plain = tiered(0..3, 1);
    plain.tiered = false;
    assert_eq!(rank_of(plain), None);
}

#[test]
fn b10_board_without_an_order_expects_all_plays() {
    let mut definition = ordered();
    definition
        .set
        .environments
        .iter_mut()
        .for_each(|environment| environment.luck_nano = None);
    let mut desk = Desk::open(definition);
    desk.registered_row("a", "Ada", vec![tiered(0..3, 1)]);
    assert_eq!(desk.row("a").rank, None);
}

#[test]
fn b10_every_repeat_counts_for_the_chance_of_luck() {
    let mut desk = Desk::open(ordered());
    let system = system("a", "Ada");
    desk.register("r", &system, &[1, 2]).unwrap();
    desk.submit("a", &system, Some("r")).unwrap();
    let mut twice = tiered(0..3, 1);
    let second = twice
        .plays
        .clone()
        .into_iter()
        .map(|play| BoardPlay { seed: 2, ..play });
    twice.plays.extend(second);
    desk.now_ms += 2_000_000;
    desk.add("a", twice).unwrap();
    assert_eq!(desk.row("a").rank.unwrap().rank, 1);
}

#[test]
fn b10_chances_are_complete_and_probabilities() {
    let mut some = ordered();
    some.set.environments[2].luck_nano = None;
    assert!(check_definition(&some).is_err());
    let mut above = ordered();
    above.set.environments[0].luck_nano = Some(1_000_000_001);
    assert!(check_definition(&above).is_err());
    assert!(check_definition(&ordered()).is_ok());
}
