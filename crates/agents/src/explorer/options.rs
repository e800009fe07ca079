//! The actions that are worth trying at a state.

use rhae_engine::{Action, ActionKind, ActionSet};
use rhae_percept::{Object, ObjectId, Scene, SizeClass, click_class};

use super::classes::{ActionClass, ClassId, Classes};
use super::is_exploratory;

/// The largest number of objects of an island that is considered as one thing.
const MAX_PARTS: u16 = 8;

/// An action of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) action: Action,
    pub(super) class: ClassId,
    /// Where to click the object that this one is a part of.
    pub(super) whole: Option<(u8, u8)>,
    pub(super) is_tried: bool,
    /// How often the action lost the level here, while its effect is not known.
    pub(super) losses: u8,
}

/// Returns the actions of a state: the keys that are offered except undo, then one click for each
/// object if clicks are offered.
pub(super) fn choices(scene: &Scene, offered: ActionSet, classes: &mut Classes) -> Vec<Choice> {
    let choice = |action, class, whole| Choice {
        action,
        class,
        whole,
        is_tried: false,
        losses: 0,
    };
    let keys = offered.iter().filter(|&kind| is_exploratory(kind));
    let mut found: Vec<Choice> = keys
        .filter_map(|kind| {
            Some(choice(
                kind.simple()?,
                classes.id(ActionClass::Key(kind)),
                None,
            ))
        })
        .collect();
    if offered.contains(ActionKind::Action6) {
        let wholes = wholes(scene);
        found.extend(scene.iter().map(|(id, object)| {
            let (x, y) = object.center;
            let class = classes.id(ActionClass::Click(click_class(scene, id)));
            let whole = wholes[usize::from(id.0)].map(|whole| scene.object(whole).center);
            choice(Action::Action6 { x, y }, class, whole)
        }));
    }
    found
}

/// Returns, for each object, the object that it is a part of. Adjacent objects on one floor are parts
/// of the largest of them, unless they are many, and an object inside another one that is not a
/// floor itself is a part of that one.
fn wholes(scene: &Scene) -> Vec<Option<ObjectId>> {
    let mut largest: Vec<(ObjectId, ObjectId)> = Vec::new();
    let is_floor = |object: &Object| SizeClass::of(object.area) == SizeClass::Large;
    for (id, object) in scene.iter() {
        let Some(island) = scene.island_of(id) else {
            continue;
        };
        match largest.iter_mut().find(|(first, _)| *first == island.first) {
            Some((_, best)) if scene.object(*best).area < object.area => *best = id,
            Some(_) => {}
            None => largest.push((island.first, id)),
        }
    }
    scene
        .iter()
        .map(|(id, object)| {
            let parent = object.parent?;
            if !is_floor(scene.object(parent)) {
                return Some(parent);
            }
            let island = scene.island_of(id)?;
            let (_, best) = largest.iter().find(|(first, _)| *first == island.first)?;
            let is_part = *best != id && island.objects <= MAX_PARTS && !is_floor(object);
            is_part.then_some(*best)
        })
        .collect()
}
