"""The camera: decides which part of a level is visible and draws it onto the frame."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from rhae import _native

from .interfaces import RenderableUserDisplay
from .sprites import Sprite


class Camera:
    """A window of at most 64 x 64 cells onto a level, and the displays drawn over it."""

    #: The width and height of the frame.
    MAX_DIMENSION = 64

    _x: int
    _y: int
    _width: int
    _height: int
    _background: int
    _letter_box: int
    _interfaces: list[RenderableUserDisplay]

    def __init__(
        self,
        x: int = 0,
        y: int = 0,
        width: int = 64,
        height: int = 64,
        background: int = 5,
        letter_box: int = 5,
        interfaces: list[RenderableUserDisplay] = [],  # noqa: B006
    ):
        """Creates a camera whose upper left corner is at (`x`, `y`) of the level.

        `background` is the colour behind the sprites, `letter_box` the colour around the window.
        """
        if width > 64 or height > 64 or width < 0 or height < 0:
            raise ValueError("Camera dimensions cannot exceed 64x64 pixels and must be positive")
        self._x = x
        self._y = y
        self.width = width
        self.height = height
        self._background = background
        self._letter_box = letter_box
        self._interfaces = []
        if interfaces:
            for interface in interfaces:
                self._interfaces.append(interface)

    @property
    def x(self) -> int:
        """The column of the level at the window's left edge."""
        return self._x

    @x.setter
    def x(self, value: int) -> None:
        self._x = int(value)

    @property
    def y(self) -> int:
        """The row of the level at the window's upper edge."""
        return self._y

    @y.setter
    def y(self, value: int) -> None:
        self._y = int(value)

    @property
    def width(self) -> int:
        """The number of visible columns, at most 64."""
        return self._width

    @width.setter
    def width(self, value: int) -> None:
        wanted = int(value)
        if wanted > self.MAX_DIMENSION:
            raise ValueError(f"Width cannot exceed {self.MAX_DIMENSION} pixels")
        self._width = wanted

    @property
    def height(self) -> int:
        """The number of visible rows, at most 64."""
        return self._height

    @height.setter
    def height(self, value: int) -> None:
        wanted = int(value)
        if wanted > self.MAX_DIMENSION:
            raise ValueError(f"Height cannot exceed {self.MAX_DIMENSION} pixels")
        self._height = wanted

    @property
    def background(self) -> int:
        """The colour behind the sprites."""
        return self._background

    @background.setter
    def background(self, value: int) -> None:
        self._background = value

    @property
    def letter_box(self) -> int:
        """The colour around the window."""
        return self._letter_box

    @letter_box.setter
    def letter_box(self, value: int) -> None:
        self._letter_box = value

    def resize(self, width: int, height: int) -> None:
        """Changes the size of the window."""
        self.width = width
        self.height = height

    def move(self, dx: int, dy: int) -> None:
        """Moves the window by a distance."""
        self._x += int(dx)
        self._y += int(dy)

    def _calculate_scale_and_offset(self) -> tuple[int, int, int]:
        """Returns the side of a cell on the frame, and the window's left and top edge on it."""
        side = self.MAX_DIMENSION
        across, down = side // self._width, side // self._height
        zoom = min(across, down)
        return zoom, (side - self._width * zoom) // 2, (side - self._height * zoom) // 2

    def _raw_render(self, sprites: list[Sprite]) -> ndarray:
        """Returns the window at the scale of the level.

        Draws visible sprites from the lowest layer to the highest. Cells below 0 are transparent.
        """
        view = _native.render_view(self, sprites)
        return self._raw_render_python(sprites) if view is NotImplemented else view

    def _raw_render_python(self, sprites: list[Sprite]) -> ndarray:
        view = np.full((self._height, self._width), self._background, dtype=np.int8)
        if not sprites:
            return view
        for sprite in sorted((sprite for sprite in sprites if sprite.is_visible), key=lambda sprite: sprite.layer):
            if _native.draw_on_view(view, sprite, self._x, self._y):
                continue
            cells = sprite.render()
            height, width = cells.shape
            x, y = sprite.x - self._x, sprite.y - self._y
            left, right = max(0, x), min(self._width, x + width)
            top, bottom = max(0, y), min(self._height, y + height)
            if right <= left or bottom <= top:
                continue
            shown = cells[
                max(0, -y) : height - max(0, y + height - self._height),
                max(0, -x) : width - max(0, x + width - self._width),
            ]
            drawn = shown >= 0
            view[top:bottom, left:right][drawn] = shown[drawn]
        return view

    def render(self, sprites: list[Sprite]) -> ndarray:
        """Returns the frame.

        The window is enlarged by the largest whole factor that fits into 64 x 64 cells, and the
        rest is filled with the letter-box colour. Then the displays draw in order.
        """
        frame: ndarray = _native.render_frame(self, sprites)
        if frame is NotImplemented:
            frame = self._render_python(sprites)
        for interface in self._interfaces:
            frame = interface.render_interface(frame)
        return frame

    def _render_python(self, sprites: list[Sprite]) -> ndarray:
        side, letter_box = self.MAX_DIMENSION, self._letter_box
        plain = side == 64 and type(letter_box) is int and -128 <= letter_box < 128
        # As in the original, `np.full` must raise its error for an invalid colour before anything
        # is drawn.
        frame = None if plain else np.full((side, side), letter_box, dtype=np.int8)
        view = self._raw_render(sprites)
        zoom, left, top = self._calculate_scale_and_offset()
        if frame is None:
            drawn: ndarray = _native.enlarge_view(letter_box, view, zoom, left, top)
            if drawn is not NotImplemented:
                return drawn
            frame = np.full((side, side), letter_box, dtype=np.int8)
        if zoom > 1:
            view = view.repeat(zoom, axis=0).repeat(zoom, axis=1)
        frame[top : top + view.shape[0], left : left + view.shape[1]] = view
        return frame

    def replace_interface(self, new_interfaces: list[RenderableUserDisplay]) -> None:
        """Replaces the displays."""
        self._interfaces = []
        if new_interfaces:
            for interface in new_interfaces:
                self._interfaces.append(interface)

    def display_to_grid(self, display_x: int, display_y: int) -> tuple[int, int] | None:
        """Returns the cell of the level at a point of the frame, or None outside the window."""
        width, height = self.width, self.height
        zoom = min(int(64 / width), int(64 / height))
        left, top = int((64 - width * zoom) / 2), int((64 - height * zoom) / 2)
        column = int((display_x - left) / zoom) if display_x - left >= 0 else -1
        row = int((display_y - top) / zoom) if display_y - top >= 0 else -1
        if column < 0 or row < 0 or column >= width or row >= height:
            return None
        return column + self.x, row + self.y


_native.register_camera_class(Camera)
