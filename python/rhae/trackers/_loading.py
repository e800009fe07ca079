"""Loads the record of a run from its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rhae._hosting import GamesDir
from rhae.trackers import _evaluation, _plays
from rhae.trackers._masking import Masker
from rhae.trackers._record import RunRecord, Scalar

DataPaths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

#: Fields of a configuration that are not parameters: paths of this computer, what the record contains
#: elsewhere, and long lists.
_OMITTED = {"data", "sets", "games_dirs", "tags", "note", "name", "version"}


def load_record(
    folder: str | os.PathLike[str],
    *,
    data: DataPaths | None = None,
    max_pictures: int = 100,
    games_dir: GamesDir | None = None,
) -> RunRecord:
    """Loads a run of either kind.

    Raises:
        ValueError: The folder contains no run, or no results.
        OSError: A file cannot be read.
    """
    path = Path(folder)
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"`{path}` contains no run: it has no file `config.json`") from error
    if "solver" in config:
        record = _evaluation.load(path, config, None if data is None else _paths(data), max_pictures)
    else:
        record = _plays.load(path, config, games_dir)
    mask = Masker(config.get("agent_cmd")).mask
    record.name = mask(record.name)
    record.tags = mask(config.get("tags", []))
    record.note = mask(config.get("note"))
    record.parameters = mask({"kind": record.kind, **_parameters(config), **record.parameters})
    record.tables = mask(record.tables)
    return record


def _paths(data: DataPaths) -> list[str]:
    return [os.fspath(data)] if isinstance(data, str | os.PathLike) else [os.fspath(path) for path in data]


def _parameters(config: dict[str, Any]) -> dict[str, Scalar]:
    """Returns the configuration as scalars with dotted names, such as ``model.config.provider``. Of an
    absolute path only the name of the file is kept."""
    parameters: dict[str, Scalar] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                # The keys of `solver_settings.files` are paths.
                add(f"{name}.{os.path.basename(key) if os.path.isabs(key) else key}", inner)
        elif isinstance(value, list):
            parameters[name] = ", ".join(str(one) for one in value)
        elif isinstance(value, str) and os.path.isabs(value):
            parameters[name] = os.path.basename(value)
        elif value is not None:
            parameters[name] = value

    for key, value in config.items():
        if key not in _OMITTED:
            add(key, value)
    return parameters
