//! Levels that fail somewhere: whoever looks into the state, the caller learns of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use rhae_engine::{Action, ActionKind, ActionSet, Outcome, key_of};
use rhae_explore::{Explorable, Limits, Search, explore};

/// A tree in which every action leads to a new state; some states may not answer.
struct Tree<F> {
    packs: bool,
    fails: F,
}

impl<F: Fn(u64) -> Result<(), u64> + Sync> Explorable for Tree<F> {
    type State = u64;
    type Error = u64;

    fn start(&self) -> u64 {
        1
    }

    fn offered(&self, _state: &u64) -> ActionSet {
        ActionSet::of(&[ActionKind::Action1, ActionKind::Action2])
    }

    fn step(&self, state: &mut u64, action: Action) -> Result<Outcome, u64> {
        (self.fails)(*state)?;
        *state = *state * 2 + u64::from(action == Action::Action2);
        Ok(if *state < 1 << 17 {
            Outcome::Going
        } else {
            Outcome::GameOver
        })
    }

    fn key(&self, state: &u64) -> u128 {
        key_of(state)
    }

    fn pack(&self, state: &u64) -> Option<u128> {
        self.packs.then_some(u128::from(*state))
    }

    fn unpack(&self, packed: u128) -> Option<u64> {
        Some(packed as u64)
    }
}

fn search(threads: usize) -> Search {
    Search {
        threads,
        ..Search::default()
    }
}

#[test]
fn the_first_failure_is_reported_whoever_meets_it() {
    for (packs, threads) in [
        (true, 1),
        (true, 2),
        (true, 5),
        (false, 1),
        (false, 2),
        (false, 5),
    ] {
        let tree = Tree {
            packs,
            fails: |state| {
                if state >= 3_000 && state % 7 == 0 {
                    Err(state)
                } else {
                    Ok(())
                }
            },
        };
        let failed = explore(&tree, &search(threads), |_| true).expect_err("many states fail");
        assert_eq!(failed, 3_003, "{threads} threads");
    }
}

#[test]
fn a_panic_reaches_the_caller_and_nobody_waits_forever() {
    for at in [1, 2, 40, 5_000, 100_000] {
        for threads in [1, 2, 5] {
            let tree = Tree {
                packs: true,
                fails: |state| {
                    if state == at {
                        panic!("state {at}")
                    } else {
                        Ok(())
                    }
                },
            };
            let broken = AssertUnwindSafe(|| explore(&tree, &search(threads), |_| true).is_ok());
            assert!(
                catch_unwind(broken).is_err(),
                "state {at}, {threads} threads"
            );
        }
    }
    // And a search after it works.
    let whole = explore(
        &Tree {
            packs: true,
            fails: |_| Ok(()),
        },
        &search(2),
        |_| true,
    )
    .unwrap();
    assert_eq!(
        (whole.nodes(), whole.edges()),
        ((1 << 18) - 1, (1 << 18) - 2)
    );
}

#[test]
fn a_panic_of_a_helper_reaches_the_caller() {
    for threads in [2, 5] {
        let (caller, panicked) = (std::thread::current().id(), AtomicBool::new(false));
        let fails = |state| {
            if std::thread::current().id() != caller {
                panicked.store(true, Ordering::Release);
                panic!("state {state}");
            }
            // Where there is enough for everybody, the caller waits until a helper has come.
            while state >= 1_000 && !panicked.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Ok(())
        };
        let broken = AssertUnwindSafe(|| {
            explore(&Tree { packs: true, fails }, &search(threads), |_| true).is_ok()
        });
        assert!(catch_unwind(broken).is_err(), "{threads} threads");
    }
}

#[test]
fn who_has_enough_is_asked_and_heard() {
    for threads in [1, 2, 5] {
        let tree = Tree {
            packs: true,
            fails: |_| Ok(()),
        };
        let mut asked = 0;
        let go_on = |_| {
            asked += 1;
            asked < 3
        };
        let cut_short = explore(&tree, &search(threads), go_on).unwrap();
        assert_eq!(asked, 3, "{threads} threads");
        assert!(!cut_short.is_complete() && cut_short.nodes() < 1 << 17);
        let shallow = Search {
            limits: Limits {
                depth: 9,
                ..Limits::default()
            },
            ..search(threads)
        };
        let shallow = explore(&tree, &shallow, |_| true).unwrap();
        assert_eq!(
            (shallow.nodes(), shallow.expanded()),
            ((1 << 10) - 1, (1 << 9) - 1),
            "{threads} threads"
        );
    }
}
