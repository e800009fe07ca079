//! Building the state graph with several threads.
//!
//! A slice of the states is looked into by all threads, each taking a piece. What they find is looked up in shards of the
//! index, each by one thread, in the order of the pieces; a new state gets the number of its place among the shard's new
//! ones. Then one thread numbers the new states in the order in which a single thread would have found them, while the
//! others look into the next slice. So the graph does not depend on the number of threads.

use rayon::prelude::*;
use rhae_engine::Outcome;

use crate::build::{Builder, Progress};
use crate::expand::Expander;
use crate::graph::{KEY, outcome_of};
use crate::index::{Found, Index, TOGETHER, hash_of};
use crate::pages::Pages;
use crate::{Explorable, Stop};

/// States in a slice: enough that starting and joining threads costs little beside them.
const SLICE: usize = 1 << 14;
/// Pieces of a slice, and shards of the index, for each thread: a thread that was held up leaves the rest to others.
const SHARE: usize = 4;

/// A part of the index, and what the current slice adds to it.
struct Shard {
    index: Index,
    /// The number of the slice's first new state; in the index, numbers from there on are places among the new ones.
    fresh_from: u32,
    /// The new states of the slice: key, and place in the index.
    fresh: Vec<(u128, usize)>,
    /// The numbers that they got.
    numbers: Vec<u32>,
    /// What each look-up of the slice gave, in the order of pieces.
    answers: Vec<u32>,
}

/// A piece of a slice, and what its states lead to.
struct Piece<S> {
    /// The states to look into, as keys.
    slice: Vec<u128>,
    /// Those of them that go on, where keys are not states.
    waiting: Vec<S>,
    expander: Expander<S>,
    /// How many edges each state has.
    counts: Vec<u32>,
    /// The shard that looks up each edge.
    shards: Vec<u8>,
    /// What each shard looks up.
    keys: Vec<Vec<u128>>,
    /// The states that edges lead to, where keys are not states.
    states: Vec<S>,
    /// Only where clicks have weights.
    weights: Vec<u16>,
}

/// All pieces of a slice, and where the next slice begins.
struct Slice<S> {
    pieces: Vec<Piece<S>>,
    end: usize,
}

pub(crate) fn run<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    go_on: &mut impl FnMut(Progress) -> bool,
) -> Result<(), E::Error> {
    let threads = builder.search.threads.min(MOST_THREADS);
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => {
            // The caller stays in its own thread, because only there it may be asked.
            let on_pool = |work: &mut (dyn FnMut() + Send)| pool.install(work);
            run_on(builder, threads, go_on, on_pool)
        }
        Err(_) => run_on(builder, threads, go_on, |work| work()),
    }
}

/// A shard's number has eight bits.
const MOST_THREADS: usize = 256 / SHARE;

fn run_on<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    threads: usize,
    go_on: &mut impl FnMut(Progress) -> bool,
    on_pool: impl Fn(&mut (dyn FnMut() + Send)),
) -> Result<(), E::Error> {
    let pieces = threads * SHARE;
    let mut shards: Vec<Shard> = (0..pieces.next_power_of_two()).map(|_| Shard::new()).collect();
    let start = hash_of(builder.graph.keys.at(0));
    let first = shard_of(start, shards.len());
    let _ = shards[first].index.resolve(start, 0, |_| false);
    let mut here = Slice::new(pieces, shards.len());
    let mut next = Slice::new(pieces, shards.len());
    let (level, all_clicks) = (builder.level, builder.search.all_clicks);

    while let Some(end) = builder.layer_end() {
        if !builder.ask(go_on) {
            return Ok(());
        }
        let from = builder.graph.expanded();
        if here.end <= from {
            here.cut(builder, from, end);
            let mut result = Ok(());
            on_pool(&mut || result = here.look_into::<E, PACKED>(level, all_clicks));
            result?;
        }
        if here.pieces.iter().any(|piece| piece.expander.unpackable) {
            builder.unpackable = true;
            return Ok(());
        }
        if let Err(stop) = make_room(builder, &here, &next, &shards) {
            builder.graph.stop = Some(stop);
            return Ok(());
        }
        let keys = &builder.graph.keys;
        on_pool(&mut || {
            shards.par_iter_mut().enumerate().for_each(|(number, shard)| shard.look_up(number, &here, keys));
        });
        // The states of a depth are all known, so the next slice can be looked into while this one is numbered.
        if here.end < end {
            next.cut(builder, here.end, end);
        }
        let (mut numbered, mut result) = (Ok(()), Ok(()));
        on_pool(&mut || {
            let ahead = || if here.end < end { next.look_into::<E, PACKED>(level, all_clicks) } else { Ok(()) };
            (numbered, result) = rayon::join(|| number(builder, &here.pieces, &mut shards), ahead);
        });
        if let Err(stop) = numbered {
            builder.graph.stop = Some(stop);
            return Ok(());
        }
        result?;
        std::mem::swap(&mut here, &mut next);
    }
    Ok(())
}

