"""Both engines in one process, and the values that must be equal on both."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import rhae.arcengine as ours
from rhae.bench import Action, actions, load, original

official = original()
GAMES = Path(__file__).parent / "games"
NAMES = sorted(path.stem for path in GAMES.glob("*.py"))

__all__ = ["NAMES", "actions", "game_on", "official", "ours", "summary", "take"]


def game_on(name: str, engine: types.ModuleType, seed: int = 3) -> Any:
    """Returns a new game on an engine."""
    return load(GAMES / f"{name}.py", engine)(seed=seed)


def take(game: Any, engine: types.ModuleType, action: Action, raw: bool = True) -> Any:
    """Executes an action. In a game that is over, most actions become a RESET."""
    kind, data = action
    if game._state in (engine.GameState.WIN, engine.GameState.GAME_OVER) and kind % 3:
        kind, data = 0, {}
    return game.perform_action(engine.ActionInput(id=kind, data=data), raw=raw)


def summary(game: Any, data: Any) -> tuple[Any, ...]:
    """Returns everything that must be equal after an action."""
    frames = [(frame.dtype.str, frame.shape, frame.tobytes()) if hasattr(frame, "dtype") else frame for frame in data.frame]
    sprites = [
        (s.name, s.x, s.y, s.layer, s.rotation, s.scale, s.mirror_ud, s.mirror_lr, s.blocking.name, s.interaction.name)
        + (tuple(s.tags), s.pixels.dtype.str, s.pixels.tolist(), list(vars(s)))
        for s in game.current_level._sprites
    ]
    counts = (game._state.name, game._score, game._current_level_index, game._action_count, game._available_actions)
    level = (sorted(vars(game)), sorted(vars(game.current_level)), data.model_fields_set)
    return frames, type(data).__name__, data.model_dump_json(), counts, sprites, level
