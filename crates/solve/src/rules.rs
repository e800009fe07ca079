//! The method `rule`: rules about whole grids. A rule must hold for all training pairs.
//!
//! This module uses the colours of the task, not roles; no rule depends on particular colours.

use crate::image::Image;
use crate::op::repair::{by_period, by_symmetry};
use crate::op::shape::kron;

/// The answer of a rule: its output for the test input, and its name.
pub(crate) struct RuleAnswer {
    pub(crate) image: Image,
    pub(crate) name: String,
}

/// Returns the answers of all rules that hold for every pair. The last of `inputs` is the test
/// input.
pub(crate) fn rules(inputs: &[Image], outputs: &[Image]) -> Vec<RuleAnswer> {
    let mut found: Vec<RuleAnswer> = Vec::new();
    found.extend(recolor(inputs, outputs));
    found.extend(tiles(inputs, outputs));
    found.extend(copies(inputs, outputs));
    found.extend(repairs(inputs, outputs));
    found
}

/// Checks a rule on all training pairs and, if it holds, applies it to the test input.
fn check_rule(
    inputs: &[Image],
    outputs: &[Image],
    name: &str,
    rule: impl Fn(&Image) -> Option<Image>,
) -> Option<RuleAnswer> {
    let holds = inputs.iter().zip(outputs).all(|(input, output)| {
        rule(input).is_some_and(|made| made.size() == output.size() && made.cells == output.cells)
    });
    if !holds {
        return None;
    }
    let image = rule(inputs.last()?)?;
    Some(RuleAnswer {
        image,
        name: name.to_owned(),
    })
}

/// Replaces every colour with another one; the replacement is the same in all pairs.
fn recolor(inputs: &[Image], outputs: &[Image]) -> Option<RuleAnswer> {
    let mut map = [None; 10];
    for (input, output) in inputs.iter().zip(outputs) {
        if input.size() != output.size() {
            return None;
        }
        for (&from, &to) in input.cells.iter().zip(&output.cells) {
            if *map[usize::from(from)].get_or_insert(to) != to {
                return None;
            }
        }
    }
    // If colour a becomes b and b was never seen, b becomes a: the colours are swapped.
    for color in 0..10 {
        if map[color].is_none() {
            map[color] = (0..10)
                .find(|&other| map[other] == Some(color as u8) && other != color)
                .map(|other| other as u8);
        }
    }
    let image = inputs
        .last()?
        .map(|cell| map[usize::from(cell)].unwrap_or(cell));
    Some(RuleAnswer {
        image,
        name: "recolor".to_owned(),
    })
}

/// Builds the output from a grid of tiles. Each tile is either blank or a copy of the input,
/// mirrored or rotated in its own way.
fn tiles(inputs: &[Image], outputs: &[Image]) -> Option<RuleAnswer> {
    let (input, output) = (inputs.first()?, outputs.first()?);
    let (across, down) = (output.w / input.w, output.h / input.h);
    let even = |(input, output): (&Image, &Image)| {
        output.w == across * input.w && output.h == down * input.h
    };
    if across * down < 2 || !inputs.iter().zip(outputs).all(even) {
        return None;
    }
    let mut ways: Vec<u8> = Vec::new();
    for tile in 0..across * down {
        let (column, row) = (tile % across, tile / across);
        let fits = |way: &u8| {
            inputs.iter().zip(outputs).all(|(input, output)| {
                let part = output.part(column * input.w, row * input.h, input.w, input.h);
                if *way == 8 {
                    return part.cells.iter().all(|cell| *cell == part.cells[0])
                        && part.cells[0] == most_frequent_color(input);
                }
                let turned = input.symmetry(*way);
                turned.w == part.w && turned.cells == part.cells
            })
        };
        ways.push((0..9).find(fits)?);
    }
    check_rule(inputs, outputs, "tiles, each in its own way", |input| {
        let empty = most_frequent_color(input);
        let turned: Vec<Image> = (0..8).map(|way| input.symmetry(way)).collect();
        if ways
            .iter()
            .any(|way| *way < 8 && turned[usize::from(*way)].w != input.w)
        {
            return None;
        }
        Image::build(across * input.w, down * input.h, |x, y| {
            let way = usize::from(ways[y / input.h * across + x / input.w]);
            turned
                .get(way)
                .map_or(empty, |turned| turned.at(x % input.w, y % input.h))
        })
    })
}

fn most_frequent_color(image: &Image) -> u8 {
    let counts = image.histogram();
    (0..10_usize)
        .rev()
        .max_by_key(|&color| counts[color])
        .unwrap_or(0) as u8
}

