"""Measures the native vector and compares it with the same game as a Python file."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rhae import _native
from rhae.gym import VectorEnvironment, make_vec

#: The environment that exists both natively and as a Python file.
PAIR = "bx20"
PLAYS = 1024
THREADS = 2
_ROUND = 64


def measure(play: Callable[[list[tuple[int, dict[str, int]]]], float], seconds: float) -> dict[str, Any]:
    """Returns the results of the vector.

    `play` executes actions in the Python version of the game, on the original engine, and returns
    the CPU time that they took.
    """
    ids = [game["game_id"] for game in json.loads(_native.games())]
    pair: list[tuple[float, float]] = []
    python: list[float] = []
    rng = random.Random(PAIR)
    vector, moves = _prepared(PAIR)
    while sum(python) < seconds or len(python) < 5:
        clicks = [(6, {"x": rng.randrange(64), "y": rng.randrange(64)}) for _ in range(60)]
        python.append(play(clicks))
        pair.append(_rate(vector, moves))
    file = 60 / statistics.median(python)
    wall, cpu = (statistics.median(rates) for rates in zip(*pair, strict=True))
    by_environment = {id: _best(id, 5) for id in ids}
    return {
        "plays": PLAYS,
        "threads": THREADS,
        "environment": PAIR,
        "python_file_steps_per_cpu_second": file,
        "steps_per_second": wall,
        "steps_per_cpu_second": cpu,
        "ratio": wall / file,
        "ratio_per_core": cpu / file,
        "by_environment": by_environment,
        "fastest": max(by_environment, key=lambda id: by_environment[id]["steps_per_second"]),
    }


def _prepared(id: str) -> tuple[VectorEnvironment, list[Any]]:
    """Returns a vector and random actions for it, drawn from those that the environment offers."""
    vector = make_vec(id, PLAYS, seeds=0, threads=THREADS)
    (facts, _, _), *_ = vector._plays.blocks
    rng = np.random.default_rng(0)
    moves = []
    for _ in range(_ROUND):
        move = rng.integers(0, 64, (PLAYS, 3))
        move[:, 0] = rng.choice(facts.actions, PLAYS)
        moves.append(move)
    vector.reset()
    return vector, moves


def _rate(vector: VectorEnvironment, moves: list[Any]) -> tuple[float, float]:
    """Returns the steps per second of wall-clock time and per second of CPU time of all threads."""
    started, cpu_started = time.perf_counter(), time.process_time()
    for move in moves:
        vector.step(move)
    steps = len(moves) * PLAYS
    return steps / (time.perf_counter() - started), steps / (time.process_time() - cpu_started)


def _best(id: str, rounds: int) -> dict[str, float]:
    """Returns the best rates of a few rounds, because other processes may slow some of them."""
    vector, moves = _prepared(id)
    wall, cpu = zip(*(_rate(vector, moves) for _ in range(rounds)), strict=True)
    return {"steps_per_second": max(wall), "steps_per_cpu_second": max(cpu)}
