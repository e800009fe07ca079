"""Sprites: pictures with a position, an orientation, and modes of visibility and collision.

`rhae._native` implements the common cases. In unusual cases its functions return `NotImplemented`,
and the methods named `_..._python` compute the same result with NumPy.
"""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
from numpy import ndarray

from rhae import _native

from .enums import BlockingMode, InteractionMode

_INT8 = np.dtype(np.int8)
_new = object.__new__
_array = np.array
_ROWS = frozenset((list,))


def _downscale_mode(arr: ndarray, factor: int) -> ndarray:
    """Reduces every square of `factor` x `factor` cells to one cell.

    A square that is more than half transparent becomes transparent. Any other square takes its most
    frequent colour; if several colours are equally frequent, the highest of them.
    """
    height, width = arr.shape
    if height % factor != 0 or width % factor != 0:
        raise ValueError(f"Array dimensions ({height}, {width}) must be divisible by scale factor {factor}")
    squares = arr.reshape(height // factor, factor, -1, factor).swapaxes(1, 2).reshape(-1, factor * factor)
    result = np.empty(len(squares), dtype=arr.dtype)
    for index, square in enumerate(squares):
        solid = square[square != -1]
        if np.count_nonzero(square < 0) > solid.size:
            result[index] = -1
        else:
            votes = np.bincount(solid.astype(np.int16))
            result[index] = votes.size - 1 - votes[::-1].argmax()
    return result.reshape(height // factor, width // factor)


def _interaction_mode_from(visible: bool, collidable: bool) -> InteractionMode:
    """Returns the mode for a combination of visible and collidable."""
    if visible:
        return InteractionMode.TANGIBLE if collidable else InteractionMode.INTANGIBLE
    return InteractionMode.INVISIBLE if collidable else InteractionMode.REMOVED


class Sprite:
    """A picture at a position of a level. (`x`, `y`) is its upper left corner."""

    #: The valid rotations, in degrees clockwise.
    VALID_ROTATIONS = {0, 90, 180, 270}  # noqa: RUF012

    pixels: ndarray
    rotation: int
    _name: str
    _x: int
    _y: int
    _layer: int
    _mirror_ud: bool
    _mirror_lr: bool
    _scale: int
    _blocking: BlockingMode
    _interaction: InteractionMode
    _tags: list[str]

    def __init__(
        self,
        pixels: list[list[int]] | ndarray,
        name: str | None = None,
        x: int = 0,
        y: int = 0,
        layer: int = 0,
        scale: int = 1,
        rotation: int = 0,
        mirror_ud: bool = False,
        mirror_lr: bool = False,
        blocking: BlockingMode = BlockingMode.PIXEL_PERFECT,
        interaction: InteractionMode | None = None,
        visible: bool = True,
        collidable: bool = True,
        tags: list[str] = [],  # noqa: B006  (shared between sprites, as games see it in the original)
    ):
        """Creates a sprite from its cells: colours from 0, and -1 for transparent.

        An int8 array is used without a copy. A sprite without a name gets a random one. `visible`
        and `collidable` define the mode if `interaction` is None.
        """
        if isinstance(pixels, ndarray):
            if pixels.ndim != 2:
                raise ValueError("Pixels must be a 2D array 111")
            cells = pixels if pixels.dtype is _INT8 or pixels.dtype == np.int8 else pixels.astype(np.int8, copy=False)
        elif isinstance(pixels, list) and _ROWS.issuperset(map(type, pixels)):
            cells = _array(pixels, _INT8)
        elif isinstance(pixels, list) and all(isinstance(row, list) for row in pixels):
            cells = np.array(pixels, dtype=np.int8)
        else:
            raise ValueError("Pixels must be a 2D list or a 2D numpy array")
        self.pixels = cells
        if self.pixels.ndim != 2:
            raise ValueError("Pixels must be a 2D array 222")
        self._name = str(uuid.uuid4()) if name is None else name
        self._x = int(x)
        self._y = int(y)
        self._layer = int(layer)
        self._set_rotation(rotation)
        self._mirror_ud = mirror_ud
        self._mirror_lr = mirror_lr
        self._blocking = blocking
        self.set_scale(scale)
        self._interaction = _interaction_mode_from(visible, collidable) if interaction is None else interaction
        self._tags = tags

    def clone(self, new_name: str | None = None) -> Sprite:
        """Returns a copy with its own cells and tags.

        The copy of a subclass is a plain sprite, as in the original.
        """
        pixels, rotation, scale, interaction = self.pixels, self.rotation, self._scale, self._interaction
        if (
            type(pixels) is not ndarray
            or pixels.dtype is not _INT8
            or pixels.ndim != 2
            or len(pixels) == 0
            or type(rotation) is not int
            or rotation not in _UPRIGHT
            or type(scale) is not int
            or scale < 1
            or interaction is None
            or type(self._x) is not int
            or type(self._y) is not int
            or type(self._layer) is not int
            or Sprite.__init__ is not _INIT
        ):
            return self._clone_python(new_name)
        name = self._name if new_name is None else new_name
        return _new_sprite(
            pixels.copy(),
            str(uuid.uuid4()) if name is None else name,
            self._x,
            self._y,
            self._layer,
            rotation,
            self._mirror_ud,
            self._mirror_lr,
            self._blocking,
            scale,
            interaction,
            self._tags.copy(),
        )

    def _clone_python(self, new_name: str | None) -> Sprite:
        """Clones with the constructor, which checks attributes that a game has set directly."""
        return Sprite(
            pixels=self.pixels.copy().tolist(),
            name=self._name if new_name is None else new_name,
            x=self._x,
            y=self._y,
            layer=self._layer,
            scale=self._scale,
            rotation=self.rotation,
            mirror_ud=self._mirror_ud,
            mirror_lr=self._mirror_lr,
            blocking=self._blocking,
            interaction=self._interaction,
            tags=self._tags.copy(),
        )

    def _set_rotation(self, rotation: int) -> None:
        """Sets the rotation, which must be a multiple of 90 degrees."""
        turned = rotation % 360
        if turned not in self.VALID_ROTATIONS:
            raise ValueError(f"Rotation must be one of {self.VALID_ROTATIONS}, got {rotation}")
        self.rotation = turned

    def set_rotation(self, rotation: int) -> Sprite:
        """Sets the rotation in degrees clockwise."""
        self._set_rotation(int(rotation))
        return self

    def rotate(self, delta: int) -> Sprite:
        """Rotates the sprite by degrees clockwise, relative to its current rotation."""
        if delta < 0:
            delta = 360 + (delta % 360)
        self._set_rotation((self.rotation + delta) % 360)
        return self

    def set_position(self, x: int, y: int) -> Sprite:
        """Moves the sprite to a position."""
        self._x = int(x)
        self._y = int(y)
        return self

    def set_scale(self, scale: int) -> Sprite:
        """Sets the scale.

        `n` > 0 draws each cell as `n` x `n` cells. `-n` reduces each square of `n + 1` x `n + 1`
        cells to one cell.
        """
        wanted = int(scale)
        if wanted == 0:
            raise ValueError("Scale cannot be zero")
        if wanted < 0:
            height, width = self.pixels.shape
            factor = 1 - wanted
            if height % factor != 0 or width % factor != 0:
                raise ValueError(f"Array dimensions ({height}, {width}) must be divisible by scale factor {factor}")
        self._scale = wanted
        return self

    def adjust_scale(self, delta: int) -> None:
        """Changes the scale by `delta`, one step at a time.

        A step that would lead to 0 skips it. If a step raises an error, the scale keeps the last
        valid value. A target of 0 raises ValueError; the original never returns if it approaches 0
        from below.
        """
        if delta == 0:
            return
        target = self._scale + delta
        if target == 0 and (delta > 0 or self.pixels.shape == (0, 0)):
            raise ValueError("Scale cannot be zero")
        step = 1 if delta > 0 else -1
        while self._scale != target:
            self.set_scale(self._scale + step or step)

    def set_blocking(self, blocking: BlockingMode) -> Sprite:
        """Sets the part of the sprite that collides."""
        if not isinstance(blocking, BlockingMode):
            raise ValueError("blocking must be a BlockingMode enum value")
        self._blocking = blocking
        return self

    def set_name(self, name: str) -> Sprite:
        """Renames the sprite."""
        if not name:
            raise ValueError("Name cannot be empty")
        self._name = name
        return self

    @property
    def name(self) -> str:
        """The name by which rules find the sprite."""
        return self._name

    @property
    def x(self) -> int:
        """The column of the left edge."""
        return self._x

    @property
    def y(self) -> int:
        """The row of the upper edge."""
        return self._y

    @property
    def scale(self) -> int:
        """The scale; see `set_scale`."""
        return self._scale

    @property
    def blocking(self) -> BlockingMode:
        """The part of the sprite that collides."""
        return self._blocking

    @property
    def layer(self) -> int:
        """The layer. Higher layers cover lower ones."""
        return self._layer

    @property
    def tags(self) -> list[str]:
        """The tags by which rules find the sprite. This is the list itself, not a copy."""
        return self._tags

    @property
    def mirror_ud(self) -> bool:
        """Whether the sprite is mirrored top to bottom."""
        return self._mirror_ud

    @property
    def mirror_lr(self) -> bool:
        """Whether the sprite is mirrored left to right."""
        return self._mirror_lr

    def set_mirror_ud(self, mirror_ud: bool) -> Sprite:
        """Sets whether the sprite is mirrored top to bottom."""
        self._mirror_ud = mirror_ud
        return self

    def set_mirror_lr(self, mirror_lr: bool) -> Sprite:
        """Sets whether the sprite is mirrored left to right."""
        self._mirror_lr = mirror_lr
        return self

    def set_layer(self, layer: int) -> Sprite:
        """Moves the sprite to a layer."""
        self._layer = int(layer)
        return self

    @property
    def interaction(self) -> InteractionMode:
        """Whether the sprite is visible and whether it collides."""
        return self._interaction

    def set_interaction(self, interaction: InteractionMode) -> Sprite:
        """Sets whether the sprite is visible and whether it collides."""
        if not isinstance(interaction, InteractionMode):
            raise ValueError("interaction must be an InteractionMode enum value")
        self._interaction = interaction
        return self

    @property
    def is_visible(self) -> bool:
        """Whether the sprite is drawn."""
        mode = self._interaction
        return mode == _TANGIBLE or mode == _INTANGIBLE

    def set_visible(self, visible: bool) -> Sprite:
        """Shows or hides the sprite. Whether it collides does not change."""
        self._interaction = _interaction_mode_from(visible, self.is_collidable)
        return self

    @property
    def width(self) -> int:
        """The number of columns after rendering."""
        size = _native.rendered_size(self)
        return int(self.render().shape[1]) if size is NotImplemented else size[0]

    @property
    def height(self) -> int:
        """The number of rows after rendering."""
        size = _native.rendered_size(self)
        return int(self.render().shape[0]) if size is NotImplemented else size[1]

    @property
    def is_collidable(self) -> bool:
        """Whether the sprite collides with others."""
        mode = self._interaction
        return mode == _TANGIBLE or mode == _INVISIBLE

    def set_collidable(self, collidable: bool) -> Sprite:
        """Sets whether the sprite collides with others. Its visibility does not change."""
        self._interaction = _interaction_mode_from(self.is_visible, collidable)
        return self

    def render(self) -> ndarray:
        """Returns the cells as a new array.

        They are rotated, mirrored top to bottom, mirrored left to right, and scaled, in this order.
        """
        if self._scale == 1 and self.rotation == 0 and not self._mirror_ud and not self._mirror_lr:
            return self.pixels.copy()
        cells = _native.render_sprite(self)
        return self._render_python() if cells is NotImplemented else cells

    def _render_python(self) -> ndarray:
        cells = self.pixels.copy()
        if self.rotation != 0:
            cells = np.rot90(cells, k=int((-self.rotation % 360) / 90))
        if self._mirror_ud:
            cells = np.flipud(cells)
        if self._mirror_lr:
            cells = np.fliplr(cells)
        if self._scale == 1:
            return cells
        if self._scale > 1:
            return cells.repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        return _downscale_mode(cells, 1 - self._scale)

    def collides_with(self, other: Sprite, ignoreMode: bool = False) -> bool:
        """Returns whether two sprites collide. `ignoreMode` also tests sprites that never collide.

        If one of them is pixel-perfect, visible cells must overlap. Otherwise it is enough that the
        rectangles overlap.
        """
        met = _native.collides(self, other, bool(ignoreMode))
        return self._collides_python(other, ignoreMode) if met is NotImplemented else met

    def _collides_python(self, other: Sprite, ignore_mode: bool) -> bool:
        if self is other:
            return False
        if not ignore_mode:
            if not (self.is_collidable and other.is_collidable):
                return False
            if BlockingMode.NOT_BLOCKED in (self._blocking, other._blocking):
                return False
        mine, theirs = self.render(), other.render()
        (height, width), (other_height, other_width) = mine.shape, theirs.shape
        dx, dy = other._x - self._x, other._y - self._y
        if -dx >= other_width or dx >= width or -dy >= other_height or dy >= height:
            return False
        if BlockingMode.PIXEL_PERFECT not in (self._blocking, other._blocking):
            return True
        left, right = max(dx, 0), min(width, dx + other_width)
        top, bottom = max(dy, 0), min(height, dy + other_height)
        solid = mine[top:bottom, left:right] != -1
        other_solid = theirs[top - dy : bottom - dy, left - dx : right - dx] != -1
        return bool(np.any(solid & other_solid))

    def move(self, dx: int, dy: int) -> None:
        """Moves the sprite by a distance."""
        self._x += int(dx)
        self._y += int(dy)

    def color_remap(self, old_color: int | None, new_color: int) -> Sprite:
        """Replaces a colour, or all colours if `old_color` is None.

        `pixels` becomes a new array. As in the original, NumPy derives its dtype from the old array
        and the new colour.
        """
        pixels = _native.remap_colors(self.pixels, old_color, new_color)
        if pixels is NotImplemented:
            replaced = self.pixels >= 0 if old_color is None else self.pixels == old_color
            pixels = np.where(replaced, new_color, self.pixels)
        self.pixels = pixels
        return self

    def merge(self, other: Sprite) -> Sprite:
        """Returns a sprite that shows both sprites, this one on top.

        The result has the tags of both sprites, and for blocking and interaction the mode that
        collides or shows more.
        """
        mine, theirs = self.render(), other.render()
        left, top = min(self._x, other._x), min(self._y, other._y)
        right = max(self._x + mine.shape[1], other._x + theirs.shape[1])
        bottom = max(self._y + mine.shape[0], other._y + theirs.shape[0])
        cells = np.full((bottom - top, right - left), -1, dtype=np.int8)
        for sprite, shown in ((other, theirs), (self, mine)):
            row, column = sprite._y - top, sprite._x - left
            under = cells[row : row + shown.shape[0], column : column + shown.shape[1]]
            under[...] = np.where(shown != -1, shown, under)

        blocking = self._blocking
        if blocking == BlockingMode.NOT_BLOCKED or (
            blocking == BlockingMode.BOUNDING_BOX and other._blocking == BlockingMode.PIXEL_PERFECT
        ):
            blocking = other._blocking
        interaction = self._interaction
        if interaction == InteractionMode.REMOVED or (
            interaction in (InteractionMode.INVISIBLE, InteractionMode.INTANGIBLE)
            and other._interaction == InteractionMode.TANGIBLE
        ):
            interaction = other._interaction
        return Sprite(
            name=self._name,
            pixels=cells,
            x=left,
            y=top,
            layer=max(self._layer, other._layer),
            blocking=blocking,
            interaction=interaction,
            tags=list(set(self._tags + other._tags)),
        )


def _new_sprite(
    pixels: ndarray,
    name: str,
    x: int,
    y: int,
    layer: int,
    rotation: int,
    mirror_ud: bool,
    mirror_lr: bool,
    blocking: BlockingMode,
    scale: int,
    interaction: InteractionMode,
    tags: list[str],
) -> Sprite:
    """Creates a sprite with these attributes, in the order in which the constructor sets them."""
    sprite: Sprite = _new(Sprite)
    sprite.pixels = pixels
    sprite._name = name
    sprite._x = x
    sprite._y = y
    sprite._layer = layer
    sprite.rotation = rotation
    sprite._mirror_ud = mirror_ud
    sprite._mirror_lr = mirror_lr
    sprite._blocking = blocking
    sprite._scale = scale
    sprite._interaction = interaction
    sprite._tags = tags
    return sprite


def clones(sprites: list[Sprite]) -> list[Sprite]:
    """Returns the clones of all sprites."""
    made: list[Sprite] = _native.clone_sprites(sprites, _new_sprite) if Sprite.__init__ is _INIT else NotImplemented
    return [sprite.clone() for sprite in sprites] if made is NotImplemented else made


_TANGIBLE = InteractionMode.TANGIBLE
_INTANGIBLE = InteractionMode.INTANGIBLE
_INVISIBLE = InteractionMode.INVISIBLE
_UPRIGHT = frozenset(Sprite.VALID_ROTATIONS)
_INIT: Any = Sprite.__init__

_native.register_sprite_class(Sprite, list(InteractionMode), list(BlockingMode))
