//! Similarity of two environments, as an approximation of the paper's test of novelty.
//!
//! The paper asks whether a single program could solve both environments at half the length of two
//! separate programs, which is not computable. This module computes proxies: how much of the
//! smaller rule source is redundant given the other, measured by compressing both together, and how
//! similar the frames and state graphs are. docs/novelty.md describes what these measures can and
//! cannot tell.

use std::collections::BTreeMap;

use miniz_oxide::deflate::compress_to_vec;
use rhae_engine::{Frame, SIZE};

use crate::LevelGraph;

/// The share of common rule source above which two environments are reported as too similar.
pub const SIMILARITY_LIMIT: f64 = 0.5;

/// The properties of an environment that are compared.
#[derive(Clone, Debug, Default)]
pub struct Traits {
    /// The rule source as [`tokens`](crate::tokens()); empty if it is not available.
    pub source: Vec<u8>,
    /// The first frame of each level.
    pub frames: Vec<Frame>,
    /// The shape of each level's graph, where it is known. See [`graph_shape`].
    pub graphs: Vec<[f64; 5]>,
}

/// The similarity of two environments. Each value ranges from 0 (nothing in common) to 1
/// (identical), and is `None` if one of the environments lacks the data.
///
/// # Examples
///
/// ```
/// use rhae_validate::{Language, Similarity, Traits, tokens};
///
/// let source = |text: &str| Traits { source: tokens(text, Language::Rust), ..Traits::default() };
/// let rules = "fn step(state: &mut u8) -> bool { *state += 1; *state == 10 }".repeat(4);
/// let similarity = Similarity::of(&source(&rules), &source(&rules.replace("state", "counter")));
/// assert!(similarity.is_too_similar());
/// assert_eq!(similarity.frames, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// The share of the smaller rule source that is redundant given the other.
    pub source: Option<f64>,
    /// The cosine similarity of the small patterns in the first frames.
    pub frames: Option<f64>,
    /// The similarity of the state graphs, measured by where edges lead and by the share of dead
    /// ends.
    pub graphs: Option<f64>,
}

impl Similarity {
    /// Compares two environments.
    pub fn of(one: &Traits, other: &Traits) -> Self {
        let both = |is_there: fn(&Traits) -> bool| is_there(one) && is_there(other);
        Self {
            source: both(|traits| !traits.source.is_empty())
                .then(|| shared(&one.source, &other.source)),
            frames: cosine(&patterns(&one.frames), &patterns(&other.frames)),
            graphs: both(|traits| !traits.graphs.is_empty())
                .then(|| 1.0 - distance(&mean(&one.graphs), &mean(&other.graphs))),
        }
    }

    /// Returns whether the rule sources have more in common than [`SIMILARITY_LIMIT`].
    pub fn is_too_similar(&self) -> bool {
        self.source.is_some_and(|source| source > SIMILARITY_LIMIT)
    }
}

/// Returns the shape of a level's graph: the shares of edges that lead deeper, to the same depth,
/// back, and to their own state, and the share of dead ends among the states.
pub fn graph_shape(graph: &LevelGraph) -> [f64; 5] {
    let edges = graph.shape.iter().sum::<u64>().max(1) as f64;
    let [deeper, level, back, nowhere] = graph.shape.map(|count| count as f64 / edges);
    [
        deeper,
        level,
        back,
        nowhere,
        graph.dead_ends as f64 / graph.nodes.max(1) as f64,
    ]
}

/// Returns how many bytes are saved by compressing two sources together instead of separately, as a
/// share of the smaller compressed source.
fn shared(one: &[u8], other: &[u8]) -> f64 {
    const BEST: u8 = 10;
    let size = |bytes: &[u8]| compress_to_vec(bytes, BEST).len() as f64;
    let (a, b) = (size(one), size(other));
    // The order of the two sources influences the size, so both orders are tried.
    let together = size(&[one, other].concat()).min(size(&[other, one].concat()));
    ((a + b - together) / a.min(b)).clamp(0.0, 1.0)
}

