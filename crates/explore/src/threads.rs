//! Building the state graph with several threads.
//!
//! A slice of the states is looked into by all threads, each taking a piece. What they lead to is looked up and numbered, in the
//! order in which a single thread would have found it, by one thread; the others meanwhile look into the next slice, which is of
//! states that have their numbers already. So the graph does not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use rhae_engine::Outcome;
use rhae_team::Team;

use crate::batch::Batch;
use crate::build::{Builder, Progress};
use crate::graph::outcome_of;
use crate::index::Index;
use crate::{Explorable, Stop};

/// The most states in a slice for each thread: enough that calling and awaiting threads costs little beside them, and few enough
/// that what they lead to stays in the caches until it is numbered.
const SLICE: usize = 1 << 8;
/// The fewest, if there are as many.
const SMALL: usize = 1 << 5;
/// From so many threads on, they share the look-ups too: then one would not be done with them in time.
const MANY: usize = 4;
/// Pieces of a slice for each thread: a thread that was held up leaves the rest to others.
const SHARE: usize = 4;

pub(crate) fn run<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    go_on: &mut impl FnMut(Progress) -> bool,
) -> Result<(), E::Error> {
    // Without further threads the search takes longer, no more.
    let team = Team::new(builder.search.threads).unwrap_or_default();
    let mut index = Index::new(&builder.graph.keys);
    let mut here = Slice::new(builder.search.threads * SHARE);
    let mut next = Slice::new(builder.search.threads * SHARE);
    let (level, all_clicks) = (builder.level, builder.search.all_clicks);
    let failed = Mutex::new(None);
    let look_into = |piece: &mut Piece<E::State>| {
        if let Err(error) = piece.look_into::<E, PACKED>(level, all_clicks) {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };

    while builder.goes_on() {
        if !builder.ask(go_on) {
            return Ok(());
        }
        let from = builder.graph.expanded();
        if here.end <= from {
            here.cut(builder, from);
            team.share(here.pieces.iter_mut(), look_into);
        }
        if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        if here.pieces.iter().any(|piece| piece.batch.expander.unpackable) {
            builder.unpackable = true;
            return Ok(());
        }
        // Of a few threads, the one that numbers has time to look up as well, and its look-ups are of what it has at hand.
        let looked_up = builder.search.threads >= MANY;
        if looked_up {
            let keys = &builder.graph.keys;
            team.share(here.pieces.iter_mut(), |piece| {
                piece.batch.expect(&index);
                piece.batch.find(&index, keys);
            });
        }
        // The next slice will be about as large as this one.
        let batches = here.bytes() + here.bytes().max(next.bytes());
        let ahead = if here.end < builder.graph.nodes() {
            next.cut(builder, here.end);
            &mut next.pieces[..]
        } else {
            &mut []
        };
        let mut numbered = Ok(());
        let number = || numbered = here.number(builder, &mut index, batches, looked_up);
        team.share_after(number, ahead.iter_mut(), look_into);
        if let Err(stop) = numbered {
            builder.graph.stop = Some(stop);
            return Ok(());
        }
        std::mem::swap(&mut here, &mut next);
    }
    Ok(())
}

/// States that are looked into together.
struct Slice<S> {
    pieces: Vec<Piece<S>>,
    /// Where the next slice begins.
    end: usize,
}

/// A part of a slice, and what its states lead to.
struct Piece<S> {
    /// The states to look into, as keys.
    keys: Vec<u128>,
    /// Those of them that go on, where keys are not states.
    waiting: Vec<S>,
    batch: Batch<S>,
}

impl<S: Clone + Send> Slice<S> {
    fn new(pieces: usize) -> Self {
        let new_piece = || Piece { keys: Vec::new(), waiting: Vec::new(), batch: Batch::new() };
        Self { pieces: (0..pieces).map(|_| new_piece()).collect(), end: 0 }
    }

    /// Hands out the states from one on.
    fn cut<E: Explorable<State = S>, const PACKED: bool>(&mut self, builder: &mut Builder<'_, E, PACKED>, from: usize) {
        // Half of the states, so that some are left to look into while these are numbered.
        let (threads, known) = (builder.search.threads, builder.graph.nodes() - from);
        self.end = from + (known / 2).clamp(threads * SMALL, threads * SLICE).min(known);
        let part = (self.end - from).div_ceil(self.pieces.len());
        for (number, piece) in self.pieces.iter_mut().enumerate() {
            let first = (from + number * part).min(self.end);
            piece.keys.clear();
            piece.keys.extend(builder.graph.keys.iter_from(first).take(part.min(self.end - first)));
            if !PACKED {
                let going = piece.keys.iter().filter(|&&key| outcome_of(key) == Outcome::Going).count();
                piece.waiting.clear();
                builder.take_waiting(going, &mut piece.waiting);
            }
        }
    }

    /// Numbers what all pieces led to, in their order, and looks it up unless that is done.
    fn number<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        builder: &mut Builder<'_, E, PACKED>,
        index: &mut Index,
        batches: usize,
        looked_up: bool,
    ) -> Result<(), Stop> {
        self.pieces.iter_mut().try_for_each(|piece| {
            if !looked_up {
                piece.batch.expect(index);
                piece.batch.find(index, &builder.graph.keys);
            }
            builder.number(&mut piece.batch, index, batches)
        })
    }

    fn bytes(&self) -> usize {
        self.pieces.iter().map(Piece::bytes).sum()
    }
}

impl<S: Clone> Piece<S> {
    fn look_into<E: Explorable<State = S>, const PACKED: bool>(&mut self, level: &E, all_clicks: bool) -> Result<(), E::Error> {
        let Self { keys, waiting, batch } = self;
        batch.clear();
        let mut waiting = waiting.drain(..);
        for &key in keys.iter() {
            let next = || waiting.next().expect("every state that goes on waits for its turn");
            batch.look_into::<E, PACKED>(level, all_clicks, key, next, |_| {})?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u128>() + self.waiting.capacity() * size_of::<S>() + self.batch.bytes()
    }
}
