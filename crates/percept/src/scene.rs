//! The objects of one frame, with their hierarchy and adjacency.

use rhae_engine::{CELLS, Frame, SIZE};

use crate::{Bounds, CellSet, Shape, ShapeId, regions};

/// The index of an object in its [`Scene`]. Objects are numbered by their first cells, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u16);

impl ObjectId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A connected area of one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The index of the colour. A hosted game may use any byte.
    pub color: u8,
    /// The number of cells.
    pub area: u16,
    /// The bounding rectangle.
    pub bounds: Bounds,
    /// The cell of the object that is nearest to its centre of mass. A click there hits the object.
    pub center: (u8, u8),
    /// The number of holes: areas that the object encloses completely, whatever is inside.
    pub holes: u16,
    /// The innermost object that encloses this one.
    pub parent: Option<ObjectId>,
    /// The shape in this orientation.
    pub shape: ShapeId,
    /// The shape regardless of rotation and reflection.
    pub canonical_shape: ShapeId,
}

impl Object {
    /// Returns whether the object fills its bounding rectangle.
    pub const fn is_rectangle(&self) -> bool {
        self.area == self.bounds.area()
    }

    /// Returns whether two objects look the same, wherever they are.
    pub fn looks_like(&self, other: &Self) -> bool {
        self.color == other.color && self.shape == other.shape
    }
}

/// A connected area that an object encloses, whatever its colours: a figure on a floor, with
/// everything that touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Island {
    /// The bounding rectangle.
    pub bounds: Bounds,
    /// The object around it.
    pub container: ObjectId,
    /// The first object of the island. [`Scene::island_of`] returns the island of every object.
    pub first: ObjectId,
    /// The number of objects directly inside the container, not counting those that these enclose.
    pub objects: u16,
}

/// The objects of a frame: its connected areas of one colour. Cells are connected with their four
/// neighbours.
///
/// A scene can be read again and again. It keeps its buffers, so that reading allocates no memory
/// once they have grown.
///
/// **Invariant:** every cell of the frame belongs to exactly one object.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_percept::Scene;
///
/// let mut frame = Frame::filled(0);
/// frame.outline(10, 10, 8, 8, 9);
/// frame.rect(12, 12, 3, 2, 14);
///
/// let scene = Scene::of(&frame);
/// let box_ = scene.object_at(10, 10);
/// let inner = scene.object_at(13, 12);
/// assert_eq!(scene.objects().len(), 4); // background, outline, floor of the box, rectangle
/// assert_eq!(scene.object(box_).holes, 1);
/// assert_eq!(scene.object(inner).parent, Some(scene.object_at(11, 11)));
/// assert_eq!(scene.background(), scene.object_at(0, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    labels: Box<[u16; CELLS]>,
    objects: Vec<Object>,
    /// The cells of each object.
    cells: Vec<CellSet>,
    /// Pairs of objects that share an edge of a cell, the smaller id first, sorted.
    adjacent: Vec<(ObjectId, ObjectId)>,
    islands: Vec<Island>,
    /// For each object, the index of its island; [`NO_ISLAND`] if nothing encloses the object.
    island_of: Vec<u16>,
    /// The objects that enclose cells, while the objects are nested.
    enclosing: Vec<Enclosing>,
}

/// An object that encloses cells.
#[derive(Clone, Debug)]
struct Enclosing {
    /// The number of cells of the object and of those that it encloses.
    filled: u16,
    object: ObjectId,
    enclosed: CellSet,
}

/// Marks an object that nothing encloses.
const NO_ISLAND: u16 = u16::MAX;

impl Default for Scene {
    fn default() -> Self {
        Self {
            labels: Box::new([0; CELLS]),
            objects: Vec::new(),
            cells: Vec::new(),
            adjacent: Vec::new(),
            islands: Vec::new(),
            island_of: Vec::new(),
            enclosing: Vec::new(),
        }
    }
}

impl Scene {
    /// Returns the objects of a frame.
    pub fn of(frame: &Frame) -> Self {
        let mut scene = Self::default();
        scene.read(frame);
        scene
    }

    /// Replaces the content by the objects of another frame.
    pub fn read(&mut self, frame: &Frame) {
        self.objects.clear();
        let count = regions::label(frame, &mut self.labels);
        self.cells.clear();
        self.cells.resize(count, CellSet::EMPTY);
        for (y, row) in self.labels.chunks_exact(SIZE).enumerate() {
            for (x, &label) in row.iter().enumerate() {
                self.cells[usize::from(label)].insert(x as u8, y as u8);
            }
        }
        self.objects
            .extend(self.cells.iter().map(|cells| describe(frame, cells)));
        self.nest();
        self.find_neighbours();
        self.find_islands();
    }

