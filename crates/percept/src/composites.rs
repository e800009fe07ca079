//! Composite sprites: objects of several colours that always move together.

use std::collections::BTreeMap;

use crate::{Change, Matching, ObjectId, Scene, ShapeId};

/// The number of common movements after which two objects count as one sprite.
const MIN_COMMON_MOVES: u32 = 2;

/// What an object looks like, which identifies it from frame to frame.
type Look = (u8, ShapeId);

/// How often two adjacent objects moved together, and how often only one of them moved.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    together: u32,
    apart: u32,
}

/// Recognises which objects form one sprite, by how they move.
///
/// Two objects belong together if they touched and moved by the same vector at least twice, and
/// never moved separately while they touched.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_percept::{Composites, Matching, Scene};
///
/// let frame = |x: usize| {
///     let mut frame = Frame::filled(0);
///     frame.rect(x, 20, 4, 2, 9); // a head
///     frame.rect(x, 22, 4, 2, 12); // and a body
///     frame
/// };
/// let mut composites = Composites::default();
/// for x in [10, 14] {
///     let (before, after) = (Scene::of(&frame(x)), Scene::of(&frame(x + 4)));
///     composites.observe(&before, &after, &Matching::between(&before, &after));
/// }
/// let scene = Scene::of(&frame(18));
/// let sprites = composites.group(&scene);
/// assert_eq!(sprites[usize::from(scene.object_at(18, 20).0)], sprites[usize::from(scene.object_at(18, 22).0)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Composites {
    evidence: BTreeMap<(Look, Look), Evidence>,
}

impl Composites {
    /// Records what moved between two scenes.
    pub fn observe(&mut self, before: &Scene, after: &Scene, matching: &Matching) {
        let mut moves = vec![None; before.objects().len()];
        for event in matching.events() {
            if let (Some(id), Change::Moved { dx, dy }) = (event.before, event.change) {
                moves[usize::from(id.0)] = Some((dx, dy));
            }
        }
        if moves.iter().all(Option::is_none) {
            return;
        }
        for &(a, b) in before.adjacent() {
            let (move_a, move_b) = (moves[usize::from(a.0)], moves[usize::from(b.0)]);
            let both_exist = matching.after(a).is_some() && matching.after(b).is_some();
            if !both_exist || (move_a.is_none() && move_b.is_none()) {
                continue;
            }
            // A large area that is reshaped by what moves over it is not a part of a sprite.
            let is_intact = |id: ObjectId| {
                let object = before.object(id);
                let next = matching.after(id).map(|next| after.object(next));
                next.is_some_and(|next| next.looks_like(object))
            };
            if !is_intact(a) || !is_intact(b) {
                continue;
            }
            let evidence = self.evidence.entry(key(before, a, b)).or_default();
            if move_a == move_b {
                evidence.together += 1;
            } else {
                evidence.apart += 1;
            }
        }
    }

    /// Returns whether two adjacent objects of a scene belong to one sprite.
    pub fn belong_together(&self, scene: &Scene, a: ObjectId, b: ObjectId) -> bool {
        let evidence = self.evidence.get(&key(scene, a, b));
        evidence.is_some_and(|found| found.together >= MIN_COMMON_MOVES && found.apart == 0)
    }

    /// Returns, for each object of a scene, the first object of its sprite. An object that belongs
    /// to no composite sprite is its own sprite.
    pub fn group(&self, scene: &Scene) -> Vec<ObjectId> {
        let mut first: Vec<ObjectId> = scene.iter().map(|(id, _)| id).collect();
        // Pairs are sorted by their first object, but a later pair may still join two groups.
        for &(a, b) in scene.adjacent() {
            if self.belong_together(scene, a, b) {
                let (of_a, of_b) = (first[usize::from(a.0)], first[usize::from(b.0)]);
                let (keep, replace) = (of_a.min(of_b), of_a.max(of_b));
                first
                    .iter_mut()
                    .filter(|id| **id == replace)
                    .for_each(|id| *id = keep);
            }
        }
        first
    }
}

fn key(scene: &Scene, a: ObjectId, b: ObjectId) -> (Look, Look) {
    let look = |id| {
        let object = scene.object(id);
        (object.color, object.shape)
    };
    let (a, b) = (look(a), look(b));
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhae_engine::Frame;

    fn observe(composites: &mut Composites, before: &Frame, after: &Frame) {
        let (before, after) = (Scene::of(before), Scene::of(after));
        composites.observe(&before, &after, &Matching::between(&before, &after));
    }

    #[test]
    fn one_separate_movement_divides_a_sprite() {
        let frame = |head: usize, body: usize| {
            let mut frame = Frame::filled(0);
            frame.rect(head, 20, 4, 2, 9);
            frame.rect(body, 22, 4, 2, 12);
            frame
        };
        let mut composites = Composites::default();
        let joined = |composites: &Composites| {
            let scene = Scene::of(&frame(10, 10));
            composites.belong_together(&scene, scene.object_at(10, 20), scene.object_at(10, 22))
        };
        observe(&mut composites, &frame(10, 10), &frame(14, 14));
        assert!(!joined(&composites), "one movement may be a coincidence");
        observe(&mut composites, &frame(14, 14), &frame(18, 18));
        assert!(joined(&composites));
        observe(&mut composites, &frame(18, 18), &frame(20, 18));
        assert!(!joined(&composites));
    }

    #[test]
    fn a_mover_and_its_floor_are_separate() {
        let frame = |x: usize| {
            let mut frame = Frame::filled(0);
            frame.rect(8, 8, 40, 40, 3);
            frame.rect(x, 20, 4, 4, 9);
            frame
        };
        let mut composites = Composites::default();
        for x in [10, 14, 18] {
            observe(&mut composites, &frame(x), &frame(x + 4));
        }
        let scene = Scene::of(&frame(10));
        let groups = composites.group(&scene);
        assert!(
            groups
                .iter()
                .enumerate()
                .all(|(index, id)| usize::from(id.0) == index)
        );
    }
}
