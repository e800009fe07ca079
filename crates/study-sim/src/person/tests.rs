//! The calibration of the model: sittings without a server, compared with the paper.

use rhae_stats::median;

use super::*;

const SITTING_MS: u64 = 90 * 60_000;
const MIN_REMAINING_MS: u64 = 5 * 60_000;
/// The time between two environments.
const BETWEEN_MS: u64 = 45_000;

/// An attempt: a play of more than 30 actions and less than 30 minutes that was not cut off.
struct Attempt {
    solved: bool,
    duration_ms: u64,
}

/// What the sittings of all people amount to.
#[derive(Default)]
struct Sittings {
    attempts: Vec<Attempt>,
    plays: usize,
    low_effort: usize,
}

/// Lets every person have a sitting of 90 minutes with environments of random difficulty.
fn sittings(seed: u64, people: u32, environments: u32) -> Sittings {
    let mut all = Sittings::default();
    for number in 0..people {
        let person = Person::new(seed, number);
        let end_ms = match person.fate {
            Fate::Stays => SITTING_MS,
            Fate::Leaves(at)
            | Fate::Vanishes(at)
            | Fate::WithdrawsKeepingData(at)
            | Fate::WithdrawsDeletingData(at) => at,
        };
        let mut now = Circumstances {
            position: 0,
            sitting_ms: 0,
            difficulty: 0.0,
            skipped: 0,
        };
        while now.sitting_ms + MIN_REMAINING_MS <= SITTING_MS && now.sitting_ms < end_ms {
            now.position += 1;
            now.difficulty = difficulty(seed, (number * 9 + now.position) % environments);
            let play = person.intend(now);
            now.sitting_ms += play.duration_ms.min(30 * 60_000);
            if now.sitting_ms > end_ms {
                break;
            }
            now.sitting_ms += BETWEEN_MS;
            now.skipped += u32::from(play.intent == Intent::Skip);
            all.plays += 1;
            if matches!(play.intent, Intent::Solve | Intent::GiveUp) {
                all.attempts.push(Attempt {
                    solved: play.intent == Intent::Solve,
                    duration_ms: play.duration_ms,
                });
            }
        }
        all.low_effort += usize::from(person.low_effort);
    }
    all
}

fn median_minutes(sittings: &Sittings, wanted: impl Fn(&&Attempt) -> bool) -> f64 {
    let attempts = sittings.attempts.iter().filter(wanted);
    let durations: Vec<u64> = attempts.map(|one| one.duration_ms).collect();
    median(&durations).unwrap() / MINUTE_MS
}

#[test]
fn people_have_the_medians_and_counts_of_the_paper() {
    for seed in 1..=5 {
        let sittings = sittings(seed, 486, 414);
        let short = |one: &&Attempt| !one.solved && one.duration_ms < 20 * 60_000;
        for (name, found, published) in [
            ("all", median_minutes(&sittings, |_| true), 7.4),
            ("solved", median_minutes(&sittings, |one| one.solved), 8.1),
            (
                "unsolved",
                median_minutes(&sittings, |one| !one.solved),
                5.9,
            ),
            ("unsolved under 20", median_minutes(&sittings, short), 4.7),
        ] {
            let deviation = (found / published - 1.0).abs();
            assert!(deviation < 0.1, "seed {seed}: median of {name} is {found}");
        }
        let attempts = sittings.attempts.len();
        assert!(
            (2_600..=3_200).contains(&attempts),
            "seed {seed}: {attempts} attempts"
        );
        let share = attempts as f64 / sittings.plays as f64;
        assert!(
            (share - 0.70).abs() < 0.05,
            "seed {seed}: {share} of plays are attempts"
        );
        let solved = sittings.attempts.iter().filter(|one| one.solved).count();
        let share = solved as f64 / attempts as f64;
        assert!(
            (share - 0.48).abs() < 0.05,
            "seed {seed}: {share} of attempts are solved"
        );
        let hours = sittings
            .attempts
            .iter()
            .map(|one| one.duration_ms)
            .sum::<u64>() as f64
            / 3.6e6;
        assert!(
            (hours / 427.9 - 1.0).abs() < 0.1,
            "seed {seed}: {hours} hours"
        );
        assert!(
            (5..=30).contains(&sittings.low_effort),
            "seed {seed}: {}",
            sittings.low_effort
        );
    }
}

#[test]
fn skilled_people_solve_more_and_difficult_environments_are_solved_less() {
    let solved = |skill: f64, difficulty: f64| {
        let solves = |number| {
            let person = Person {
                skill,
                ..Person::new(3, number)
            };
            let now = Circumstances {
                position: 4,
                sitting_ms: 30 * 60_000,
                difficulty,
                skipped: MAX_SKIPS,
            };
            person.intend(now).intent == Intent::Solve
        };
        (0..500).filter(|&number| solves(number)).count()
    };
    assert!(solved(1.0, 0.0) > solved(0.0, 0.0) + 50);
    assert!(solved(0.0, 1.0) + 50 < solved(0.0, 0.0));
}

#[test]
fn people_differ_and_are_repeatable() {
    assert_eq!(Person::new(1, 3), Person::new(1, 3));
    assert_ne!(Person::new(1, 3), Person::new(1, 4));
    assert_ne!(Person::new(1, 3), Person::new(2, 3));
}
