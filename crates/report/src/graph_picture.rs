//! A state graph as an SVG picture: one dot per state, ordered by depth, or the number of states at
//! each depth if there are too many.
//!
//! Invariants: the kind of a state is shown by shape as well as colour. Lines use the text colour,
//! so that the same picture works on light and dark pages. This module cannot render the frame of a
//! state; the caller passes the frames.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rhae_engine::Frame;
use rhae_explore::Graph;

use crate::graph_text::kind;
use crate::svg::{Content, Px, Svg};
use crate::{PictureError, contact_sheet};

/// The input of [`graph_picture`].
pub struct GraphView<'a> {
    pub graph: &'a Graph,
    /// A function that returns whether a state is a dead end.
    pub is_dead: &'a dyn Fn(u32) -> bool,
    /// The states on the shortest win; empty if no win was found.
    pub shortest_win: &'a [u32],
    /// The settled frames of these states, shown as thumbnails.
    pub frames: &'a [Frame],
}

/// The maximum number of states that are drawn individually.
const MAX_DOTS: usize = 3_000;
/// The maximum number of edges that are drawn individually.
const MAX_LINES: usize = 12_000;
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
/// The side of a thumbnail.
const THUMB: f64 = 72.0;

const STYLE: &str = "
.graph { display: block; width: 100%; height: auto; font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
.graph text { fill: currentColor; }
.graph .mid { text-anchor: middle; }
.graph .edge { fill: none; stroke: currentColor; stroke-opacity: 0.14; stroke-width: 0.7; }
.graph .way { fill: none; stroke: #1E93FF; stroke-width: 2; stroke-opacity: 0.9; }
.graph .going { fill: currentColor; fill-opacity: 0.55; }
.graph .dead { fill: none; stroke: #A356D6; stroke-width: 1.4; }
.graph .frontier { fill: none; stroke: currentColor; stroke-dasharray: 1.5 1.5; }
.graph .win { fill: #4FCC30; stroke: #2a7a17; }
.graph .loss { fill: none; stroke: #F93C31; stroke-width: 1.6; }
.graph .start { fill: #1E93FF; }
";

/// Draws a graph as SVG, with thumbnails of the frames on the shortest win below it.
///
/// # Errors
///
/// Returns a [`PictureError`] if a thumbnail cannot be encoded.
pub fn graph_picture(view: &GraphView<'_>) -> Result<String, PictureError> {
    let graph = view.graph;
    let is_small = graph.nodes() <= MAX_DOTS && graph.edges() <= MAX_LINES;
    let mut svg = Svg::new();
    let top = if is_small {
        dots(&mut svg, view)
    } else {
        bars(&mut svg, view)
    };
    let height = top + thumbnails(&mut svg, view.frames, top)?;
    let label = format!("{} states by depth", graph.nodes());
    Ok(svg.finish("graph", (WIDTH, height), &label, STYLE))
}

/// Returns the CSS class of a state: its kind, `start` or `dead`.
fn node_class(view: &GraphView<'_>, node: u32) -> &'static str {
    match kind(view.graph, node) {
        "going" if node == 0 => "start",
        "going" if (view.is_dead)(node) => "dead",
        other => other,
    }
}

fn legend(svg: &mut Svg) {
    let all = [
        ("start", "start"),
        ("going", "continues"),
        ("dead", "dead end"),
        ("win", "win"),
        ("loss", "loss"),
        ("frontier", "not expanded"),
    ];
    for (index, (class, name)) in all.into_iter().enumerate() {
        let x = MARGIN + index as f64 * 120.0;
        mark(svg, class, x, 14.0, 4.5, name);
        svg.text("", x + 10.0, 18.0, name);
    }
}

fn mark(svg: &mut Svg, class: &str, x: f64, y: f64, r: f64, title: &str) {
    match class {
        "win" => {
            let d = format!("M{x:.1} {:.1}l{r} {r}l-{r} {r}l-{r} -{r}z", y - r);
            svg.titled_path(class, &d, title);
        }
        "loss" => {
            let side = 2.0 * r;
            let d = format!(
                "M{:.1} {:.1}l{side} {side}m0 -{side}l-{side} {side}",
                x - r,
                y - r
            );
            svg.titled_path(class, &d, title);
        }
        class => svg.circle(class, (x, y), r, title),
    }
}

/// Draws every state and edge. Returns the height of the drawing.
fn dots(svg: &mut Svg, view: &GraphView<'_>) -> f64 {
    let graph = view.graph;
    let depth = graph.depth().max(1);
    let widest = (0..=graph.depth())
        .map(|depth| graph.layer(depth).len())
        .max()
        .unwrap_or(1);
    let room = (widest as f64 * 9.0).clamp(160.0, 760.0);
    let (top, height) = (44.0, 44.0 + room + 34.0);
    let places = places(graph);
    let at = |node: u32| {
        let here = graph.depth_of(node);
        let x = MARGIN + (WIDTH - 2.0 * MARGIN) * here as f64 / depth as f64;
        let count = graph.layer(here).len() as f64;
        (x, top + room * (places[node as usize] + 0.5) / count)
    };
    legend(svg);
    let line = |svg: &mut Svg, class: &str, from: u32, to: u32| {
        let ((x1, y1), (x2, y2)) = (at(from), at(to));
        let middle = (x1 + x2) / 2.0;
        let curve = if from == to {
            "c-7 -9 7 -9 0 0".to_owned()
        } else if (x1 - x2).abs() < 1.0 {
            let (x, y) = (x1 + 14.0, (y1 + y2) / 2.0);
            format!("Q{x:.1} {y:.1} {x2:.1} {y2:.1}")
        } else {
            format!("C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {x2:.1} {y2:.1}")
        };
        svg.path(class, &format!("M{x1:.1} {y1:.1}{curve}"));
    };
    for node in 0..graph.nodes() as u32 {
        let mut targets = graph.targets(node).to_vec();
        targets.sort_unstable();
        targets.dedup();
        targets
            .into_iter()
            .for_each(|target| line(svg, "edge", node, target));
    }
    view.shortest_win
        .windows(2)
        .for_each(|pair| line(svg, "way", pair[0], pair[1]));
    let r = (room / widest as f64 * 0.32).clamp(1.3, 5.0);
    for node in 0..graph.nodes() as u32 {
        let (x, y) = at(node);
        let class = node_class(view, node);
        let r = if matches!(class, "win" | "loss" | "start") {
            r.max(3.0)
        } else {
            r
        };
        let title = format!("state {node}, depth {}", graph.depth_of(node));
        mark(svg, class, x, y, r, &title);
    }
    depths(svg, depth, height - 10.0, |here| {
        MARGIN + (WIDTH - 2.0 * MARGIN) * here as f64 / depth as f64
    });
    height
}

/// Returns the position of each state within its depth: near its predecessors, so that fewer lines
/// cross.
fn places(graph: &Graph) -> Vec<f64> {
    let mut places = vec![0.0_f64; graph.nodes()];
    for depth in 1..=graph.depth() {
        let layer = graph.layer(depth);
        let mut wanted = vec![(0.0_f64, 0_u32); layer.len()];
        let before = graph.layer(depth - 1);
        let size = before.len() as f64;
        for node in before {
            for &target in graph
                .targets(node)
                .iter()
                .filter(|target| layer.contains(target))
            {
                let wanted = &mut wanted[(target - layer.start) as usize];
                wanted.0 += (places[node as usize] + 0.5) / size;
                wanted.1 += 1;
            }
        }
        let mut order: Vec<u32> = layer.clone().collect();
        let mean = |node: &u32| {
            let (sum, count) = wanted[(node - layer.start) as usize];
            sum / f64::from(count.max(1))
        };
        order.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        order
            .into_iter()
            .enumerate()
            .for_each(|(place, node)| places[node as usize] = place as f64);
    }
    places
}

fn depths(svg: &mut Svg, depth: usize, y: f64, at: impl Fn(usize) -> f64) {
    let step = depth.div_ceil(16).max(1);
    for here in (0..=depth).step_by(step) {
        svg.text("mid", at(here), y, &here.to_string());
    }
}

/// Draws horizontal lines at the powers of ten, with labels, between these horizontal positions.
fn decade_lines(svg: &mut Svg, decades: f64, ends: (f64, f64), label: f64, y: impl Fn(f64) -> f64) {
    for decade in 0..=decades as i32 {
        let count = 10f64.powi(decade);
        let y = y(count);
        svg.path("edge", &format!("M{:.1} {y:.1}H{}", ends.0, ends.1));
        svg.text("", label, y + 4.0, &short(count));
    }
}

/// Draws the condensed form: for each depth, the logarithm of the number of states of each kind.
/// Returns the height of the drawing.
fn bars(svg: &mut Svg, view: &GraphView<'_>) -> f64 {
    let graph = view.graph;
    let (top, room) = (60.0, 260.0);
    let height = top + room + 34.0;
    let mut counts: Vec<[u64; 5]> = vec![[0; 5]; graph.depth() + 1];
    const CLASSES: [&str; 5] = ["going", "dead", "frontier", "win", "loss"];
    for (depth, counts) in counts.iter_mut().enumerate() {
        for node in graph.layer(depth) {
            let class = node_class(view, node);
            let class = if class == "start" { "going" } else { class };
            counts[CLASSES
                .iter()
                .position(|&known| known == class)
                .unwrap_or(0)] += 1;
        }
    }
    let max = counts.iter().flatten().copied().max().unwrap_or(1).max(10) as f64;
    let decades = max.log10().ceil().max(1.0);
    let y_of = |count: f64| top + room - room * (count.log10() + 0.15).max(0.0) / (decades + 0.15);
    let step = (WIDTH - 2.0 * MARGIN - 30.0) / (graph.depth() + 1) as f64;
    let x_of = |depth: usize| MARGIN + 34.0 + step * depth as f64;
    legend(svg);
    let caption =
        "states at each depth on a logarithmic scale; there are too many to draw individually";
    svg.text("", MARGIN, 44.0, caption);
    decade_lines(svg, decades, (MARGIN + 30.0, WIDTH), 4.0, y_of);
    for (depth, counts) in counts.iter().enumerate() {
        let x = x_of(depth);
        if counts[0] > 0 {
            let y = y_of(counts[0] as f64);
            svg.element(
                "rect",
                &[
                    ("class", &"going"),
                    ("x", &Px(x)),
                    ("y", &Px(y)),
                    ("width", &Px((step * 0.8).max(0.6))),
                    ("height", &Px(top + room - y)),
                ],
                Content::Title(&format!("depth {depth}: {} continue", counts[0])),
            );
        }
        for (class, &count) in CLASSES
            .iter()
            .zip(counts)
            .skip(1)
            .filter(|&(_, &count)| count > 0)
        {
            mark(
                svg,
                class,
                x + step * 0.4,
                y_of(count as f64),
                (step * 0.3).clamp(2.0, 4.5),
                &format!("depth {depth}: {count} {class}"),
            );
        }
    }
    depths(svg, graph.depth(), height - 10.0, |depth| {
        x_of(depth) + step * 0.4
    });
    height
}

/// Formats a count in thousands or millions.
fn short(count: f64) -> String {
    match count {
        count if count >= 1e6 => format!("{}M", count / 1e6),
        count if count >= 1e3 => format!("{}k", count / 1e3),
        count => format!("{count}"),
    }
}

/// Draws frames as pictures with their numbers. Returns the height that they take.
fn thumbnails(svg: &mut Svg, frames: &[Frame], top: f64) -> Result<f64, PictureError> {
    if frames.is_empty() {
        return Ok(0.0);
    }
    let columns = ((WIDTH - 2.0 * MARGIN) / (THUMB + 8.0)).floor() as usize;
    svg.text("", MARGIN, top + 16.0, "shortest win");
    for (index, frame) in frames.iter().enumerate() {
        let (x, y) = (
            MARGIN + (index % columns) as f64 * (THUMB + 8.0),
            top + 26.0 + (index / columns) as f64 * (THUMB + 22.0),
        );
        let picture = BASE64_STANDARD.encode(contact_sheet(&[frame], 1, 1)?);
        svg.element(
            "image",
            &[
                ("x", &Px(x)),
                ("y", &Px(y)),
                ("width", &THUMB),
                ("height", &THUMB),
                ("style", &"image-rendering:pixelated"),
                ("href", &format_args!("data:image/png;base64,{picture}")),
            ],
            Content::Empty,
        );
        let (x, y) = (x + THUMB / 2.0, y + THUMB + 14.0);
        svg.text("mid", x, y, &index.to_string());
    }
    Ok(34.0 + frames.len().div_ceil(columns) as f64 * (THUMB + 22.0))
}

/// Plots the number of states of each level as SVG.
///
/// Each element holds the number of the level, the number of states, and whether the search found
/// all states.
///
/// ```
/// let svg = rhae_report::growth_plot(&[(1, 120, true), (2, 40_000, false)]);
/// assert!(svg.contains("<title>level 2: 40000 states</title>"));
/// ```
pub fn growth_plot(levels: &[(u32, usize, bool)]) -> String {
    let (top, room, left) = (30.0, 220.0, 60.0);
    let max = levels
        .iter()
        .map(|&(_, nodes, _)| nodes)
        .max()
        .unwrap_or(1)
        .max(10) as f64;
    let decades = max.log10().ceil();
    let y_of = |count: f64| top + room - room * count.max(1.0).log10() / decades;
    let step = (720.0 - left - 20.0) / levels.len().max(1) as f64;
    let x_of = |index: usize| left + step * (index as f64 + 0.5);
    let mut svg = Svg::new();
    svg.text("", 0.0, 14.0, "states");
    mark(&mut svg, "start", 120.0, 10.0, 4.5, "all states");
    svg.text("", 132.0, 14.0, "all states");
    mark(&mut svg, "frontier", 240.0, 10.0, 4.5, "lower bound");
    let bound = "lower bound: a limit stopped the search";
    svg.text("", 252.0, 14.0, bound);
    decade_lines(&mut svg, decades, (left, 720.0), 0.0, y_of);
    for (index, &(level, nodes, complete)) in levels.iter().enumerate() {
        let class = if complete { "start" } else { "frontier" };
        mark(
            &mut svg,
            class,
            x_of(index),
            y_of(nodes as f64),
            5.0,
            &format!("level {level}: {nodes} states"),
        );
        svg.text("mid", x_of(index), top + room + 20.0, &level.to_string());
    }
    let size = (720.0, top + room + 34.0);
    svg.finish("graph", size, "States by level", STYLE)
}
