//! The method `layers`: short programs produce pieces (images of the output's size), which are
//! painted over each other to form the output.

use rhae_tasks::Grid;

use crate::candidate::{Candidate, LayerPicture, Method, add_candidate};
use crate::cells::CellTask;
use crate::graph::Graph;
use crate::image::Image;
use crate::language::{language, size_language};
use crate::meter::Meter;
use crate::op::PairContext;
use crate::roles::RoleTask;
use crate::size::predict;
use crate::stack::{Layer, PaintMode, Stack, Stacker, render};

/// The limits of a search.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The maximum number of steps of a program.
    pub(crate) depth: u8,
    /// The maximum number of cells that are kept in memory.
    pub(crate) cells: usize,
}

/// Searches with the methods `layers` and `cells` for each possible size of the test output and
/// adds the answers to `found`.
pub(crate) fn search(
    task: &RoleTask<'_>,
    sizes: &[(usize, usize)],
    limits: Limits,
    meter: &mut Meter<'_>,
    found: &mut Vec<Candidate>,
) {
    let (before, after) = (&task.before, &task.after);
    for &size in sizes {
        let mut graph = Graph::new(
            language(before, after),
            &contexts(before, after, size),
            limits.cells,
        );
        roots(&mut graph, before, after, size);
        // Each stage may use only part of the remaining budget, so that a large graph leaves some
        // of it for stacking.
        let mut part = meter.share(60);
        graph.expand(limits.depth, &mut part);
        meter.absorb(&part);
        let mut part = meter.share(60);
        let stacker = Stacker::new(&graph, after, &mut part);
        let stacks = all_stacks(&stacker, after.len(), limits.depth, &mut part);
        meter.absorb(&part);
        for stack in stacks {
            let Some(grid) = answer(&graph, &stack.layers, stack.layers.len(), task) else {
                continue;
            };
            let candidate = Candidate {
                grid,
                method: Method::Layers,
                program: program(&graph, &stack.layers),
                fits: stack.fits,
                pairs: after.len(),
                cost: stack.cost,
                layers: pictures(&graph, &stack.layers, task),
            };
            add_candidate(found, candidate);
        }
        cells(&graph, task, size, meter, found);
        if meter.is_exhausted() {
            return;
        }
    }
}

/// The maximum number of pieces that serve as features of the method `cells`.
const MAX_CELL_PIECES: usize = 100;

/// Runs the method `cells` with and without pieces as features.
fn cells(
    graph: &Graph,
    task: &RoleTask<'_>,
    size: (usize, usize),
    meter: &mut Meter<'_>,
    found: &mut Vec<Candidate>,
) {
    let (before, after) = (&task.before, &task.after);
    let simple: Vec<u32> = graph
        .pieces()
        .iter()
        .copied()
        .filter(|&piece| graph.depth(piece) <= 1)
        .take(MAX_CELL_PIECES)
        .collect();
    let images = |piece: &u32| {
        (0..before.len())
            .map(|pair| graph.image(*piece, pair))
            .collect::<Vec<&Image>>()
    };
    let layers: Vec<Vec<&Image>> = simple.iter().map(images).collect();
    let same = task.keeps_sizes();
    let choices: &[&[Vec<&Image>]] = if same { &[&[], &layers] } else { &[&layers] };
    for layers in choices {
        if meter.is_exhausted() {
            return;
        }
        for answer in CellTask::new(before, after, layers, size).solve(meter) {
            let Some(grid) = task.grid(&answer.image) else {
                continue;
            };
            let unforeseen = 1.0 - answer.held_out_hits as f64 / after.len() as f64;
            let program = format!(
                "{} of {} tests on {}{}, right in {} of {} pairs left out",
                if answer.forest { "forest" } else { "tree" },
                answer.splits,
                if same { "features of cells" } else { "pieces" },
                if same && !layers.is_empty() {
                    " and pieces"
                } else {
                    ""
                },
                answer.held_out_hits,
                after.len()
            );
            let cost = 1.2
                + 3.0 * unforeseen
                + 0.02 * answer.splits as f64
                + if answer.forest { 0.3 } else { 0.0 };
            add_candidate(
                found,
                Candidate {
                    grid,
                    method: Method::Cells,
                    program,
                    fits: answer.fits,
                    pairs: after.len(),
                    cost,
                    layers: Vec::new(),
                },
            );
        }
    }
}

