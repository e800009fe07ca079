"""Writes the record of a run as an event file for TensorBoard."""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Any

from rhae.trackers._record import Picture, Row, RunRecord, file_name


def require() -> Any:
    """Imports tensorboardX."""
    try:
        return importlib.import_module("tensorboardX")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "rhae.trackers.to_tensorboard needs tensorboardX: pip install tensorboardX", name=error.name
        ) from error


def export(tensorboard: Any, record: RunRecord, *, logdir: str | os.PathLike[str], name: str | None) -> tuple[str, str]:
    """Writes the event file and returns the name and the path of its folder."""
    own_name = f"{file_name(name or record.name)}-{record.run_id[:8]}"
    folder = Path(logdir) / own_name
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise FileExistsError(f"`{folder}` exists: the run was exported before; remove the folder to repeat it") from error
    writer = tensorboard.writer.FileWriter(str(folder))
    try:
        _write(writer, record)
    finally:
        writer.close()
    return own_name, str(folder)


def _write(writer: Any, record: RunRecord) -> None:
    summary = importlib.import_module("tensorboardX.summary")
    at = record.ended_ms / 1000 if record.ended_ms is not None else time.time()
    parameters = {**record.parameters, "run_id": record.run_id}
    for part in summary.hparams(parameters, record.metrics):
        writer.add_summary(part, 0, at)
    for name, value in record.metrics.items():
        writer.add_summary(summary.scalar(name, value), 0, at)
    for name, step, value in record.all_points():
        writer.add_summary(summary.scalar(name, value), step, at)
    about: list[Row] = [{"field": "tags", "value": ", ".join(record.tags)}, {"field": "note", "value": record.note}]
    about.append({"field": "metrics with unknown values", "value": ", ".join(record.unknown)})
    about += [{"field": f"revision of {one.name}", "value": one.revision} for one in record.data_sets]
    for name, rows in {"about": about, **record.tables}.items():
        writer.add_summary(summary.text(f"tables/{name}", _markdown(rows)), 0, at)
    for picture in record.pictures:
        writer.add_summary(_picture(picture), 0, at)


def _picture(picture: Picture) -> Any:
    """Returns a picture as a summary. tensorboardX would need Pillow to encode it."""
    proto = importlib.import_module("tensorboardX.proto.summary_pb2")
    image = proto.Summary.Image(height=picture.height, width=picture.width, colorspace=3, encoded_image_string=picture.png)
    return proto.Summary(value=[proto.Summary.Value(tag=f"pictures/{picture.name}", image=image)])


def _markdown(rows: list[Row]) -> str:
    if not rows:
        return "The table is empty."

    def line(cells: list[Any]) -> str:
        texts = ("" if cell is None else " ".join(str(cell).replace("|", "\\|").split()) for cell in cells)
        return f"| {' | '.join(texts)} |"

    columns = list(rows[0])
    return "\n".join([line(columns), line(["---"] * len(columns)), *(line(list(row.values())) for row in rows)])