#[inline]
fn shard_of(hash: u64, shards: usize) -> usize {
    // The lowest bits choose a place in the shard.
    (hash >> 32) as usize & (shards - 1)
}

impl<S: Clone + Send + Sync> Slice<S> {
    fn new(pieces: usize, shards: usize) -> Self {
        let new_piece = || Piece {
            slice: Vec::new(),
            waiting: Vec::new(),
            expander: Expander::default(),
            counts: Vec::new(),
            shards: Vec::new(),
            keys: vec![Vec::new(); shards],
            states: Vec::new(),
            weights: Vec::new(),
        };
        Self { pieces: (0..pieces).map(|_| new_piece()).collect(), end: 0 }
    }

    /// Hands out the states from one on, not beyond the end of its depth.
    fn cut<E: Explorable<State = S>, const PACKED: bool>(&mut self, builder: &mut Builder<'_, E, PACKED>, from: usize, end: usize) {
        self.end = end.min(from + SLICE);
        let part = (self.end - from).div_ceil(self.pieces.len());
        for (number, piece) in self.pieces.iter_mut().enumerate() {
            let first = (from + number * part).min(self.end);
            piece.slice.clear();
            piece.slice.extend(builder.graph.keys.iter_from(first).take(part.min(self.end - first)));
            if !PACKED {
                let going = piece.slice.iter().filter(|&&key| outcome_of(key) == Outcome::Going).count();
                piece.waiting.clear();
                piece.waiting.extend((0..going).map(|_| builder.next_waiting()));
            }
        }
    }

    fn look_into<E: Explorable<State = S>, const PACKED: bool>(&mut self, level: &E, all_clicks: bool) -> Result<(), E::Error> {
        self.pieces.par_iter_mut().with_max_len(1).try_for_each(|piece| piece.look_into::<E, PACKED>(level, all_clicks))
    }

    /// How many edges there are, and at most so many new states.
    fn edges(&self) -> usize {
        self.pieces.iter().map(|piece| piece.shards.len()).sum()
    }

    /// How much a shard has to look up.
    fn asked(&self, shard: usize) -> usize {
        self.pieces.iter().map(|piece| piece.keys[shard].len()).sum()
    }

    fn bytes(&self) -> usize {
        self.pieces.iter().map(Piece::bytes).sum()
    }
}

impl<S: Clone> Piece<S> {
    fn look_into<E: Explorable<State = S>, const PACKED: bool>(&mut self, level: &E, all_clicks: bool) -> Result<(), E::Error> {
        let Self { slice, waiting, expander, counts, shards, keys, states, weights } = self;
        counts.clear();
        shards.clear();
        keys.iter_mut().for_each(Vec::clear);
        states.clear();
        weights.clear();
        let mut waiting = waiting.drain(..);
        let shard_count = keys.len();
        let mut found = |key: u128, after: S, weight: u16| {
            let shard = shard_of(hash_of(key), shard_count);
            shards.push(shard as u8);
            keys[shard].push(key);
            if !PACKED {
                states.push(after);
            }
            if all_clicks {
                weights.push(weight);
            }
        };
        for &key in slice.iter() {
            if outcome_of(key) != Outcome::Going {
                counts.push(0);
                continue;
            }
            let state = if PACKED {
                level.unpack(key & KEY).expect("a packed state comes back")
            } else {
                waiting.next().expect("every state that goes on waits for its turn")
            };
            counts.push(expander.expand::<E, PACKED>(level, &state, all_clicks, &mut found)?);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(Vec::capacity).sum();
        (keys + self.slice.capacity()) * size_of::<u128>()
            + (self.states.capacity() + self.waiting.capacity()) * size_of::<S>()
            + self.counts.capacity() * size_of::<u32>()
            + self.weights.capacity() * size_of::<u16>()
            + self.shards.capacity()
    }
}

/// Makes sure that the shards may grow as far as this slice can make them.
fn make_room<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    here: &Slice<E::State>,
    next: &Slice<E::State>,
    shards: &[Shard],
) -> Result<(), Stop> {
    let nodes = builder.graph.nodes();
    let end = nodes + here.edges();
    let growth = |(number, shard): (usize, &Shard)| {
        let more = here.asked(number);
        if shard.index.has_room(more, end) { 0 } else { shard.index.room_bytes(more) }
    };
    let growth: usize = shards.iter().enumerate().map(growth).sum();
    // The next slice will be about as large as this one.
    let slices = here.bytes() + here.bytes().max(next.bytes());
    builder.elsewhere = slices + shards.iter().map(Shard::bytes).sum::<usize>();
    builder.allow(growth)
}

