//! Levels in which an action fails or panics: the caller gets the failure, whichever thread
//! expanded the state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use rhae_engine::{Action, ActionKind, ActionSet, Outcome, key_of};
use rhae_explore::{Explorable, Limits, SearchOptions, explore};

/// A tree in which every action leads to a new state, and in which some states may fail.
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
            Outcome::Continue
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

fn search(threads: usize) -> SearchOptions {
    SearchOptions {
        threads,
        ..SearchOptions::default()
    }
}

#[test]
fn first_failure_is_reported_with_any_number_of_threads() {
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
fn panic_reaches_the_caller_without_deadlock() {
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
    // A search works after the panics.
    let complete = explore(
        &Tree {
            packs: true,
            fails: |_| Ok(()),
        },
        &search(2),
        |_| true,
    )
    .unwrap();
    assert_eq!(
        (complete.nodes(), complete.edges()),
        ((1 << 18) - 1, (1 << 18) - 2)
    );
}

#[test]
fn panic_of_a_worker_reaches_the_caller() {
    for threads in [2, 5] {
        let (caller, panicked) = (std::thread::current().id(), AtomicBool::new(false));
        let fails = |state| {
            if std::thread::current().id() != caller {
                panicked.store(true, Ordering::Release);
                panic!("state {state}");
            }
            // Once there is enough work for all threads, the caller waits until another thread has
            // panicked.
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
fn callback_and_depth_limit_stop_the_search() {
    for threads in [1, 2, 5] {
        let tree = Tree {
            packs: true,
            fails: |_| Ok(()),
        };
        let mut calls = 0;
        let should_continue = |_| {
            calls += 1;
            calls < 3
        };
        let stopped = explore(&tree, &search(threads), should_continue).unwrap();
        assert_eq!(calls, 3, "{threads} threads");
        assert!(!stopped.is_complete() && stopped.nodes() < 1 << 17);
        let shallow = SearchOptions {
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
