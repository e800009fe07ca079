//! The size of the output, predicted before it is made.
//!
//! The sizes of all images that short programs reach, and a few counts, are compared with the sizes of the training outputs: the simplest
//! linear rule that fits all of them, each side on its own, gives the size for the test.

use crate::graph::Graph;
use crate::image::{Image, Value};
use crate::op::region::{Join, regions};

/// A number of each pair, the test last, with how complicated it is to get.
struct Measure {
    values: Vec<i32>,
    cost: i32,
}

/// The most likely sizes of the test's output, at most `most`.
pub(crate) fn predict(
    graph: &Graph,
    inputs: &[Image],
    outputs: &[Image],
    most: usize,
) -> Vec<(usize, usize)> {
    let (mut across, mut down) = (counts(inputs), counts(inputs));
    for measures in [&mut across, &mut down] {
        // A constant is a measure like any other.
        measures.push(Measure {
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
        add(
            &mut across,
            Measure {
                values: widths.clone(),
                cost,
            },
        );
        add(
            &mut down,
            Measure {
                values: heights.clone(),
                cost,
            },
        );
        add(
            &mut across,
            Measure {
                values: heights,
                cost: cost + 2,
            },
        );
        add(
            &mut down,
            Measure {
                values: widths,
                cost: cost + 2,
            },
        );
    }
    let fit = |measures: &[Measure], side: &dyn Fn(&Image) -> usize| {
        let wanted: Vec<i32> = outputs.iter().map(|output| side(output) as i32).collect();
        best(measures, &wanted, most)
    };
    let (widths, heights) = (fit(&across, &|image| image.w), fit(&down, &|image| image.h));
    let mut sizes: Vec<(i32, usize, usize)> = widths
        .iter()
        .flat_map(|&(one, w)| heights.iter().map(move |&(other, h)| (one + other, w, h)))
        .collect();
    sizes.sort_by_key(|(cost, _, _)| *cost);
    sizes.truncate(most);
    sizes.into_iter().map(|(_, w, h)| (w, h)).collect()
}

fn add(measures: &mut Vec<Measure>, new: Measure) {
    match measures.iter().position(|old| old.values == new.values) {
        Some(old) => measures[old].cost = measures[old].cost.min(new.cost),
        None if measures.len() < 600 => measures.push(new),
        None => {}
    }
}

/// The values for the test of the simplest rules `a * measure + b` that fit all, or most, of what is wanted.
fn best(measures: &[Measure], wanted: &[i32], most: usize) -> Vec<(i32, usize)> {
    let mut found: Vec<(usize, i32, i32)> = Vec::new();
    for measure in measures {
        let constant = measure.values.iter().all(|value| *value == 0);
        for a in if constant { 0..1 } else { 1..6 } {
            let first = wanted[0] - a * measure.values[0];
            let offsets = if constant { first..first + 1 } else { -3..4 };
            for b in offsets {
                let value = a * measure.values[wanted.len()] + b;
                let fits = wanted
                    .iter()
                    .zip(&measure.values)
                    .filter(|(wanted, value)| **wanted == a * **value + b)
                    .count();
                if fits == 0 || !(1..=30).contains(&value) {
                    continue;
                }
                let cost =
                    measure.cost + 2 * (a - 1).max(0) + if constant { 0 } else { 3 * b.abs() };
                found.push((fits, cost, value));
            }
        }
    }
    found.sort_by_key(|(fits, cost, _)| (std::cmp::Reverse(*fits), *cost));
    let mut values: Vec<(i32, usize)> = Vec::new();
    for (fits, cost, value) in found {
        let cost = cost + 100 * (wanted.len() - fits) as i32;
        if values.len() < most && values.iter().all(|(_, other)| *other != value as usize) {
            values.push((cost, value as usize));
        }
    }
    values
}

/// A number of an image.
type Number<'a> = &'a dyn Fn(&Image) -> usize;

/// Numbers of an input that sizes are made of, beside sizes: colours, objects, cells; and their products with the sides.
fn counts(inputs: &[Image]) -> Vec<Measure> {
    let numbers: [(Number<'_>, i32); 6] = [
        (&|image| image.colors(), 4),
        (&|image| regions(image, Join::Any8).count, 5),
        (&|image| regions(image, Join::Color4).count, 5),
        (&|image| image.count(), 6),
        (&|image| image.w * image.h - image.count(), 7),
        (&|image| image.w.max(image.h), 5),
    ];
    let mut measures = Vec::new();
    for (number, cost) in numbers {
        let values: Vec<i32> = inputs.iter().map(|image| number(image) as i32).collect();
        for (side, more) in [
            (&(|image: &Image| image.w) as Number<'_>, 3),
            (&|image: &Image| image.h, 3),
        ] {
            let products = inputs
                .iter()
                .zip(&values)
                .map(|(image, value)| side(image) as i32 * value)
                .collect();
            measures.push(Measure {
                values: products,
                cost: cost + more,
            });
        }
        measures.push(Measure { values, cost });
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
        measures.push(Measure { values, cost });
    }
    measures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Language;
    use crate::image::image;
    use crate::meter::Meter;
    use crate::op::{Frame, Op};

    #[test]
    fn sizes_follow_rules() {
        let inputs = [
            image(&["1..", "..."]),
            image(&["22....", "......"]),
            image(&["333.", "...."]),
        ];
        let frames = inputs.clone().map(|input| Frame {
            input: input.size(),
            target: (1, 1),
            most_cells: 100,
        });
        let predicted = |outputs: &[Image]| {
            let mut language = Language::new();
            language.add(true, &[Op::Crop]);
            let mut graph = Graph::new(language, &frames, 10_000);
            graph.add_root("input", 0, inputs.to_vec());
            let never = || false;
            graph.grow(1, &mut Meter::new(100_000, &never));
            predict(&graph, &inputs, outputs, 1)[0]
        };
        let sized = |w, h| Image::filled(w, h, 1);
        assert_eq!(predicted(&[sized(3, 2), sized(6, 2)]), (4, 2));
        assert_eq!(predicted(&[sized(2, 2), sized(4, 2)]), (6, 2));
        assert_eq!(predicted(&[sized(5, 5), sized(5, 5)]), (5, 5));
        assert_eq!(predicted(&[sized(7, 3), sized(13, 3)]), (9, 3));
    }
}
