//! The Python classes that kernels rely on: sprites, their modes, and cameras.
//!
//! A kernel may replace Python code only for a *plain* object, one whose class behaves as the
//! package defines it.
//!
//! **Invariant:** a sprite is plain only if no member that the kernel replaces is overridden: on
//! `Sprite` itself, on a subclass, or on the instance. Every call checks this again, because Python
//! code can change classes at any time.

use pyo3::Borrowed;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMappingProxy, PyString, PyTuple, PyType};

use crate::raw::{attributes, fields, integer};

/// The attributes of a sprite. A subclass that turns one of them into a property is not plain.
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

/// Indices of a sprite's attributes in [`Fields`].
pub(crate) mod slot {
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

/// The attributes of a sprite as borrowed references. They are valid until Python code runs.
pub(crate) struct Fields<'a, 'py>([Option<Borrowed<'a, 'py, PyAny>>; FIELDS.len()]);

impl<'a, 'py> Fields<'a, 'py> {
    /// Returns the attribute with this index of [`slot`], or `None` if the sprite lacks it.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        self.0[place]
    }

    /// Returns an attribute as an integer, or `None` if it is not one.
    #[inline]
    pub(crate) fn number(&self, place: usize) -> Option<i64> {
        integer(self.0[place]?)
    }
}

/// Members of `Sprite` that kernels replace. The constants below refer to them by index.
const MEMBERS: [&str; 14] = [
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

/// Members that drawing a camera's view replaces, as indices into [`MEMBERS`].
pub(crate) const DRAWING: &[usize] = &[0, 1, 4, 5, 6];
/// Members that drawing a `ToggleableUserDisplay` replaces.
pub(crate) const TOGGLING: &[usize] = &[0, 5, 6, 13];
/// Members that rendering one sprite replaces.
pub(crate) const RENDERING: &[usize] = &[0];
/// Members that a collision test of two sprites replaces.
pub(crate) const COLLISION_PAIR: &[usize] = &[0, 2];
/// Members that a collision test against a list of sprites replaces.
pub(crate) const COLLISION_LIST: &[usize] = &[0, 2, 3];
/// Members that finding the sprite at a cell replaces.
pub(crate) const HIT_TESTING: &[usize] = &[0, 2, 5, 6, 7, 8, 9, 10];
/// Members that a query by tag replaces.
pub(crate) const TAG_QUERY: &[usize] = &[10];
/// Members that a query by name replaces.
pub(crate) const NAME_QUERY: &[usize] = &[11];
/// Members that cloning replaces.
pub(crate) const CLONING: &[usize] = &[12];

/// `InteractionMode`: whether a sprite is visible and whether it collides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interaction {
    Tangible,
    Intangible,
    Invisible,
    Removed,
}

/// `BlockingMode`: which part of a sprite collides.
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

/// Registers the class `Sprite` and the members of its two mode enums. The package calls this once,
/// after it has defined them.
#[pyfunction]
pub(crate) fn register_sprite_class(
    py: Python<'_>,
    sprite: &Bound<'_, PyType>,
    interactions: [Py<PyAny>; 4],
    blockings: [Py<PyAny>; 3],
) -> PyResult<()> {
    let attributes = sprite.getattr("__dict__")?.cast_into::<PyMappingProxy>()?;
    let behaviour = MEMBERS
        .iter()
        .map(|name| Ok(attributes.as_any().get_item(name)?.unbind()));
    let interned = |name: &&str| PyString::intern(py, name).unbind();
    let classes = Classes {
        sprite: sprite.clone().unbind(),
        behaviour: behaviour.collect::<PyResult<_>>()?,
        attributes: attributes.unbind(),
        names: MEMBERS.iter().map(interned).collect(),
        fields: FIELDS.map(|name| interned(&name)),
        interactions,
        blockings,
    };
    CLASSES
        .set(py, classes)
        .map_err(|_| PyRuntimeError::new_err("the class `Sprite` is already registered"))
}

/// Reads the attributes of plain sprites and declines all others, during one kernel call.
pub(crate) struct SpriteReader<'py> {
    py: Python<'py>,
    classes: &'py Classes,
    uses: &'static [usize],
    /// The class that was last found to be plain.
    plain: *const pyo3::ffi::PyTypeObject,
}

impl<'py> SpriteReader<'py> {
    /// Creates a reader for a kernel that replaces the members with these indices. Returns `None`
    /// if no class is registered yet.
    pub(crate) fn new(py: Python<'py>, uses: &'static [usize]) -> Option<Self> {
        // The lock is static, so the classes live as long as the process.
        let classes = CLASSES.get(py)?;
        Some(Self {
            py,
            classes,
            uses,
            plain: std::ptr::null(),
        })
    }

    /// Looks up the attributes of a plain sprite in its dictionary.
    #[inline]
    pub(crate) fn fields<'a>(&self, attributes: &'a Bound<'py, PyDict>) -> Fields<'a, 'py> {
        Fields(fields(attributes, &self.classes.fields))
    }

    /// Returns the attribute dictionary of a plain sprite, or `None` for any other object.
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
        self.uses.iter().all(unchanged) && overrides_none_of(class, &known.sprite, names)
    }

    fn is_overridden(&self, fields: &Bound<'py, PyDict>) -> Option<bool> {
        // A property of the class takes precedence over an instance attribute of the same name, so
        // only methods can be overridden on an instance.
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

    /// Returns the interaction mode, or `None` if the value is not a member of the registered enum.
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

    /// Returns the blocking mode, or `None` if the value is not a member of the registered enum.
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

/// Members of `Camera` that rendering replaces and a game may override.
const CAMERA: [&str; 3] = [
    "_raw_render",
    "_calculate_scale_and_offset",
    "MAX_DIMENSION",
];
/// The attributes of a camera. A subclass that turns one of them into a property is not plain.
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

/// Registers the class `Camera`. The package calls this once, after it has defined it.
#[pyfunction]
pub(crate) fn register_camera_class(py: Python<'_>, class: &Bound<'_, PyType>) -> PyResult<()> {
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
        .map_err(|_| PyRuntimeError::new_err("the class `Camera` is already registered"))
}

/// Returns whether no class of a camera overrides its attributes with properties.
pub(crate) fn has_plain_attributes(camera: &Bound<'_, PyAny>) -> bool {
    let Some(known) = CAMERAS.get(camera.py()) else {
        return false;
    };
    overrides_none_of(&camera.get_type(), &known.class, || known.fields.iter())
}

/// Returns whether a camera has plain attributes and neither its class nor the instance, whose
/// attributes are `fields`, overrides a member that rendering uses.
pub(crate) fn has_plain_rendering(camera: &Bound<'_, PyAny>, fields: &Bound<'_, PyDict>) -> bool {
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
        && overrides_none_of(&camera.get_type(), &known.class, || {
            known.names.iter().chain(&known.fields)
        })
        && (fields.len() == CAMERA_FIELDS.len() || !known.names.iter().any(replaces))
}

/// Returns whether `class` is `ours`, or a subclass such that no class between the two defines one
/// of `names` or `__getattribute__`.
fn overrides_none_of<'a, N: Iterator<Item = &'a Py<PyString>>>(
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

/// Returns the items of a list or tuple. Declines subclasses of them.
pub(crate) fn items<'py>(sprites: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = sprites.cast_exact::<pyo3::types::PyList>() {
        return Some(list.iter().collect());
    }
    Some(sprites.cast_exact::<PyTuple>().ok()?.iter().collect())
}
