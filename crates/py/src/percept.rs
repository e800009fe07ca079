//! Perception on frames, for `rhae.percept`.

use numpy::{PyArray2, PyArrayMethods as _, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rhae_engine::{ActionKind, Frame, SIZE};
use rhae_percept::{
    AnimationReader, Bounds, CellSet, Change, GridFinder, IndicatorKind, Matching, ObjectId, Scene,
    Symmetry, click_candidates,
};

/// A connected area of one colour.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "Object")]
pub(crate) struct PyObject {
    id: u16,
    color: u8,
    area: u16,
    /// First column, first row, last column, last row.
    bounds: (u8, u8, u8, u8),
    /// The cell nearest to the centre of mass: column and row.
    center: (u8, u8),
    holes: u16,
    parent: Option<u16>,
    /// The objects that share an edge of a cell with this one.
    neighbours: Vec<u16>,
    shape: u64,
    canonical_shape: u64,
}

/// A connected area that an object encloses, whatever its colours.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "Island")]
pub(crate) struct PyIsland {
    bounds: (u8, u8, u8, u8),
    /// The object around it.
    container: u16,
    /// The objects of the island.
    objects: Vec<u16>,
}

/// A change of one object between two frames.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "Change")]
pub(crate) struct PyChange {
    kind: &'static str,
    before: Option<u16>,
    after: Option<u16>,
    dx: i8,
    dy: i8,
    /// How a turned object was rotated or reflected.
    symmetry: Option<&'static str>,
    /// The colours of a recoloured object.
    colors: Option<(u8, u8)>,
}

/// Something that happened to one object during an animation.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "AnimationEvent")]
pub(crate) struct PyAnimationEvent {
    kind: &'static str,
    /// The indices of the first and the last frame that show the change.
    first_frame: usize,
    last_frame: usize,
    color: u8,
    /// The bounds before and after the change.
    before: Option<(u8, u8, u8, u8)>,
    after: Option<(u8, u8, u8, u8)>,
    dx: i8,
    dy: i8,
}

/// A status bar or counter.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "Indicator")]
pub(crate) struct PyIndicator {
    kind: &'static str,
    bounds: (u8, u8, u8, u8),
    /// The length of the part of a bar that is not used up.
    rest: Option<u8>,
    actions_left: Option<u16>,
}

/// A cell worth clicking.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "ClickCandidate")]
pub(crate) struct PyClickCandidate {
    x: u8,
    y: u8,
    object: u16,
    /// Objects of one class usually react alike.
    click_class: (u8, u64, u8, Option<u8>),
}

/// A regular grid on the frame.
#[pyclass(frozen, get_all, module = "rhae.percept", name = "Grid")]
pub(crate) struct PyGrid {
    cell: u8,
    offset_x: u8,
    offset_y: u8,
    bounds: (u8, u8, u8, u8),
}

/// Recognises the status bars and counters of a game.
#[pyclass(module = "rhae.percept")]
#[derive(Default)]
pub(crate) struct StatusBars {
    bars: rhae_percept::StatusBars,
}

#[pymethods]
impl StatusBars {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Starts an attempt: a level begins, or it was reset.
    fn start_attempt(&mut self) {
        self.bars.start_attempt();
    }

    /// Records the effect of an action, given by its number from 1 to 7, and returns whether the mask
    /// has changed.
    fn observe(
        &mut self,
        action: u8,
        before: &Bound<'_, PyArray2<i8>>,
        after: &Bound<'_, PyArray2<i8>>,
    ) -> PyResult<bool> {
        let kind = ActionKind::from_id(action)
            .filter(|&kind| kind != ActionKind::Reset)
            .ok_or_else(|| {
                PyValueError::new_err(format!("expected an action from 1 to 7, got {action}"))
            })?;
        Ok(self
            .bars
            .observe(kind, &frame_of(before)?, &frame_of(after)?))
    }

    /// The cells of all indicators.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        let mask = self.bars.mask();
        let rows: Vec<Vec<bool>> = (0..SIZE as u8)
            .map(|y| (0..SIZE as u8).map(|x| mask.contains(x, y)).collect())
            .collect();
        PyArray2::from_vec2(py, &rows).expect("all rows have the same length")
    }

    /// What was recognised so far.
    #[getter]
    fn indicators(&self) -> Vec<PyIndicator> {
        let found = self.bars.indicators().iter();
        found
            .map(|indicator| PyIndicator {
                kind: match indicator.kind {
                    IndicatorKind::Bar { .. } => "bar",
                    IndicatorKind::Counter => "counter",
                },
                bounds: edges(indicator.bounds),
                rest: match indicator.kind {
                    IndicatorKind::Bar { rest, .. } => Some(rest),
                    IndicatorKind::Counter => None,
                },
                actions_left: indicator.actions_left(),
            })
            .collect()
    }
}

