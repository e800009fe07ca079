//! The frame processor of `just-explore`: the mask of status bars, and the click tiers.

use rhae_engine::{ActionKind, ActionSet, CELLS, Frame, SIZE, StateKey, key_of};
use rhae_percept::{Bounds, CellSet, Object, ObjectId, Scene};

/// The number of tiers: four for objects of the board, one for status bars.
pub(super) const TIERS: u8 = 5;
/// The tier of clicks on status bars, which are tried last.
const STATUS_BAR_TIER: u8 = 4;
/// The colour of masked cells in the segmentation. No board uses it.
const MASK_COLOR: u8 = 16;
/// A status bar lies completely within this many cells of an edge.
const EDGE: u8 = 3;
/// The least ratio of the side along the edge to the side across it.
const MIN_ELONGATION: u8 = 5;
/// The least number of equal objects at one edge that form a status bar together.
const MIN_TWINS: usize = 3;
/// The sides of an object of medium size.
const MEDIUM: std::ops::RangeInclusive<u8> = 2..=32;
/// The colours that stand out. The others are white, greys and black.
const SALIENT: std::ops::RangeInclusive<u8> = 6..=15;

/// An action that the agent tries at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Simple(ActionKind),
    /// A click on any cell of an object of the masked frame.
    Object(ObjectId),
}

/// The edge of the frame near which an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Top,
    Bottom,
    Left,
    Right,
}

impl Edge {
    const ALL: [Self; 4] = [Self::Top, Self::Bottom, Self::Left, Self::Right];

    const fn holds(self, bounds: Bounds) -> bool {
        match self {
            Self::Top => bounds.bottom < EDGE,
            Self::Bottom => bounds.top >= SIZE as u8 - EDGE,
            Self::Left => bounds.right < EDGE,
            Self::Right => bounds.left >= SIZE as u8 - EDGE,
        }
    }

    const fn is_elongated(self, bounds: Bounds) -> bool {
        let (along, across) = match self {
            Self::Top | Self::Bottom => (bounds.width(), bounds.height()),
            Self::Left | Self::Right => (bounds.height(), bounds.width()),
        };
        along >= MIN_ELONGATION * across
    }
}

/// The cells of the status bars of a level. They are found by shape in the first frame of the level
/// and stay the same until the level ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatusBarMask(CellSet);

impl StatusBarMask {
    /// Finds the status bars in the first frame of a level.
    pub(super) fn of_first_frame(frame: &Frame) -> Self {
        let scene = Scene::of(frame);
        let mut mask = CellSet::EMPTY;
        for edge in Edge::ALL {
            let (bars, others): (Vec<_>, Vec<_>) = scene
                .iter()
                .filter(|(_, object)| edge.holds(object.bounds))
                .partition(|(_, object)| edge.is_elongated(object.bounds));
            let twins = |object: &Object| {
                let is_twin = |other: &Object| {
                    (other.area, other.is_rectangle(), other.color)
                        == (object.area, object.is_rectangle(), object.color)
                };
                others.iter().filter(|(_, other)| is_twin(other)).count()
            };
            let markers = others
                .iter()
                .filter(|(_, object)| twins(object) >= MIN_TWINS);
            for (id, _) in bars.iter().chain(markers) {
                mask.union(scene.cells(*id));
            }
        }
        Self(mask)
    }

    /// Returns the hash of a frame, in which the masked cells are 0, and of the offered actions.
    /// States of one key have the same list of actions.
    pub(super) fn key(&self, frame: &Frame, offered: ActionSet) -> StateKey {
        let mut cells: [u8; CELLS] = *frame.cells();
        for (x, y) in self.0.iter() {
            cells[usize::from(y) * SIZE + usize::from(x)] = 0;
        }
        key_of(&(cells, offered))
    }

    /// Returns the objects of a frame, in which the masked cells have a colour of their own.
    pub(super) fn scene(&self, frame: &Frame) -> Scene {
        let mut masked = frame.clone();
        for (x, y) in self.0.iter() {
            masked.set(x.into(), y.into(), MASK_COLOR);
        }
        Scene::of(&masked)
    }

    #[cfg(test)]
    pub(super) const fn cells(&self) -> &CellSet {
        &self.0
    }
}

/// Returns the actions to try at a node with their tiers: the simple actions that are offered, and a
/// click on each object.
///
/// The order depends on the masked frame and the offered actions alone, so the position in this list
/// identifies an action of a node.
pub(super) fn targets(scene: &Scene, offered: ActionSet) -> Vec<(Target, u8)> {
    let simple = offered.iter().filter(|kind| {
        !matches!(
            kind,
            ActionKind::Reset | ActionKind::Action6 | ActionKind::Action7
        )
    });
    let mut targets: Vec<(Target, u8)> = simple.map(|kind| (Target::Simple(kind), 0)).collect();
    if offered.contains(ActionKind::Action6) {
        let objects = scene.iter();
        targets.extend(objects.map(|(id, object)| (Target::Object(id), click_tier(object))));
    }
    targets
}

/// Returns the tier of a click on an object.
fn click_tier(object: &Object) -> u8 {
    let (width, height) = (object.bounds.width(), object.bounds.height());
    let is_medium = MEDIUM.contains(&width) && MEDIUM.contains(&height);
    match (SALIENT.contains(&object.color), is_medium) {
        _ if object.color == MASK_COLOR => STATUS_BAR_TIER,
        (true, true) => 0,
        (false, true) => 1,
        (true, false) => 2,
        (false, false) => 3,
    }
}
