"""Writes the record of a run to Weights & Biases."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from rhae.trackers._answer_picture import COLOR_NAMES
from rhae.trackers._record import Box, Picture, Row, RunRecord, file_name


def require() -> Any:
    """Imports wandb, and Pillow, which wandb needs for pictures."""
    try:
        importlib.import_module("PIL")
        return importlib.import_module("wandb")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("rhae.trackers.to_wandb needs wandb: pip install wandb pillow", name=error.name) from error


def export(
    wandb: Any,
    record: RunRecord,
    *,
    project: str,
    entity: str | None,
    name: str | None,
    tags: list[str],
    mode: str | None,
    directory: str | os.PathLike[str] | None,
    upload_data: bool,
) -> tuple[str, str]:
    """Creates a run and returns its id and location. The console, the git repository and the packages
    of the exporting process are not those of the run, so wandb must not record them."""
    settings = wandb.Settings(
        console="off",
        disable_git=True,
        save_code=False,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        run = wandb.init(
            project=project,
            entity=entity,
            name=name or record.name,
            config={**record.parameters, "run_id": record.run_id},
            tags=list(dict.fromkeys([*record.tags, *tags])),
            notes=record.note,
            mode=mode,
            dir=None if directory is None else os.fspath(directory),
            reinit="create_new",
            settings=settings,
        )
        exit_code = 1
        try:
            _log(wandb, run, record, Path(folder), upload_data)
            exit_code = 0 if record.finished else 1
        finally:
            run.finish(exit_code=exit_code)
    return run.id, str(Path(run.dir).parent) if run.offline else run.url


def _log(wandb: Any, run: Any, record: RunRecord, folder: Path, upload_data: bool) -> None:
    for series in record.series:
        run.define_metric(series.step, hidden=True)
        run.define_metric(f"{series.prefix}/*", step_metric=series.step)
    for step_name in dict.fromkeys(series.step for series in record.series):
        # One entry for each step, with the values of all series that have it.
        entries: dict[int, Row] = {}
        for series in (series for series in record.series if series.step == step_name):
            for step, values in series.points:
                entry = entries.setdefault(step, {step_name: step})
                entry.update({f"{series.prefix}/{name}": value for name, value in values.items()})
        for _, entry in sorted(entries.items()):
            run.log(entry)
    for name, rows in record.tables.items():
        columns = list(rows[0]) if rows else []
        table = wandb.Table(columns=columns, data=[list(row.values()) for row in rows], allow_mixed_types=True)
        run.log({f"tables/{name}": table})
    if record.pictures:
        # A list of images under one name would have to contain images of one size.
        run.log({f"pictures/{picture.name}": _picture(wandb, picture, folder) for picture in record.pictures})
    run.summary.update({**record.metrics, **dict.fromkeys(record.unknown)})
    for data_set in record.data_sets:
        metadata = {"revision": data_set.revision, "tasks": len(data_set.tests)}
        artifact = wandb.Artifact(file_name(data_set.name), type="dataset", metadata=metadata)
        with artifact.new_file("manifest.json", encoding="utf-8") as file:
            json.dump(data_set.manifest(), file)
        if upload_data and data_set.tasks is not None:
            with artifact.new_file("tasks.json", encoding="utf-8") as file:
                json.dump(data_set.tasks, file)
        run.log_artifact(artifact)


def _picture(wandb: Any, picture: Picture, folder: Path) -> Any:
    file = folder / f"{file_name(picture.name)}.png"
    file.write_bytes(picture.png)
    if not picture.boxes:
        return wandb.Image(str(file), caption=picture.caption)
    labels = dict(enumerate((*COLOR_NAMES, "no cell")))
    boxes = {"wrong cells": {"box_data": [_box(box) for box in picture.boxes], "class_labels": labels}}
    return wandb.Image(str(file), caption=picture.caption, boxes=boxes)


def _box(box: Box) -> Row:
    """Returns a box as an overlay. Its class is the expected colour."""

    def color(value: int | None) -> str:
        return "no cell" if value is None else f"{COLOR_NAMES[value]} ({value})"

    return {
        "position": {"minX": box.left, "maxX": box.right, "minY": box.top, "maxY": box.bottom},
        "domain": "pixel",
        "class_id": len(COLOR_NAMES) if box.expected is None else box.expected,
        "box_caption": f"predicted {color(box.predicted)}, expected {color(box.expected)}",
    }
