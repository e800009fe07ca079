"""Compares the speed of games on `rhae.arcengine` and on the installed `arcengine`.

Both engines play the same actions in one process, in turns, and CPU time is compared, so a busy
machine slows both. The benchmark also measures the share f of the original's time that the game's
own code takes. No engine can be faster than 1/f, and an engine that is ten times faster reaches
1 / (f + (1 - f) / 10).
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gc
import importlib
import json
import random
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rhae.arcengine as ours
from rhae import _native, _timing

Action = tuple[int, dict[str, int]]
_PARTS = ("base_game", "camera", "enums", "interfaces", "level", "sprites")
_ENDED = ("WIN", "GAME_OVER")


def original() -> types.ModuleType:
    """Returns the installed `arcengine`."""
    module = importlib.import_module("arcengine")
    if module is ours:
        raise RuntimeError("rhae.arcengine is installed as arcengine in this process")
    return module


@contextlib.contextmanager
def named(engine: types.ModuleType) -> Iterator[None]:
    """Makes `import arcengine` return one of the engines within the block."""
    parts = {part: importlib.import_module(f"{engine.__name__}.{part}") for part in _PARTS}
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "arcengine"}
    for name in before:
        del sys.modules[name]
    sys.modules["arcengine"] = engine
    sys.modules.update({f"arcengine.{part}": module for part, module in parts.items()})
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "arcengine"]:
            del sys.modules[name]
        sys.modules.update(before)


def load(path: Path, engine: types.ModuleType) -> Any:
    """Returns the class of the game in a file, on an engine.

    This is the class `Game` or, if the file has no such class, the last game class in it. The file
    is executed rather than imported, which is how the official toolkit loads games.
    """
    module = types.ModuleType(f"games_on_{engine.__name__.replace('.', '_')}.{path.stem}")
    with named(engine):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    space = module.__dict__
    games = [value for value in space.values() if isinstance(value, type) and issubclass(value, engine.ARCBaseGame)]
    return space.get("Game") or games[-1]


def actions(rng: random.Random, count: int) -> list[Action]:
    """Returns random actions: mostly moves and clicks, sometimes an undo, a reset or two resets."""
    made: list[Action] = [(0, {})]
    while len(made) < count:
        kind = rng.choices(range(8), [1, 8, 8, 8, 8, 8, 16, 4])[0]
        made.append((kind, {"x": rng.randrange(64), "y": rng.randrange(64)} if kind == 6 else {}))
        if kind == 0 and rng.random() < 0.3:
            made.append((0, {}))
    return made[:count]


class Player:
    """A game on an engine, and the CPU time of its actions."""

    def __init__(self, path: Path, engine: types.ModuleType) -> None:
        self.engine = engine
        self.file = str(path)
        self.game = load(path, engine)(seed=1)
        self.seconds = 0.0
        self.reset = engine.ActionInput(id=0)

    def play(self, moves: list[Action]) -> None:
        """Executes actions. While the game is over, executes RESET instead."""
        inputs = [self.engine.ActionInput(id=kind, data=data) for kind, data in moves]
        game, reset = self.game, self.reset
        started = time.process_time()
        for action in inputs:
            game.perform_action(reset if game._state.value in _ENDED else action, raw=True)
        self.seconds += time.process_time() - started


def own_share(path: Path, engine: types.ModuleType, seconds: float) -> float:
    """Returns the share of an engine's time that is spent in the game's own code."""
    plain, watched, rng = Player(path, engine), Player(path, engine), random.Random(1)
    shares: list[float] = []
    while plain.seconds < seconds:
        clock = _native.Clock(str(path), str(Path(engine.__file__ or "").parent))
        excess: list[float] = []
        for _ in range(10):
            moves, before = actions(rng, 60), watched.seconds - plain.seconds
            plain.play(moves)
            with _timing.watched(clock):
                watched.play(moves)
            excess.append(watched.seconds - plain.seconds - before)
        shares.append(_timing.share(clock, excess))
    # The median is used, because the clock also counts time in which the machine runs other
    # processes.
    return statistics.median(shares)


def _timed(work: Callable[[], Any], times: int) -> float:
    """Returns the mean CPU time of one call. Garbage collection is disabled, as in `timeit`."""
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        for _ in range(times):
            work()
        return (time.process_time() - started) / times
    finally:
        gc.enable()


def copying(theirs: Any, mine: Any, seconds: float) -> tuple[float, float, float]:
    """Returns the CPU time of the original's `copy.deepcopy` and of `clone`, and their ratio.

    All three are medians over several rounds. Each round measures both, one after the other.
    """
    slow: list[float] = []
    fast: list[float] = []
    while len(slow) < 9 or (sum(slow) * 2 < seconds and len(slow) < 30):
        slow.append(_timed(lambda: copy.deepcopy(theirs), 2))
        fast.append(_timed(mine.clone, 20))
    ratio = statistics.median(one / other for one, other in zip(slow, fast, strict=True))
    return statistics.median(slow), statistics.median(fast), ratio


def measure(path: Path, seconds: float) -> dict[str, Any]:
    """Returns the results of one game."""
    theirs, mine = Player(path, original()), Player(path, ours)
    rng = random.Random(path.stem)
    for player in (theirs, mine):
        player.play(actions(random.Random(0), 60))
        player.seconds = 0.0
    taken = 0
    while theirs.seconds < seconds or taken < 300:
        moves = actions(rng, 60)
        theirs.play(moves)
        mine.play(moves)
        taken += len(moves)
    ratio = theirs.seconds / mine.seconds
    share = own_share(path, original(), seconds)
    slow, fast, clone_ratio = copying(theirs.game, mine.game, seconds / 4)
    return {
        "game": path.stem,
        "sprites": len(theirs.game.current_level._sprites),
        "actions_per_cpu_second": {"original": taken / theirs.seconds, "rhae": taken / mine.seconds},
        "ratio": ratio,
        "own_share": share,
        "ratio_if_engine_cost_nothing": 1 / share if share else None,
        "ratio_if_engine_ten_times_faster": 1 / (share + (1 - share) / 10),
        "part_of_possible_gain": (1 - 1 / ratio) / (1 - share) if share < 1 else None,
        "clone_ms": {"original_deepcopy": slow * 1000, "rhae": fast * 1000},
        "clone_ratio": clone_ratio,
    }


def vector(path: Path, seconds: float) -> dict[str, Any]:
    """Compares the native vector with the same game as a Python file on the original engine."""
    from rhae import _vector_bench  # Gymnasium is optional

    player = Player(path, original())

    def play(moves: list[Action]) -> float:
        before = player.seconds
        player.play(moves)
        return player.seconds - before

    return _vector_bench.measure(play, seconds)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m rhae.bench", description=__doc__)
    parser.add_argument("--games", type=Path, default=Path("python/tests/games"), help="folder of game files")
    parser.add_argument("--only", nargs="*", help="names of games to measure (default: all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds of the original engine per game")
    parser.add_argument("--table", action="store_true", help="print a table instead of JSON")
    parser.add_argument("--pair", type=Path, help="file of the game bx20; also compare the native vector with it")
    args = parser.parse_args()
    paths = sorted(path for path in args.games.glob("*.py") if not args.only or path.stem in args.only)
    if not paths:
        parser.error(f"there are no game files in {args.games}")
    results = [measure(path, args.seconds) for path in paths]
    plays = None if args.pair is None else vector(args.pair, args.seconds)
    if not args.table:
        json.dump({"games": results, "vector": plays}, sys.stdout, indent=2)
        print()
        return
    print("| game | sprites | ratio | own code | ten times | reached | clone |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in results:
        print(
            f"| {row['game']} | {row['sprites']} | {row['ratio']:.1f} | {row['own_share']:.0%} "
            f"| {row['ratio_if_engine_ten_times_faster']:.1f} | {row['part_of_possible_gain']:.0%} | {row['clone_ratio']:.0f} |"
        )
    if plays is not None:
        print(
            f"\n{plays['environment']}: {plays['steps_per_second'] / 1e6:.2f} million steps per second "
            f"with {plays['plays']} plays on {plays['threads']} threads, "
            f"{plays['ratio']:.0f} times the Python file on the original engine "
            f"({plays['ratio_per_core']:.0f} times per core)"
        )


if __name__ == "__main__":
    main()
