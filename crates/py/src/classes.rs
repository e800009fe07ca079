//! What kernels know of the Python classes: which objects are modes, and whether a sprite behaves as we wrote it.
//!
//! Invariant: a sprite is plain only if no method or property that the kernel stands for was replaced, on its class, on a
//! class between, or on the sprite itself. This is asked again in every call, because Python can change classes at any time.

use pyo3::Borrowed;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMappingProxy, PyString, PyTuple, PyType};

use crate::raw::{attributes, fields, number};

/// The attributes of a sprite, which a subclass could turn into something that is computed.
const FIELDS: [&str; 12] = [
    "pixels",
    "_name",
    "_x",
    "_y",
    "_layer",
    "rotation",
    "_mirror_ud",
    "_mirror_lr",
    "_blocking",
    "_scale",
    "_interaction",
    "_tags",
];

/// Where a sprite's attributes are in [`Fields`].
pub(crate) mod at {
    pub(crate) const PIXELS: usize = 0;
    pub(crate) const NAME: usize = 1;
    pub(crate) const X: usize = 2;
    pub(crate) const Y: usize = 3;
    pub(crate) const LAYER: usize = 4;
    pub(crate) const ROTATION: usize = 5;
    pub(crate) const MIRROR_UD: usize = 6;
    pub(crate) const MIRROR_LR: usize = 7;
    pub(crate) const BLOCKING: usize = 8;
    pub(crate) const SCALE: usize = 9;
    pub(crate) const INTERACTION: usize = 10;
    pub(crate) const TAGS: usize = 11;
}

/// A sprite's attributes, not counted as in use: valid until Python code runs.
pub(crate) struct Fields<'a, 'py>([Option<Borrowed<'a, 'py, PyAny>>; FIELDS.len()]);

impl<'a, 'py> Fields<'a, 'py> {
    /// An attribute by its place.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        self.0[place]
    }

    /// A whole number by its place.
    #[inline]
    pub(crate) fn number(&self, place: usize) -> Option<i64> {
        number(self.0[place]?)
    }
}

/// What a sprite does that a kernel does in its place. Kernels name them by index.
const BEHAVIOUR: [&str; 14] = [
    "render",
    "is_visible",
    "is_collidable",
    "collides_with",
    "layer",
    "x",
    "y",
    "width",
    "height",
    "blocking",
    "tags",
    "name",
    "clone",
    "interaction",
];

/// What drawing uses, as indices into [`BEHAVIOUR`].
pub(crate) const DRAWING: &[usize] = &[0, 1, 4, 5, 6];
/// What drawing the sprites of a switched display uses.
pub(crate) const SWITCHING: &[usize] = &[0, 5, 6, 13];
/// What rendering one sprite uses.
pub(crate) const RENDERING: &[usize] = &[0];
/// What one collision uses.
pub(crate) const MEETING: &[usize] = &[0, 2];
/// What the collisions with every sprite of a list use.
pub(crate) const COLLIDING: &[usize] = &[0, 2, 3];
/// What finding a sprite at a place uses.
pub(crate) const PLACING: &[usize] = &[0, 2, 5, 6, 7, 8, 9, 10];
/// What a tag query uses.
pub(crate) const TAGGING: &[usize] = &[10];
/// What a query by name uses.
pub(crate) const NAMING: &[usize] = &[11];
/// What copying uses.
pub(crate) const CLONING: &[usize] = &[12];

/// How a sprite is seen and felt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interaction {
    Tangible,
    Intangible,
    Invisible,
    Removed,
}

/// How a sprite collides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocking {
    NotBlocked,
    BoundingBox,
    PixelPerfect,
}

