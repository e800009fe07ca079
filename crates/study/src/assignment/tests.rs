use rhae_protocol::{AttemptOutcome, Devices};

use super::*;
use crate::canonical::digest;
use crate::clock::{Moment, read_clock};
use crate::fixtures::{attempt, open_sitting, protocol};
use crate::preset::Preset;
use crate::state::{Arm, Assignment, Participant, PooledEnvironment};

#[test]
fn worked_needs_are_exact() {
    assert_eq!(need_tenths(10, 6, 2, 7), 26);
    assert_eq!(need_tenths(10, 7, 0, 7), 30);
    assert_eq!(need_tenths(10, 5, 3, 7), 29);
    assert_eq!(need_tenths(10, 10, 0, 7), 0);
}

#[test]
fn ties_are_ordered_by_the_worked_hashes() {
    let mut order: Vec<(Digest, &str)> = ["aa11", "bb22", "cc33", "dd44"]
        .map(|environment| (text_digest(&format!("7|3|1|{environment}")), environment))
        .to_vec();
    order.sort_unstable();
    let found: Vec<_> = order
        .iter()
        .map(|(hash, name)| (*name, &hash.as_str()[..4]))
        .collect();
    assert_eq!(
        found,
        [
            ("bb22", "1999"),
            ("dd44", "452c"),
            ("aa11", "b2bb"),
            ("cc33", "c469")
        ]
    );
}

#[test]
fn thirds_of_a_sitting_include_overtime_in_the_last_one() {
    let minute = 60_000;
    let thirds = [0, 29, 30, 59, 60, 89, 95].map(|at| third(at * minute, 90 * minute));
    assert_eq!(thirds, [0, 0, 1, 1, 2, 2, 2]);
}

#[test]
fn fixed_blocks_use_every_environment_equally_often() {
    let environments: Vec<EnvironmentVersion> = (0..7)
        .map(|at| EnvironmentVersion(format!("ab{at:02}-v1")))
        .collect();
    let pool: Vec<_> = environments.iter().collect();
    let mut uses: BTreeMap<EnvironmentVersion, u32> = BTreeMap::new();
    for block in 0..7 {
        let entries = fixed_block(3, &pool, 3, block);
        assert_eq!(entries.iter().collect::<BTreeSet<_>>().len(), 3);
        entries
            .into_iter()
            .for_each(|one| *uses.entry(one).or_default() += 1);
    }
    assert!(uses.len() == 7 && uses.values().all(|&count| count == 3));
    // Block 1 contains the entries 3, 4 and 5 of the permutation, rotated by one.
    let all = fixed_block(3, &pool, 7, 0);
    assert_eq!(
        fixed_block(3, &pool, 3, 1),
        [all[4].clone(), all[5].clone(), all[3].clone()]
    );
}

/// Returns an open study with environments, and for each the number of valid and of reserved plays,
/// all by different people.
fn busy_study(loads: &[(&str, u32, u32)]) -> StudyState {
    let protocol = protocol(Preset::Rhae1);
    let mut state = StudyState::new("study".into(), String::new(), 7);
    let hash = digest(&protocol);
    state.protocols.insert(hash.clone(), protocol);
    state.current_protocol = Some(hash);
    let arm = Arm {
        weight: 1,
        max_participants: None,
    };
    state.arms.insert("all".into(), arm);
    for &(environment, valid, live) in loads {
        let pooled = PooledEnvironment {
            arm: "all".into(),
            levels: 1,
            needs: Devices::default(),
            added_ms: 0,
            withdrawn: None,
        };
        state.environments.insert(environment.into(), pooled);
        for at in 0..valid + live {
            let id = format!("{environment}-{at}");
            add_sitting(&mut state, &id);
            let assignment = Assignment {
                environment: environment.into(),
                reserved_ms: 0,
                state: if at < valid {
                    AssignmentState::Ended(attempt(AttemptOutcome::Left, &[40], 60_000))
                } else {
                    AssignmentState::Reserved
                },
                helped: None,
            };
            let sitting = state.sittings.get_mut(&SittingId(id)).unwrap();
            sitting.assignments.push(assignment);
        }
    }
    state
}

/// Adds a person with a sitting, both with the same id.
fn add_sitting(state: &mut StudyState, id: &str) {
    let person = Participant {
        person_key: id.into(),
        arm: "all".into(),
        site: "room".into(),
        source: String::new(),
        stage: StudyStage::Live,
        families_seen: BTreeSet::new(),
        consent: None,
        answers: BTreeMap::new(),
        devices: None,
        colours_distinguished: None,
        booked: None,
        checked_in: None,
        withdrawn: None,
        enrolled_ms: 0,
    };
    state.participants.insert(id.into(), person);
    let mut sitting = open_sitting();
    sitting.participant = id.into();
    sitting.protocol = state.current_protocol.clone().unwrap();
    sitting.assignments.clear();
    state.sittings.insert(id.into(), sitting);
}

