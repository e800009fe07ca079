//! Building the state graph with several threads.
//!
//! A slice of the states is looked into by all threads, each taking a piece. What they find is looked up in shards of the
//! index, each by one thread, in the order of the pieces; a new state gets the number of its place among the shard's new
//! ones. Then one thread numbers the new states in the order in which a single thread would have found them. So the graph
//! does not depend on the number of threads.

use std::hint::black_box;

use rayon::prelude::*;
use rhae_engine::Outcome;

use crate::build::{Batch, Builder, Progress};
use crate::graph::{KEY, outcome_of};
use crate::index::{FRESH, Found, Index, hash_of};
use crate::{Explorable, Stop};

/// States in a slice: enough that starting and joining threads costs little beside them.
const SLICE: usize = 1 << 15;
/// Pieces of a slice, and shards of the index, for each thread: a thread that was held up leaves the rest to others.
const SHARE: usize = 4;
/// Look-ups that are announced together.
const TOGETHER: usize = 64;

/// A part of the index, and what the current slice adds to it.
struct Shard {
    index: Index,
    /// The new states of the slice: key, and place in the index.
    fresh: Vec<(u128, usize)>,
    /// The numbers that they got.
    numbers: Vec<u32>,
    /// What each look-up of the slice gave, in the order of pieces.
    answers: Vec<u32>,
}

/// A piece of a slice: what its states led to, and for each shard which of that it has to look up.
struct Piece<S> {
    batch: Batch<S>,
    for_shard: Vec<Vec<u32>>,
}

pub(crate) fn run<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    go_on: &mut impl FnMut(Progress) -> bool,
) -> Result<(), E::Error> {
    let threads = builder.search.threads;
    let piece_count = threads * SHARE;
    let shard_count = piece_count.next_power_of_two();
    let shard_of = |hash: u64| (hash >> 40) as usize & (shard_count - 1);
    let new_shard = || Shard { index: Index::new(), fresh: Vec::new(), numbers: Vec::new(), answers: Vec::new() };
    let mut shards: Vec<Shard> = (0..shard_count).map(|_| new_shard()).collect();
    let start = hash_of(builder.graph.keys[0]);
    let _ = shards[shard_of(start)].index.resolve(start, 0, |_| false);
    let new_piece = || Piece { batch: Batch::default(), for_shard: vec![Vec::new(); shard_count] };
    let mut pieces: Vec<Piece<E::State>> = (0..piece_count).map(|_| new_piece()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();

    while let Some(end) = builder.layer_end() {
        if !builder.ask(go_on) {
            return Ok(());
        }
        let from = builder.graph.expanded();
        let to = end.min(from + SLICE);
        let is_going = |key: &&u128| outcome_of(**key) == Outcome::Going;
        let going = if PACKED { 0 } else { builder.graph.keys[from..to].iter().filter(is_going).count() };
        let states: Vec<E::State> = builder.take_waiting(going);
        let slice = &builder.graph.keys[from..to];
        let part = slice.len().div_ceil(piece_count);
        let starts: Vec<usize> = waiting_before(slice, part, PACKED);

        let (level, all_clicks) = (builder.level, builder.search.all_clicks);
        let mut look_into = || {
            pieces.par_iter_mut().enumerate().try_for_each(|(number, piece)| {
                piece.batch.clear();
                piece.for_shard.iter_mut().for_each(Vec::clear);
                let keys = slice.chunks(part).nth(number).unwrap_or_default();
                let mut waiting = states[starts.get(number).copied().unwrap_or(states.len())..].iter();
                for &key in keys {
                    if outcome_of(key) != Outcome::Going {
                        piece.batch.counts.push(0);
                    } else if PACKED {
                        let state = level.unpack(key & KEY).expect("a packed state comes back");
                        piece.batch.expand::<E, PACKED>(level, &state, all_clicks)?;
                    } else {
                        let state = waiting.next().expect("every state that goes on waits for its turn");
                        piece.batch.expand::<E, PACKED>(level, state, all_clicks)?;
                    }
                }
                for (edge, &(_, hash)) in piece.batch.found.iter().enumerate() {
                    piece.for_shard[shard_of(hash)].push(edge as u32);
                }
                Ok(())
            })
        };
        match &pool {
            Ok(pool) => pool.install(look_into)?,
            Err(_) => look_into()?,
        }
        drop(states);
        if pieces.iter().any(|piece| piece.batch.unpackable) {
            builder.unpackable = true;
            return Ok(());
        }
        if let Err(stop) = make_room(builder, &pieces, &shards) {
            builder.graph.stop = Some(stop);
            return Ok(());
        }
        let keys = &builder.graph.keys;
        let mut look_up = || shards.par_iter_mut().enumerate().for_each(|(number, shard)| shard.look_up(number, &pieces, keys));
        match &pool {
            Ok(pool) => pool.install(look_up),
            Err(_) => look_up(),
        }
        if let Err(stop) = number(builder, &pieces, &mut shards, shard_of) {
            builder.graph.stop = Some(stop);
            return Ok(());
        }
    }
    Ok(())
}

/// How many states of the slice wait before each of its pieces.
fn waiting_before(slice: &[u128], part: usize, packed: bool) -> Vec<usize> {
    let mut before = 0;
    let count = |keys: &[u128]| keys.iter().filter(|&&key| outcome_of(key) == Outcome::Going).count();
    slice
        .chunks(part)
        .map(|keys| {
            let here = before;
            before += if packed { 0 } else { count(keys) };
            here
        })
        .collect()
}

/// Makes sure that the shards may grow as far as this slice can make them.
fn make_room<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    pieces: &[Piece<E::State>],
    shards: &[Shard],
) -> Result<(), Stop> {
    let wanted = |number: usize| pieces.iter().map(|piece| piece.for_shard[number].len()).sum::<usize>();
    let lists = |shard: &Shard| shard.fresh.capacity() * size_of::<(u128, usize)>() + shard.answers.capacity() * 8;
    let held: usize = shards.iter().map(|shard| shard.index.bytes() + lists(shard)).sum();
    let growth: usize = shards.iter().enumerate().map(|(number, shard)| shard.index.growth(wanted(number))).sum();
    let sorted = |piece: &Piece<E::State>| piece.for_shard.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
    builder.batch_bytes = held + pieces.iter().map(|piece| piece.batch.bytes() + sorted(piece)).sum::<usize>();
    builder.allow_elsewhere(growth)
}

