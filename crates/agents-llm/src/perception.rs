//! What the crate `percept` sees in a frame, as JSON for a model and its code.

use rhae_engine::Frame;
use rhae_percept::{Object, ObjectId, Scene};
use serde_json::{Value, json};

/// The objects that a segmentation lists.
const MAX_OBJECTS: usize = 400;

/// Returns the objects of a frame, in reading order, and which of them touch. `color` returns a
/// colour as the model knows it.
pub(crate) fn segmentation(frame: &Frame, color: impl Fn(u8) -> Value) -> Value {
    let scene = Scene::of(frame);
    let object = |(id, object): (ObjectId, &Object)| {
        let bounds = object.bounds;
        json!({
            "id": id.0,
            "color": color(object.color),
            "pixels": object.area,
            "hash": format!("{:016x}", object.shape.0),
            "box": [bounds.top, bounds.left, bounds.bottom, bounds.right],
            "center": [object.center.1, object.center.0],
            "parent": object.parent.map(|parent| parent.0),
        })
    };
    let adjacent: Vec<[u16; 2]> = scene
        .adjacent()
        .iter()
        .filter(|(one, two)| usize::from(one.0.max(two.0)) < MAX_OBJECTS)
        .map(|(one, two)| [one.0, two.0])
        .collect();
    json!({
        "objects": scene.iter().take(MAX_OBJECTS).map(object).collect::<Vec<_>>(),
        "adjacent": adjacent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segmentation_lists_objects_in_reading_order() {
        let mut frame = Frame::filled(0);
        frame.rect(10, 20, 3, 2, 9);
        let found = segmentation(&frame, |color| json!(color));
        assert_eq!(found["objects"][0]["color"], 0);
        let object = &found["objects"][1];
        assert_eq!(
            (
                &object["color"],
                &object["pixels"],
                &object["box"],
                &object["parent"]
            ),
            (&json!(9), &json!(6), &json!([20, 10, 21, 12]), &json!(0))
        );
        assert_eq!(object["center"][0], 20);
        assert_eq!(found["adjacent"], json!([[0, 1]]));
    }
}
