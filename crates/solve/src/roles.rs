//! Roles of colours: each pair's colours are renamed so that the same number plays the same part in all pairs.
//!
//! 0 becomes the ground. Colours whose identity matters (in every output, or in every input and in no output) keep one number for all
//! pairs; the others are numbered by what tells them apart in each input: how many cells, which place. No colour is special by its
//! own number, so a task with its colours permuted has the same roles.

use rhae_tasks::Grid;

use crate::image::Image;
use crate::op::region::{Join, regions};

/// A task's colours renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    /// For each pair, the tests last, the role of each colour.
    maps: Vec<[u8; 10]>,
    /// The roles of colours that outputs have and their inputs do not: each means the same colour in all pairs.
    new: Vec<(u8, u8)>,
    /// The number of roles, the ground included.
    count: u8,
}

/// A task in roles.
pub(crate) struct Renamed<'a> {
    roles: &'a Roles,
    inputs: &'a [Image],
    /// The inputs in roles, the test's last.
    pub(crate) before: Vec<Image>,
    /// The training outputs in roles.
    pub(crate) after: Vec<Image>,
}

impl<'a> Renamed<'a> {
    pub(crate) fn new(inputs: &'a [Image], outputs: &[Image], roles: &'a Roles) -> Self {
        let rename = |(pair, image): (usize, &Image)| roles.apply(pair, image);
        let before = inputs.iter().enumerate().map(rename).collect();
        let after = outputs.iter().enumerate().map(rename).collect();
        Self {
            roles,
            inputs,
            before,
            after,
        }
    }

    /// An image of the test as a grid in the task's colours.
    pub(crate) fn grid(&self, image: &Image) -> Option<Grid> {
        self.roles.undo(self.inputs, image).to_grid()
    }

    /// Whether inputs and outputs have the same sizes.
    pub(crate) fn keeps_sizes(&self) -> bool {
        self.before
            .iter()
            .zip(&self.after)
            .all(|(input, output)| input.size() == output.size())
    }
}

/// Images count sixteen colours.
const HIGHEST_ROLE: usize = 15;

/// How colours without an identity are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Most,
    Least,
    Widest,
    Narrowest,
    Leftmost,
    Rightmost,
    Topmost,
    Lowest,
    MostParts,
    FewestParts,
}

const ORDERS: [Order; 10] = [
    Order::Most,
    Order::Least,
    Order::Widest,
    Order::Narrowest,
    Order::MostParts,
    Order::FewestParts,
    Order::Leftmost,
    Order::Topmost,
    Order::Rightmost,
    Order::Lowest,
];

impl Roles {
    /// The sensible ways to rename the colours, the most consistent first. `inputs` has the test's input last.
    pub(crate) fn variants(inputs: &[Image], outputs: &[Image]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for ground in grounds(inputs, outputs) {
            let fixed = fixed(inputs, outputs, ground);
            let mut scored: Vec<(i32, Self)> = Vec::new();
            for order in ORDERS {
                let (roles, ties) = Self::ordered(inputs, outputs, ground, &fixed, order);
                let score = roles.consistency(inputs, outputs) * 4 - ties;
                if scored.iter().all(|(_, other)| *other != roles) {
                    scored.push((score, roles));
                }
            }
            // The sort is stable: on a tie the earlier order stays first.
            scored.sort_by_key(|(score, _)| -score);
            for (_, roles) in scored.into_iter().take(3) {
                if !found.contains(&roles) {
                    found.push(roles);
                }
            }
        }
        // The best of every ground before the second best of any.
        found
    }