    /// Returns all objects, ordered by id.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns all objects with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        let ids = (0..).map(ObjectId);
        ids.zip(&self.objects)
    }

    /// Returns the object with an id.
    ///
    /// # Panics
    ///
    /// Panics if the id does not belong to this scene.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    /// Returns the cells of an object.
    ///
    /// # Panics
    ///
    /// Panics if the id does not belong to this scene.
    pub fn cells(&self, id: ObjectId) -> &CellSet {
        &self.cells[id.index()]
    }

    /// Returns the shape of an object.
    ///
    /// # Panics
    ///
    /// Panics if the id does not belong to this scene.
    pub fn shape(&self, id: ObjectId) -> Shape {
        Shape::new(self.cells(id), self.object(id).bounds)
    }

    /// Returns the object that covers the cell in column `x`, row `y`.
    ///
    /// # Panics
    ///
    /// Panics if a coordinate is above 63, or if no frame was read.
    pub fn object_at(&self, x: u8, y: u8) -> ObjectId {
        assert!(usize::from(x) < SIZE, "column {x} is outside the frame");
        ObjectId(self.labels[usize::from(y) * SIZE + usize::from(x)])
    }

    /// Returns the largest object that touches the edge of the frame; of several, the first.
    ///
    /// # Panics
    ///
    /// Panics if no frame was read.
    pub fn background(&self) -> ObjectId {
        let at_edge = self
            .iter()
            .filter(|(_, object)| object.bounds.touches_frame_edge());
        let largest = at_edge.min_by_key(|(id, object)| (std::cmp::Reverse(object.area), *id));
        largest.expect("an object covers the corner of the frame").0
    }

    /// Returns the pairs of objects that share an edge of a cell, the smaller id first, sorted.
    pub fn adjacent(&self) -> &[(ObjectId, ObjectId)] {
        &self.adjacent
    }

    /// Returns the objects that an object encloses directly.
    pub fn children(&self, id: ObjectId) -> impl Iterator<Item = ObjectId> {
        self.iter()
            .filter(move |(_, object)| object.parent == Some(id))
            .map(|(child, _)| child)
    }

    /// Returns the islands: what stands on a floor or in a box, each with all its colours. They are
    /// ordered by their first objects.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_engine::Frame;
    /// use rhae_percept::Scene;
    ///
    /// let mut frame = Frame::filled(0);
    /// frame.rect(20, 20, 4, 2, 9); // a head
    /// frame.rect(20, 22, 4, 3, 12); // and a body
    /// frame.rect(40, 8, 3, 3, 9);
    ///
    /// let scene = Scene::of(&frame);
    /// let sizes: Vec<_> = scene
    ///     .islands()
    ///     .iter()
    ///     .map(|island| (island.bounds.width(), island.bounds.height()))
    ///     .collect();
    /// assert_eq!(sizes, [(3, 3), (4, 5)]);
    /// ```
    pub fn islands(&self) -> &[Island] {
        &self.islands
    }

    /// Returns the island that an object is a direct part of, `None` if nothing encloses the object.
    ///
    /// # Panics
    ///
    /// Panics if the id does not belong to this scene.
    pub fn island_of(&self, id: ObjectId) -> Option<&Island> {
        self.islands.get(usize::from(self.island_of[id.index()]))
    }

    /// Finds the holes of all objects, and for each object the innermost one around it.
    fn nest(&mut self) {
        /// An object smaller than three cells in one direction encloses nothing.
        const MIN_SIDE: u8 = 3;
        self.enclosing.clear();
        for (index, object) in self.objects.iter_mut().enumerate() {
            let bounds = object.bounds;
            if bounds.width().min(bounds.height()) < MIN_SIDE || object.is_rectangle() {
                continue;
            }
            let enclosed = regions::enclosed(&self.cells[index], bounds);
            if let Some(enclosed) = enclosed {
                object.holes = regions::count_connected(&enclosed);
                let filled = object.area + enclosed.len() as u16;
                self.enclosing.push(Enclosing {
                    filled,
                    object: ObjectId(index as u16),
                    enclosed,
                });
            }
        }
        // From the outermost to the innermost, so that the last assignment is the innermost.
        self.enclosing
            .sort_unstable_by_key(|one| (std::cmp::Reverse(one.filled), one.object));
        for container in &self.enclosing {
            for (index, object) in self.objects.iter_mut().enumerate() {
                let (x, y) = object.center;
                if index != container.object.index() && container.enclosed.contains(x, y) {
                    object.parent = Some(container.object);
                }
            }
        }
    }

    /// Joins adjacent objects that have the same parent.
    fn find_islands(&mut self) {
        let Self {
            objects,
            adjacent,
            islands,
            island_of,
            ..
        } = self;
        // First, each entry refers to an object of the same island that is not later.
        island_of.clear();
        island_of.extend(0..objects.len() as u16);
        for &(a, b) in adjacent.iter() {
            let parents = (objects[a.index()].parent, objects[b.index()].parent);
            if parents.0.is_some() && parents.0 == parents.1 {
                let (a, b) = (first_of(island_of, a.0), first_of(island_of, b.0));
                island_of[usize::from(a.max(b))] = a.min(b);
            }
        }
        // An object refers to an earlier one or to itself, so one pass replaces all references.
        islands.clear();
        for (index, object) in objects.iter().enumerate() {
            let first = usize::from(island_of[index]);
            island_of[index] = match object.parent {
                None => NO_ISLAND,
                Some(_) if first != index => island_of[first],
                Some(container) => {
                    islands.push(Island {
                        bounds: object.bounds,
                        container,
                        first: ObjectId(index as u16),
                        objects: 0,
                    });
                    islands.len() as u16 - 1
                }
            };
            if let Some(island) = islands.get_mut(usize::from(island_of[index])) {
                island.bounds = island.bounds.joined(object.bounds);
                island.objects += 1;
            }
        }
    }

    fn find_neighbours(&mut self) {
        self.adjacent.clear();
        let mut last = (u16::MAX, u16::MAX);
        let mut add = |a: u16, b: u16| {
            // Long edges repeat the same pair, so most duplicates are not even added.
            if a != b && (a, b) != last {
                last = (a, b);
                self.adjacent.push((ObjectId(a.min(b)), ObjectId(a.max(b))));
            }
        };
        for row in self.labels.chunks_exact(SIZE) {
            for pair in row.windows(2) {
                add(pair[0], pair[1]);
            }
        }
        for (upper, lower) in self.labels.iter().zip(&self.labels[SIZE..]) {
            add(*upper, *lower);
        }
        self.adjacent.sort_unstable();
        self.adjacent.dedup();
    }
}