/// Predicts up to `limit` sizes of the test output.
pub(crate) fn sizes(
    task: &RoleTask<'_>,
    limit: usize,
    meter: &mut Meter<'_>,
) -> Vec<(usize, usize)> {
    let (before, after) = (&task.before, &task.after);
    if task.keeps_sizes() {
        return before.last().map(Image::size).into_iter().collect();
    }
    let mut graph = Graph::new(
        size_language(before, after),
        &contexts(before, after, (1, 1)),
        2_000_000,
    );
    graph.add_root("input", 0, before.clone());
    let mut part = meter.share(20);
    graph.expand(2, &mut part);
    meter.absorb(&part);
    predict(&graph, before, after, limit)
}

/// Creates the context of each pair; `size` is the predicted size of the test output.
fn contexts(inputs: &[Image], outputs: &[Image], size: (usize, usize)) -> Vec<PairContext> {
    let largest = inputs
        .iter()
        .chain(outputs)
        .map(|image| image.cells.len())
        .max()
        .unwrap_or(1)
        .max(size.0 * size.1);
    let max_cells = (2 * largest).max(100);
    let context = |(pair, input): (usize, &Image)| {
        let target = outputs.get(pair).map_or(size, Image::size);
        PairContext {
            input: input.size(),
            target,
            max_cells,
        }
    };
    inputs.iter().enumerate().map(context).collect()
}

fn roots(graph: &mut Graph, inputs: &[Image], outputs: &[Image], size: (usize, usize)) {
    graph.add_root("input", 0, inputs.to_vec());
    let blank = |pair: usize| {
        let (w, h) = outputs.get(pair).map_or(size, Image::size);
        Image::filled(w, h, 1)
    };
    graph.add_root("canvas", 0, (0..inputs.len()).map(blank).collect());
    for start in 0..outputs.len() {
        let other = |pair: usize| {
            let from = if pair == start {
                (start + 1) % outputs.len()
            } else {
                start
            };
            outputs[from].clone()
        };
        if outputs.len() > 1 {
            graph.add_root(
                "output of another pair",
                1,
                (0..inputs.len()).map(other).collect(),
            );
        }
    }
}

fn all_stacks(
    stacker: &Stacker<'_>,
    pairs: usize,
    deepest: u8,
    meter: &mut Meter<'_>,
) -> Vec<Stack> {
    let mut stacks = stacker.stacks(&vec![true; pairs], deepest, meter);
    if pairs > 2 && stacks.iter().all(|stack| stack.fits < pairs) {
        for left_out in 0..pairs {
            let considered: Vec<bool> = (0..pairs).map(|pair| pair != left_out).collect();
            stacks.extend(stacker.stacks(&considered, deepest, meter));
        }
    }
    stacks
}

fn answer(graph: &Graph, layers: &[Layer], count: usize, task: &RoleTask<'_>) -> Option<Grid> {
    task.grid(&render(graph, layers, task.before.len() - 1, count))
}

fn program(graph: &Graph, layers: &[Layer]) -> String {
    let layers: Vec<String> = layers
        .iter()
        .map(|layer| {
            format!(
                "[{}] {}",
                paint_mode_name(layer.mode),
                graph.program(layer.node)
            )
        })
        .collect();
    layers.join(" | ")
}

fn paint_mode_name(mode: PaintMode) -> String {
    match mode {
        PaintMode::Shape => "shape".to_owned(),
        PaintMode::Ground => "ground".to_owned(),
        PaintMode::Whole => "whole".to_owned(),
        PaintMode::ShapeAs(color) => format!("shape as {color}"),
        PaintMode::GroundAs(color) => format!("ground as {color}"),
    }
}

fn pictures(graph: &Graph, layers: &[Layer], task: &RoleTask<'_>) -> Vec<LayerPicture> {
    let picture = |(index, layer): (usize, &Layer)| {
        let painted = answer(graph, layers, index + 1, task)?;
        Some(LayerPicture {
            program: graph.program(layer.node),
            used: paint_mode_name(layer.mode),
            decided: layer.decided,
            painted,
        })
    };
    layers.iter().enumerate().filter_map(picture).collect()
}
