"""`rhae.load_runs`: the tables of runs, and their data frames and Parquet files."""

from __future__ import annotations

from pathlib import Path

import pandas
import polars
import pytest
from program import rhae_json

import rhae
from rhae.tables import Runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("runs")
    for agent, seed in (("random", 1), ("explorer", 2)):
        rhae.run(agent, games="kq19,ym39", seed=seed, repeat=2, budget=120, out=folder / agent)
    return rhae.load_runs(folder / "random", folder / "explorer")


def test_tables_agree_with_the_comparison(runs: Runs, tmp_path: Path) -> None:
    folders = [row["folder"] for row in runs.runs]
    compared = rhae_json(tmp_path, "compare", *folders)
    for row, expected in zip(runs.runs, compared["runs"], strict=True):
        assert row["run"] == expected["label"]
        assert (row["score"], [row["score_low"], row["score_high"]]) == (
            expected["score"]["mean"],
            expected["score"]["interval"],
        )
        assert row["actions"] == expected["actions"]
        own = [one for one in runs.environments if one["run"] == row["run"]]
        assert [one["environment"] for one in own] == ["kq19-v1", "ym39-v1"]
        assert sum(one["score"] for one in own) / len(own) == pytest.approx(row["score"])
        repeats = [one["score"] for one in runs.repeats if one["run"] == row["run"]]
        assert sum(repeats) / len(repeats) == pytest.approx(row["score"])
    attempts = [one for one in runs.attempts if (one["run"], one["environment"]) == ("random", "kq19-v1")]
    assert sum(one["actions"] for one in attempts) == 240
    completed = [one for one in runs.attempts if one["completed"]]
    assert len(completed) == sum(level["completed"] for level in runs.levels) > 0


def test_tables_become_data_frames_and_files(runs: Runs, tmp_path: Path) -> None:
    frame = runs.to_pandas("levels")
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == (32, 10) and frame["baseline"].dtype == "Int64"
    assert runs.to_pandas("runs")["cost_usd"].dtype == "float64"
    same = runs.to_polars("levels")
    assert isinstance(same, polars.DataFrame) and same["weight"].to_list() == frame["weight"].to_list()
    files = runs.to_parquet(tmp_path / "tables")
    assert len(files) == 5
    assert polars.read_parquet(tmp_path / "tables" / "repeats.parquet").to_dicts() == runs.repeats
    assert polars.read_parquet(tmp_path / "tables" / "runs.parquet").schema["budget"] == polars.String


def test_invalid_arguments_raise_errors(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no table `plays`; there are runs, environments"):
        runs.to_pandas("plays")  # type: ignore[arg-type]
    with pytest.raises((ValueError, OSError), match="missing"):
        rhae.load_runs(tmp_path / "missing")
    with pytest.raises((ValueError, OSError)):
        rhae.load_runs(tmp_path)