/// Returns the first object of a group and shortens the path to it.
fn first_of(firsts: &mut [u16], object: u16) -> u16 {
    let mut object = object;
    while firsts[usize::from(object)] != object {
        let next = firsts[usize::from(object)];
        firsts[usize::from(object)] = firsts[usize::from(next)];
        object = next;
    }
    object
}

/// Describes the object that consists of these cells. Holes and parent are found later.
fn describe(frame: &Frame, cells: &CellSet) -> Object {
    let bounds = cells.bounds().expect("an object has at least one cell");
    let shape = Shape::new(cells, bounds);
    let area = cells.len();
    let (x, y) = cells
        .iter()
        .next()
        .expect("an object has at least one cell");
    Object {
        color: frame.get(x.into(), y.into()),
        area: area as u16,
        bounds,
        center: center(cells, bounds, area),
        holes: 0,
        parent: None,
        shape: shape.id(),
        canonical_shape: shape.canonical_id(),
    }
}

/// Returns the cell nearest to the centre of mass; of several, the first.
fn center(cells: &CellSet, bounds: Bounds, area: u32) -> (u8, u8) {
    if u32::from(bounds.area()) == area {
        return (
            bounds.left + (bounds.width() - 1) / 2,
            bounds.top + (bounds.height() - 1) / 2,
        );
    }
    let (mut sum_x, mut sum_y) = (0_u32, 0_u32);
    for (x, y) in cells.iter() {
        sum_x += u32::from(x);
        sum_y += u32::from(y);
    }
    let distance = |&(x, y): &(u8, u8)| {
        (u32::from(x) * area).abs_diff(sum_x) + (u32::from(y) * area).abs_diff(sum_y)
    };
    cells
        .iter()
        .min_by_key(distance)
        .expect("an object has at least one cell")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nested_boxes_form_a_chain_of_parents() {
        let mut frame = Frame::filled(0);
        frame.rect(5, 5, 30, 30, 1);
        frame.rect(7, 7, 20, 20, 2);
        frame.rect(9, 9, 4, 4, 3);
        let scene = Scene::of(&frame);
        let ids = [(0, 0), (5, 5), (7, 7), (9, 9)].map(|(x, y)| scene.object_at(x, y));
        for pair in ids.windows(2) {
            assert_eq!(scene.object(pair[1]).parent, Some(pair[0]));
            assert!(scene.children(pair[0]).eq([pair[1]]));
        }
        assert_eq!(
            scene.adjacent(),
            [(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[3])]
        );
    }

    #[test]
    fn open_ring_encloses_nothing() {
        let mut frame = Frame::filled(0);
        frame.outline(10, 10, 6, 6, 9);
        frame.set(12, 12, 3);
        let inner = |frame: &Frame| {
            let scene = Scene::of(frame);
            let ring = scene.object_at(10, 11);
            (
                scene.object(ring).holes,
                scene.object(scene.object_at(12, 12)).parent,
            )
        };
        assert_eq!(inner(&frame).0, 1);
        frame.set(12, 10, 0);
        assert_eq!(inner(&frame).0, 0);
        assert_ne!(
            inner(&frame).1,
            None,
            "the floor around the cell encloses it"
        );
    }

    #[test]
    fn figures_of_several_colours_are_islands() {
        let mut frame = Frame::filled(0);
        frame.rect(4, 4, 50, 50, 3);
        // A ring whose corners are missing, a figure with an eye at its edge, and two that touch.
        frame.rect(11, 10, 4, 1, 9);
        frame.rect(11, 15, 4, 1, 9);
        frame.rect(10, 11, 1, 4, 9);
        frame.rect(15, 11, 1, 4, 9);
        frame.rect(30, 10, 5, 5, 12);
        frame.set(30, 12, 5);
        frame.rect(10, 30, 3, 3, 8);
        frame.rect(13, 31, 3, 3, 14);
        let scene = Scene::of(&frame);
        let floor = scene.object_at(4, 4);
        let on_floor = |island: &&Island| island.container == floor;
        let found: Vec<_> = scene
            .islands()
            .iter()
            .filter(on_floor)
            .map(|island| {
                let bounds = island.bounds;
                (bounds.left, bounds.top, bounds.right, bounds.bottom)
            })
            .collect();
        assert_eq!(
            found,
            [(10, 10, 15, 15), (30, 10, 34, 14), (10, 30, 15, 33)]
        );
        let eye = scene.island_of(scene.object_at(30, 12));
        assert_eq!(eye, scene.island_of(scene.object_at(32, 12)));
        assert_eq!(scene.island_of(scene.object_at(0, 0)), None);
    }

    #[test]
    fn center_belongs_to_the_object() {
        let mut frame = Frame::filled(0);
        frame.outline(10, 10, 9, 9, 9);
        let scene = Scene::of(&frame);
        for (id, object) in scene.iter() {
            assert_eq!(scene.object_at(object.center.0, object.center.1), id);
        }
    }

    fn noise() -> impl Strategy<Value = Frame> {
        (1_u8..6, any::<u64>()).prop_map(|(colors, seed)| {
            let mut rng = rhae_engine::Rng::new(seed, 0);
            let mut frame = Frame::filled(0);
            for cell in frame.cells_mut() {
                *cell = rng.below(colors.into()) as u8;
            }
            frame
        })
    }

    proptest! {
        #[test]
        fn objects_partition_the_frame(frame in noise()) {
            let scene = Scene::of(&frame);
            let mut all = CellSet::EMPTY;
            let mut total = 0;
            for (id, object) in scene.iter() {
                let cells = scene.cells(id);
                prop_assert!(cells.iter().all(|(x, y)| frame.get(x.into(), y.into()) == object.color));
                prop_assert_eq!(cells.bounds(), Some(object.bounds));
                all.union(cells);
                total += u32::from(object.area);
                if let Some(parent) = object.parent {
                    let outer = scene.object(parent).bounds;
                    prop_assert!(outer.left < object.bounds.left && object.bounds.right < outer.right);
                    prop_assert!(outer.top < object.bounds.top && object.bounds.bottom < outer.bottom);
                }
            }
            prop_assert_eq!((all.len(), total), (4096, 4096));
            let enclosed = scene.objects().iter().filter(|object| object.parent.is_some()).count();
            let in_islands: usize = scene.islands().iter().map(|island| usize::from(island.objects)).sum();
            prop_assert_eq!(in_islands, enclosed);
        }

        #[test]
        fn a_scene_can_be_read_again(first in noise(), second in noise()) {
            let mut scene = Scene::of(&first);
            scene.read(&second);
            let fresh = Scene::of(&second);
            prop_assert_eq!(scene.objects(), fresh.objects());
            prop_assert_eq!(scene.adjacent(), fresh.adjacent());
        }
    }
}