impl Shard {
    fn new() -> Self {
        Self { index: Index::new(), fresh_from: 0, fresh: Vec::new(), numbers: Vec::new(), answers: Vec::new() }
    }

    fn bytes(&self) -> usize {
        let lists = self.fresh.capacity() * size_of::<(u128, usize)>()
            + (self.numbers.capacity() + self.answers.capacity()) * size_of::<u32>();
        self.index.bytes() + lists
    }

    fn look_up<S: Clone + Send + Sync>(&mut self, number: usize, slice: &Slice<S>, keys: &Pages<u128>) {
        // The last slice's new states have their numbers now.
        for (&(_, at), &known) in self.fresh.iter().zip(&self.numbers) {
            self.index.renumber(at, known);
        }
        self.fresh.clear();
        self.numbers.clear();
        self.answers.clear();
        self.fresh_from = keys.len() as u32;
        let (more, end) = (slice.asked(number), keys.len() + slice.edges());
        if !self.index.has_room(more, end) {
            self.index.add_room_for_some(more, end, keys);
        }
        let mut hashes = [0; TOGETHER];
        for piece in &slice.pieces {
            for together in piece.keys[number].chunks(TOGETHER) {
                hashes.iter_mut().zip(together).for_each(|(hash, &key)| *hash = hash_of(key));
                self.index.announce(&hashes[..together.len()], keys);
                for (&hash, &key) in hashes.iter().zip(together) {
                    self.answer(hash, key, keys);
                }
            }
        }
    }

    #[inline]
    fn answer(&mut self, hash: u64, key: u128, keys: &Pages<u128>) {
        let next = self.fresh_from + self.fresh.len() as u32;
        let (fresh, fresh_from) = (&self.fresh, self.fresh_from);
        let is_key = |known: u32| {
            if known < fresh_from { keys.at(known as usize) == key } else { fresh[(known - fresh_from) as usize].0 == key }
        };
        let answer = match self.index.resolve(hash, next, is_key) {
            Found::Known(known) => known,
            Found::New { at } => {
                self.fresh.push((key, at));
                next
            }
        };
        self.answers.push(answer);
    }
}

/// Numbers the new states in the order of the edges that lead to them, and adds the edges.
fn number<E: Explorable, const PACKED: bool>(
    builder: &mut Builder<'_, E, PACKED>,
    pieces: &[Piece<E::State>],
    shards: &mut [Shard],
) -> Result<(), Stop> {
    let mut next_answer = vec![0_usize; shards.len()];
    for piece in pieces {
        let mut at = 0;
        for &count in &piece.counts {
            let edges = at..at + count as usize;
            at = edges.end;
            let begun = builder.begin_row(edges.len())?;
            for edge in edges.clone() {
                let number = usize::from(piece.shards[edge]);
                let shard = &mut shards[number];
                let answer = shard.answers[next_answer[number]];
                next_answer[number] += 1;
                let target = if answer < shard.fresh_from {
                    answer
                } else if let Some(&known) = shard.numbers.get((answer - shard.fresh_from) as usize) {
                    known
                } else {
                    let (key, _) = shard.fresh[shard.numbers.len()];
                    let known = builder.add_node(key, piece.states.get(edge), begun)?;
                    shard.numbers.push(known);
                    known
                };
                builder.row.push(target);
            }
            builder.end_row(piece.weights.get(edges).unwrap_or_default(), begun)?;
        }
        builder.graph.has_clicks |= piece.expander.has_clicks;
    }
    Ok(())
}
