"""Frames as pictures: arrays of colours and PNG files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhae import _native

__all__ = ["PALETTE", "Picture", "ansi", "png", "rgb", "show"]

#: The red, green and blue values of the sixteen colours, with shape (16, 3).
PALETTE: NDArray[np.uint8] = _native.palette()


def rgb(frame: NDArray[np.integer], zoom: int = 1) -> NDArray[np.uint8]:
    """Returns a frame, or a batch of frames, in colour.

    Args:
        frame: Cells with colours 0 to 15. The last two axes are rows and columns.
        zoom: The side of the square of pixels that shows one cell.

    Examples:
        >>> import numpy as np
        >>> import rhae
        >>> frame = np.zeros((64, 64), np.uint8)
        >>> rhae.rgb(frame, zoom=8).shape
        (512, 512, 3)
        >>> bool((rhae.rgb(frame)[0, 0] == rhae.PALETTE[0]).all())
        True
    """
    large = np.asarray(frame).repeat(zoom, axis=-2).repeat(zoom, axis=-1)
    return PALETTE[large]


def png(frames: NDArray[np.integer], zoom: int = 8, columns: int = 4) -> bytes:
    """Returns a PNG file that shows one frame, or several side by side.

    Args:
        frames: One frame with shape (64, 64), or several with shape (n, 64, 64).
        zoom: The side of the square of pixels that shows one cell, from 1 to 32. Other values
            are clamped.
        columns: The number of frames in a row of the picture.

    Raises:
        ValueError: The array has another shape, or a cell is not a colour from 0 to 15.

    Examples:
        >>> import rhae
        >>> env = rhae.make("kq19")
        >>> _, info = env.reset()
        >>> rhae.png(info["frames"])[:4]
        b'\\x89PNG'
    """
    array = np.asarray(frames)
    _check_colors(array)
    array = array.astype(np.uint8)
    return _native.png(array[None] if array.ndim == 2 else array, columns, zoom)


def ansi(frame: NDArray[np.integer]) -> str:
    """Returns a frame as text with colour codes for a terminal.

    A character shows two cells, one above the other, so the text has 32 lines.

    Raises:
        ValueError: The array has another shape, or a cell is not a colour from 0 to 15.

    Examples:
        >>> import numpy as np
        >>> import rhae
        >>> rhae.ansi(np.zeros((64, 64), np.uint8)).count("▀")
        2048
    """
    array = np.asarray(frame)
    if array.shape != (64, 64):
        raise ValueError(f"a frame has 64 x 64 cells, found {array.shape}")
    _check_colors(array)
    codes = [";".join(str(part) for part in color) for color in PALETTE.tolist()]
    lines = []
    for above, below in zip(array[::2].tolist(), array[1::2].tolist(), strict=True):
        cells = (f"\x1b[38;2;{codes[top]};48;2;{codes[bottom]}m▀" for top, bottom in zip(above, below, strict=True))
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)


class Picture:
    """Frames as a picture that a notebook shows. :func:`show` creates it."""

    def __init__(self, data: bytes) -> None:
        #: The bytes of the PNG file.
        self.data = data

    def _repr_png_(self) -> bytes:
        return self.data


def show(frames: NDArray[np.integer], zoom: int = 8, columns: int = 4) -> Picture:
    """Returns frames as a picture that a notebook shows. The arguments are those of :func:`png`.

    Examples:
        >>> import rhae
        >>> env = rhae.make("kq19")
        >>> _, info = env.reset()
        >>> rhae.show(info["frames"]).data[:4]
        b'\\x89PNG'
    """
    return Picture(png(frames, zoom, columns))


def _check_colors(array: NDArray[np.integer]) -> None:
    if array.size and not (array.min() >= 0 and array.max() <= 15):
        raise ValueError(f"a cell must be a colour from 0 to 15, found {array.min()} to {array.max()}")
