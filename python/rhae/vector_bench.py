"""Measures vector environments: ``python -m rhae.vector_bench``, or ``rhae bench vector``.

A step of all plays is compared with copying a buffer of the size of all observations, by the same
number of threads. Copies and steps alternate, so that other load on the machine affects both, and
the tenth percentile of each is compared. The actions are sampled among those that are available,
without RESET; sampling is not measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from rhae import _native
from rhae.gym import make_vec

#: Steps in a round.
_STEPS = 32
#: Copies of the buffer after each step. The start of the threads is a small part of their time.
_COPIES = 8


def measure(plays: int, threads: int, rounds: int, only: list[str] | None = None) -> dict[str, Any]:
    """Returns the results of each built-in environment, and of the slowest."""
    ids = [game["game_id"] for game in json.loads(_native.games())]
    chosen = [id for id in ids if not only or id in only or id[:4] in only]
    if not chosen:
        raise ValueError(f"there is no environment `{', '.join(only or [])}`; there are {', '.join(ids)}")
    with ThreadPoolExecutor(threads) as pool:
        environments = {id: _measure_one(id, plays, threads, rounds, pool) for id in chosen}
    return {
        "plays": plays,
        "threads": threads,
        "environments": environments,
        "slowest": min(environments, key=lambda id: environments[id]["share_of_copying"]),
    }


def _measure_one(id: str, plays: int, threads: int, rounds: int, pool: ThreadPoolExecutor) -> dict[str, float]:
    vector = make_vec(id, plays, seeds=0, threads=threads)
    rng = np.random.default_rng(0)
    frames, info = vector.reset()
    copy = np.empty_like(frames)
    stepping: list[float] = []
    copying: list[float] = []
    for _ in range(rounds):
        for _ in range(_STEPS):
            actions = _sample(info["action_mask"], rng)
            started = time.perf_counter()
            frames, _, _, _, info = vector.step(actions)
            stepping.append(time.perf_counter() - started)
            copying.append(_copy(frames, copy, threads, pool))
    step, copied = _undisturbed(stepping), _undisturbed(copying)
    return {"steps_per_second": plays / step, "share_of_copying": copied / step}


def _undisturbed(seconds: list[float]) -> float:
    """Returns the tenth percentile: other work on the machine makes some measurements longer."""
    return sorted(seconds)[len(seconds) // 10]


def _sample(mask: Any, rng: np.random.Generator) -> Any:
    """Returns an available action for each play."""
    actions = rng.integers(0, 64, (len(mask), 3))
    actions[:, 0] = (mask[:, 1:] * rng.random((len(mask), 7))).argmax(axis=1) + 1
    return actions


def _copy(source: Any, target: Any, threads: int, pool: ThreadPoolExecutor) -> float:
    """Returns the time of one copy of the buffer, of which each thread copies a part."""
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))

    def work(part: tuple[Any, Any]) -> None:
        for _ in range(_COPIES):
            np.copyto(part[1], part[0])

    started = time.perf_counter()
    for _ in pool.map(work, parts):
        pass
    return (time.perf_counter() - started) / _COPIES


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m rhae.vector_bench", description="Measure vector environments.")
    parser.add_argument("--plays", type=int, default=1024, help="number of plays (default: 1024)")
    parser.add_argument("--threads", type=int, default=2, help="number of threads (default: 2)")
    parser.add_argument("--rounds", type=int, default=20, help=f"rounds of {_STEPS} steps (default: 20)")
    parser.add_argument("--only", nargs="*", help="ids of environments (default: all)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    args = parser.parse_args()
    if min(args.plays, args.threads, args.rounds) < 1:
        parser.error("--plays, --threads and --rounds must be at least 1")
    try:
        results = measure(args.plays, args.threads, args.rounds, args.only)
    except ValueError as error:
        parser.error(str(error))
    if args.json:
        json.dump(results, sys.stdout, indent=2)
        print()
        return
    print(f"{args.plays} plays on {args.threads} threads\n\nenvironment   million steps/s   share of copying")
    for id, row in results["environments"].items():
        print(f"{id:<11} {row['steps_per_second'] / 1e6:>17.2f} {row['share_of_copying']:>16.1%}")
    print(f"\nslowest: {results['slowest']}")


if __name__ == "__main__":
    main()
