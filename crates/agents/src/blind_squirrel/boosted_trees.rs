//! The built-in value model: gradient-boosted trees of depth two.
//!
//! Stumps would add up, so the features of a frame could not change the order of its actions. Trees
//! with two splits can combine one feature of the frame with one of the action.

use super::features::{FEATURES, Features, features};
use super::value_model::{ActionFeatures, StateInput, ValueModel, ValueSample};

/// The number of trees.
const ROUNDS: usize = 60;
/// The factor with which each tree is added.
const LEARNING_RATE: f32 = 0.2;
/// The largest number of thresholds that are tried for each feature.
const MAX_THRESHOLDS: usize = 15;
/// The least number of samples in a leaf.
const MIN_LEAF: u32 = 2;

/// A value model that starts without trees. Each training replaces them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BoostedTrees {
    trained: Option<Ensemble>,
}

impl ValueModel for BoostedTrees {
    fn train(&mut self, samples: &[ValueSample]) {
        let samples: Vec<Sample> = samples
            .iter()
            .map(|sample| Sample {
                features: features(&sample.state.features, &sample.action),
                value: sample.value,
            })
            .collect();
        self.trained = Some(Ensemble::train(&samples));
    }

    fn values(&self, state: &StateInput, actions: &[ActionFeatures]) -> Option<Vec<f32>> {
        let ensemble = self.trained.as_ref()?;
        let value = |action| ensemble.value(&features(&state.features, action));
        Some(actions.iter().map(value).collect())
    }
}

/// A transition of a finished level with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) features: Features,
    pub(super) value: f32,
}

/// Trained trees. They estimate the progress of an action, from -1 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ensemble {
    mean: f32,
    trees: Vec<Tree>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tree {
    root: Split,
    /// The splits of the samples at or below, and above the threshold of the root.
    children: [Split; 2],
    /// The values of the leaves of each child.
    leaves: [[f32; 2]; 2],
}

/// Divides samples at a threshold. The threshold of a leaf is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Split {
    feature: usize,
    threshold: f32,
    /// The index of the threshold among those of the feature.
    bin: u8,
}

const LEAF: Split = Split {
    feature: 0,
    threshold: f32::INFINITY,
    bin: u8::MAX,
};

impl Split {
    fn side(self, features: &Features) -> usize {
        usize::from(features[self.feature] > self.threshold)
    }
}

impl Ensemble {
    /// Trains the trees. The work is proportional to the number of samples.
    pub(super) fn train(samples: &[Sample]) -> Self {
        let count = samples.len().max(1) as f32;
        let mean = samples.iter().map(|sample| sample.value).sum::<f32>() / count;
        let thresholds = thresholds(samples);
        let bins: Vec<[u8; FEATURES]> = samples
            .iter()
            .map(|sample| bins_of(&sample.features, &thresholds))
            .collect();
        let mut residuals: Vec<f32> = samples.iter().map(|sample| sample.value - mean).collect();
        let mut model = Self {
            mean,
            trees: Vec::with_capacity(ROUNDS),
        };
        let all: Vec<u32> = (0..samples.len() as u32).collect();
        for _ in 0..ROUNDS {
            let root = best_split(&all, &bins, &residuals, &thresholds);
            let (low, high) = partition(&all, &bins, root);
            let mut tree = Tree {
                root,
                children: [LEAF; 2],
                leaves: [[0.0; 2]; 2],
            };
            for (side, rows) in [low, high].into_iter().enumerate() {
                let split = best_split(&rows, &bins, &residuals, &thresholds);
                tree.children[side] = split;
                let (low, high) = partition(&rows, &bins, split);
                for (leaf, rows) in [low, high].into_iter().enumerate() {
                    let sum: f32 = rows.iter().map(|&row| residuals[row as usize]).sum();
                    let value = LEARNING_RATE * sum / rows.len().max(1) as f32;
                    tree.leaves[side][leaf] = value;
                    for row in rows {
                        residuals[row as usize] -= value;
                    }
                }
            }
            model.trees.push(tree);
        }
        model
    }

    /// Returns the estimated value of an action.
    pub(super) fn value(&self, features: &Features) -> f32 {
        let trees = self.trees.iter().map(|tree| {
            let side = tree.root.side(features);
            tree.leaves[side][tree.children[side].side(features)]
        });
        self.mean + trees.sum::<f32>()
    }
}

/// Returns thresholds between the values of each feature, at about equal shares of the samples.
fn thresholds(samples: &[Sample]) -> Vec<Vec<f32>> {
    (0..FEATURES)
        .map(|feature| {
            let mut values: Vec<f32> = samples
                .iter()
                .map(|sample| sample.features[feature])
                .collect();
            values.sort_by(f32::total_cmp);
            let mut found: Vec<f32> = if values.len() <= 1 {
                Vec::new()
            } else {
                let position = |step: usize| step * (values.len() - 1) / (MAX_THRESHOLDS + 1);
                (0..=MAX_THRESHOLDS)
                    .map(|step| values[position(step)])
                    .collect()
            };
            found.dedup();
            let last = values.last().copied();
            found.retain(|&threshold| Some(threshold) < last);
            found
        })
        .collect()
}

/// Returns, for each feature, the number of thresholds below its value.
fn bins_of(features: &Features, thresholds: &[Vec<f32>]) -> [u8; FEATURES] {
    std::array::from_fn(|feature| {
        let below = |threshold: &f32| *threshold < features[feature];
        thresholds[feature].partition_point(below) as u8
    })
}

/// Returns the split that reduces the squared error the most; of several, the first.
fn best_split(
    rows: &[u32],
    bins: &[[u8; FEATURES]],
    residuals: &[f32],
    thresholds: &[Vec<f32>],
) -> Split {
    let mut sums = [[(0_u32, 0.0_f32); MAX_THRESHOLDS + 2]; FEATURES];
    for &row in rows {
        let residual = residuals[row as usize];
        for (sums, &bin) in sums.iter_mut().zip(&bins[row as usize]) {
            sums[usize::from(bin)].0 += 1;
            sums[usize::from(bin)].1 += residual;
        }
    }
    let total: f32 = rows.iter().map(|&row| residuals[row as usize]).sum();
    let count = rows.len() as u32;
    let mut best = (total * total / count.max(1) as f32 + 1e-6, LEAF);
    for feature in 0..FEATURES {
        let (mut low_count, mut low_sum) = (0, 0.0);
        for (bin, &threshold) in thresholds[feature].iter().enumerate() {
            low_count += sums[feature][bin].0;
            low_sum += sums[feature][bin].1;
            let high_count = count - low_count;
            if low_count < MIN_LEAF || high_count < MIN_LEAF {
                continue;
            }
            let high_sum = total - low_sum;
            let gain =
                low_sum * low_sum / low_count as f32 + high_sum * high_sum / high_count as f32;
            if gain > best.0 {
                let bin = bin as u8;
                best = (
                    gain,
                    Split {
                        feature,
                        threshold,
                        bin,
                    },
                );
            }
        }
    }
    best.1
}

fn partition(rows: &[u32], bins: &[[u8; FEATURES]], split: Split) -> (Vec<u32>, Vec<u32>) {
    rows.iter()
        .partition(|&&row| bins[row as usize][split.feature] <= split.bin)
}
