"""Frames as pictures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rhae import _native

__all__ = ["PALETTE", "png", "rgb"]

#: Red, green and blue of the sixteen colours.
PALETTE: NDArray[np.uint8] = np.array(_native.palette(), np.uint8)


def rgb(frame: NDArray[np.integer], zoom: int = 1) -> NDArray[np.uint8]:
    """A frame in colour: cells become squares of ``zoom`` pixels."""
    large = np.asarray(frame).repeat(zoom, axis=-2).repeat(zoom, axis=-1)
    return PALETTE[large]


def png(frames: NDArray[np.integer], zoom: int = 8, columns: int = 4) -> bytes:
    """One frame, or several side by side, as a PNG file."""
    array = np.asarray(frames)
    if array.size and not (0 <= array.min() and array.max() <= 15):
        raise ValueError(f"a cell must be a colour from 0 to 15, found {array.min()} to {array.max()}")
    array = array.astype(np.uint8)
    return _native.png(array[None] if array.ndim == 2 else array, columns, zoom)
