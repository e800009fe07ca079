"""The results of finished runs as tables, for pandas, Polars and Parquet files.

:func:`load_runs` reads the folders that ``rhae run`` and ``rhae arc eval`` wrote. The numbers are those
that ``rhae compare`` and ``rhae report`` show.
"""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from typing import Any, Literal

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._notebook import table as html_table

__all__ = ["Runs", "TableName", "load_runs"]

TableName = Literal["runs", "environments", "repeats", "levels", "attempts"]
Row = dict[str, Any]

#: What an agent did, as means over the repeats of a run; ``None`` if it was not recorded.
_BEHAVIOUR = {
    "actions": float,
    "resets": float,
    "deaths": float,
    "distinct_states": float,
    "play_seconds": float,
    "excess_actions": float,
    "excess_levels": float,
}

#: The columns of each table with their types.
_COLUMNS: dict[TableName, dict[str, type]] = {
    "runs": {
        "run": str,
        "folder": str,
        "kind": str,
        "run_id": str,
        "agent": str,
        "software": str,
        "started_ms": int,
        "seconds": float,
        "method": str,
        "budget": str,
        "seed": int,
        "env_seed": int,
        "repeats": int,
        "finished": bool,
        "missing": int,
        "failed": int,
        "environments": int,
        "score": float,
        "score_low": float,
        "score_high": float,
        "interval_method": str,
        "interpretation": str,
        "levels_completed": float,
        "levels": int,
        **_BEHAVIOUR,
        "cost_usd": float,
        "input_tokens": float,
        "output_tokens": float,
    },
    "environments": {
        "run": str,
        "agent": str,
        "environment": str,
        "revision": str,
        "repeats": int,
        "missing": int,
        "failed": int,
        "score": float,
        **_BEHAVIOUR,
    },
    "repeats": {"run": str, "agent": str, "environment": str, "repeat": int, "score": float},
    "levels": {
        "run": str,
        "agent": str,
        "environment": str,
        "level": int,
        "baseline": int,
        "source": str,
        "weight": float,
        "plays": int,
        "completed": int,
        "score": float,
    },
    "attempts": {"run": str, "agent": str, "environment": str, "level": int, "actions": int, "completed": bool},
}


@dataclass(frozen=True)
class Runs:
    """The results of runs as tables. :func:`load_runs` creates it.

    A table is a list of rows, and all rows of a table have the same keys. The column ``run`` contains
    the name of the run, which is unique. Scores are percentages.
    """

    #: One row for each run: its settings, its score with the 95 % interval, and its cost.
    runs: list[Row]
    #: One row for each environment of a run, with means over the repeats.
    environments: list[Row]
    #: One row for each repeat of an environment. A repeat without a result has the score 0.
    repeats: list[Row]
    #: One row for each level of an environment, over all repeats.
    levels: list[Row]
    #: One row for each play that reached a level: its actions there, and whether it completed it.
    attempts: list[Row]

    def to_pandas(self, table: TableName) -> Any:
        """Returns a table as a ``pandas.DataFrame``.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        pandas = importlib.import_module("pandas")
        types = {str: "string", int: "Int64", float: "float64", bool: "boolean"}
        columns = self._columns(table)
        return pandas.DataFrame(
            {name: pandas.array(columns[name], dtype=types[kind]) for name, kind in _COLUMNS[table].items()}
        )

    def to_polars(self, table: TableName) -> Any:
        """Returns a table as a ``polars.DataFrame``.

        Raises:
            ModuleNotFoundError: Polars is not installed.
        """
        polars = importlib.import_module("polars")
        types = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
        schema = {name: types[kind] for name, kind in _COLUMNS[table].items()}
        return polars.DataFrame(self._columns(table), schema=schema)

    def to_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes one Parquet file for each table into a folder and returns the paths of the files.

        Raises:
            ModuleNotFoundError: Polars is not installed.
        """
        os.makedirs(folder, exist_ok=True)
        files = []
        for table in _COLUMNS:
            file = os.path.join(os.fspath(folder), f"{table}.parquet")
            self.to_polars(table).write_parquet(file)
            files.append(file)
        return files

    def _repr_html_(self) -> str:
        """Shows the scores of the runs in a notebook."""
        columns = ["run", "agent", "environments", "repeats", "missing", "score", "score_low", "score_high", "levels_completed"]
        return html_table(columns, self.runs)

    def _columns(self, table: TableName) -> dict[str, list[Any]]:
        if table not in _COLUMNS:
            raise ValueError(f"there is no table `{table}`; there are {', '.join(_COLUMNS)}")
        rows: list[Row] = getattr(self, table)
        return {name: [row[name] for row in rows] for name in _COLUMNS[table]}


def load_runs(
    *folders: str | os.PathLike[str],
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
) -> Runs:
    """Loads the results of runs of ``rhae run`` and ``rhae arc eval``.

    Args:
        folders: The run folders.
        games_dir: A folder of hosted games, or several, in addition to those that the runs name.
            Games are needed only for a run that was killed before it wrote its scorecards.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.

    Raises:
        ValueError: A folder contains no run, or no results.
        OSError: A file cannot be read.

    Examples:
        >>> import rhae, tempfile
        >>> folder = tempfile.mkdtemp() + "/run"
        >>> _ = rhae.run("random", games="bx20", budget=20, repeat=2, out=folder)
        >>> runs = rhae.load_runs(folder)
        >>> [(row["environment"], row["repeat"], row["score"]) for row in runs.repeats]
        [('bx20-v1', 1, 0.0), ('bx20-v1', 2, 0.0)]
    """
    request = games_request(games_dir, unsafe_host=unsafe_host)
    loaded = json.loads(_native.load_runs([os.fspath(folder) for folder in folders], request))
    tables = Runs([], [], [], [], [])
    for run in loaded:
        _add_run(tables, run)
    return tables


def _add_run(tables: Runs, run: Row) -> None:
    score, named = run["score"], {"run": run["label"], "agent": run["agent"]}
    values = {
        **run,
        **named,
        "environments": score["environments"],
        "score": score["mean"],
        "score_low": score["interval"][0],
        "score_high": score["interval"][1],
        "interval_method": score["interval_method"],
    }
    tables.runs.append(_row("runs", values))
    for environment in run["environments"]:
        scores = environment["scores"]
        named["environment"] = environment["id"]
        means = {"repeats": len(scores), "score": sum(scores) / max(len(scores), 1)}
        tables.environments.append(_row("environments", {**environment, **named, **means}))
        for repeat, value in enumerate(scores, 1):
            tables.repeats.append(_row("repeats", {**named, "repeat": repeat, "score": value}))
        for number, level in enumerate(environment["levels"], 1):
            tables.levels.append(_row("levels", {**level, **named, "level": number}))
            attempts = ({**attempt, **named, "level": number} for attempt in level["attempts"])
            tables.attempts.extend(_row("attempts", attempt) for attempt in attempts)


def _row(table: TableName, values: Row) -> Row:
    return {name: values.get(name) for name in _COLUMNS[table]}
