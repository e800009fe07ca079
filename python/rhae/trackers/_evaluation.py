"""The record of a run of solvers on static tasks (``rhae arc eval``)."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from rhae.trackers._answer_picture import draw_test
from rhae.trackers._record import DataSet, Grid, Picture, Row, RunRecord, Series
from rhae.trackers._task_data import find_tasks

_MEASURES = ("mean_task_score", "tasks_solved", "test_inputs_solved", "pass_at_1")
_USAGE = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
#: The outcomes of attempts that have a grid.
_WITH_GRID = ("solved", "wrong", "answered")


def load(folder: Path, config: dict[str, Any], data: list[str] | None, max_pictures: int) -> RunRecord:
    """Loads the run in a folder."""
    try:
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = f"finish the run with `rhae arc eval --resume {folder}`"
        raise ValueError(f"`{folder}` has no results: {hint}") from error
    record = RunRecord(
        "evaluation",
        config["run_id"],
        config.get("name") or config["solver"],
        results["finished"],
        results.get("started_ms"),
        results.get("ended_ms"),
    )
    attempts = _attempts(folder)
    tasks = _tasks(config, results, attempts)
    record.tables = {"tasks": tasks, "attempts": attempts}
    record.parameters = {f"revision.{one['name']}": one["revision"] for one in config["sets"]}
    _add_metrics(record, results, attempts, tasks)
    record.series = [Series("task", "task", [(row["number"], _numbers(row)) for row in tasks])]
    found = find_tasks(config["data"] if data is None else data, {one["revision"] for one in config["sets"]})
    record.data_sets = [
        DataSet(one["name"], one["revision"], one["tests"], found.get(one["revision"])) for one in config["sets"]
    ]
    if max_pictures > 0:
        _add_pictures(record, folder, attempts, max_pictures)
    return record


def _attempts(folder: Path) -> list[Row]:
    """Returns one row for each attempt. An attempt that was not requested is missing."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {
            "set": row["set"],
            "task": row["task"],
            "test": int(row["test"]),
            "attempt": int(row["attempt"]),
            "outcome": row["outcome"],
            "right": {"true": True, "false": False}.get(row["right"]),
            "missing": row["request"] == "",
            "seconds": float(row["seconds"]),
            **{name: int(row[name]) for name in _USAGE},
            "cost_usd": float(row["cost_usd"]) if row["cost_usd"] else None,
            "how": row["how"] or None,
        }
        for row in rows
    ]


def _scores(config: dict[str, Any], results: Row) -> dict[str, Row | None]:
    """Returns the score of each set; ``None`` if its solutions are unknown."""
    names = [one["name"] for one in config["sets"]]
    if "scores" in results:
        return dict(zip(names, results["scores"], strict=True))
    return {names[0]: results if "results" in results else None}


def _tasks(config: dict[str, Any], results: Row, attempts: list[Row]) -> list[Row]:
    """Returns one row for each selected task, in the order of the run."""
    prefix = "arc-" if config["protocol"] == "plan" else ""
    scores = _scores(config, results)
    rows: list[Row] = []
    for data_set in config["sets"]:
        scored = scores[data_set["name"]]
        by_id = {} if scored is None else {one["task"].removeprefix(prefix): one for one in scored["results"]}
        for task, tests in data_set["tests"].items():
            own = [row for row in attempts if (row["set"], row["task"]) == (data_set["name"], task)]
            result = by_id.get(task)
            outcomes = [] if result is None else [test.get("reason", test["outcome"]) for test in result["tests"]]
            costs = [row["cost_usd"] for row in own]
            rows.append(
                {
                    "number": len(rows) + 1,
                    "set": data_set["name"],
                    "task": task,
                    "score": None if result is None else 100 * result["score"],
                    "first_attempt": None if result is None else 100 * result["first_attempt"],
                    "solved": None if result is None else result["solved"],
                    "tests": len(tests),
                    "outcomes": ", ".join(outcomes),
                    "missing_attempts": sum(row["missing"] for row in own),
                    "attempts_without_grid": sum(_has_no_grid(row) for row in own),
                    "seconds": sum(row["seconds"] for row in own),
                    **{name: sum(row[name] for row in own) for name in _USAGE},
                    "cost_usd": None if None in costs else sum(costs),
                }
            )
    return rows