struct Classes {
    sprite: Py<PyType>,
    attributes: Py<PyMappingProxy>,
    names: Vec<Py<PyString>>,
    behaviour: Vec<Py<PyAny>>,
    fields: [Py<PyString>; FIELDS.len()],
    interactions: [Py<PyAny>; 4],
    blockings: [Py<PyAny>; 3],
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// Remembers the classes. The package calls this once, after it has made them.
#[pyfunction]
pub(crate) fn learn(
    py: Python<'_>,
    sprite: &Bound<'_, PyType>,
    interactions: [Py<PyAny>; 4],
    blockings: [Py<PyAny>; 3],
) -> PyResult<()> {
    let attributes = sprite.getattr("__dict__")?.cast_into::<PyMappingProxy>()?;
    let behaviour = BEHAVIOUR
        .iter()
        .map(|name| Ok(attributes.as_any().get_item(name)?.unbind()));
    let interned = |name: &&str| PyString::intern(py, name).unbind();
    let classes = Classes {
        sprite: sprite.clone().unbind(),
        behaviour: behaviour.collect::<PyResult<_>>()?,
        attributes: attributes.unbind(),
        names: BEHAVIOUR.iter().map(interned).collect(),
        fields: FIELDS.map(|name| interned(&name)),
        interactions,
        blockings,
    };
    CLASSES
        .set(py, classes)
        .map_err(|_| PyRuntimeError::new_err("the classes are known already"))
}

/// Tells plain sprites from others, for the length of one call.
pub(crate) struct Judge<'py> {
    py: Python<'py>,
    classes: &'py Classes,
    uses: &'static [usize],
    /// The class that was last found plain.
    plain: *const pyo3::ffi::PyTypeObject,
}

impl<'py> Judge<'py> {
    /// A judge of sprites whose behaviour with these indices matters.
    pub(crate) fn new(py: Python<'py>, uses: &'static [usize]) -> Option<Self> {
        // The lock lives as long as the process, and so does what is in it.
        let classes = CLASSES.get(py)?;
        Some(Self {
            py,
            classes,
            uses,
            plain: std::ptr::null(),
        })
    }

