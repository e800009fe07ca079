//! Stacking: an output is painted in layers. Each layer is one piece and paints only cells that no
//! earlier layer painted.
//!
//! A layer is admissible if every cell that it would paint has the correct colour in all considered
//! training outputs. The search is greedy: the layer that decides the most cells comes first. Sets
//! of output cells are stored with one bit per cell, so a check needs only a few operations per 64
//! cells.

use crate::graph::Graph;
use crate::image::Image;
use crate::meter::Meter;

/// The maximum number of layers of a stack.
const MAX_LAYERS: usize = 10;

/// The maximum number of pieces. The simplest pieces come first; pieces beyond the limit are
/// ignored.
const MAX_PIECES: usize = 100_000;

/// Which cells of its image a layer paints, and in which colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaintMode {
    /// All cells that are not ground, in their colours.
    Shape,
    /// All ground cells, as ground.
    Ground,
    /// All cells, in their colours.
    Whole,
    /// All cells that are not ground, in this colour.
    ShapeAs(u8),
    /// All ground cells, in this colour.
    GroundAs(u8),
}

/// One layer: a piece and the cells of it that are painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) node: u32,
    pub(crate) mode: PaintMode,
    /// The number of cells of the training outputs that the layer decided.
    pub(crate) decided: usize,
}

/// A list of layers and how well they fit the training pairs. A cell keeps the colour of the first
/// layer that paints it.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) layers: Vec<Layer>,
    /// The number of training pairs that the stack reproduces.
    pub(crate) fits: usize,
    /// The complexity of the programs; smaller is better.
    pub(crate) cost: f64,
}

/// A piece as bit sets over the cells of all training outputs.
struct PieceBits {
    node: u32,
    depth: u8,
    /// The index in `store` of the first word of two bit sets: the cells that are not ground
    /// (`shape`), and the cells that have the same colour as the output (`right`).
    shape: usize,
    right: usize,
}

/// The bit sets of all pieces and outputs.
pub(crate) struct Stacker<'a> {
    graph: &'a Graph,
    words: usize,
    store: Vec<u64>,
    pieces: Vec<PieceBits>,
    /// For each colour that occurs in at least half of the outputs, the output cells that have it.
    colored: Vec<(u8, Vec<u64>)>,
    /// For each pair, the bit set of the output cells that belong to it.
    spans: Vec<Vec<u64>>,
    outputs: &'a [Image],
}

impl<'a> Stacker<'a> {
    /// Computes the bit sets of the pieces of a graph. `outputs` are the training outputs, which
    /// belong to the first pairs of the graph.
    pub(crate) fn new(graph: &'a Graph, outputs: &'a [Image], meter: &mut Meter<'_>) -> Self {
        let cells: usize = outputs.iter().map(|output| output.cells.len()).sum();
        let words = cells.div_ceil(64);
        let all: Vec<u8> = outputs
            .iter()
            .flat_map(|output| output.cells.iter().copied())
            .collect();
        let bits = |is: &dyn Fn(usize) -> bool| {
            let mut bits = vec![0_u64; words];
            (0..cells)
                .filter(|&cell| is(cell))
                .for_each(|cell| bits[cell / 64] |= 1 << (cell % 64));
            bits
        };
        let everywhere = |color: &u8| {
            outputs
                .iter()
                .filter(|output| output.cells.contains(color))
                .count()
                * 2
                >= outputs.len()
        };
        let colored = (0..16)
            .filter(everywhere)
            .map(|color| (color, bits(&|cell| all[cell] == color)))
            .collect();
        let mut spans = Vec::new();
        let mut start = 0;
        for output in outputs {
            let end = start + output.cells.len();
            spans.push(bits(&|cell| (start..end).contains(&cell)));
            start = end;
        }
        let mut stacker = Self {
            graph,
            words,
            store: Vec::new(),
            pieces: Vec::new(),
            colored,
            spans,
            outputs,
        };
        for &node in graph.pieces().iter().take(MAX_PIECES) {
            stacker.add(node);
            meter.charge(words * 8);
            if meter.is_exhausted() {
                break;
            }
        }
        stacker
    }

