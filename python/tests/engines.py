"""The two engines side by side in one process, and games played on both."""

from __future__ import annotations

import contextlib
import random
import sys
import types
from pathlib import Path
from typing import Any

import arcengine as official
import arcengine.sprites  # noqa: F401  (the package's parts, so that they can be put aside)

import rhae.arcengine as ours

GAMES = Path(__file__).parent / "games"
NAMES = sorted(path.stem for path in GAMES.glob("*.py"))


@contextlib.contextmanager
def named(engine: types.ModuleType):
    """Lets `import arcengine` find one of the engines."""
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "arcengine"}
    for name in before:
        del sys.modules[name]
    sys.modules["arcengine"] = engine
    for part in ("base_game", "camera", "enums", "interfaces", "level", "sprites"):
        sys.modules[f"arcengine.{part}"] = sys.modules[f"{engine.__name__}.{part}"] if engine is ours else before_or_import(part)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "arcengine"]:
            del sys.modules[name]
        sys.modules.update(before)


_PARTS = {part: sys.modules[f"arcengine.{part}"] for part in ("base_game", "camera", "enums", "interfaces", "level", "sprites")}


def before_or_import(part: str) -> types.ModuleType:
    return _PARTS[part]


def load(name: str, engine: types.ModuleType) -> type:
    """A game's class on an engine. The file is executed, not imported, as the official toolkit does it."""
    path = GAMES / f"{name}.py"
    module = types.ModuleType(f"games_on_{engine.__name__.replace('.', '_')}.{name}")
    with named(engine):
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module.Game


def actions(rng: random.Random, count: int) -> list[tuple[int, dict[str, int]]]:
    """Random actions: mostly moves and clicks, sometimes an undo or a reset, sometimes two resets."""
    made: list[tuple[int, dict[str, int]]] = [(0, {})]
    while len(made) < count:
        kind = rng.choices(range(8), [1, 8, 8, 8, 8, 8, 16, 4])[0]
        data = {"x": rng.randrange(64), "y": rng.randrange(64)} if kind == 6 else {}
        made.append((kind, data))
        if kind == 0 and rng.random() < 0.3:
            made.append((0, {}))
    return made[:count]


def take(game: Any, engine: types.ModuleType, action: tuple[int, dict[str, int]], raw: bool = True) -> Any:
    """Takes an action; a game that has ended is reset first."""
    kind, data = action
    if game._state in (engine.GameState.WIN, engine.GameState.GAME_OVER) and kind % 3:
        kind, data = 0, {}
    return game.perform_action(engine.ActionInput(id=kind, data=data), raw=raw)


def summary(game: Any, data: Any) -> tuple[Any, ...]:
    """Everything that must be equal after an action."""
    frames = [(frame.dtype.str, frame.shape, frame.tobytes()) if hasattr(frame, "dtype") else frame for frame in data.frame]
    sprites = [
        (s.name, s.x, s.y, s.layer, s.rotation, s.scale, s.mirror_ud, s.mirror_lr, s.blocking.name, s.interaction.name)
        + (tuple(s.tags), s.pixels.dtype.str, s.pixels.tolist())
        for s in game.current_level._sprites
    ]
    counts = (game._state.name, game._score, game._current_level_index, game._action_count, game._available_actions)
    return frames, type(data).__name__, data.model_dump_json(), counts, sprites, sorted(vars(game))