def _has_no_grid(attempt: Row) -> bool:
    """Returns whether a request ended without a grid: it failed, or its answer cannot be parsed."""
    return not attempt["missing"] and attempt["outcome"] not in _WITH_GRID


def _numbers(row: Row) -> dict[str, float]:
    omitted = ("number", "set", "task", "outcomes")
    return {name: float(value) for name, value in row.items() if name not in omitted and value is not None}


def _add_metrics(record: RunRecord, results: Row, attempts: list[Row], tasks: list[Row]) -> None:
    several = "scores" in results
    sets = [one for one in results["scores"] if one is not None] if several else [results]
    headline = results["average"] if several else results.get(results["headline"], {}).get("value")
    record.add_metrics({"score": None if headline is None else 100 * headline})
    if not several and headline is not None:
        interval = results[results["headline"]]["interval"]
        record.add_metrics({"score_low": 100 * interval["low"], "score_high": 100 * interval["high"]})
    for scored in sets:
        prefix = f"set/{scored['set']}/" if several else ""
        for measure in (name for name in _MEASURES if name in scored):
            value = scored[measure]
            record.add_metrics({f"{prefix}{measure}": 100 * value["value"]})
            for end in ("low", "high"):
                record.add_metrics({f"{prefix}{measure}_{end}": 100 * value["interval"][end]})
        for failure in scored.get("failures", []):
            record.add_metrics({f"{prefix}failures/{failure['reason']}": failure["count"]})
    record.add_metrics(
        {
            "finished": results["finished"],
            "tasks": len(tasks),
            "attempts": len(attempts),
            "missing_attempts": sum(row["missing"] for row in attempts),
            "attempts_without_grid": sum(_has_no_grid(row) for row in attempts),
            "requests": results["requests"],
            "lost_in_flight": results["lost_in_flight"],
            "seconds": results["seconds"],
            **{name: results.get(name, 0) for name in (*_USAGE, "unmeasured", "unpriced")},
            "cost_usd": None if results.get("unpriced") else results.get("cost_usd", 0.0),
        }
    )


def _add_pictures(record: RunRecord, folder: Path, attempts: list[Row], max_pictures: int) -> None:
    """Adds one picture for each test that has an answer, first of the tests that are not solved."""
    drawable: list[tuple[bool, DataSet, str, int, dict[int, Grid | None]]] = []
    for data_set in record.data_sets:
        if data_set.tasks is None:
            short = data_set.revision[:12]
            record.notes.append(
                f"no pictures of the set `{data_set.name}`: no data with its revision {short} were found; "
                "pass their path as `data`"
            )
            continue
        several = len(record.data_sets) > 1
        name = f"submission-{data_set.name.replace('/', '-')}.json" if several else "submission.json"
        answers = json.loads((folder / name).read_text(encoding="utf-8"))
        for task, tests in data_set.tests.items():
            for position, test in enumerate(tests):
                own = [row for row in attempts if (row["set"], row["task"], row["test"]) == (data_set.name, task, test + 1)]
                # A submission contains a grid for every attempt, but only some of them are answers.
                answer = answers[task][position]
                grids = {
                    row["attempt"]: answer[f"attempt_{row['attempt']}"] if row["outcome"] in _WITH_GRID else None for row in own
                }
                if any(grid is not None for grid in grids.values()):
                    drawable.append((any(row["right"] for row in own), data_set, task, test, grids))
    drawable.sort(key=lambda one: one[0])
    if len(drawable) > max_pictures:
        record.notes.append(f"{len(drawable) - max_pictures} of {len(drawable)} pictures are not exported (`pictures`)")
    record.pictures = [_picture(*one[1:]) for one in drawable[:max_pictures]]


def _picture(data_set: DataSet, task: str, test: int, grids: dict[int, Grid | None]) -> Picture:
    assert data_set.tasks is not None
    pair = data_set.tasks[task]["test"][test]
    return draw_test(f"{data_set.name}/{task}/{test + 1}", pair["input"], pair.get("output"), grids)
