//! Roles of colours: the colours of each pair are mapped to roles, so that a role has the same
//! meaning in all pairs.
//!
//! Role 0 is the ground. Colours whose identity matters (they occur in every output, or in every
//! input and in no output) have the same role in all pairs. The other colours are numbered by a
//! criterion that distinguishes them in each input, such as the number of cells or the position. No
//! particular colour is treated specially, so permuting the colours of a task does not change the
//! roles.

use rhae_tasks::Grid;

use crate::image::Image;
use crate::op::region::{Connectivity, regions};

/// An assignment of colours to roles for each pair of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    /// For each pair, the test last, the role of each colour.
    maps: Vec<[u8; 10]>,
    /// The roles, with their colours, that occur in an output but not in its input. Such a role
    /// stands for the same colour in all pairs.
    new: Vec<(u8, u8)>,
    /// The number of roles, including the ground.
    count: u8,
}

/// A task whose colours are replaced by roles.
pub(crate) struct RoleTask<'a> {
    roles: &'a Roles,
    inputs: &'a [Image],
    /// The inputs in roles; the test input is last.
    pub(crate) before: Vec<Image>,
    /// The training outputs in roles.
    pub(crate) after: Vec<Image>,
}

impl<'a> RoleTask<'a> {
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

    /// Converts an image of the test output back to a grid in the colours of the task. Returns
    /// `None` if the image is not a valid grid.
    pub(crate) fn grid(&self, image: &Image) -> Option<Grid> {
        self.roles.undo(self.inputs, image).to_grid()
    }

    /// Returns whether all training outputs have the size of their inputs.
    pub(crate) fn keeps_sizes(&self) -> bool {
        self.before
            .iter()
            .zip(&self.after)
            .all(|(input, output)| input.size() == output.size())
    }
}

/// The highest role; images support sixteen colours.
const MAX_ROLE: usize = 15;

/// The criterion by which colours without a fixed role are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColorOrder {
    MostCells,
    FewestCells,
    LargestBox,
    SmallestBox,
    Leftmost,
    Rightmost,
    Topmost,
    Lowest,
    MostParts,
    FewestParts,
}

const COLOR_ORDERS: [ColorOrder; 10] = [
    ColorOrder::MostCells,
    ColorOrder::FewestCells,
    ColorOrder::LargestBox,
    ColorOrder::SmallestBox,
    ColorOrder::MostParts,
    ColorOrder::FewestParts,
    ColorOrder::Leftmost,
    ColorOrder::Topmost,
    ColorOrder::Rightmost,
    ColorOrder::Lowest,
];

impl Roles {
    /// Returns the plausible assignments, grouped by ground colour and within a group the most
    /// consistent first. The last of `inputs` is the test input.
    pub(crate) fn variants(inputs: &[Image], outputs: &[Image]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for ground in ground_candidates(inputs, outputs) {
            let fixed = fixed_colors(inputs, outputs, ground);
            let mut scored: Vec<(i32, Self)> = Vec::new();
            for order in COLOR_ORDERS {
                let (roles, ties) = Self::ordered(inputs, outputs, ground, &fixed, order);
                let score = roles.consistency(inputs, outputs) * 4 - ties;
                if scored.iter().all(|(_, other)| *other != roles) {
                    scored.push((score, roles));
                }
            }
            // The sort is stable, so on a tie the assignment of the earlier colour order stays
            // first.
            scored.sort_by_key(|(score, _)| -score);
            for (_, roles) in scored.into_iter().take(3) {
                if !found.contains(&roles) {
                    found.push(roles);
                }
            }
        }
        found
    }

    /// Assigns roles by one order. Returns the assignment and the number of ties between colours.
    fn ordered(
        inputs: &[Image],
        outputs: &[Image],
        ground: Option<u8>,
        fixed: &[u8],
        order: ColorOrder,
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
            .map(|(index, color)| ((base + index).min(MAX_ROLE) as u8, color))
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
            // Colours that do not occur in the pair need no role.
            maps.push(map);
        }
        let count = (base + new.len()).min(MAX_ROLE + 1) as u8;
        (Self { maps, new, count }, ties)
    }

    /// Measures how consistently each role is present in, or absent from, the outputs of all pairs.
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
                        present += 1;
                    } else {
                        absent += 1;
                    }
                }
            }
            score += i32::abs(present - absent);
        }
        score
    }

    /// Maps the colours of an image of a pair to roles.
    fn apply(&self, pair: usize, image: &Image) -> Image {
        image.map(|cell| self.maps[pair][usize::from(cell)])
    }

    /// Maps the roles of an image of the test back to colours. A role that does not occur in the
    /// test input gets its colour in the first pair.
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

/// Returns the colours that may be the ground, best first; `None` stands for the most frequent
/// colour of each input.
fn ground_candidates(inputs: &[Image], outputs: &[Image]) -> Vec<Option<u8>> {
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
    // A colour that occurs in the inputs but in no output may be the ground that the task asks to
    // fill.
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

/// Returns the colours that have the same role in all pairs.
fn fixed_colors(inputs: &[Image], outputs: &[Image], ground: Option<u8>) -> Vec<u8> {
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

impl ColorOrder {
    /// Returns the sort key of a colour: the criterion, then two tie-breakers.
    fn key(self, image: &Image, color: u8) -> [i32; 3] {
        let alone = image.map(|cell| u8::from(cell == color));
        let (left, top, right, bottom) = alone.bounds().unwrap_or((0, 0, 0, 0));
        let count = alone.count() as i32;
        let area = ((right - left) * (bottom - top)) as i32;
        let first = match self {
            Self::MostCells => -count,
            Self::FewestCells => count,
            Self::LargestBox => -area,
            Self::SmallestBox => area,
            Self::Leftmost => left as i32,
            Self::Rightmost => -(right as i32),
            Self::Topmost => top as i32,
            Self::Lowest => -(bottom as i32),
            Self::MostParts => -(regions(&alone, Connectivity::Color8).count as i32),
            Self::FewestParts => regions(&alone, Connectivity::Color8).count as i32,
        };
        [first, -count, -area]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn corresponding_colors_get_the_same_role() {
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