    fn add(&mut self, node: u32) {
        let shape = self.store.len();
        let right = shape + self.words;
        self.store.resize(right + self.words, 0);
        let mut at = 0;
        for (pair, output) in self.outputs.iter().enumerate() {
            for (&cell, &wanted) in self.graph.image(node, pair).cells.iter().zip(&output.cells) {
                self.store[shape + at / 64] |= u64::from(cell != 0) << (at % 64);
                self.store[right + at / 64] |= u64::from(cell == wanted) << (at % 64);
                at += 1;
            }
        }
        self.pieces.push(PieceBits {
            node,
            depth: self.graph.depth(node),
            shape,
            right,
        });
    }

    /// Builds stacks that paint no wrong cell in the `considered` pairs. For each limit on the
    /// depth of the pieces, one stack greedily maximises the decided cells of all pairs, and one
    /// stack per pair those of this pair.
    pub(crate) fn stacks(
        &self,
        considered: &[bool],
        deepest: u8,
        meter: &mut Meter<'_>,
    ) -> Vec<Stack> {
        let mut open = vec![0_u64; self.words];
        for (span, _) in self
            .spans
            .iter()
            .zip(considered)
            .filter(|(_, considered)| **considered)
        {
            open.iter_mut()
                .zip(span)
                .for_each(|(open, span)| *open |= span);
        }
        let mut found: Vec<Stack> = Vec::new();
        for depth in 0..=deepest {
            let foci = std::iter::once(None).chain(
                (0..self.spans.len())
                    .filter(|&pair| considered[pair])
                    .map(Some),
            );
            for focus in foci {
                if meter.is_exhausted() {
                    return found;
                }
                let stack = self.greedy(&open, focus, depth, meter);
                if !stack.layers.is_empty()
                    && found.iter().all(|other| other.layers != stack.layers)
                {
                    found.push(stack);
                }
            }
        }
        found
    }

    fn greedy(
        &self,
        considered: &[u64],
        focus: Option<usize>,
        depth: u8,
        meter: &mut Meter<'_>,
    ) -> Stack {
        let mut open = considered.to_vec();
        let mut layers = Vec::new();
        let whole = considered;
        while layers.len() < MAX_LAYERS && open.iter().any(|word| *word != 0) {
            let focus = focus.map_or(whole, |pair| self.spans[pair].as_slice());
            let mut best: Option<(usize, usize, Layer, usize)> = None;
            for (index, piece) in self
                .pieces
                .iter()
                .enumerate()
                .filter(|(_, piece)| piece.depth <= depth)
            {
                self.best_use(index, piece, &open, focus, &mut best);
            }
            meter.charge(self.pieces.len() * 12);
            let Some((_, _, layer, index)) = best else {
                break;
            };
            self.paint(&self.pieces[index], layer.mode, &mut open);
            layers.push(layer);
        }
        self.evaluate(layers)
    }

    /// Replaces `best` if the piece, in some paint mode, decides more cells.
    fn best_use(
        &self,
        index: usize,
        piece: &PieceBits,
        open: &[u64],
        focus: &[u64],
        best: &mut Option<(usize, usize, Layer, usize)>,
    ) {
        let shape = &self.store[piece.shape..piece.shape + self.words];
        let right = &self.store[piece.right..piece.right + self.words];
        // A mode that paints a wrong cell is rejected at once.
        let mut gains = [Some((0, 0)); 3];
        for word in 0..self.words {
            let (open, shape, right) = (open[word], shape[word], right[word]);
            let wrong = open & !right;
            let painted = [shape, !shape, !0];
            let mut alive = false;
            for (gain, painted) in gains.iter_mut().zip(painted) {
                if let Some((focused, all)) = gain {
                    if wrong & painted != 0 {
                        *gain = None;
                    } else {
                        *focused += (open & painted & focus[word]).count_ones() as usize;
                        *all += (open & painted).count_ones() as usize;
                        alive = true;
                    }
                }
            }
            if !alive {
                break;
            }
        }
        let mut offer = |mode: PaintMode, gain: Option<(usize, usize)>| {
            if let Some((focused, all)) = gain
                && focused > 0
                && best
                    .as_ref()
                    .is_none_or(|(most, more, ..)| (focused, all) > (*most, *more))
            {
                *best = Some((
                    focused,
                    all,
                    Layer {
                        node: piece.node,
                        mode,
                        decided: all,
                    },
                    index,
                ));
            }
        };
        offer(PaintMode::Whole, gains[2]);
        offer(PaintMode::Shape, gains[0]);
        offer(PaintMode::Ground, gains[1]);
        for (color, cells) in &self.colored {
            offer(
                PaintMode::ShapeAs(*color),
                self.gain(open, focus, cells, shape, false),
            );
            if *color != 0 {
                offer(
                    PaintMode::GroundAs(*color),
                    self.gain(open, focus, cells, shape, true),
                );
            }
        }
    }

