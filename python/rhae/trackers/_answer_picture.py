"""Pictures of answers to static tasks.

A picture shows the input, the expected grid and each attempt of a test. A wrong cell has a white box.
The cell has the predicted colour, and a square inside it has the expected colour. White is not a
colour of static tasks, so a box is visible on every cell.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhae.pictures import PALETTE
from rhae.trackers._glyphs import LINE_HEIGHT, text_mask, text_width
from rhae.trackers._record import Box, Grid, Picture

#: The names of the ten colours of static tasks.
COLOR_NAMES = ("black", "blue", "red", "green", "yellow", "grey", "magenta", "orange", "light blue", "maroon")

_Pixels = NDArray[np.uint8]

#: For each colour of static tasks, its index in the palette, as in the pictures of ``rhae arc show``.
_TASK_COLORS = PALETTE[[5, 9, 8, 14, 11, 2, 6, 12, 10, 13]]
_BACKGROUND = np.array([0x50, 0x58, 0x66], np.uint8)
_WHITE = PALETTE[0]
_BLACK = PALETTE[5]
_MARGIN = 16
_MIN_CELL, _MAX_CELL = 16, 40
#: The width that a panel has at most, unless its cells would be too small.
_PANEL_WIDTH = 480


@dataclass(frozen=True)
class _Panel:
    #: The title, and the verdict of an attempt.
    labels: tuple[str, str]
    #: The grid; ``None`` if an attempt has none.
    grid: Grid | None
    #: The grid to compare with; ``None`` if there is nothing to compare.
    expected: Grid | None

    def size(self) -> tuple[int, int]:
        """Returns the rows and columns, including cells that only the expected grid has."""
        grids = [grid for grid in (self.grid, self.expected) if grid is not None and self.grid is not None]
        return max((len(grid) for grid in grids), default=0), max((len(grid[0]) for grid in grids), default=0)


def draw_test(name: str, given: Grid, expected: Grid | None, attempts: dict[int, Grid | None]) -> Picture:
    """Draws a test with its attempts.

    Args:
        name: The name of the picture.
        given: The input.
        expected: The solution; ``None`` if it is unknown.
        attempts: The grid of each attempt by its number; ``None`` for an attempt without a grid.
    """
    panels = [_Panel(("input", ""), given, None)]
    if expected is not None:
        panels.append(_Panel(("expected", ""), expected, None))
    panels.extend(_Panel((f"attempt {number}", _verdict(grid, expected)), grid, expected) for number, grid in attempts.items())
    largest = max(max(panel.size()) for panel in panels)
    cell = min(max(_PANEL_WIDTH // largest, _MIN_CELL), _MAX_CELL)
    widths = [max(panel.size()[1] * cell + 1, *(text_width(label) for label in panel.labels)) for panel in panels]
    top = _MARGIN + 2 * (LINE_HEIGHT + 6) + 4
    height = top + max(panel.size()[0] for panel in panels) * cell + 1 + _MARGIN
    canvas = np.tile(_BACKGROUND, (height, sum(widths) + _MARGIN * (len(panels) + 1), 1))
    boxes: list[Box] = []
    left = _MARGIN
    for panel, width in zip(panels, widths, strict=True):
        for line, label in enumerate(panel.labels):
            y = _MARGIN + line * (LINE_HEIGHT + 6)
            canvas[y : y + LINE_HEIGHT, left : left + text_width(label)][text_mask(label)] = _WHITE
        _draw_panel(canvas, panel, left, top, cell, boxes)
        left += width + _MARGIN
    labels = [f"{title} ({verdict})" if verdict else title for title, verdict in (panel.labels for panel in panels)]
    return Picture(name, f"{name}: {', '.join(labels)}", png(canvas), canvas.shape[1], canvas.shape[0], boxes)


def _verdict(grid: Grid | None, expected: Grid | None) -> str:
    if grid is None:
        return "no grid"
    if expected is None:
        return "not scored"
    if (len(grid), len(grid[0])) != (len(expected), len(expected[0])):
        return f"wrong size {len(grid)} x {len(grid[0])}"
    wrong = sum(one != other for row, right in zip(grid, expected, strict=True) for one, other in zip(row, right, strict=True))
    return "correct" if wrong == 0 else f"{wrong} wrong cell" + ("s" if wrong > 1 else "")


def _draw_panel(canvas: _Pixels, panel: _Panel, left: int, top: int, cell: int, boxes: list[Box]) -> None:
    if panel.grid is None:
        return
    rows, columns = panel.size()
    for row in range(rows):
        for column in range(columns):
            predicted = _cell(panel.grid, row, column)
            x, y = left + column * cell + 1, top + row * cell + 1
            square = canvas[y : y + cell - 1, x : x + cell - 1]
            if predicted is not None:
                square[:] = _TASK_COLORS[predicted]
            expected = None if panel.expected is None else _cell(panel.expected, row, column)
            if panel.expected is not None and predicted != expected:
                _draw_box(square, expected)
                boxes.append(Box(x, y, x + cell - 1, y + cell - 1, predicted, expected))


def _cell(grid: Grid, row: int, column: int) -> int | None:
    return grid[row][column] if row < len(grid) and column < len(grid[row]) else None


def _draw_box(square: _Pixels, expected: int | None) -> None:
    """Draws a white box with a black line around and inside, and a square of the expected colour."""
    size = square.shape[0]
    line = 1 if size < 20 else 2
    inside = square[1 : size - 1, 1 : size - 1].copy()
    square[:] = _BLACK
    square[1 : size - 1, 1 : size - 1] = _WHITE
    square[1 + line : size - 1 - line, 1 + line : size - 1 - line] = inside[line : size - 2 - line, line : size - 2 - line]
    if expected is not None:
        start = size // 3
        square[start - 1 : size - start + 1, start - 1 : size - start + 1] = _WHITE
        square[start : size - start, start : size - start] = _TASK_COLORS[expected]


def png(pixels: _Pixels) -> bytes:
    """Returns an array of colours with shape (height, width, 3) as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    # Each row begins with the number of its filter; filter 0 leaves the row unchanged.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
