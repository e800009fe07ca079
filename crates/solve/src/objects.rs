//! The method `objects`: a decision tree decides what happens to each object.
//!
//! Either every object keeps its position and is recoloured, deleted or left unchanged, or one
//! object is the output. The features of an object are its properties, whether it has the largest
//! or smallest value of each property among all objects, and its colours.

use crate::image::Image;
use crate::op::list::{by_color, cut};
use crate::op::region::{Connectivity, split};
use crate::property::{PROPERTIES, measure};
use crate::tree::{Samples, Tree, UNCHANGED};

/// An answer of the method `objects`.
pub(crate) struct ObjectAnswer {
    pub(crate) image: Image,
    pub(crate) name: String,
    pub(crate) fits: usize,
    pub(crate) held_out_hits: usize,
    pub(crate) splits: usize,
}

/// Returns the answers for all definitions of what an object is. The colours of the images are
/// roles; the last of `inputs` is the test input.
pub(crate) fn object_answers(inputs: &[Image], outputs: &[Image]) -> Vec<ObjectAnswer> {
    let mut found = Vec::new();
    for join in [
        Connectivity::Color4,
        Connectivity::Color8,
        Connectivity::Any8,
        Connectivity::Any4,
    ] {
        let name = format!("{join:?}").to_lowercase();
        let parts: Vec<Vec<Image>> = inputs.iter().map(|input| split(input, join)).collect();
        found.extend(recolored(inputs, outputs, &parts, &name));
        found.extend(select_object(inputs, outputs, &parts, false, &name));
        found.extend(select_object(
            inputs,
            outputs,
            &parts,
            true,
            &format!("boxes of {name}"),
        ));
    }
    let cuts: Option<Vec<Vec<Image>>> = inputs.iter().map(cut).collect();
    found.extend(cuts.and_then(|parts| select_object(inputs, outputs, &parts, false, "parts")));
    let colors: Vec<Vec<Image>> = inputs.iter().map(by_color).collect();
    found.extend(select_object(inputs, outputs, &colors, false, "colors"));
    found.extend(select_object(
        inputs,
        outputs,
        &colors,
        true,
        "boxes of colors",
    ));
    found
}

/// Returns the features of the objects of one input: one column per feature.
fn object_features(objects: &[Image], input_size: (usize, usize)) -> Vec<Vec<i8>> {
    let mut columns = Vec::new();
    for property in PROPERTIES {
        let values = measure(property, objects, input_size);
        let (most, least) = (values.iter().max().copied(), values.iter().min().copied());
        columns.push(
            values
                .iter()
                .map(|&value| value.clamp(-128, 127) as i8)
                .collect(),
        );
        columns.push(
            values
                .iter()
                .map(|value| i8::from(Some(*value) == most))
                .collect(),
        );
        columns.push(
            values
                .iter()
                .map(|value| i8::from(Some(*value) == least))
                .collect(),
        );
    }
    columns.push(
        objects
            .iter()
            .map(|object| object.majority() as i8)
            .collect(),
    );
    columns.push(
        objects
            .iter()
            .map(|object| object.minority() as i8)
            .collect(),
    );
    columns.push(
        objects
            .iter()
            .map(|object| (object.count() % 2) as i8)
            .collect(),
    );
    columns.push(
        objects
            .iter()
            .map(|object| (object.h as i8 - object.w as i8).signum())
            .collect(),
    );
    columns
}

/// The objects of all inputs as samples; those of the test come last.
struct ObjectSamples {
    samples: Samples,
    starts: Vec<usize>,
}

impl ObjectSamples {
    fn new(inputs: &[Image], parts: &[Vec<Image>], classes: &[Vec<u8>]) -> Self {
        let mut set = Self {
            samples: Samples {
                features: Vec::new(),
                classes: Vec::new(),
            },
            starts: vec![0],
        };
        for (pair, objects) in parts.iter().enumerate() {
            let columns = object_features(objects, inputs[pair].size());
            set.samples.features.resize(columns.len(), Vec::new());
            set.samples
                .features
                .iter_mut()
                .zip(columns)
                .for_each(|(all, column)| all.extend(column));
            match classes.get(pair) {
                Some(classes) => set.samples.classes.extend(classes),
                None => set.samples.classes.extend(vec![0; objects.len()]),
            }
            set.starts.push(set.samples.classes.len());
        }
        set
    }

    /// Learns a tree from all training pairs except `left_out`.
    fn learn(&self, left_out: Option<usize>) -> Tree {
        let pairs = self.starts.len() - 2;
        let chosen: Vec<u32> = (0..pairs)
            .filter(|pair| Some(*pair) != left_out)
            .flat_map(|pair| self.starts[pair] as u32..self.starts[pair + 1] as u32)
            .collect();
        let all: Vec<usize> = (0..self.samples.features.len()).collect();
        Tree::learn(&self.samples, &chosen, &all)
    }

    fn classify(&self, tree: &Tree, pair: usize) -> Vec<u8> {
        (self.starts[pair]..self.starts[pair + 1])
            .map(|sample| tree.classify(|feature| self.samples.features[feature][sample]))
            .collect()
    }
}

