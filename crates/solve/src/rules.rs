//! The method `rule`: rules about whole grids, each checked against all pairs; a rule that fails in one pair is no rule.
//!
//! Here colours are the task's own: no rule cares which they are.

use crate::image::Image;
use crate::op::repair::{by_period, by_symmetry};
use crate::op::shape::kron;

/// What a rule makes of the test's input, and how it is called.
pub(crate) struct RuleAnswer {
    pub(crate) image: Image,
    pub(crate) name: String,
}

/// All rules that hold for every pair. `inputs` has the test's input last.
pub(crate) fn rules(inputs: &[Image], outputs: &[Image]) -> Vec<RuleAnswer> {
    let mut found: Vec<RuleAnswer> = Vec::new();
    found.extend(recolor(inputs, outputs));
    found.extend(tiles(inputs, outputs));
    found.extend(copies(inputs, outputs));
    found.extend(repairs(inputs, outputs));
    found
}

/// Applies a rule to all pairs, and to the test if it holds.
fn check(
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

/// Every colour becomes one other, the same in all pairs.
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
    // Pairs of colours that only change places tell what an unseen partner becomes.
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

/// The output is made of copies of the input, each turned or mirrored in its own way, or empty.
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
                        && part.cells[0] == blank(input);
                }
                let turned = input.symmetry(*way);
                turned.w == part.w && turned.cells == part.cells
            })
        };
        ways.push((0..9).find(fits)?);
    }
    check(inputs, outputs, "tiles, each in its own way", |input| {
        let empty = blank(input);
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

/// The most frequent colour.
fn blank(image: &Image) -> u8 {
    let counts = image.histogram();
    (0..10_usize)
        .rev()
        .max_by_key(|&color| counts[color])
        .unwrap_or(0) as u8
}

/// For each cell of the input a copy of it, where the cell has a certain colour or is most or least frequent.
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
    // Wanted by colour, by being most frequent, by being least frequent; copied as it is or with its cells exchanged.
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
            if let Some(answer) = check(inputs, outputs, "a copy for each cell of a kind", rule) {
                return Some(answer);
            }
        }
    }
    check(inputs, outputs, "a copy for each cell", |input| {
        kron(input, false)
    })
}

/// Makes an image of an input, or nothing.
type Maker<'a> = &'a dyn Fn(&Image) -> Option<Image>;

/// A colour hides parts of a regular picture: the whole picture, or what is hidden.
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
        let makers: [(&str, Maker<'_>); 3] = [
            ("complete the symmetry", &symmetry),
            ("complete the period", &period),
            ("complete symmetry and period", &both),
        ];
        for (name, maker) in makers {
            if same {
                found.extend(check(inputs, outputs, name, maker));
            } else {
                let name = format!("what is hidden: {name}");
                found.extend(check(inputs, outputs, &name, |input| {
                    crop(input, maker(input)?)
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
    fn colors_change_places() {
        let answers = rules(
            &[image(&["12", "21"]), image(&["22", "12"])],
            &[image(&["31", "13"])],
        );
        assert_eq!(answers[0].image, image(&["11", "31"]));
    }

    #[test]
    fn tiles_are_turned() {
        let answers = rules(
            &[image(&["12", "34"]), image(&["56", "78"])],
            &[image(&["1221", "3443"])],
        );
        assert_eq!(answers[0].image, image(&["5665", "7887"]));
    }

    #[test]
    fn copies_follow_a_color() {
        let inputs = [image(&["12", "22"]), image(&["21", "11"])];
        let outputs = [image(&["..12", "..22", "1212", "2222"])];
        assert!(
            rules(&inputs, &outputs)
                .iter()
                .any(|answer| answer.name.starts_with("a copy"))
        );
    }

    #[test]
    fn hidden_parts_are_found() {
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