/// Builds the output from a grid of tiles, one for each cell of the input. A tile is a copy of the
/// input if its cell has a certain colour, does not have a certain colour, or has the most or least
/// frequent colour.
fn copies(inputs: &[Image], outputs: &[Image]) -> Option<RuleAnswer> {
    if !inputs
        .iter()
        .zip(outputs)
        .all(|(input, output)| output.w == input.w * input.w && output.h == input.h * input.h)
    {
        return None;
    }
    let frequency = |input: &Image, color: u8| {
        let counts = input.histogram();
        let own = counts[usize::from(color)];
        let others = counts.iter().filter(|&&count| count > 0);
        (
            others.clone().max() == Some(&own),
            others.min() == Some(&own),
        )
    };
    // 0 selects the most frequent colour, 1 the least frequent, 2 to 11 cells of a colour, and 12
    // to 21 cells of all other colours.
    for choice in 0..22 {
        for ground in 0..10_u8 {
            let wanted = |input: &Image, cell: u8| match choice {
                0 => frequency(input, cell).0,
                1 => frequency(input, cell).1,
                color @ 2..12 => cell == color - 2,
                color => cell != color - 12,
            };
            let rule = |input: &Image| {
                Image::build(input.w * input.w, input.h * input.h, |x, y| {
                    if wanted(input, input.at(x / input.w, y / input.h)) {
                        input.at(x % input.w, y % input.h)
                    } else {
                        ground
                    }
                })
            };
            if let Some(answer) =
                check_rule(inputs, outputs, "a copy for each cell of a kind", rule)
            {
                return Some(answer);
            }
        }
    }
    check_rule(inputs, outputs, "a copy for each cell", |input| {
        kron(input, false)
    })
}

/// A function that completes an image.
type ImageFn<'a> = &'a dyn Fn(&Image) -> Option<Image>;

/// Restores the parts of a symmetric or periodic image that are covered by one colour. The output
/// is the whole image or only the covered part.
fn repairs(inputs: &[Image], outputs: &[Image]) -> Vec<RuleAnswer> {
    let mut found = Vec::new();
    for hidden in 0..10 {
        if !inputs.iter().all(|input| input.cells.contains(&hidden)) {
            continue;
        }
        let masked = |input: &Image| input.map(|cell| if cell == hidden { 0 } else { cell + 1 });
        let unmasked =
            |image: Image| (image.count() == image.cells.len()).then(|| image.map(|cell| cell - 1));
        let period = |input: &Image| unmasked(by_period(&masked(input))?);
        let symmetry = |input: &Image| unmasked(by_symmetry(&masked(input))?);
        let both = |input: &Image| {
            let half = by_symmetry(&masked(input))?;
            unmasked(by_period(&half).unwrap_or(half))
        };
        let crop = |input: &Image, whole: Image| {
            let (left, top, right, bottom) = input.map(|cell| u8::from(cell == hidden)).bounds()?;
            Some(whole.part(left, top, right - left, bottom - top))
        };
        let same = inputs
            .iter()
            .zip(outputs)
            .all(|(input, output)| input.size() == output.size());
        let methods: [(&str, ImageFn<'_>); 3] = [
            ("complete the symmetry", &symmetry),
            ("complete the period", &period),
            ("complete symmetry and period", &both),
        ];
        for (name, method) in methods {
            if same {
                found.extend(check_rule(inputs, outputs, name, method));
            } else {
                let name = format!("what is hidden: {name}");
                found.extend(check_rule(inputs, outputs, &name, |input| {
                    crop(input, method(input)?)
                }));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn colors_are_swapped() {
        let answers = rules(
            &[image(&["12", "21"]), image(&["22", "12"])],
            &[image(&["31", "13"])],
        );
        assert_eq!(answers[0].image, image(&["11", "31"]));
    }

    #[test]
    fn tiles_are_mirrored() {
        let answers = rules(
            &[image(&["12", "34"]), image(&["56", "78"])],
            &[image(&["1221", "3443"])],
        );
        assert_eq!(answers[0].image, image(&["5665", "7887"]));
    }

    #[test]
    fn copies_are_placed_by_color() {
        let inputs = [image(&["12", "22"]), image(&["21", "11"])];
        let outputs = [image(&["..12", "..22", "1212", "2222"])];
        assert!(
            rules(&inputs, &outputs)
                .iter()
                .any(|answer| answer.name.starts_with("a copy"))
        );
    }

    #[test]
    fn hidden_part_is_restored() {
        let inputs = [
            image(&["1212", "2921", "1912", "2121"]),
            image(&["3434", "4343", "3499", "4343"]),
        ];
        let outputs = [image(&["1", "2"])];
        let answers = rules(&inputs, &outputs);
        assert!(
            answers.iter().any(|answer| answer.image.cells == [3, 4]),
            "{}",
            answers.len()
        );
    }
}
