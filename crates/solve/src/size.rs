//! Predicts the size of the test output.
//!
//! The sizes of all images that short programs produce, and a few counts, are compared with the
//! sizes of the training outputs. For width and height separately, the linear rules that fit the
//! most pairs, and among these the simplest, predict the size of the test output.

use crate::graph::Graph;
use crate::image::{Image, Value};
use crate::op::region::{Connectivity, regions};

/// One number per pair, with that of the test last, and the complexity of the program or count that
/// produces it (`cost`).
struct Measurement {
    values: Vec<i32>,
    cost: i32,
}

/// Returns the `limit` most likely sizes of the test output, the most likely first.
pub(crate) fn predict(
    graph: &Graph,
    inputs: &[Image],
    outputs: &[Image],
    limit: usize,
) -> Vec<(usize, usize)> {
    let (mut across, mut down) = (counts(inputs), counts(inputs));
    for measurements in [&mut across, &mut down] {
        // All values are 0, so the rule `a * value + b` predicts a constant size.
        measurements.push(Measurement {
            values: vec![0; inputs.len()],
            cost: 3,
        });
    }
    for node in 0..graph.len() as u32 {
        let cost = 4 * i32::from(graph.depth(node));
        let (mut widths, mut heights) = (Vec::new(), Vec::new());
        for pair in 0..inputs.len() {
            match graph.value(node, pair) {
                Value::One(image) => {
                    widths.push(image.w as i32);
                    heights.push(image.h as i32);
                }
                Value::Many(list) => {
                    widths.push(list.len() as i32);
                    heights.push(list.len() as i32);
                }
            }
        }
        add_measurement(
            &mut across,
            Measurement {
                values: widths.clone(),
                cost,
            },
        );
        add_measurement(
            &mut down,
            Measurement {
                values: heights.clone(),
                cost,
            },
        );
        add_measurement(
            &mut across,
            Measurement {
                values: heights,
                cost: cost + 2,
            },
        );
        add_measurement(
            &mut down,
            Measurement {
                values: widths,
                cost: cost + 2,
            },
        );
    }
    let fit = |measurements: &[Measurement], side: &dyn Fn(&Image) -> usize| {
        let wanted: Vec<i32> = outputs.iter().map(|output| side(output) as i32).collect();
        best_values(measurements, &wanted, limit)
    };
    let (widths, heights) = (fit(&across, &|image| image.w), fit(&down, &|image| image.h));
    let mut sizes: Vec<(i32, usize, usize)> = widths
        .iter()
        .flat_map(|&(one, w)| heights.iter().map(move |&(other, h)| (one + other, w, h)))
        .collect();
    sizes.sort_by_key(|(cost, _, _)| *cost);
    sizes.truncate(limit);
    sizes.into_iter().map(|(_, w, h)| (w, h)).collect()
}

fn add_measurement(measurements: &mut Vec<Measurement>, new: Measurement) {
    match measurements.iter().position(|old| old.values == new.values) {
        Some(old) => measurements[old].cost = measurements[old].cost.min(new.cost),
        None if measurements.len() < 600 => measurements.push(new),
        None => {}
    }
}

/// Returns up to `limit` values for the test with their costs. Each value comes from a rule `a *
/// measurement + b`. Rules that fit more pairs come first, and of those that fit equally many, the
/// simpler ones.
fn best_values(measurements: &[Measurement], wanted: &[i32], limit: usize) -> Vec<(i32, usize)> {
    let mut found: Vec<(usize, i32, i32)> = Vec::new();
    for measurement in measurements {
        let constant = measurement.values.iter().all(|value| *value == 0);
        for a in if constant { 0..1 } else { 1..6 } {
            let first = wanted[0] - a * measurement.values[0];
            let offsets = if constant { first..first + 1 } else { -3..4 };
            for b in offsets {
                let value = a * measurement.values[wanted.len()] + b;
                let fits = wanted
                    .iter()
                    .zip(&measurement.values)
                    .filter(|(wanted, value)| **wanted == a * **value + b)
                    .count();
                if fits == 0 || !(1..=30).contains(&value) {
                    continue;
                }
                let cost =
                    measurement.cost + 2 * (a - 1).max(0) + if constant { 0 } else { 3 * b.abs() };
                found.push((fits, cost, value));
            }
        }
    }
    found.sort_by_key(|(fits, cost, _)| (std::cmp::Reverse(*fits), *cost));
    let mut values: Vec<(i32, usize)> = Vec::new();
    for (fits, cost, value) in found {
        let cost = cost + 100 * (wanted.len() - fits) as i32;
        if values.len() < limit && values.iter().all(|(_, other)| *other != value as usize) {
            values.push((cost, value as usize));
        }
    }
    values
}

/// A function that computes a number from an image.
type ImageStat<'a> = &'a dyn Fn(&Image) -> usize;

/// Measures the inputs in other ways than by size: counts of colours, objects and cells, and their
/// products with the sides.
fn counts(inputs: &[Image]) -> Vec<Measurement> {
    let numbers: [(ImageStat<'_>, i32); 6] = [
        (&|image| image.colors(), 4),
        (&|image| regions(image, Connectivity::Any8).count, 5),
        (&|image| regions(image, Connectivity::Color4).count, 5),
        (&|image| image.count(), 6),
        (&|image| image.w * image.h - image.count(), 7),
        (&|image| image.w.max(image.h), 5),
    ];
    let mut measurements = Vec::new();
    for (number, cost) in numbers {
        let values: Vec<i32> = inputs.iter().map(|image| number(image) as i32).collect();
        for (side, more) in [
            (&(|image: &Image| image.w) as ImageStat<'_>, 3),
            (&|image: &Image| image.h, 3),
        ] {
            let products = inputs
                .iter()
                .zip(&values)
                .map(|(image, value)| side(image) as i32 * value)
                .collect();
            measurements.push(Measurement {
                values: products,
                cost: cost + more,
            });
        }
        measurements.push(Measurement { values, cost });
    }
    for (values, cost) in [
        (
            inputs
                .iter()
                .map(|image| (image.w * image.w) as i32)
                .collect(),
            5,
        ),
        (
            inputs
                .iter()
                .map(|image| (image.h * image.h) as i32)
                .collect(),
            5,
        ),
    ] {
        measurements.push(Measurement { values, cost });
    }
    measurements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Language;
    use crate::image::image;
    use crate::meter::Meter;
    use crate::op::{Op, PairContext};

    #[test]
    fn output_size_is_predicted() {
        let inputs = [
            image(&["1..", "..."]),
            image(&["22....", "......"]),
            image(&["333.", "...."]),
        ];
        let contexts = inputs.clone().map(|input| PairContext {
            input: input.size(),
            target: (1, 1),
            max_cells: 100,
        });
        let predicted = |outputs: &[Image]| {
            let mut language = Language::new();
            language.add(true, &[Op::Crop]);
            let mut graph = Graph::new(language, &contexts, 10_000);
            graph.add_root("input", 0, inputs.to_vec());
            let never = || false;
            graph.expand(1, &mut Meter::new(100_000, &never));
            predict(&graph, &inputs, outputs, 1)[0]
        };
        let sized = |w, h| Image::filled(w, h, 1);
        assert_eq!(predicted(&[sized(3, 2), sized(6, 2)]), (4, 2));
        assert_eq!(predicted(&[sized(2, 2), sized(4, 2)]), (6, 2));
        assert_eq!(predicted(&[sized(5, 5), sized(5, 5)]), (5, 5));
        assert_eq!(predicted(&[sized(7, 3), sized(13, 3)]), (9, 3));
    }
}
