//! The method `cells`: a decision tree predicts the colour of each output cell.
//!
//! The features of an output cell are its values in the simplest pieces and, if inputs and outputs
//! have the same size, the features of the input cell at the same position; otherwise its column
//! and row. Leave-one-out validation on the training pairs measures how reliable an answer is.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::features::features;
use crate::image::Image;
use crate::meter::Meter;
use crate::tree::{CLASSES, Samples, Tree, UNCHANGED};

/// The number of trees of a forest.
const TREES: u64 = 11;

/// All samples of a task, pair by pair. One sample is one output cell; the samples of the test come
/// last.
pub(crate) struct CellTask {
    samples: Samples,
    /// The index of the first sample of each pair, and the end of the last pair.
    starts: Vec<usize>,
    sizes: Vec<(usize, usize)>,
    /// The input cells, whose colour a sample of the class [`UNCHANGED`] keeps; `None` if input and
    /// output sizes differ.
    base: Option<Vec<u8>>,
}

/// An answer of the method `cells`.
pub(crate) struct CellAnswer {
    pub(crate) image: Image,
    /// The number of training pairs that the trees reproduce after learning from all pairs.
    pub(crate) fits: usize,
    /// The number of training pairs that a tree reproduces after learning only from the other
    /// pairs.
    pub(crate) held_out_hits: usize,
    /// The number of inner nodes of the tree; for a forest, the mean.
    pub(crate) splits: usize,
    pub(crate) forest: bool,
}

impl CellTask {
    /// Collects the samples. Each element of `layers` contains one image of the output size per
    /// pair; the image of the test is the last.
    pub(crate) fn new(
        inputs: &[Image],
        outputs: &[Image],
        layers: &[Vec<&Image>],
        size: (usize, usize),
    ) -> Self {
        let sizes: Vec<(usize, usize)> = (0..inputs.len())
            .map(|pair| outputs.get(pair).map_or(size, Image::size))
            .collect();
        let same = inputs
            .iter()
            .zip(&sizes)
            .all(|(input, size)| input.size() == *size);
        let mut columns: Vec<Vec<i8>> = Vec::new();
        let mut classes = Vec::new();
        let mut starts = vec![0];
        let mut base = Vec::new();
        for (pair, input) in inputs.iter().enumerate() {
            let (w, h) = sizes[pair];
            let mut own: Vec<Vec<i8>> = layers
                .iter()
                .map(|layer| layer[pair].cells.iter().map(|&cell| cell as i8).collect())
                .collect();
            if same {
                let mut all = features(input);
                all.append(&mut own);
                own = all;
                base.extend_from_slice(&input.cells);
            } else {
                own.push((0..w * h).map(|cell| (cell % w) as i8).collect());
                own.push((0..w * h).map(|cell| (cell / w) as i8).collect());
            }
            columns.resize(own.len(), Vec::new());
            columns
                .iter_mut()
                .zip(own)
                .for_each(|(column, own)| column.extend(own));
            for cell in 0..w * h {
                let before = same.then(|| input.cells[cell]);
                let class = outputs.get(pair).map_or(0, |output| output.cells[cell]);
                classes.push(if Some(class) == before {
                    UNCHANGED
                } else {
                    class
                });
            }
            starts.push(classes.len());
        }
        distinct(&mut columns);
        Self {
            samples: Samples {
                features: columns,
                classes,
            },
            starts,
            sizes,
            base: same.then_some(base),
        }
    }

    /// Returns the work of one pass over all features.
    fn work(&self) -> usize {
        self.samples.features.len() * self.samples.classes.len()
    }

    /// Returns the answer of a single tree that uses all features and, if the budget is not
    /// exhausted, the majority vote of a forest whose trees use random subsets of the features. The
    /// random generator has fixed seeds, so the subsets are always the same.
    pub(crate) fn solve(&self, meter: &mut Meter<'_>) -> Vec<CellAnswer> {
        let all: Vec<usize> = (0..self.samples.features.len()).collect();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for tree in 0..TREES {
            let mut state = tree.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
            let mut part = all.clone();
            part.retain(|_| {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                (state >> 33) % 100 < 35
            });
            parts.push(part);
        }
        let single = self.answer(std::slice::from_ref(&all), None, meter);
        let held_out_hits = single.held_out_hits;
        let mut answers = vec![single];
        if !meter.is_exhausted() {
            answers.push(self.answer(&parts, Some(held_out_hits), meter));
        }
        answers
    }