/// Learns which objects of several colours move as one.
#[pyclass(module = "rhae.percept")]
#[derive(Default)]
pub(crate) struct Composites {
    composites: rhae_percept::Composites,
}

#[pymethods]
impl Composites {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Records what moved between two frames.
    fn observe(
        &mut self,
        before: &Bound<'_, PyArray2<i8>>,
        after: &Bound<'_, PyArray2<i8>>,
    ) -> PyResult<()> {
        let (before, after) = (Scene::of(&frame_of(before)?), Scene::of(&frame_of(after)?));
        let matching = Matching::between(&before, &after);
        self.composites.observe(&before, &after, &matching);
        Ok(())
    }

    /// Returns, for each object of a frame, the first object of its sprite.
    fn group(&self, frame: &Bound<'_, PyArray2<i8>>) -> PyResult<Vec<u16>> {
        let sprites = self.composites.group(&Scene::of(&frame_of(frame)?));
        Ok(sprites.into_iter().map(|id| id.0).collect())
    }
}

/// Returns the objects of a frame.
#[pyfunction]
pub(crate) fn objects(frame: &Bound<'_, PyArray2<i8>>) -> PyResult<Vec<PyObject>> {
    let scene = Scene::of(&frame_of(frame)?);
    let mut neighbours = vec![Vec::new(); scene.objects().len()];
    for &(a, b) in scene.adjacent() {
        neighbours[usize::from(a.0)].push(b.0);
        neighbours[usize::from(b.0)].push(a.0);
    }
    let found = scene.iter().map(|(id, object)| PyObject {
        id: id.0,
        color: object.color,
        area: object.area,
        bounds: edges(object.bounds),
        center: object.center,
        holes: object.holes,
        parent: object.parent.map(|parent| parent.0),
        neighbours: std::mem::take(&mut neighbours[usize::from(id.0)]),
        shape: object.shape.0,
        canonical_shape: object.canonical_shape.0,
    });
    Ok(found.collect())
}

/// Returns the islands of a frame, ordered by their first objects.
#[pyfunction]
pub(crate) fn islands(frame: &Bound<'_, PyArray2<i8>>) -> PyResult<Vec<PyIsland>> {
    let scene = Scene::of(&frame_of(frame)?);
    let found = scene.islands().iter().map(|island| {
        let is_inside = |id: ObjectId| scene.island_of(id) == Some(island);
        PyIsland {
            bounds: edges(island.bounds),
            container: island.container.0,
            objects: scene
                .iter()
                .filter(|(id, _)| is_inside(*id))
                .map(|(id, _)| id.0)
                .collect(),
        }
    });
    Ok(found.collect())
}

/// Returns what happens in the frames of an animation, from the settled frame before it.
#[pyfunction]
pub(crate) fn animation(
    settled: &Bound<'_, PyArray2<i8>>,
    frames: Vec<Bound<'_, PyArray2<i8>>>,
) -> PyResult<Vec<PyAnimationEvent>> {
    let frames = frames
        .into_iter()
        .map(|frame| frame_of(&frame))
        .collect::<PyResult<Vec<_>>>()?;
    let events = AnimationReader::default().read(&frame_of(settled)?, &frames);
    let found = events.into_iter().map(|event| {
        let (dx, dy) = movement(event.change);
        PyAnimationEvent {
            kind: kind_of(event.change),
            first_frame: event.first_frame,
            last_frame: event.last_frame,
            color: event.color,
            before: event.from.map(edges),
            after: event.to.map(edges),
            dx,
            dy,
        }
    });
    Ok(found.collect())
}

