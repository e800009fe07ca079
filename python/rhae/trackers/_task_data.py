"""Finds the tasks of an evaluation in its data files.

A data set is identified by its revision, the SHA-256 that ``docs/arc.md`` defines. Only data with the
revision of the run are used, so a picture never shows the solution of another version of a task.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Tasks = dict[str, Any]
#: The number of folder levels that are searched, as by ``rhae arc eval``.
_MAX_FOLDER_DEPTH = 3


def find_tasks(paths: list[str], revisions: set[str]) -> dict[str, Tasks]:
    """Returns the sets with the given revisions, by revision. Paths that do not exist are ignored."""
    found: dict[str, Tasks] = {}
    for path in paths:
        # A path can be preceded by the name of its set: `NAME=PATH`.
        root = Path(path if os.path.exists(path) else path.partition("=")[2])
        for tasks in _candidates(_read(root)):
            revision = revision_of(tasks)
            if revision in revisions:
                found.setdefault(revision, tasks)
    return found


def revision_of(tasks: Tasks) -> str:
    """Returns the revision of a set."""
    digest = hashlib.sha256()
    for name in sorted(tasks, key=str.encode):
        digest.update(f"{name}\n{_canonical(tasks[name])}\n".encode())
    return digest.hexdigest()


def _canonical(task: Any) -> str:
    parts = {
        part: [{key: pair[key] for key in ("input", "output") if pair.get(key) is not None} for pair in task[part]]
        for part in ("train", "test")
    }
    return json.dumps(parts, separators=(",", ":"))


def _read(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Returns the JSON objects below a path. Other files are ignored."""
    if root.is_dir():
        files = sorted(file for depth in range(_MAX_FOLDER_DEPTH) for file in root.glob("*/" * depth + "*.json"))
    else:
        files = [root, root.with_name(root.name.replace("challenges", "solutions"))]
    objects = []
    for file in dict.fromkeys(files):
        try:
            value = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(value, dict) and value:
            objects.append((file, value))
    return objects


def _candidates(objects: list[tuple[Path, dict[str, Any]]]) -> Iterator[Tasks]:
    """Yields every set that the files can contain: folders of tasks, files of tasks, with and without
    each file of solutions, and the sets of a combined file."""
    folders: dict[Path, Tasks] = {}
    sets: list[Tasks] = []
    solutions: list[Tasks] = []
    for file, value in objects:
        inner = list(value.values())
        if _is_task(value):
            folders.setdefault(file.parent, {})[file.stem] = value
        elif all(_is_task(one) for one in inner):
            sets.append(value)
        elif all(isinstance(one, list) for one in inner):
            solutions.append(value)
        else:
            nested = (one for one in inner if isinstance(one, dict) and one)
            sets.extend(one for one in nested if all(_is_task(task) for task in one.values()))
    yield from folders.values()
    for tasks in sets:
        yield tasks
        for solved in solutions:
            if solved.keys() >= tasks.keys():
                yield {name: _with_solutions(task, solved[name]) for name, task in tasks.items()}


def _is_task(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(part), list) and all(isinstance(pair, dict) and "input" in pair for pair in value[part])
        for part in ("train", "test")
    )


def _with_solutions(task: Any, solutions: list[Any]) -> Any:
    tests = [{**test, "output": output} for test, output in zip(task["test"], solutions, strict=False)]
    return {**task, "test": tests}
