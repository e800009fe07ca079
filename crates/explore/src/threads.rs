//! Building the state graph with several threads.
//!
//! States are cut into pieces in the order of their numbers. Whoever is free takes the next piece and looks into its states; the
//! thread that leads numbers what the pieces led to, one after the other, in the order in which a single thread would have found
//! it, and cuts more pieces of what is new. So nobody waits for anybody as long as there are pieces, and the graph does not depend
//! on the number of threads. That one thread numbers bounds what many can gain.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rhae_engine::Outcome;
use rhae_team::{Bell, Team};

use crate::Explorable;
use crate::batch::Batch;
use crate::build::{Builder, Progress};
use crate::expand::Expander;
use crate::graph::outcome_of;
use crate::index::Index;

/// The most states in a piece: few enough that what they lead to stays in the caches until it is numbered.
const LARGE: usize = 1 << 6;
/// The fewest, as long as others are being looked into: enough that handing them over costs little beside them.
const SMALL: usize = 1 << 5;
/// Pieces for each thread that are cut and not yet numbered.
const AHEAD: usize = 3;

pub(crate) fn run<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    go_on: &mut impl FnMut(Progress) -> bool,
) -> Result<(), E::Error> {
    let threads = builder.search.threads;
    let belt = Belt::<E, PACKED>::new(builder.level, builder.search.all_clicks, threads);
    let mut outcome = Ok(());
    let lead = || {
        let _closing = Closing(&belt);
        outcome = belt.lead(builder, go_on);
    };
    Team::hire(threads).share_after(lead, 1..threads, |_| belt.help());
    outcome
}

/// Where pieces lie in the order of their numbers, round and round.
struct Belt<'a, E: Explorable, const PACKED: bool> {
    level: &'a E,
    all_clicks: bool,
    threads: usize,
    places: Vec<Place<E>>,
    /// How many pieces have been cut, and how many of these were taken by somebody who looks into them.
    cut: Apart<AtomicUsize>,
    taken: Apart<AtomicUsize>,
    /// Whether no more pieces will come, and whether one never will be done because somebody panicked.
    closed: AtomicBool,
    broken: AtomicBool,
    /// Rings when there are pieces to take.
    work: Bell,
    /// Rings when a piece is done.
    ready: Bell,
}

/// What several threads write to has lines of their caches for itself, so that nobody waits for it who reads something else.
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// A place on the belt.
struct Place<E: Explorable> {
    piece: Apart<Mutex<Piece<E>>>,
    /// How many pieces there were up to the last that is done here.
    done: Apart<AtomicUsize>,
}

/// Some states, and what they lead to.
struct Piece<E: Explorable> {
    /// The states to look into, as keys.
    keys: Vec<u128>,
    /// Those of them that go on, where keys are not states.
    waiting: Vec<E::State>,
    batch: Batch<E::State>,
    failed: Option<E::Error>,
}

impl<'a, E: Explorable, const PACKED: bool> Belt<'a, E, PACKED> {
    fn new(level: &'a E, all_clicks: bool, threads: usize) -> Self {
        let piece = || Piece {
            keys: Vec::with_capacity(LARGE),
            waiting: Vec::new(),
            batch: Batch::new(LARGE),
            failed: None,
        };
        let place = |_| Place {
            piece: Apart(Mutex::new(piece())),
            done: Apart::default(),
        };
        Self {
            level,
            all_clicks,
            threads,
            places: (0..threads * AHEAD).map(place).collect(),
            cut: Apart::default(),
            taken: Apart::default(),
            closed: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            work: Bell::for_threads(threads),
            ready: Bell::for_threads(threads),
        }
    }

    /// Looks into pieces as long as there are any.
    fn help(&self) {
        let _closing = Closing(self);
        let mut expander = self.expander();
        while !self.closed.load(Ordering::Acquire) {
            match self.take() {
                Some(number) => self.look_into(number, &mut expander),
                None => self
                    .work
                    .await_that(|| self.has_work() || self.closed.load(Ordering::Acquire)),
            }
        }
    }

    fn has_work(&self) -> bool {
        self.taken.0.load(Ordering::Acquire) < self.cut.0.load(Ordering::Acquire)
    }

    /// Takes the next piece.
    fn take(&self) -> Option<usize> {
        let next = |taken: usize| (taken < self.cut.0.load(Ordering::Acquire)).then_some(taken + 1);
        self.taken
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .ok()
    }

    fn place(&self, number: usize) -> &Place<E> {
        &self.places[number % self.places.len()]
    }

    fn is_done(&self, number: usize) -> bool {
        self.place(number).done.0.load(Ordering::Acquire) > number
    }

