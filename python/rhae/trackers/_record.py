"""The tracker-independent form of a run: what every export contains."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Scalar = str | int | float | bool
Row = dict[str, Any]
#: The rows of a grid.
Grid = list[list[int]]


@dataclass(frozen=True)
class Series:
    """Metrics over a step that counts from 1."""

    #: What a step is: ``"repeat"``, ``"level"`` or ``"task"``.
    step: str
    #: The common start of the metrics' names.
    prefix: str
    points: list[tuple[int, dict[str, float]]]


@dataclass(frozen=True)
class DataSet:
    """A set of static tasks that a run used."""

    name: str
    #: The SHA-256 of the complete set.
    revision: str
    #: The indices of the selected tests of each task, from 0.
    tests: dict[str, list[int]]
    #: The complete set; ``None`` if the data were not found.
    tasks: dict[str, Any] | None

    def manifest(self) -> dict[str, Any]:
        """Returns what identifies the set and the selected tests, without the tasks themselves."""
        return {"name": self.name, "revision": self.revision, "tests": self.tests}


@dataclass(frozen=True)
class Box:
    """A wrong cell of a picture, in pixels. A colour is ``None`` if the grid has no such cell."""

    left: int
    top: int
    right: int
    bottom: int
    predicted: int | None
    expected: int | None


@dataclass(frozen=True)
class Picture:
    """A picture of a test with its answers."""

    #: The set, the task and the number of the test, joined by ``/``.
    name: str
    caption: str
    png: bytes
    width: int
    height: int
    boxes: list[Box]


@dataclass
class RunRecord:
    """A run as every tracker receives it."""

    #: ``"plays"`` or ``"evaluation"``.
    kind: str
    run_id: str
    name: str
    finished: bool
    started_ms: int | None = None
    ended_ms: int | None = None
    tags: list[str] = field(default_factory=list)
    note: str | None = None
    parameters: dict[str, Scalar] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    #: The names of metrics whose value is unknown.
    unknown: list[str] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    #: Tables by name. All rows of a table have the same keys.
    tables: dict[str, list[Row]] = field(default_factory=dict)
    data_sets: list[DataSet] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    #: Sentences about what is not exported, and why.
    notes: list[str] = field(default_factory=list)

    def add_metrics(self, values: dict[str, Any]) -> None:
        """Adds metrics. ``None`` marks a value that is unknown."""
        for name, value in values.items():
            if value is None:
                self.unknown.append(name)
            else:
                self.metrics[name] = float(value)

    def all_points(self) -> Iterator[tuple[str, int, float]]:
        """Yields the full name, the step and the value of every point of the series."""
        for series in self.series:
            for step, values in series.points:
                for name, value in values.items():
                    yield f"{series.prefix}/{name}", step, value


def table_csv(rows: list[Row]) -> str:
    """Formats a table as CSV. Unknown values are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def file_name(text: str) -> str:
    """Returns a text as the name of a file or an artifact: letters, digits, ``.``, ``_`` and ``-``."""
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in text)
    return name.lstrip(".") or "unnamed"