/// Counts the patterns of four by four cells. Within a pattern, colours are numbered in the order
/// of their appearance, so that recoloured patterns count as the same. Patterns of a single colour
/// are ignored.
fn patterns(frames: &[Frame]) -> BTreeMap<u64, f64> {
    const BLOCK: usize = 4;
    let mut counts = BTreeMap::new();
    for frame in frames {
        for top in (0..SIZE).step_by(BLOCK) {
            for left in (0..SIZE).step_by(BLOCK) {
                let (mut names, mut pattern) = (Vec::new(), 0_u64);
                for (y, x) in (0..BLOCK).flat_map(|y| (0..BLOCK).map(move |x| (y, x))) {
                    let color = frame.get(left + x, top + y);
                    let name = names
                        .iter()
                        .position(|&known| known == color)
                        .unwrap_or_else(|| {
                            names.push(color);
                            names.len() - 1
                        });
                    pattern = pattern << 4 | (name as u64 & 15);
                }
                if pattern != 0 {
                    *counts.entry(pattern).or_insert(0.0) += 1.0;
                }
            }
        }
    }
    counts
}

/// Returns the cosine similarity of two histograms, or `None` if one of them is empty.
fn cosine(one: &BTreeMap<u64, f64>, other: &BTreeMap<u64, f64>) -> Option<f64> {
    let length = |counts: &BTreeMap<u64, f64>| {
        counts
            .values()
            .map(|count| count * count)
            .sum::<f64>()
            .sqrt()
    };
    let product: f64 = one
        .iter()
        .filter_map(|(pattern, count)| other.get(pattern).map(|others| count * others))
        .sum();
    let lengths = length(one) * length(other);
    (lengths > 0.0).then(|| (product / lengths).clamp(0.0, 1.0))
}

fn mean(shapes: &[[f64; 5]]) -> [f64; 5] {
    std::array::from_fn(|index| {
        shapes.iter().map(|shape| shape[index]).sum::<f64>() / shapes.len().max(1) as f64
    })
}

/// Returns the mean of two distances in 0..=1: the total variation of the four edge shares, and the
/// difference of the dead-end shares.
fn distance(one: &[f64; 5], other: &[f64; 5]) -> f64 {
    let shares: f64 = (0..4)
        .map(|index| (one[index] - other[index]).abs())
        .sum::<f64>()
        / 2.0;
    ((shares + (one[4] - other[4]).abs()) / 2.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that do not compress.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut rng = rhae_engine::Rng::new(seed, 0);
        (0..length).map(|_| rng.below(60) as u8).collect()
    }

    #[test]
    fn identical_sources_share_everything_and_unrelated_ones_nothing() {
        let (one, other) = (noise(1, 4000), noise(2, 4000));
        assert!(shared(&one, &one) > 0.95, "{}", shared(&one, &one));
        assert!(shared(&one, &other) < 0.05, "{}", shared(&one, &other));
        let half = [&one[..2000], &other[..2000]].concat();
        let share = shared(&one, &half);
        assert!((0.4..0.6).contains(&share), "{share}");
    }

    #[test]
    fn frames_are_compared_independently_of_colours() {
        let mut one = Frame::filled(0);
        one.rect(10, 10, 3, 9, 4);
        let mut other = Frame::filled(7);
        other.rect(10, 10, 3, 9, 9);
        let traits = |frame: &Frame| Traits {
            frames: vec![frame.clone()],
            ..Traits::default()
        };
        assert!(
            Similarity::of(&traits(&one), &traits(&other))
                .frames
                .unwrap()
                > 0.999
        );
        let mut third = Frame::filled(0);
        third.rect(21, 33, 1, 1, 4);
        assert!(
            Similarity::of(&traits(&one), &traits(&third))
                .frames
                .unwrap()
                < 0.5
        );
        assert_eq!(Similarity::of(&traits(&one), &traits(&third)).source, None);
        let plain = traits(&Frame::filled(3));
        assert_eq!(Similarity::of(&plain, &traits(&one)).frames, None);
        assert_eq!(Similarity::of(&plain, &plain).frames, None);
    }
}