    /// Colours renamed by one order, and how often the order does not tell two colours apart.
    fn ordered(
        inputs: &[Image],
        outputs: &[Image],
        ground: Option<u8>,
        fixed: &[u8],
        order: Order,
    ) -> (Self, i32) {
        let mut maps = Vec::new();
        let mut ties = 0;
        let has_role = |color: u8| Some(color) == ground || fixed.contains(&color);
        let free = |image: &Image| -> Vec<u8> {
            let counts = image.histogram();
            (0..10_u8)
                .filter(|&color| !has_role(color) && counts[usize::from(color)] > 0)
                .collect()
        };
        let most_free = inputs
            .iter()
            .map(|input| free(input).len())
            .max()
            .unwrap_or(0);
        let base = 1 + fixed.len() + most_free;
        let is_new = |color: u8| {
            inputs.iter().zip(outputs).any(|(input, output)| {
                output.cells.contains(&color) && !input.cells.contains(&color)
            })
        };
        let new: Vec<(u8, u8)> = (0..10_u8)
            .filter(|&color| !has_role(color) && is_new(color))
            .enumerate()
            .map(|(index, color)| ((base + index).min(HIGHEST_ROLE) as u8, color))
            .collect();
        for input in inputs {
            let mut map = [u8::MAX; 10];
            let ground = ground.unwrap_or_else(|| most_frequent(input));
            map[usize::from(ground)] = 0;
            let mut next = 1;
            for &color in fixed {
                if color != ground {
                    map[usize::from(color)] = next;
                }
                next += 1;
            }
            let mut colors: Vec<([i32; 3], u8)> = free(input)
                .into_iter()
                .filter(|&color| map[usize::from(color)] == u8::MAX)
                .map(|color| (order.key(input, color), color))
                .collect();
            colors.sort_by_key(|(key, _)| *key);
            ties += colors
                .windows(2)
                .filter(|two| two[0].0[0] == two[1].0[0])
                .count() as i32;
            for (_, color) in colors {
                map[usize::from(color)] = next;
                next += 1;
            }
            for &(role, color) in &new {
                if map[usize::from(color)] == u8::MAX {
                    map[usize::from(color)] = role;
                }
            }
            // What is in no grid of the pair needs no role.
            maps.push(map);
        }
        let count = (base + new.len()).min(HIGHEST_ROLE + 1) as u8;
        (Self { maps, new, count }, ties)
    }

    /// How much the pairs agree about which roles an output has.
    fn consistency(&self, inputs: &[Image], outputs: &[Image]) -> i32 {
        let mut score = 0;
        for role in 0..self.count {
            let (mut present, mut absent) = (0, 0);
            for (pair, output) in outputs.iter().enumerate() {
                let color = self.maps[pair]
                    .iter()
                    .position(|&other| other == role)
                    .map_or(u8::MAX, |color| color as u8);
                if inputs[pair].cells.contains(&color) {
                    if output.cells.contains(&color) {
                        present += 1
                    } else {
                        absent += 1
                    }
                }
            }
            score += i32::abs(present - absent);
        }
        score
    }

    /// An image of a pair in roles.
    fn apply(&self, pair: usize, image: &Image) -> Image {
        image.map(|cell| self.maps[pair][usize::from(cell)])
    }

    /// An image of the test back in colours. A role that the test's input does not have gets the colour it has in the first pair that
    /// has it.
    fn undo(&self, inputs: &[Image], image: &Image) -> Image {
        let last = self.maps.len() - 1;
        let color_of = |role: u8| {
            if let Some((_, color)) = self.new.iter().find(|(new, _)| *new == role) {
                return *color;
            }
            let of = |pair: usize| {
                self.maps[pair]
                    .iter()
                    .position(|&other| other == role)
                    .unwrap_or(0) as u8
            };
            let own = of(last);
            if inputs[last].cells.contains(&own) {
                own
            } else {
                of(0)
            }
        };
        image.map(color_of)
    }
}

/// The colours that may be ground, the best first; `None` is the most frequent colour of each input.
fn grounds(inputs: &[Image], outputs: &[Image]) -> Vec<Option<u8>> {
    let everywhere = |color: &u8| inputs.iter().all(|input| input.cells.contains(color));
    let share = |color: u8| -> usize {
        let part = |image: &Image| image.histogram()[usize::from(color)] * 1000 / image.cells.len();
        inputs.iter().map(part).sum::<usize>() * 2 / inputs.len()
            + outputs.iter().map(part).sum::<usize>() / outputs.len().max(1)
    };
    let mut common: Vec<u8> = (0..10).filter(everywhere).collect();
    common.sort_by_key(|&color| std::cmp::Reverse(share(color)));
    let mut grounds: Vec<Option<u8>> = common
        .first()
        .map(|&color| Some(color))
        .into_iter()
        .collect();
    let per_pair = inputs.iter().map(most_frequent).collect::<Vec<u8>>();
    if per_pair.iter().any(|&color| color != per_pair[0]) {
        grounds.push(None);
    }
    // What is replaced everywhere can be the ground that a picture is repaired on.
    let vanishing = common
        .iter()
        .copied()
        .find(|color| outputs.iter().all(|output| !output.cells.contains(color)));
    if let Some(color) = vanishing
        && !grounds.contains(&Some(color))
    {
        grounds.push(Some(color));
    }
    if let Some(&second) = common.get(1)
        && share(second) > 300
        && !grounds.contains(&Some(second))
    {
        grounds.push(Some(second));
    }
    if grounds.is_empty() {
        grounds.push(None);
    }
    grounds
}