    /// Reads the attributes of a plain sprite.
    #[inline]
    pub(crate) fn read<'a>(&self, attributes: &'a Bound<'py, PyDict>) -> Fields<'a, 'py> {
        Fields(fields(attributes, &self.classes.fields))
    }

    /// The attributes of a plain sprite, as a dictionary.
    #[inline]
    pub(crate) fn attributes(&mut self, sprite: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
        let class = sprite.get_type_ptr().cast_const();
        if class != self.plain {
            if !self.is_plain(&sprite.get_type()) {
                return None;
            }
            self.plain = class;
        }
        let fields = attributes(sprite)?;
        if fields.len() > FIELDS.len() && self.is_overridden(&fields)? {
            return None;
        }
        Some(fields)
    }

    fn is_plain(&self, class: &Bound<'py, PyType>) -> bool {
        let known = self.classes;
        let attributes = known.attributes.bind(self.py).as_any();
        let unchanged = |&index: &usize| {
            attributes
                .get_item(&known.names[index])
                .is_ok_and(|now| now.is(&known.behaviour[index]))
        };
        let names = || {
            self.uses
                .iter()
                .map(|&index| &known.names[index])
                .chain(&known.fields)
        };
        self.uses.iter().all(unchanged) && adds_nothing(class, &known.sprite, names)
    }

    fn is_overridden(&self, fields: &Bound<'py, PyDict>) -> Option<bool> {
        // Properties win over attributes of the same name; only methods can be replaced on one sprite.
        for &index in self
            .uses
            .iter()
            .filter(|&&index| matches!(index, 0 | 3 | 12))
        {
            if fields.contains(&self.classes.names[index]).ok()? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The interaction, if it is one of ours.
    #[inline]
    pub(crate) fn interaction(&self, value: Borrowed<'_, 'py, PyAny>) -> Option<Interaction> {
        let modes = [
            Interaction::Tangible,
            Interaction::Intangible,
            Interaction::Invisible,
            Interaction::Removed,
        ];
        self.classes
            .interactions
            .iter()
            .position(|mode| value.is(mode))
            .map(|index| modes[index])
    }

    /// The blocking mode, if it is one of ours.
    #[inline]
    pub(crate) fn blocking(&self, value: Borrowed<'_, 'py, PyAny>) -> Option<Blocking> {
        let modes = [
            Blocking::NotBlocked,
            Blocking::BoundingBox,
            Blocking::PixelPerfect,
        ];
        self.classes
            .blockings
            .iter()
            .position(|mode| value.is(mode))
            .map(|index| modes[index])
    }
}

/// What rendering a camera is made of, which a game may replace.
const CAMERA: [&str; 3] = [
    "_raw_render",
    "_calculate_scale_and_offset",
    "MAX_DIMENSION",
];
/// The attributes of a camera, which a subclass could turn into something that is computed.
const CAMERA_FIELDS: [&str; 7] = [
    "_x",
    "_y",
    "_width",
    "_height",
    "_background",
    "_letter_box",
    "_interfaces",
];

struct Cameras {
    class: Py<PyType>,
    attributes: Py<PyMappingProxy>,
    names: [Py<PyString>; CAMERA.len()],
    behaviour: Vec<Py<PyAny>>,
    fields: [Py<PyString>; CAMERA_FIELDS.len()],
}

static CAMERAS: PyOnceLock<Cameras> = PyOnceLock::new();

/// Remembers the class of cameras. The package calls this once, after it has made it.
#[pyfunction]
pub(crate) fn learn_camera(py: Python<'_>, class: &Bound<'_, PyType>) -> PyResult<()> {
    let attributes = class.getattr("__dict__")?.cast_into::<PyMappingProxy>()?;
    let behaviour = CAMERA
        .iter()
        .map(|name| Ok(attributes.as_any().get_item(name)?.unbind()));
    let cameras = Cameras {
        class: class.clone().unbind(),
        behaviour: behaviour.collect::<PyResult<_>>()?,
        attributes: attributes.unbind(),
        names: CAMERA.map(|name| PyString::intern(py, name).unbind()),
        fields: CAMERA_FIELDS.map(|name| PyString::intern(py, name).unbind()),
    };
    CAMERAS
        .set(py, cameras)
        .map_err(|_| PyRuntimeError::new_err("the class of cameras is known already"))
}

/// Whether a camera keeps its numbers as plain attributes.
pub(crate) fn reads_plainly(camera: &Bound<'_, PyAny>) -> bool {
    let Some(known) = CAMERAS.get(camera.py()) else {
        return false;
    };
    adds_nothing(&camera.get_type(), &known.class, || known.fields.iter())
}

/// Whether a camera with these attributes keeps its numbers in them, and neither it nor its class replaces what rendering is made of.
pub(crate) fn renders_plainly(camera: &Bound<'_, PyAny>, fields: &Bound<'_, PyDict>) -> bool {
    let py = camera.py();
    let Some(known) = CAMERAS.get(py) else {
        return false;
    };
    let attributes = known.attributes.bind(py).as_any();
    let unchanged = |(name, before): (&Py<PyString>, &Py<PyAny>)| {
        attributes.get_item(name).is_ok_and(|now| now.is(before))
    };
    let replaces = |name: &Py<PyString>| fields.contains(name).unwrap_or(true);
    known.names.iter().zip(&known.behaviour).all(unchanged)
        && adds_nothing(&camera.get_type(), &known.class, || {
            known.names.iter().chain(&known.fields)
        })
        && (fields.len() == CAMERA_FIELDS.len() || !known.names.iter().any(replaces))
}

/// Whether a class is ours, or a subclass of which no class between has one of these names or computes its attributes.
fn adds_nothing<'a, N: Iterator<Item = &'a Py<PyString>>>(
    class: &Bound<'_, PyType>,
    ours: &Py<PyType>,
    names: impl Fn() -> N,
) -> bool {
    let py = class.py();
    let ours = ours.bind(py);
    if class.is(ours) {
        return true;
    }
    let object = py.get_type::<PyAny>();
    let hook = pyo3::intern!(py, "__getattribute__");
    class.is_subclass(ours).unwrap_or(false)
        && class
            .mro()
            .iter()
            .filter(|between| !between.is(ours) && !between.is(&object))
            .all(|between| {
                let Ok(attributes) = between.getattr(pyo3::intern!(py, "__dict__")) else {
                    return false;
                };
                let has = |name: &Bound<'_, PyString>| attributes.contains(name).unwrap_or(true);
                !names().any(|name| has(name.bind(py))) && !has(hook)
            })
}

/// The items of a list or tuple that nobody has subclassed.
pub(crate) fn items<'py>(sprites: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = sprites.cast_exact::<pyo3::types::PyList>() {
        return Some(list.iter().collect());
    }
    Some(sprites.cast_exact::<PyTuple>().ok()?.iter().collect())
}