/// Learns a tree, calls `make` to build the outputs from the classes that it predicts, and counts
/// the training pairs whose output is reproduced.
fn learn_and_apply(
    inputs: &[Image],
    outputs: &[Image],
    set: &ObjectSamples,
    name: String,
    make: impl Fn(usize, &[u8]) -> Option<Image>,
) -> Option<ObjectAnswer> {
    let right = |tree: &Tree, pair: usize| {
        make(pair, &set.classify(tree, pair))
            .is_some_and(|made| made.w == outputs[pair].w && made.cells == outputs[pair].cells)
    };
    let tree = set.learn(None);
    let fits = (0..outputs.len())
        .filter(|&pair| right(&tree, pair))
        .count();
    let held_out_hits = if outputs.len() > 1 {
        (0..outputs.len())
            .filter(|&pair| right(&set.learn(Some(pair)), pair))
            .count()
    } else {
        0
    };
    let test = inputs.len() - 1;
    let image = make(test, &set.classify(&tree, test))?;
    Some(ObjectAnswer {
        image: image.moved_to(0, 0),
        name,
        fits,
        held_out_hits,
        splits: tree.splits(),
    })
}

/// Recolours or deletes objects; they keep their positions.
fn recolored(
    inputs: &[Image],
    outputs: &[Image],
    parts: &[Vec<Image>],
    name: &str,
) -> Option<ObjectAnswer> {
    let mut classes = Vec::new();
    for ((input, output), objects) in inputs.iter().zip(outputs).zip(parts) {
        let ground_stays = input.size() == output.size()
            && input
                .cells
                .iter()
                .zip(&output.cells)
                .all(|(before, after)| *before != 0 || *after == 0);
        if !ground_stays || objects.is_empty() || objects.len() > 60 {
            return None;
        }
        classes.push(
            objects
                .iter()
                .map(|object| object_class(object, output))
                .collect::<Option<Vec<u8>>>()?,
        );
    }
    let set = ObjectSamples::new(inputs, parts, &classes);
    learn_and_apply(
        inputs,
        outputs,
        &set,
        format!("recolor objects ({name})"),
        |pair, classes| {
            let mut result = inputs[pair].map(|_| 0);
            for (object, &class) in parts[pair].iter().zip(classes) {
                match class {
                    UNCHANGED => result.paint(object),
                    color => result.paint(&object.map(|cell| if cell == 0 { 0 } else { color })),
                }
            }
            Some(result)
        },
    )
}

/// Returns the class of an object: the colour that all its cells have in the output, or
/// [`UNCHANGED`] if they keep their colours. Returns `None` if neither is the case.
fn object_class(object: &Image, output: &Image) -> Option<u8> {
    let cells: Vec<(u8, u8)> = (0..object.cells.len())
        .filter(|&cell| object.cells[cell] != 0)
        .map(|cell| {
            (
                object.cells[cell],
                output.get(
                    i32::from(object.x) + (cell % object.w) as i32,
                    i32::from(object.y) + (cell / object.w) as i32,
                ),
            )
        })
        .collect();
    if cells.iter().all(|(before, after)| before == after) {
        return Some(UNCHANGED);
    }
    cells
        .iter()
        .all(|(_, after)| *after == cells[0].1)
        .then_some(cells[0].1)
}

/// Selects one object as the output: the object alone or, if `whole_box` is set, all cells of the
/// input within its bounding box.
fn select_object(
    inputs: &[Image],
    outputs: &[Image],
    parts: &[Vec<Image>],
    whole_box: bool,
    name: &str,
) -> Option<ObjectAnswer> {
    let views: Vec<Vec<Image>> = parts
        .iter()
        .zip(inputs)
        .map(|(objects, input)| {
            let view = |object: &Image| {
                if whole_box {
                    input.part(object.x as usize, object.y as usize, object.w, object.h)
                } else {
                    object.clone()
                }
            };
            objects.iter().map(view).collect()
        })
        .collect();
    let mut classes = Vec::new();
    for (views, output) in views.iter().zip(outputs) {
        let own: Vec<u8> = views
            .iter()
            .map(|view| u8::from(view.w == output.w && view.cells == output.cells))
            .collect();
        if views.len() > 60 || own.iter().all(|class| *class == 0) {
            return None;
        }
        classes.push(own);
    }
    let set = ObjectSamples::new(inputs, parts, &classes);
    learn_and_apply(
        inputs,
        outputs,
        &set,
        format!("choose one of {name}"),
        |pair, classes| {
            let mut wanted = views[pair]
                .iter()
                .zip(classes)
                .filter(|(_, class)| **class == 1)
                .map(|(view, _)| view);
            let first = wanted.next()?;
            wanted
                .all(|other| other.w == first.w && other.cells == first.cells)
                .then(|| first.clone())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn objects_are_recolored_by_a_property() {
        // An object with a hole becomes 3, one without a hole is deleted.
        let inputs = [
            image(&["111.1", "1.1..", "111.1"]),
            image(&["1.111.", "1.1.1.", "..111."]),
            image(&[".111", ".1.1", ".111", "1..."]),
        ];
        let outputs = [
            image(&["333..", "3.3..", "333.."]),
            image(&["..333.", "..3.3.", "..333."]),
        ];
        let found = object_answers(&inputs, &outputs);
        let answer = found
            .iter()
            .find(|answer| answer.name.starts_with("recolor") && answer.fits == 2)
            .unwrap();
        assert_eq!(answer.image, image(&[".333", ".3.3", ".333", "...."]));
    }

    #[test]
    fn one_object_is_selected() {
        let inputs = [
            image(&["11..2", "1...2", "....2"]),
            image(&["2..11", "....1", "2...."]),
            image(&["1....", "11.22", "....."]),
        ];
        let outputs = [image(&["11", "1."]), image(&["11", ".1"])];
        let found = object_answers(&inputs, &outputs);
        assert!(
            found
                .iter()
                .any(|answer| answer.fits == 2 && answer.image == image(&["1.", "11"]))
        );
    }
}
