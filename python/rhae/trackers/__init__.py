"""Exports of finished runs to Weights & Biases, MLflow and TensorBoard.

Each function takes the folder of a run of ``rhae run`` or ``rhae arc eval`` and needs one optional
package:

==================== ============================ =========================
function             package                      extra
==================== ============================ =========================
``to_wandb``         ``wandb`` and ``pillow``     ``rhae[wandb]``
``to_mlflow``        ``mlflow-skinny``            ``rhae[mlflow]``
``to_tensorboard``   ``tensorboardX``             ``rhae[tensorboard]``
==================== ============================ =========================

All trackers receive the same record: the configuration as parameters, the summary as metrics, one
series for repeats, levels or tasks, tables of plays, levels, tasks and attempts, pictures of answers
to static tasks, and the revisions of data sets. Scores are percentages. A play or an attempt without
a result is a row of its table, and the metrics count it. A metric whose value is unknown, such as the
cost of a model without prices, is listed as unknown and never exported as 0.

No function writes API keys: values of environment variables that contain keys, and secrets in
commands and addresses, are replaced by ``***``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from rhae._hosting import GamesDir
from rhae.trackers._loading import DataPaths, load_record
from rhae.trackers._record import RunRecord

__all__ = ["Export", "to_mlflow", "to_tensorboard", "to_wandb"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Export:
    """An exported run."""

    #: The id of the run in the tracker. TensorBoard has no ids, so it is the name of the subfolder.
    id: str
    #: The address of the run; for an offline run or for TensorBoard, its folder.
    location: str


def to_wandb(
    folder: _Path,
    *,
    project: str = "rhae",
    entity: str | None = None,
    name: str | None = None,
    tags: Iterable[str] = (),
    mode: str | None = None,
    directory: _Path | None = None,
    data: DataPaths | None = None,
    pictures: int = 100,
    upload_data: bool = False,
    games_dir: GamesDir | None = None,
) -> Export:
    """Exports a run to Weights & Biases.

    Each data set becomes an artifact of the type ``dataset``. The boxes around wrong cells
    are drawn in the pictures, and they are also overlays whose captions name both colours.

    Args:
        folder: The folder of a run.
        project: The project.
        entity: The user or team; the default one of the account if ``None``.
        name: The name of the run; the name or the agent of the run in ``folder`` if ``None``.
        tags: Tags in addition to those of the run.
        mode: ``"online"`` or ``"offline"``; the environment variable ``WANDB_MODE``, or online, if
            ``None``. ``wandb sync`` uploads an offline run later.
        directory: The folder for the files of the run; ``./wandb`` if ``None``.
        data: The paths of the task data, if they have moved since the run.
        pictures: The maximum number of pictures. Tests that are not solved come first. Pictures show
            solutions, so use 0 for a private data set.
        upload_data: Upload the tasks with their solutions. Otherwise an artifact contains only the
            revision and the ids of the selected tests.
        games_dir: A folder of hosted games, or several, for a run that was killed before it wrote its
            scorecards.

    Raises:
        ModuleNotFoundError: wandb or pillow is not installed.
        ValueError: The folder contains no run, or no results.
        OSError: A file cannot be read.
    """
    from rhae.trackers import _wandb

    tracker = _wandb.require()
    record = _load(folder, data, pictures, games_dir)
    return Export(
        *_wandb.export(
            tracker,
            record,
            project=project,
            entity=entity,
            name=name,
            tags=list(tags),
            mode=mode,
            directory=directory,
            upload_data=upload_data,
        )
    )


def to_mlflow(
    folder: _Path,
    *,
    experiment: str = "rhae",
    tracking_uri: str | None = None,
    name: str | None = None,
    data: DataPaths | None = None,
    pictures: int = 100,
    upload_data: bool = False,
    games_dir: GamesDir | None = None,
) -> Export:
    """Exports a run to MLflow.

    Data sets become inputs of the run. Tables and pictures become artifacts. The status of a run that
    is not finished is ``KILLED``.

    Args:
        folder: The folder of a run.
        experiment: The name of the experiment, which is created if it does not exist.
        tracking_uri: The address of the tracking server or store; the one that MLflow is configured
            with if ``None``.
        name: The name of the run; the name or the agent of the run in ``folder`` if ``None``.
        data: The paths of the task data, if they have moved since the run.
        pictures: The maximum number of pictures. Tests that are not solved come first. Pictures show
            solutions, so use 0 for a private data set.
        upload_data: Upload the tasks with their solutions, not only their revision.
        games_dir: A folder of hosted games, or several, for a run that was killed before it wrote its
            scorecards.

    Raises:
        ModuleNotFoundError: MLflow is not installed.
        ValueError: The folder contains no run, or no results.
        OSError: A file cannot be read.
    """
    from rhae.trackers import _mlflow

    tracker = _mlflow.require()
    record = _load(folder, data, pictures, games_dir)
    return Export(
        *_mlflow.export(tracker, record, experiment=experiment, tracking_uri=tracking_uri, name=name, upload_data=upload_data)
    )


def to_tensorboard(
    folder: _Path,
    logdir: _Path,
    *,
    name: str | None = None,
    data: DataPaths | None = None,
    pictures: int = 100,
    games_dir: GamesDir | None = None,
) -> Export:
    """Exports a run as an event file for TensorBoard. PyTorch and TensorFlow are not needed.

    Parameters and metrics appear in the HParams dashboard, tables as text.

    Args:
        folder: The folder of a run.
        logdir: The log folder. The event file is written to a new subfolder with the name and id of
            the run.
        name: The name of the run; the name or the agent of the run in ``folder`` if ``None``.
        data: The paths of the task data, if they have moved since the run.
        pictures: The maximum number of pictures. Tests that are not solved come first.
        games_dir: A folder of hosted games, or several, for a run that was killed before it wrote its
            scorecards.

    Raises:
        ModuleNotFoundError: tensorboardX is not installed.
        FileExistsError: The run has already been exported to ``logdir``.
        ValueError: The folder contains no run, or no results.
        OSError: A file cannot be read or written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import rhae, rhae.trackers
        >>> temp = tempfile.TemporaryDirectory()
        >>> folder = Path(temp.name) / "run"
        >>> _ = rhae.run("random", games="bx20", budget=20, out=folder)
        >>> export = rhae.trackers.to_tensorboard(folder, Path(temp.name) / "logs")
        >>> len(list(Path(export.location).iterdir()))
        1
        >>> temp.cleanup()
    """
    from rhae.trackers import _tensorboard

    tracker = _tensorboard.require()
    record = _load(folder, data, pictures, games_dir)
    return Export(*_tensorboard.export(tracker, record, logdir=logdir, name=name))


def _load(folder: _Path, data: DataPaths | None, pictures: int, games_dir: GamesDir | None) -> RunRecord:
    """Loads a run. Notes about it become warnings at the line that called the export."""
    record = load_record(folder, data=data, max_pictures=pictures, games_dir=games_dir)
    for note in record.notes:
        warnings.warn(note, stacklevel=3)
    return record
