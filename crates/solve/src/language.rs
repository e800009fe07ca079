//! The steps that programs for a task consist of. Colours in steps are roles (see the module
//! `roles`).
//!
//! The set of steps is closed under the symmetries of the square, with few exceptions, so that a
//! rotated task is solved by the rotated programs.

use crate::graph::Language;
use crate::image::Image;
use crate::op::Op;
use crate::op::ray::DIRECTIONS;
use crate::op::region::{Adjacency, Connectivity};
use crate::property::{PROPERTIES, Property};

/// Returns the steps for a task whose colours were replaced with roles. `inputs` includes the test
/// input.
pub(crate) fn language(inputs: &[Image], outputs: &[Image]) -> Language {
    let mut steps = Language::new();
    colors(&mut steps, inputs, outputs);
    shapes(&mut steps);
    for set in 0..DIRECTIONS.len() as u8 {
        steps.add(set < 7, &[Op::Smear(set)]);
    }
    for direction in 0..4 {
        steps.add(false, &[Op::Gravity(direction)]);
        steps.add(false, &[Op::Slide(direction)]);
        steps.add(false, &[Op::Shift(direction)]);
    }
    for lines in [1, 2, 3, 12, 15] {
        steps.add(lines < 4, &[Op::Connect(lines)]);
    }
    for op in [Op::Spread, Op::Symmetric, Op::Periodic] {
        steps.add(false, &[op]);
    }
    objects(&mut steps);
    steps
}

/// Returns the steps for predicting the output size: mainly those that change sizes.
pub(crate) fn size_language(inputs: &[Image], outputs: &[Image]) -> Language {
    let mut steps = Language::new();
    colors(&mut steps, inputs, outputs);
    for which in 0..4 {
        steps.add(true, &[Op::Half(which)]);
    }
    for op in [
        Op::Crop,
        Op::DropEmpty,
        Op::DropDoubles,
        Op::Cut,
        Op::ByColor,
        Op::NoSpecks,
        Op::Enclosed(false),
    ] {
        steps.add(true, &[op]);
    }
    for join in [
        Connectivity::Any8,
        Connectivity::Color4,
        Connectivity::Color8,
    ] {
        steps.add(true, &[Op::Split(join)]);
    }
    choices(&mut steps);
    steps
}

fn colors(steps: &mut Language, inputs: &[Image], outputs: &[Image]) {
    for color in 1..16 {
        let inside = inputs
            .iter()
            .filter(|input| input.cells.contains(&color))
            .count();
        let outside = outputs
            .iter()
            .filter(|output| output.cells.contains(&color))
            .count();
        if inside * 2 >= inputs.len() {
            steps.add(true, &[Op::Only(color)]);
            steps.add(true, &[Op::Without(color)]);
        }
        if outside * 2 > outputs.len() {
            steps.add(true, &[Op::Paint(color)]);
        }
    }
    for op in [Op::Majority, Op::Minority, Op::Invert] {
        steps.add(true, &[op]);
    }
}

fn shapes(steps: &mut Language) {
    for which in 1..8 {
        steps.add(true, &[Op::Symmetry(which)]);
        steps.add(false, &[Op::Mirrored(which)]);
    }
    for which in 0..4 {
        steps.add(true, &[Op::Half(which)]);
    }
    let core = [
        Op::Crop,
        Op::ToOrigin,
        Op::DropEmpty,
        Op::DropDoubles,
        Op::Fill,
        Op::Enclosed(false),
        Op::OnTarget,
        Op::Scale,
        Op::Tile,
    ];
    for op in core {
        steps.add(true, &[op]);
    }
    let others = [
        Op::OnInput,
        Op::Hull,
        Op::Enclosed(true),
        Op::Inner,
        Op::Edge,
        Op::Outline(Adjacency::Both),
        Op::Outline(Adjacency::Sides),
        Op::Outline(Adjacency::Corners),
        Op::Framed,
        Op::NoSpecks,
        Op::MirrorTile,
        Op::Wrap,
        Op::Kron(false),
        Op::Kron(true),
    ];
    for op in others {
        steps.add(false, &[op]);
    }
}

fn objects(steps: &mut Language) {
    choices(steps);
    for op in [Op::Cut, Op::ByColor, Op::Columns, Op::Rows] {
        steps.add(false, &[op]);
    }
    for join in [
        Connectivity::Any8,
        Connectivity::Color4,
        Connectivity::Color8,
    ] {
        steps.add(false, &[Op::Split(join)]);
    }
    for op in [
        Op::Compose(false),
        Op::Compose(true),
        Op::LineUp(false),
        Op::LineUp(true),
        Op::Overlay(false),
        Op::Overlay(true),
    ] {
        steps.add(true, &[op]);
    }
    for join in [Connectivity::Any8, Connectivity::Color4] {
        for property in PROPERTIES {
            for least in [false, true] {
                if informative(property, least) {
                    steps.add(
                        false,
                        &[
                            Op::Split(join),
                            Op::Keep(property, least),
                            Op::Compose(false),
                            Op::OnInput,
                        ],
                    );
                }
            }
        }
        let each = [
            Op::Hull,
            Op::Fill,
            Op::Symmetry(1),
            Op::Symmetry(2),
            Op::Symmetry(3),
            Op::Symmetry(4),
            Op::Mirrored(1),
            Op::Mirrored(2),
            Op::Framed,
            Op::Majority,
            Op::Minority,
        ];
        for op in each {
            steps.add(
                false,
                &[Op::Split(join), op, Op::Compose(false), Op::OnInput],
            );
        }
    }
}

/// Adds the steps that select objects by a property.
fn choices(steps: &mut Language) {
    for parts in [
        Op::Split(Connectivity::Any8),
        Op::Split(Connectivity::Color4),
        Op::Cut,
        Op::ByColor,
    ] {
        for property in PROPERTIES {
            for least in [false, true] {
                if informative(property, least) {
                    steps.add(false, &[parts, Op::Pick(property, least)]);
                }
            }
        }
    }
    for property in [Property::Count, Property::Area] {
        for least in [false, true] {
            steps.add(false, &[Op::Keep(property, least)]);
            steps.add(false, &[Op::Others(property, least)]);
            steps.add(false, &[Op::Pick(property, least)]);
        }
    }
}

/// Returns whether selecting the smallest (`least`) or largest value of a property is useful. For
/// the left and top edges only the smallest value is, because the largest is covered by the right
/// and bottom edges, and vice versa.
fn informative(property: Property, least: bool) -> bool {
    match property {
        Property::Left | Property::Top => least,
        Property::Right | Property::Bottom => !least,
        _ => true,
    }
}