    fn gain(
        &self,
        open: &[u64],
        focus: &[u64],
        cells: &[u64],
        shape: &[u64],
        ground: bool,
    ) -> Option<(usize, usize)> {
        let mut gain = (0, 0);
        let flip = if ground { !0 } else { 0 };
        for word in 0..self.words {
            let painted = open[word] & (shape[word] ^ flip);
            if painted & !cells[word] != 0 {
                return None;
            }
            gain.0 += (painted & focus[word]).count_ones() as usize;
            gain.1 += painted.count_ones() as usize;
        }
        Some(gain)
    }

    fn paint(&self, piece: &PieceBits, mode: PaintMode, open: &mut [u64]) {
        let shape = &self.store[piece.shape..piece.shape + self.words];
        for (open, shape) in open.iter_mut().zip(shape) {
            *open &= match mode {
                PaintMode::Shape | PaintMode::ShapeAs(_) => !shape,
                PaintMode::Ground | PaintMode::GroundAs(_) => *shape,
                PaintMode::Whole => 0,
            };
        }
    }

    fn evaluate(&self, layers: Vec<Layer>) -> Stack {
        let fits = (0..self.outputs.len())
            .filter(|&pair| render(self.graph, &layers, pair, layers.len()) == self.outputs[pair])
            .count();
        let weigh = |layer: &Layer| {
            let recolored = matches!(layer.mode, PaintMode::ShapeAs(_) | PaintMode::GroundAs(_));
            f64::from(self.graph.depth(layer.node)) + if recolored { 0.5 } else { 0.0 }
        };
        let weights: Vec<f64> = layers.iter().map(weigh).collect();
        let cost = weights.iter().copied().fold(0.0, f64::max)
            + 0.1 * weights.iter().sum::<f64>()
            + 0.02 * layers.len() as f64;
        Stack { layers, fits, cost }
    }
}

/// Paints the first `count` layers for a pair; the remaining cells are ground.
pub(crate) fn render(graph: &Graph, layers: &[Layer], pair: usize, count: usize) -> Image {
    let (w, h) = layers
        .first()
        .map_or((1, 1), |layer| graph.image(layer.node, pair).size());
    let mut canvas = Image::filled(w, h, 0);
    let mut open = vec![true; canvas.cells.len()];
    for layer in &layers[..count.min(layers.len())] {
        let image = graph.image(layer.node, pair);
        for ((cell, open), &value) in canvas.cells.iter_mut().zip(&mut open).zip(&image.cells) {
            let color = match layer.mode {
                PaintMode::Shape if value != 0 => value,
                PaintMode::Ground if value == 0 => 0,
                PaintMode::Whole => value,
                PaintMode::ShapeAs(color) if value != 0 => color,
                PaintMode::GroundAs(color) if value == 0 => color,
                _ => continue,
            };
            if std::mem::take(open) {
                *cell = color;
            }
        }
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Language;
    use crate::image::image;
    use crate::op::{Op, PairContext};

    #[test]
    fn layers_are_found() {
        // The output is the input painted over its mirror image in colour 3.
        let inputs = [
            image(&["1.2.", "...."]),
            image(&["....", ".2.."]),
            image(&["...1", "1..."]),
        ];
        let outputs = [
            image(&["1323", "...."]).map(|cell| cell),
            image(&["....", ".23."]),
        ];
        let contexts = [PairContext {
            input: (4, 2),
            target: (4, 2),
            max_cells: 100,
        }; 3];
        let outputs = [outputs[0].clone(), outputs[1].clone()];
        let mut language = Language::new();
        language.add(true, &[Op::Symmetry(1)]);
        let mut graph = Graph::new(language, &contexts, 10_000);
        graph.add_root("input", 0, inputs.to_vec());
        let never = || false;
        let mut meter = Meter::new(1_000_000, &never);
        graph.expand(1, &mut meter);
        let stacker = Stacker::new(&graph, &outputs, &mut meter);
        let stacks = stacker.stacks(&[true, true], 1, &mut meter);
        let full: Vec<&Stack> = stacks.iter().filter(|stack| stack.fits == 2).collect();
        assert!(!full.is_empty());
        assert_eq!(
            render(&graph, &full[0].layers, 2, 9),
            image(&["3..1", "1..3"])
        );
    }
}