    fn expander(&self) -> Expander<'a, E, PACKED> {
        Expander::new(self.level, self.all_clicks)
    }

    fn look_into(&self, number: usize, expander: &mut Expander<'a, E, PACKED>) {
        self.place(number).lock().look_into(expander);
        self.place(number)
            .done
            .0
            .store(number + 1, Ordering::Release);
        self.ready.ring();
    }

    /// Numbers what the pieces led to.
    fn lead(
        &self,
        builder: &mut Builder<'_, E, PACKED>,
        go_on: &mut impl FnMut(Progress) -> bool,
    ) -> Result<(), E::Error> {
        let mut index = Index::new(&builder.graph.keys);
        let mut expander = self.expander();
        // The states up to here are in pieces; the pieces up to here are numbered; and the largest was this large.
        let (mut end, mut numbered, mut largest) = (0, 0, 0);
        let mut asked = 0;
        while builder.goes_on() {
            if builder.graph.expanded() >= asked + self.level.patience() {
                if !builder.ask(go_on) {
                    return Ok(());
                }
                asked = builder.graph.expanded();
            }
            end = self.cut(builder, end, numbered);
            if !self.await_piece(numbered, &mut expander) {
                return Ok(());
            }
            let mut piece = self.place(numbered).lock();
            if let Some(error) = piece.failed.take() {
                return Err(error);
            }
            if piece.batch.unpackable {
                builder.unpackable = true;
                return Ok(());
            }
            largest = largest.max(piece.bytes());
            piece.batch.expect(&index);
            if let Err(stop) = builder.number(&piece.batch, &mut index, largest * self.places.len())
            {
                builder.graph.stop = Some(stop);
                return Ok(());
            }
            numbered += 1;
        }
        Ok(())
    }

    /// Cuts pieces from the states after some, as many as there is room for beside those that are not numbered. Tells where the next begins.
    fn cut(&self, builder: &mut Builder<'_, E, PACKED>, mut end: usize, numbered: usize) -> usize {
        let (small, large) = (
            SMALL.min(self.level.patience()),
            LARGE.min(self.level.patience()),
        );
        let first = self.cut.0.load(Ordering::Relaxed);
        let mut cut = first;
        while cut < numbered + self.places.len() {
            let left = builder.graph.nodes() - end;
            if left == 0 || left < small && cut > numbered {
                break;
            }
            // Everybody should find some of them.
            let count = (left / (2 * self.threads)).clamp(small, large).min(left);
            self.place(cut).lock().fill(builder, end, count);
            end += count;
            cut += 1;
            self.cut.0.store(cut, Ordering::Release);
        }
        if cut > first {
            self.work.ring();
        }
        end
    }

    /// Waits until a piece is done, and looks into others meanwhile. Tells whether it ever is.
    fn await_piece(&self, number: usize, expander: &mut Expander<'a, E, PACKED>) -> bool {
        while !self.is_done(number) {
            if let Some(other) = self.take() {
                self.look_into(other, expander);
                continue;
            }
            self.ready
                .await_that(|| self.is_done(number) || self.broken.load(Ordering::Acquire));
            if self.broken.load(Ordering::Acquire) {
                return false;
            }
        }
        true
    }
}

/// Sends everybody home when it is dropped: the search is over, or somebody panics.
struct Closing<'a, 'b, E: Explorable, const PACKED: bool>(&'a Belt<'b, E, PACKED>);

impl<E: Explorable, const PACKED: bool> Drop for Closing<'_, '_, E, PACKED> {
    fn drop(&mut self) {
        let Self(belt) = self;
        if std::thread::panicking() {
            belt.broken.store(true, Ordering::Release);
        }
        belt.closed.store(true, Ordering::Release);
        belt.work.ring();
        belt.ready.ring();
    }
}

impl<E: Explorable> Place<E> {
    fn lock(&self) -> MutexGuard<'_, Piece<E>> {
        self.piece.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Explorable> Piece<E> {
    /// Takes some states from one on.
    fn fill<const PACKED: bool>(
        &mut self,
        builder: &mut Builder<'_, E, PACKED>,
        from: usize,
        count: usize,
    ) {
        self.keys.clear();
        builder.graph.keys.copy(from, count, &mut self.keys);
        if !PACKED {
            let going = self
                .keys
                .iter()
                .filter(|&&key| outcome_of(key) == Outcome::Going)
                .count();
            self.waiting.clear();
            builder.take_waiting(going, &mut self.waiting);
        }
    }

    fn look_into<const PACKED: bool>(&mut self, expander: &mut Expander<'_, E, PACKED>) {
        let Self {
            keys,
            waiting,
            batch,
            failed,
        } = self;
        batch.clear();
        let mut waiting = waiting.drain(..);
        *failed = keys
            .iter()
            .try_for_each(|&key| {
                let next = || {
                    waiting
                        .next()
                        .expect("every state that goes on waits for its turn")
                };
                expander.look_into(key, next, batch, |_| {})
            })
            .err();
    }

    fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u128>()
            + self.waiting.capacity() * size_of::<E::State>()
            + self.batch.bytes()
    }
}
