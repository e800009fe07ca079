"""Measures how fast one process can search a game: a loop that copies, acts and hashes.

`rhae bench hosted` compares its searches with this loop, which has no messages, no other processes
and no limits.

Usage: python -m rhae._search_bench CLASS MAX_STATES < GAME.py
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import time
import types
from typing import Any


def main(arguments: list[str]) -> None:
    """Searches the first level of a game and prints the results as JSON."""
    class_name, max_states = arguments
    import rhae.arcengine as engine

    engine.install()
    module = types.ModuleType("bench_game")
    sys.modules[module.__name__] = module
    exec(compile(sys.stdin.read(), "game.py", "exec"), module.__dict__)
    game = getattr(module, class_name)()
    opened = game.perform_action(engine.ActionInput(id=engine.GameAction.RESET), raw=True)
    print(json.dumps(measure(engine, game, key_of(opened), int(max_states))))


def measure(engine: Any, game: Any, root: bytes, max_states: int) -> dict[str, Any]:
    """Expands up to `max_states` states in breadth-first order. `root` is the key of the first one.

    The collector of cyclic garbage is off, as in a game's process that searches.
    """
    actions = [action for action in engine.GameAction if action.value in game._available_actions and 1 <= action.value <= 5]
    over = (engine.GameState.WIN, engine.GameState.GAME_OVER)
    sprites = len(game.current_level.get_sprites())
    clone_ms = clone_time(game)
    gc.collect()
    gc.freeze()
    gc.disable()
    known, frontier, states, edges = {root}, [game], 1, 0
    expanded = 0
    started = time.perf_counter()
    while frontier and expanded < max_states:
        following = []
        for state in frontier:
            if expanded >= max_states:
                break
            expanded += 1
            for action in actions:
                after = state.clone()
                data = after.perform_action(engine.ActionInput(id=action), raw=True)
                key = key_of(data)
                edges += 1
                if key not in known:
                    known.add(key)
                    states += 1
                    if data.state not in over and data.levels_completed == 0:
                        following.append(after)
        frontier = following
    seconds = time.perf_counter() - started
    gc.enable()
    return {
        "sprites": sprites,
        "clone_ms": clone_ms,
        "states": states,
        "edges": edges,
        "expanded": expanded,
        "seconds": seconds,
        "states_per_s": states / seconds,
    }


def key_of(data: Any) -> bytes:
    """Returns a hash of the settled frame, the level and the state of the play."""
    key = hashlib.blake2b(data.frame[-1].tobytes(), digest_size=16)
    key.update(f"{data.levels_completed} {data.state}".encode())
    return key.digest()


def clone_time(game: Any) -> float:
    """Returns the median time of a copy in milliseconds."""
    times = []
    for _ in range(201):
        started = time.perf_counter()
        copied = game.clone()
        times.append(time.perf_counter() - started)
        del copied
    return 1000 * sorted(times)[len(times) // 2]


if __name__ == "__main__":
    main(sys.argv[1:])
