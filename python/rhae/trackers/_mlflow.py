"""Writes the record of a run to MLflow."""

from __future__ import annotations

import importlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from rhae.trackers._record import DataSet, RunRecord, file_name, table_csv

#: Limits of MLflow for one request, and for values.
_MAX_METRICS, _MAX_PARAMETERS, _MAX_TAGS = 1000, 100, 100
_MAX_PARAMETER_LENGTH, _MAX_DIGEST_LENGTH = 6000, 36
#: Characters that a name must not contain.
_INVALID = re.compile(r"[^\w\-. /]")


def require() -> Any:
    """Imports MLflow."""
    try:
        return importlib.import_module("mlflow")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("rhae.trackers.to_mlflow needs MLflow: pip install mlflow-skinny", name=error.name) from error


def export(
    mlflow: Any,
    record: RunRecord,
    *,
    experiment: str,
    tracking_uri: str | None,
    name: str | None,
    upload_data: bool,
) -> tuple[str, str]:
    """Creates a run and returns its id and the address of its artifacts. The active run of the calling
    program is not changed."""
    client = mlflow.MlflowClient(tracking_uri=tracking_uri)
    found = client.get_experiment_by_name(experiment)
    experiment_id = client.create_experiment(experiment) if found is None else found.experiment_id
    run = client.create_run(experiment_id, start_time=record.started_ms, run_name=name or record.name)
    run_id = run.info.run_id
    status = "FAILED"
    try:
        _log(mlflow, client, run_id, record, upload_data)
        status = "FINISHED" if record.finished else "KILLED"
    finally:
        client.set_terminated(run_id, status=status, end_time=record.ended_ms)
    return run_id, run.info.artifact_uri


def _log(mlflow: Any, client: Any, run_id: str, record: RunRecord, upload_data: bool) -> None:
    entities = mlflow.entities
    at_ms = record.ended_ms or int(time.time() * 1000)
    parameters = [
        entities.Param(_name(key), str(value)[:_MAX_PARAMETER_LENGTH])
        for key, value in {**record.parameters, "run_id": record.run_id}.items()
    ]
    tags = {f"rhae.tag.{tag}": "true" for tag in record.tags}
    if record.note is not None:
        tags["mlflow.note.content"] = record.note
    if record.unknown:
        tags["rhae.unknown_metrics"] = ", ".join(record.unknown)
    all_tags = [entities.RunTag(_name(key), value) for key, value in tags.items()]
    metrics = [entities.Metric(_name(key), value, at_ms, 0) for key, value in record.metrics.items()]
    metrics += [entities.Metric(_name(key), value, at_ms, step) for key, step, value in record.all_points()]
    for part in _batches(parameters, _MAX_PARAMETERS):
        client.log_batch(run_id, params=part)
    for part in _batches(all_tags, _MAX_TAGS):
        client.log_batch(run_id, tags=part)
    for part in _batches(metrics, _MAX_METRICS):
        client.log_batch(run_id, metrics=part)
    for table, rows in record.tables.items():
        client.log_text(run_id, table_csv(rows), f"tables/{table}.csv")
    with tempfile.TemporaryDirectory() as folder:
        for picture in record.pictures:
            (Path(folder) / f"{file_name(picture.name)}.png").write_bytes(picture.png)
        if record.pictures:
            client.log_artifacts(run_id, folder, "pictures")
    for data_set in record.data_sets:
        file = file_name(data_set.name)
        client.log_dict(run_id, data_set.manifest(), f"data_sets/{file}/manifest.json")
        if upload_data and data_set.tasks is not None:
            client.log_dict(run_id, data_set.tasks, f"data_sets/{file}/tasks.json")
    if record.data_sets:
        client.log_inputs(run_id, datasets=[_input(entities, data_set) for data_set in record.data_sets])


def _input(entities: Any, data_set: DataSet) -> Any:
    """Returns a data set as an input of a run. Its digest is the start of the revision."""
    dataset = entities.Dataset(
        name=data_set.name,
        digest=data_set.revision[:_MAX_DIGEST_LENGTH],
        source_type="rhae",
        source=json.dumps({"revision": data_set.revision}),
        profile=json.dumps({"tasks": len(data_set.tests), "tests": sum(map(len, data_set.tests.values()))}),
    )
    return entities.DatasetInput(dataset=dataset, tags=[entities.InputTag("mlflow.data.context", "evaluation")])


def _name(text: str) -> str:
    return _INVALID.sub("_", text)


def _batches(values: list[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part
