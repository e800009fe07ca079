//! Click candidates: one cell per object, grouped by what the objects look like.

use crate::{CellSet, ObjectId, Scene, ShapeId};

/// The class of a click target. Objects of one class usually react alike, wherever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClickClass {
    pub color: u8,
    /// The shape regardless of rotation and reflection.
    pub shape: ShapeId,
    pub size: SizeClass,
    /// The colour of the object around it.
    pub container: Option<u8>,
}

/// The size of an object in classes of powers of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SizeClass {
    /// One cell.
    Dot,
    /// 2 to 15 cells.
    Small,
    /// 16 to 255 cells.
    Medium,
    /// 256 cells or more, usually a floor or a background.
    Large,
}

impl SizeClass {
    /// Returns the class of an area.
    pub const fn of(area: u16) -> Self {
        match area {
            0..=1 => Self::Dot,
            2..=15 => Self::Small,
            16..=255 => Self::Medium,
            _ => Self::Large,
        }
    }
}

/// A cell worth clicking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClickCandidate {
    pub x: u8,
    pub y: u8,
    pub object: ObjectId,
    pub class: ClickClass,
}

/// Returns one cell for each object whose centre is not in `ignored`, such as status bars. The
/// order is that of the objects.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_percept::{CellSet, Scene, click_candidates};
///
/// let mut frame = Frame::filled(0);
/// frame.rect(10, 10, 4, 4, 9);
/// frame.rect(30, 40, 4, 4, 9);
/// let scene = Scene::of(&frame);
/// let candidates = click_candidates(&scene, &CellSet::EMPTY);
/// assert_eq!(candidates.len(), 3); // the background and two buttons of one class
/// assert_eq!(candidates[1].class, candidates[2].class);
/// ```
pub fn click_candidates(scene: &Scene, ignored: &CellSet) -> Vec<ClickCandidate> {
    let objects = scene.iter();
    objects
        .filter(|(_, object)| !ignored.contains(object.center.0, object.center.1))
        .map(|(id, object)| ClickCandidate {
            x: object.center.0,
            y: object.center.1,
            object: id,
            class: click_class(scene, id),
        })
        .collect()
}

/// Returns the class of an object as a click target.
///
/// # Panics
///
/// Panics if the id does not belong to the scene.
pub fn click_class(scene: &Scene, id: ObjectId) -> ClickClass {
    let object = scene.object(id);
    ClickClass {
        color: object.color,
        shape: object.canonical_shape,
        size: SizeClass::of(object.area),
        container: object.parent.map(|parent| scene.object(parent).color),
    }
}