fn most_frequent(image: &Image) -> u8 {
    let counts = image.histogram();
    (0..10_usize)
        .rev()
        .max_by_key(|&color| counts[color])
        .unwrap_or(0) as u8
}

/// Colours that have an identity.
fn fixed(inputs: &[Image], outputs: &[Image], ground: Option<u8>) -> Vec<u8> {
    let in_outputs = |color: u8| {
        outputs
            .iter()
            .filter(|output| output.cells.contains(&color))
            .count()
    };
    let in_inputs = |color: u8| {
        inputs
            .iter()
            .filter(|input| input.cells.contains(&color))
            .count()
    };
    let fixed = |color: &u8| {
        let (before, after) = (in_inputs(*color), in_outputs(*color));
        Some(*color) != ground && (after == outputs.len() || (before == inputs.len() && after == 0))
    };
    (0..10).filter(fixed).collect()
}

impl Order {
    /// What colours are sorted by, then what breaks ties.
    fn key(self, image: &Image, color: u8) -> [i32; 3] {
        let alone = image.map(|cell| u8::from(cell == color));
        let (left, top, right, bottom) = alone.bounds().unwrap_or((0, 0, 0, 0));
        let count = alone.count() as i32;
        let area = ((right - left) * (bottom - top)) as i32;
        let first = match self {
            Self::Most => -count,
            Self::Least => count,
            Self::Widest => -area,
            Self::Narrowest => area,
            Self::Leftmost => left as i32,
            Self::Rightmost => -(right as i32),
            Self::Topmost => top as i32,
            Self::Lowest => -(bottom as i32),
            Self::MostParts => -(regions(&alone, Join::Color8).count as i32),
            Self::FewestParts => regions(&alone, Join::Color8).count as i32,
        };
        [first, -count, -area]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn the_same_part_gets_the_same_number() {
        let inputs = [
            image(&["11.2", "1..5"]),
            image(&["33.4", "3..5"]),
            image(&["66.7", "...5"]),
        ];
        let outputs = [image(&["5555", "...2"]), image(&["5555", "...4"])];
        let roles = &Roles::variants(&inputs, &outputs)[0];
        assert_eq!(roles.apply(0, &inputs[0]), image(&["22.3", "2..1"]));
        assert_eq!(roles.apply(1, &outputs[1]), image(&["1111", "...3"]));
        let test = roles.apply(2, &inputs[2]);
        assert_eq!(test, image(&["22.3", "...1"]));
        assert_eq!(roles.undo(&inputs, &test), inputs[2]);
    }

    #[test]
    fn new_colors_keep_their_identity() {
        let inputs = [
            image(&["1.1", "..."]),
            image(&["11.", "..."]),
            image(&["1..", "..1"]),
        ];
        let outputs = [image(&["2.2", "..."]), image(&["33.", "..."])];
        let roles = &Roles::variants(&inputs, &outputs)[0];
        let (one, other) = (roles.apply(0, &outputs[0]), roles.apply(1, &outputs[1]));
        assert_ne!(one.majority(), other.majority());
        assert_eq!(roles.undo(&inputs, &one), outputs[0]);
        assert_eq!(roles.undo(&inputs, &other), outputs[1]);
    }

    #[test]
    fn any_color_can_be_the_ground() {
        let inputs = [image(&["777", "717"]), image(&["777", "177"])];
        let outputs = [image(&["777", "727"])];
        let roles = &Roles::variants(&inputs, &outputs)[0];
        assert_eq!(roles.apply(0, &inputs[0]).count(), 1);
    }
}
