//! Stacking: an output is painted in layers, each by one piece, each only where nothing was painted before.
//!
//! A layer may be used if everything it would paint is right in all considered training outputs. Each cell of all outputs is one bit, so
//! a check is a few operations on words. Greedy: the layer that decides most cells comes first.

use crate::graph::Graph;
use crate::image::Image;
use crate::meter::Meter;

/// The most layers of a stack.
const MOST_LAYERS: usize = 10;

/// More pieces are not looked at; the simplest come first.
const MOST_PIECES: usize = 100_000;

/// Which cells of its image a layer paints, and in which colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// What is not ground, as it is.
    Shape,
    /// The ground.
    Ground,
    /// Everything as it is.
    Whole,
    /// What is not ground, in a colour.
    ShapeAs(u8),
    /// The ground, in a colour.
    GroundAs(u8),
}

/// One layer: a piece and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) node: u32,
    pub(crate) used: Use,
    /// Cells of the training outputs that it decided.
    pub(crate) decided: usize,
}

/// Layers from the first, which has the last word, and what they achieve.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) layers: Vec<Layer>,
    /// How many training pairs it reproduces.
    pub(crate) fits: usize,
    /// How complicated it is.
    pub(crate) cost: f64,
}

/// A piece as bits over the cells of all training outputs.
struct Bits {
    node: u32,
    depth: u8,
    /// Where the first words of `shape` and of `right` are.
    shape: usize,
    right: usize,
}

/// Everything that stacking looks at.
pub(crate) struct Stacker<'a> {
    graph: &'a Graph,
    words: usize,
    store: Vec<u64>,
    pieces: Vec<Bits>,
    /// For each colour the cells that have it.
    colored: Vec<(u8, Vec<u64>)>,
    /// For each pair its cells.
    spans: Vec<Vec<u64>>,
    outputs: &'a [Image],
}

impl<'a> Stacker<'a> {
    /// Prepares the pieces of a graph whose first pairs have these outputs.
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
        for &node in graph.pieces().iter().take(MOST_PIECES) {
            stacker.add(node);
            meter.charge(words * 8);
            if meter.is_over() {
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
        self.pieces.push(Bits {
            node,
            depth: self.graph.depth(node),
            shape,
            right,
        });
    }

    /// Builds stacks that are right in all `considered` pairs as far as they go: for each limit on the depth of pieces one that decides
    /// most cells of all pairs, and one for each pair that decides most of that.
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
                if meter.is_over() {
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
        while layers.len() < MOST_LAYERS && open.iter().any(|word| *word != 0) {
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
            self.paint(&self.pieces[index], layer.used, &mut open);
            layers.push(layer);
        }
        self.judge(layers)
    }

    /// Looks for a use of a piece that decides more than the best so far.
    fn best_use(
        &self,
        index: usize,
        piece: &Bits,
        open: &[u64],
        focus: &[u64],
        best: &mut Option<(usize, usize, Layer, usize)>,
    ) {
        let shape = &self.store[piece.shape..piece.shape + self.words];
        let right = &self.store[piece.right..piece.right + self.words];
        // Words where a use paints something wrong end it at once.
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
        let mut offer = |used: Use, gain: Option<(usize, usize)>| {
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
                        used,
                        decided: all,
                    },
                    index,
                ));
            }
        };
        offer(Use::Whole, gains[2]);
        offer(Use::Shape, gains[0]);
        offer(Use::Ground, gains[1]);
        for (color, cells) in &self.colored {
            offer(
                Use::ShapeAs(*color),
                self.gain(open, focus, cells, shape, false),
            );
            if *color != 0 {
                offer(
                    Use::GroundAs(*color),
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

    fn paint(&self, piece: &Bits, used: Use, open: &mut [u64]) {
        let shape = &self.store[piece.shape..piece.shape + self.words];
        for (open, shape) in open.iter_mut().zip(shape) {
            *open &= match used {
                Use::Shape | Use::ShapeAs(_) => !shape,
                Use::Ground | Use::GroundAs(_) => *shape,
                Use::Whole => 0,
            };
        }
    }

    fn judge(&self, layers: Vec<Layer>) -> Stack {
        let fits = (0..self.outputs.len())
            .filter(|&pair| render(self.graph, &layers, pair, layers.len()) == self.outputs[pair])
            .count();
        let weigh = |layer: &Layer| {
            let recolored = matches!(layer.used, Use::ShapeAs(_) | Use::GroundAs(_));
            f64::from(self.graph.depth(layer.node)) + if recolored { 0.5 } else { 0.0 }
        };
        let weights: Vec<f64> = layers.iter().map(weigh).collect();
        let cost = weights.iter().copied().fold(0.0, f64::max)
            + 0.1 * weights.iter().sum::<f64>()
            + 0.02 * layers.len() as f64;
        Stack { layers, fits, cost }
    }
}

/// What the first `count` layers paint for a pair; the rest is ground.
pub(crate) fn render(graph: &Graph, layers: &[Layer], pair: usize, count: usize) -> Image {
    let (w, h) = layers
        .first()
        .map_or((1, 1), |layer| graph.image(layer.node, pair).size());
    let mut canvas = Image::filled(w, h, 0);
    let mut open = vec![true; canvas.cells.len()];
    for layer in &layers[..count.min(layers.len())] {
        let image = graph.image(layer.node, pair);
        for ((cell, open), &value) in canvas.cells.iter_mut().zip(&mut open).zip(&image.cells) {
            let color = match layer.used {
                Use::Shape if value != 0 => value,
                Use::Ground if value == 0 => 0,
                Use::Whole => value,
                Use::ShapeAs(color) if value != 0 => color,
                Use::GroundAs(color) if value == 0 => color,
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
    use crate::op::{Frame, Op};

    #[test]
    fn layers_are_found() {
        // The output is the input over its mirror image, which is painted in 3.
        let inputs = [
            image(&["1.2.", "...."]),
            image(&["....", ".2.."]),
            image(&["...1", "1..."]),
        ];
        let outputs = [
            image(&["1323", "...."]).map(|cell| cell),
            image(&["....", ".23."]),
        ];
        let frames = [Frame {
            input: (4, 2),
            target: (4, 2),
            most_cells: 100,
        }; 3];
        let outputs = [outputs[0].clone(), outputs[1].clone()];
        let mut language = Language::new();
        language.add(true, &[Op::Symmetry(1)]);
        let mut graph = Graph::new(language, &frames, 10_000);
        graph.add_root("input", 0, inputs.to_vec());
        let never = || false;
        let mut meter = Meter::new(1_000_000, &never);
        graph.grow(1, &mut meter);
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