    /// Learns one tree per feature set and applies the trees to all pairs and the test.
    /// Leave-one-out validation runs only if `held_out_hits` is `None`; otherwise that value is
    /// used.
    fn answer(
        &self,
        feature_sets: &[Vec<usize>],
        held_out_hits: Option<usize>,
        meter: &mut Meter<'_>,
    ) -> CellAnswer {
        let pairs = self.sizes.len() - 1;
        let learn = |left_out: Option<usize>, meter: &mut Meter<'_>| -> Vec<Tree> {
            let chosen: Vec<u32> = (0..pairs)
                .filter(|pair| Some(*pair) != left_out)
                .flat_map(|pair| self.starts[pair] as u32..self.starts[pair + 1] as u32)
                .collect();
            let grow = |part: &Vec<usize>| {
                meter.charge(self.work() * 4 * part.len() / self.samples.features.len().max(1));
                Tree::learn(&self.samples, &chosen, part)
            };
            feature_sets.iter().map(grow).collect()
        };
        let trees = learn(None, meter);
        let right = |trees: &[Tree], pair: usize| {
            let (from, to) = (self.starts[pair], self.starts[pair + 1]);
            (from..to).all(|sample| self.vote(trees, sample) == self.samples.classes[sample])
        };
        let fits = (0..pairs).filter(|&pair| right(&trees, pair)).count();
        let mut foresee = || {
            (0..pairs)
                .filter(|&pair| {
                    pairs > 1 && !meter.is_exhausted() && right(&learn(Some(pair), meter), pair)
                })
                .count()
        };
        let held_out_hits = held_out_hits.unwrap_or_else(&mut foresee);
        let (w, h) = self.sizes[pairs];
        let color = |sample: usize| match (self.vote(&trees, sample), &self.base) {
            (UNCHANGED, Some(base)) => base[sample],
            (class, _) => class,
        };
        let cells = (self.starts[pairs]..self.starts[pairs + 1])
            .map(color)
            .collect();
        let splits = trees.iter().map(Tree::splits).sum::<usize>() / trees.len().max(1);
        CellAnswer {
            image: Image {
                x: 0,
                y: 0,
                w,
                h,
                cells,
            },
            fits,
            held_out_hits,
            splits,
            forest: feature_sets.len() > 1,
        }
    }

    fn vote(&self, trees: &[Tree], sample: usize) -> u8 {
        let classify =
            |tree: &Tree| tree.classify(|feature| self.samples.features[feature][sample]);
        if let [tree] = trees {
            return classify(tree);
        }
        let mut votes = [0_u8; CLASSES];
        trees
            .iter()
            .for_each(|tree| votes[usize::from(classify(tree))] += 1);
        (0..CLASSES)
            .rev()
            .max_by_key(|&class| votes[class])
            .unwrap_or(0) as u8
    }
}

/// Drops constant features and duplicates of earlier ones.
fn distinct(columns: &mut Vec<Vec<i8>>) {
    let mut seen = BTreeSet::new();
    columns.retain(|column| {
        let bytes: Vec<u8> = column.iter().map(|&value| value as u8).collect();
        column.iter().any(|value| *value != column[0]) && seen.insert(xxh3_64(&bytes))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn rule_about_cells_is_learnt() {
        // Objects that touch the border become 3.
        let inputs = [
            image(&["1....", "1..1.", "...1.", "....."]),
            image(&["...11", ".....", ".11..", "....."]),
            image(&["....", ".11.", "....", "..11"]),
        ];
        let outputs = [
            image(&["3....", "3..1.", "...1.", "....."]),
            image(&["...33", ".....", ".11..", "....."]),
        ];
        let task = CellTask::new(&inputs, &outputs, &[], (4, 4));
        let never = || false;
        let answers = task.solve(&mut Meter::new(1 << 40, &never));
        assert_eq!(answers[0].fits, 2);
        assert_eq!(answers[0].image, image(&["....", ".11.", "....", "..33"]));
    }
}