impl Shard {
    fn look_up<S: Sync>(&mut self, number: usize, pieces: &[Piece<S>], keys: &[u128]) {
        // The last slice's new states have their numbers now.
        for (&(_, at), &known) in self.fresh.iter().zip(&self.numbers) {
            self.index.renumber(at, known);
        }
        self.fresh.clear();
        self.numbers.clear();
        self.answers.clear();
        self.index.reserve(pieces.iter().map(|piece| piece.for_shard[number].len()).sum());
        for piece in pieces {
            let found = &piece.batch.found;
            for together in piece.for_shard[number].chunks(TOGETHER) {
                let mut read = 0;
                for &edge in together {
                    let known = self.index.touch(found[edge as usize].1).and_then(|number| keys.get(number as usize));
                    read ^= known.map_or(0, |&key| key as u64);
                }
                black_box(read);
                for &edge in together {
                    let (key, hash) = found[edge as usize];
                    let next = FRESH | self.fresh.len() as u32;
                    let fresh = &self.fresh;
                    let is_key = |known: u32| {
                        if known & FRESH == 0 { keys[known as usize] == key } else { fresh[(known ^ FRESH) as usize].0 == key }
                    };
                    self.answers.push(match self.index.resolve(hash, next, is_key) {
                        Found::Known(known) => known,
                        Found::New { at } => {
                            self.fresh.push((key, at));
                            next
                        }
                    });
                }
            }
        }
    }
}

/// Numbers the new states in the order of the edges that lead to them, and adds the edges.
fn number<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    pieces: &[Piece<E::State>],
    shards: &mut [Shard],
    shard_of: impl Fn(u64) -> usize,
) -> Result<(), Stop> {
    let mut next_answer = vec![0_usize; shards.len()];
    for piece in pieces {
        let batch = &piece.batch;
        let mut edges = 0..;
        for &count in &batch.counts {
            let begun = (builder.graph.keys.len(), builder.graph.targets.len());
            for edge in edges.by_ref().take(count as usize) {
                let (key, hash) = batch.found[edge];
                let number = shard_of(hash);
                let shard = &mut shards[number];
                let answer = shard.answers[next_answer[number]];
                next_answer[number] += 1;
                let target = if answer & FRESH == 0 {
                    Ok(answer)
                } else if let Some(&known) = shard.numbers.get((answer ^ FRESH) as usize) {
                    Ok(known)
                } else {
                    let known = builder.graph.nodes() as u32;
                    shard.numbers.push(known);
                    builder.add_node(key, batch.states.get(edge)).map(|()| known)
                };
                if let Err(stop) = target.and_then(|target| builder.add_edge(target, batch.weights[edge])) {
                    builder.forget_from(begun);
                    return Err(stop);
                }
            }
            if let Err(stop) = builder.end_node() {
                builder.forget_from(begun);
                return Err(stop);
            }
        }
        builder.graph.has_clicks |= batch.has_clicks;
    }
    Ok(())
}
