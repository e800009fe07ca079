"""Frames as pictures: arrays of colours and PNG files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhae import _native

__all__ = ["PALETTE", "png", "rgb"]

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
    if array.size and not (array.min() >= 0 and array.max() <= 15):
        raise ValueError(f"a cell must be a colour from 0 to 15, found {array.min()} to {array.max()}")
    array = array.astype(np.uint8)
    return _native.png(array[None] if array.ndim == 2 else array, columns, zoom)