/// Returns what changed between two frames.
#[pyfunction]
pub(crate) fn changes(
    before: &Bound<'_, PyArray2<i8>>,
    after: &Bound<'_, PyArray2<i8>>,
) -> PyResult<Vec<PyChange>> {
    let (before, after) = (Scene::of(&frame_of(before)?), Scene::of(&frame_of(after)?));
    let matching = Matching::between(&before, &after);
    let id = |id: Option<ObjectId>| id.map(|id| id.0);
    let found = matching.events().iter().map(|event| {
        let (dx, dy) = movement(event.change);
        PyChange {
            kind: kind_of(event.change),
            before: id(event.before),
            after: id(event.after),
            dx,
            dy,
            symmetry: match event.change {
                Change::Turned { symmetry, .. } => Some(symmetry_of(symmetry)),
                _ => None,
            },
            colors: match event.change {
                Change::Recolored { from, to } => Some((from, to)),
                _ => None,
            },
        }
    });
    Ok(found.collect())
}

/// Returns one cell for each object whose centre is not masked.
#[pyfunction]
#[pyo3(signature = (frame, ignored = None))]
pub(crate) fn clicks(
    frame: &Bound<'_, PyArray2<i8>>,
    ignored: Option<PyReadonlyArray2<'_, bool>>,
) -> PyResult<Vec<PyClickCandidate>> {
    let scene = Scene::of(&frame_of(frame)?);
    let mut mask = CellSet::EMPTY;
    if let Some(ignored) = ignored {
        check_shape(ignored.shape())?;
        for ((y, x), _) in ignored.as_array().indexed_iter().filter(|(_, cell)| **cell) {
            mask.insert(x as u8, y as u8);
        }
    }
    let found = click_candidates(&scene, &mask).into_iter();
    Ok(found
        .map(|candidate| {
            let class = candidate.class;
            PyClickCandidate {
                x: candidate.x,
                y: candidate.y,
                object: candidate.object.0,
                click_class: (
                    class.color,
                    class.shape.0,
                    class.size as u8,
                    class.container,
                ),
            }
        })
        .collect())
}

/// Returns the grid that explains several frames of a level.
#[pyfunction]
pub(crate) fn grid(frames: Vec<Bound<'_, PyArray2<i8>>>) -> PyResult<PyGrid> {
    let mut finder = GridFinder::default();
    for frame in frames {
        finder.observe(&frame_of(&frame)?);
    }
    let grid = finder.grid();
    Ok(PyGrid {
        cell: grid.cell,
        offset_x: grid.offset_x,
        offset_y: grid.offset_y,
        bounds: edges(grid.bounds),
    })
}

const fn kind_of(change: Change) -> &'static str {
    match change {
        Change::Moved { .. } => "moved",
        Change::Turned { .. } => "turned",
        Change::Recolored { .. } => "recolored",
        Change::Grown => "grown",
        Change::Shrunk => "shrunk",
        Change::Reshaped => "reshaped",
        Change::SplitOff => "split off",
        Change::Merged => "merged",
        Change::Appeared => "appeared",
        Change::Vanished => "vanished",
    }
}

const fn movement(change: Change) -> (i8, i8) {
    match change {
        Change::Moved { dx, dy } | Change::Turned { dx, dy, .. } => (dx, dy),
        _ => (0, 0),
    }
}

const fn symmetry_of(symmetry: Symmetry) -> &'static str {
    match symmetry {
        Symmetry::Identity => "identity",
        Symmetry::QuarterTurn => "quarter turn",
        Symmetry::HalfTurn => "half turn",
        Symmetry::ThreeQuarterTurn => "three-quarter turn",
        Symmetry::MirrorColumns => "mirrored columns",
        Symmetry::MirrorRows => "mirrored rows",
        Symmetry::Transpose => "transposed",
        Symmetry::AntiTranspose => "anti-transposed",
    }
}

const fn edges(bounds: Bounds) -> (u8, u8, u8, u8) {
    (bounds.left, bounds.top, bounds.right, bounds.bottom)
}

/// Copies an array into a frame. A cell is a signed byte, as in the official engine.
fn frame_of(array: &Bound<'_, PyArray2<i8>>) -> PyResult<Frame> {
    check_shape(array.shape())?;
    let array = array.readonly();
    let mut frame = Frame::filled(0);
    let cells = frame.cells_mut().iter_mut().zip(array.as_array());
    cells.for_each(|(cell, &value)| *cell = value.cast_unsigned());
    Ok(frame)
}

fn check_shape(shape: &[usize]) -> PyResult<()> {
    if shape == [SIZE, SIZE] {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "expected an array of shape (64, 64), got {shape:?}"
    )))
}
