"""Perception on frames: what is in a picture, and what changed since the last one.

=========================== ====================================================================
:func:`objects`             connected areas of one colour, with shape, hierarchy and position
:func:`islands`             enclosed areas with all their colours: what stands on the floor
:func:`changes`             objects that moved, turned, changed colour, appeared or vanished
:func:`animation`           the same for every frame of an animation, as a sequence of events
:class:`Composites`         objects of several colours that move as one
:class:`StatusBars`         progress bars and counters, recognised by how they change
:func:`grid`                the size of the cells that a game draws its board with
:func:`click_candidates`    one cell per object, grouped by class
=========================== ====================================================================

Frames are arrays of shape (64, 64), such as the observations of :func:`rhae.make`. The functions are
those of the Rust crate ``rhae-percept``: deterministic, and well below a millisecond per frame.

Examples:
    >>> import numpy as np
    >>> from rhae import percept
    >>> before = np.zeros((64, 64), dtype=np.int8)
    >>> before[20:24, 10:14] = 9
    >>> after = np.roll(before, 4, axis=1)
    >>> [(one.color, one.area, one.bounds) for one in percept.objects(after)][1]
    (9, 16, (14, 20, 17, 23))
    >>> [(one.kind, one.dx, one.dy) for one in percept.changes(before, after)]
    [('reshaped', 0, 0), ('moved', 4, 0)]
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhae import _native
from rhae._native import AnimationEvent, Change, ClickCandidate, Grid, Indicator, Island, Object

__all__ = [
    "AnimationEvent",
    "Change",
    "ClickCandidate",
    "Composites",
    "Grid",
    "Indicator",
    "Island",
    "Object",
    "StatusBars",
    "animation",
    "changes",
    "click_candidates",
    "grid",
    "islands",
    "objects",
]


def objects(frame: ArrayLike) -> list[Object]:
    """Returns the objects of a frame, ordered by their first cells, row by row.

    An object is a connected area of one colour. ``bounds`` are the first column, first row, last
    column and last row. ``center`` is the cell (column, row) of the object that is nearest to its
    centre of mass; a click there hits the object. ``shape`` is equal for objects of the same shape,
    ``canonical_shape`` also for rotated and reflected ones. ``parent`` is the id of the innermost
    object around it, and ``neighbours`` are the ids of the objects that share an edge with it.

    Raises:
        ValueError: The frame has another shape than (64, 64).
    """
    return _native.objects(_cells(frame))


def changes(before: ArrayLike, after: ArrayLike) -> list[Change]:
    """Returns what happened to the objects of a frame.

    ``kind`` is ``"moved"``, ``"turned"``, ``"recolored"``, ``"grown"``, ``"shrunk"``,
    ``"reshaped"``, ``"split off"``, ``"merged"``, ``"appeared"`` or ``"vanished"``. ``before`` and
    ``after`` are ids of objects in the two frames. ``dx`` and ``dy`` are the movement in cells.
    ``symmetry`` says how a turned object was rotated or reflected, such as ``"quarter turn"``.
    ``colors`` are the old and the new colour of a recolored object.

    Raises:
        ValueError: A frame has another shape than (64, 64).
    """
    return _native.changes(_cells(before), _cells(after))


def islands(frame: ArrayLike) -> list[Island]:
    """Returns the connected areas that objects enclose, whatever their colours.

    An island is a figure on a floor with everything that touches it. ``container`` is the id of the
    object around it, and ``objects`` are the ids of its parts.

    Raises:
        ValueError: The frame has another shape than (64, 64).
    """
    return _native.islands(_cells(frame))


def animation(settled: ArrayLike, frames: Iterable[ArrayLike]) -> list[AnimationEvent]:
    """Returns what happens from the settled frame before an action to the last frame after it.

    Events are in the order in which they begin. Movements in one direction over several frames are
    one event. ``first_frame`` and ``last_frame`` are indices of ``frames``; ``before`` and ``after``
    are the bounds of the object, ``None`` if it did not or does not exist.

    Raises:
        ValueError: A frame has another shape than (64, 64).

    Examples:
        >>> import numpy as np
        >>> from rhae import percept
        >>> start = np.zeros((64, 64), dtype=np.int8)
        >>> start[20:24, 10:14] = 9
        >>> frames = [np.roll(start, 2 * step, axis=1) for step in (1, 2, 3)]
        >>> [(one.kind, one.dx, one.first_frame, one.last_frame) for one in percept.animation(start, frames)]
        [('moved', 6, 0, 2)]
    """
    return _native.animation(_cells(settled), [_cells(frame) for frame in frames])


def click_candidates(frame: ArrayLike, ignored: ArrayLike | None = None) -> list[ClickCandidate]:
    """Returns one cell for each object whose centre is not ``ignored``, for example by a status bar.

    ``click_class`` is equal for objects of the same colour, shape, size and container, which usually
    react alike.

    Raises:
        ValueError: An array has another shape than (64, 64).
    """
    mask = None if ignored is None else np.asarray(ignored, dtype=np.bool_)
    return _native.clicks(_cells(frame), mask)


def grid(frames: Iterable[ArrayLike]) -> Grid:
    """Returns the grid that explains the frames of a level: the size and position of its cells.

    ``cell`` is the side of a cell in pixels, 1 if no larger cells were recognised. More frames are
    better evidence.

    Raises:
        ValueError: A frame has another shape than (64, 64).
    """
    return _native.grid([_cells(frame) for frame in frames])


class Composites:
    """Learns from movements which adjacent objects of several colours belong to one sprite.

    Examples:
        >>> import numpy as np
        >>> from rhae import percept
        >>> def frame(x):
        ...     cells = np.zeros((64, 64), dtype=np.int8)
        ...     cells[20:22, x : x + 4] = 9  # a head
        ...     cells[22:25, x : x + 4] = 12  # and a body
        ...     return cells
        >>> sprites = percept.Composites()
        >>> for x in (10, 14, 18):
        ...     sprites.observe(frame(x), frame(x + 4))
        >>> sprites.group(frame(30))  # background, head, body
        [0, 1, 1]
    """

    def __init__(self) -> None:
        self._composites = _native.Composites()

    def observe(self, before: ArrayLike, after: ArrayLike) -> None:
        """Records what moved between two frames.

        Raises:
            ValueError: A frame has another shape than (64, 64).
        """
        self._composites.observe(_cells(before), _cells(after))

    def group(self, frame: ArrayLike) -> list[int]:
        """Returns, for each object of a frame, the id of the first object of its sprite.

        Raises:
            ValueError: The frame has another shape than (64, 64).
        """
        return self._composites.group(_cells(frame))


class StatusBars:
    """Recognises the status bars and counters of a game from the frames before and after each action.

    Examples:
        >>> import numpy as np
        >>> from rhae.percept import StatusBars
        >>> frames = np.zeros((5, 64, 64), dtype=np.int8)
        >>> for used, frame in enumerate(frames):
        ...     frame[63, : 64 - 2 * used] = 9
        >>> bars = StatusBars()
        >>> for step in range(4):
        ...     found = bars.observe(1 + step % 2, frames[step], frames[step + 1])
        >>> [(bar.kind, bar.rest, bar.actions_left) for bar in bars.indicators]
        [('bar', 56, 28)]
        >>> int(bars.mask.sum())
        64
    """

    def __init__(self) -> None:
        self._bars = _native.StatusBars()

    def start_attempt(self) -> None:
        """Starts an attempt: a level begins, or it was reset. Recognised indicators persist."""
        self._bars.start_attempt()

    def observe(self, action: int, before: ArrayLike, after: ArrayLike) -> bool:
        """Records the effect of an action, from 1 to 7, and returns whether the mask has changed.

        Raises:
            ValueError: The action is not from 1 to 7, or a frame has another shape than (64, 64).
        """
        return self._bars.observe(action, _cells(before), _cells(after))

    @property
    def indicators(self) -> list[Indicator]:
        """What was recognised so far."""
        return self._bars.indicators

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The cells of all indicators. The other cells are the state of the board."""
        return self._bars.mask


def _cells(frame: ArrayLike) -> NDArray[np.int8]:
    array = np.asarray(frame)
    if array.ndim != 2:
        raise ValueError(f"expected an array of shape (64, 64), got {array.shape}")
    return array.astype(np.int8, copy=False)
