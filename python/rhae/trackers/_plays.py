"""The record of a run of agents on environments (``rhae run``).

Scores come from :func:`rhae.load_runs`. The journal adds what happened in each play, and the
scorecards add the score of each level of a play.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae.trackers._record import Row, RunRecord, Series

#: Metrics of a run that have the same name in the analysis.
_METRICS = (
    "seconds",
    "repeats",
    "missing",
    "failed",
    "levels_completed",
    "levels",
    "actions",
    "resets",
    "deaths",
    "distinct_states",
    "play_seconds",
    "excess_actions",
    "excess_levels",
)
_FAILED = ("failed", "environment failed")


def load(folder: Path, config: dict[str, Any], games_dir: GamesDir | None) -> RunRecord:
    """Loads the run in a folder."""
    (run,) = json.loads(_native.load_runs([str(folder)], games_request(games_dir)))
    started, ended, journal = _journal(folder)
    cards = _cards(folder, config["repeat"])
    record = RunRecord("plays", run["run_id"], run["label"], run["finished"], started, ended)
    plays, levels = [], []
    for repeat in range(1, config["repeat"] + 1):
        for environment in run["environments"]:
            key = (repeat, environment["id"])
            play = _play(key, config, environment, journal.get(key))
            if run.get("cost_usd") == 0:
                play["cost_usd"] = 0.0
            plays.append(play)
            levels.extend(_levels(play, environment, journal.get(key), cards.get(key)))
    record.tables = {"plays": plays, "levels": levels}
    _add_metrics(record, run, plays)
    sources = {level["source"] for one in run["environments"] for level in one["levels"] if level.get("source")}
    record.parameters = {"agent_name": run["agent"], "baseline_sources": ", ".join(sorted(sources))}
    record.series = [Series("repeat", "repeat", _repeats(plays)), *_environment_series(run, plays, levels)]
    return record


def _journal(folder: Path) -> tuple[int | None, int | None, dict[tuple[int, str], Row]]:
    """Returns the first and last time, and the last result of each play. An incomplete last line,
    which a killed process leaves, is ignored."""
    times: list[int] = []
    plays: dict[tuple[int, str], Row] = {}
    for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        times.append(event["at_ms"])
        if event["event"] == "play":
            result = event["result"]
            plays[result["repeat"], result["game_id"]] = result
    return (times[0], times[-1], plays) if times else (None, None, plays)


def _cards(folder: Path, repeats: int) -> dict[tuple[int, str], list[Row]]:
    """Returns the runs of each environment on each scorecard."""
    runs: dict[tuple[int, str], list[Row]] = {}
    for repeat in range(1, repeats + 1):
        file = folder / ("scorecard.json" if repeats == 1 else f"scorecard-{repeat}.json")
        if file.is_file():
            for environment in json.loads(file.read_text(encoding="utf-8"))["environments"]:
                runs[repeat, environment["id"]] = environment["runs"]
    return runs


def _play(key: tuple[int, str], config: dict[str, Any], environment: Row, result: Row | None) -> Row:
    repeat, name = key
    runs = [] if result is None else result["runs"]
    last = runs[-1] if runs else {"ending": "not played"}
    spent = [level for run in runs for level in run.get("spent", [])]
    costs = [level.get("cost_usd") for level in spent]
    return {
        "repeat": repeat,
        "environment": name,
        "revision": environment.get("revision"),
        "seed": config["seed"] + repeat - 1,
        "score": environment["scores"][repeat - 1],
        "levels_completed": max((sum(level["completed"] for level in run["levels"]) for run in runs), default=0),
        "actions": sum(level["actions"] for run in runs for level in run["levels"]),
        "resets": sum(run["resets"] for run in runs),
        "state": last.get("state"),
        "ending": last["ending"],
        "message": last.get("message"),
        "missing": result is None,
        "failed": last["ending"] in _FAILED,
        "cost_usd": sum(costs) if costs and None not in costs else None,
        "input_tokens": sum(level["input_tokens"] for level in spent) if spent else None,
        "output_tokens": sum(level["output_tokens"] for level in spent) if spent else None,
        "guid": None if result is None else result["guid"],
    }


def _levels(play: Row, environment: Row, result: Row | None, card: list[Row] | None) -> list[Row]:
    """Returns one row for each level of a play, with the counts of its best run. The score of a level
    is ``None`` if the scorecard is missing or does not contain the play."""
    runs = [] if result is None else result["runs"]
    scored = card if card is not None and len(card) == len(runs) and card[0]["guid"] == play["guid"] else None
    best: Row
    if scored is None:
        best = max(runs, key=lambda run: sum(level["completed"] for level in run["levels"]), default={"levels": []})
        scores = []
    else:
        index = max(range(len(scored)), key=lambda index: scored[index]["score"])
        best, scores = runs[index], scored[index]["level_scores"]
    rows = []
    for index, level in enumerate(environment["levels"]):
        reached = best["levels"][index] if index < len(best["levels"]) else None
        score = scores[index] if index < len(scores) else None
        rows.append(
            {
                "repeat": play["repeat"],
                "environment": play["environment"],
                "level": index + 1,
                "score": 0.0 if reached is None else score,
                "reached": reached is not None,
                "completed": reached is not None and reached["completed"],
                "actions": 0 if reached is None else reached["actions"],
                "effective_actions": 0 if reached is None else reached["effective"],
                "baseline": level.get("baseline"),
                "baseline_source": level.get("source"),
                "weight": level["weight"],
            }
        )
    return rows


def _add_metrics(record: RunRecord, run: Row, plays: list[Row]) -> None:
    score = run["score"]
    record.add_metrics({"score": score["mean"], "score_low": score["interval"][0], "score_high": score["interval"][1]})
    record.add_metrics({"environments": score["environments"], "finished": run["finished"], "plays": len(plays)})
    record.add_metrics({name: run.get(name) for name in _METRICS})
    # The analysis has the cost of one repeat. An agent without a model uses no tokens.
    for name in ("cost_usd", "input_tokens", "output_tokens"):
        value = run.get(name)
        if value is not None:
            record.add_metrics({name: value * run["repeats"]})
        elif name == "cost_usd" or run.get("cost_usd") != 0:
            record.add_metrics({name: None})
    endings = Counter(play["ending"] or "in progress" for play in plays)
    record.add_metrics({f"endings/{ending}": count for ending, count in sorted(endings.items())})


def _repeats(plays: list[Row]) -> list[tuple[int, dict[str, float]]]:
    """Returns the totals of each repeat over its environments."""
    points = []
    for repeat in sorted({play["repeat"] for play in plays}):
        own = [play for play in plays if play["repeat"] == repeat]
        values = {"score": sum(play["score"] for play in own) / len(own)}
        for name in ("levels_completed", "actions", "missing", "failed"):
            values[name] = float(sum(play[name] for play in own))
        costs = [play["cost_usd"] for play in own if not play["missing"]]
        if costs and None not in costs:
            values["cost_usd"] = sum(costs)
        points.append((repeat, values))
    return points


def _environment_series(run: Row, plays: list[Row], levels: list[Row]) -> list[Series]:
    """Returns two series of each environment: over the repeats, and over the levels."""
    all_series = []
    for environment in run["environments"]:
        name = environment["id"]
        points = []
        for play in (play for play in plays if play["environment"] == name):
            numbers = ("score", "levels_completed", "actions", "resets", "missing", "failed", "cost_usd")
            points.append((play["repeat"], {key: float(play[key]) for key in numbers if play[key] is not None}))
        all_series.append(Series("repeat", f"environment/{name}", points))
        by_level = []
        for number, level in enumerate(environment["levels"], 1):
            actions = [
                row["actions"] for row in levels if (row["environment"], row["level"]) == (name, number) and row["reached"]
            ]
            values = {
                key: float(level[key]) for key in ("score", "plays", "completed", "baseline") if level.get(key) is not None
            }
            if actions:
                values["actions"] = sum(actions) / len(actions)
            by_level.append((number, values))
        all_series.append(Series("level", f"level/{name}", by_level))
    return all_series