fn next(state: &StudyState, id: &str) -> Option<EnvironmentVersion> {
    let id = SittingId::from(id);
    let sitting = &state.sittings[&id];
    let now_ms = sitting.clock.first_frame_ms.unwrap();
    let reading = read_clock(
        sitting,
        &state.protocol_of(sitting).limits,
        Moment::at(now_ms),
    );
    next_environment(state, &id, sitting, reading)
}

#[test]
fn worked_loads_give_the_worked_environment() {
    let loads = [
        ("aa11", 6, 2),
        ("bb22", 7, 0),
        ("cc33", 5, 3),
        ("dd44", 10, 0),
    ];
    let mut state = busy_study(&loads);
    add_sitting(&mut state, "3");
    assert_eq!(next(&state, "3"), Some("bb22".into()));
    let id = SittingId::from("3");
    let sitting = &state.sittings[&id];
    let limits = &state.protocol_of(sitting).limits;
    let reading = read_clock(sitting, limits, Moment::at(sitting.started_ms));
    let needs: Vec<_> = candidates(&state, &id, sitting, reading)
        .iter()
        .map(|one| (one.environment.to_string(), one.need_tenths()))
        .collect();
    let expected = [("bb22", 30), ("cc33", 29), ("aa11", 26)];
    assert_eq!(
        needs,
        expected.map(|(environment, need)| (environment.to_owned(), need))
    );
    let person = state.participants.get_mut(&"3".into()).unwrap();
    person.families_seen.insert("bb22".to_owned());
    assert_eq!(next(&state, "3"), Some("cc33".into()));
}

#[test]
fn tied_environments_are_assigned_in_the_order_of_their_hashes() {
    let mut state = busy_study(&["aa11", "bb22", "cc33", "dd44"].map(|one| (one, 0, 0)));
    add_sitting(&mut state, "3");
    assert_eq!(next(&state, "3"), Some("bb22".into()));
    for (seen, expected) in [("bb22", "dd44"), ("dd44", "aa11"), ("aa11", "cc33")] {
        let person = state.participants.get_mut(&"3".into()).unwrap();
        person.families_seen.insert(seen.to_owned());
        assert_eq!(next(&state, "3"), Some(expected.into()));
    }
}

#[test]
fn arrivals_at_an_empty_environment_are_bounded_by_the_share() {
    for (share_tenths, bound) in [(7, 15), (10, 10), (5, 20)] {
        let mut state = busy_study(&[("aa11", 0, 0)]);
        state.share_tenths = share_tenths;
        let mut reserved = 0;
        for at in 0..200 {
            let id = format!("p{at}");
            add_sitting(&mut state, &id);
            if let Some(environment) = next(&state, &id) {
                reserved += 1;
                let sitting = state.sittings.get_mut(&SittingId(id)).unwrap();
                sitting.assignments.push(Assignment {
                    environment,
                    reserved_ms: 0,
                    state: AssignmentState::Reserved,
                    helped: None,
                });
            }
        }
        assert_eq!(reserved, bound, "share {share_tenths}");
    }
}

#[test]
fn equal_needs_prefer_what_was_played_less_at_this_third_and_with_this_person() {
    // Both have one valid play: that of aa11 took place in the first third.
    let mut state = busy_study(&[("aa11", 1, 0), ("bb22", 1, 0)]);
    let played = state.sittings.get_mut(&"bb22-0".into()).unwrap();
    if let AssignmentState::Ended(attempt) = &mut played.assignments[0].state {
        attempt.start_clock_ms = 80 * 60_000;
    }
    add_sitting(&mut state, "p");
    assert_eq!(next(&state, "p"), Some("bb22".into()));
    // The person has played cc33, like the person who played bb22.
    let mut state = busy_study(&[("aa11", 1, 0), ("bb22", 1, 0), ("cc33", 10, 0)]);
    add_sitting(&mut state, "p");
    let shared = state.sittings[&"cc33-0".into()].assignments[0].clone();
    for id in ["p", "bb22-0"] {
        state
            .sittings
            .get_mut(&id.into())
            .unwrap()
            .assignments
            .push(shared.clone());
    }
    assert_eq!(next(&state, "p"), Some("aa11".into()));
}
