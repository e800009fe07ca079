"""A faster drop-in replacement for `arcengine` 0.9.3 that produces identical frames.

`install` registers this package under the name `arcengine`, so that unmodified game files and the
official toolkit `arc_agi` use it. Without `install`, import its classes from `rhae.arcengine`.

Examples:
    A game with one level, which ACTION1 completes:

    >>> from rhae.arcengine import ActionInput, ARCBaseGame, GameAction, Level, Sprite
    >>> class OneKey(ARCBaseGame):
    ...     def __init__(self, seed=0):
    ...         level = Level([Sprite([[9]], name="dot")], grid_size=(8, 8))
    ...         super().__init__("onekey", [level], available_actions=[1, 2])
    ...
    ...     def step(self):
    ...         if self.action.id == GameAction.ACTION1:
    ...             self.next_level()
    ...         self.complete_action()
    >>> game = OneKey()
    >>> data = game.perform_action(ActionInput(id=GameAction.ACTION1), raw=True)
    >>> data.state.name, data.levels_completed, data.frame[-1].shape
    ('WIN', 1, (64, 64))
"""

from __future__ import annotations

import sys

from . import base_game, camera, enums, interfaces, level, sprites
from ._copying import CloneError as CloneError
from .base_game import ARCBaseGame
from .camera import Camera
from .enums import (
    MAX_REASONING_BYTES,
    ActionInput,
    BlockingMode,
    ComplexAction,
    FrameData,
    FrameDataRaw,
    GameAction,
    GameState,
    InteractionMode,
    PlaceableArea,
    SimpleAction,
)
from .interfaces import RenderableUserDisplay, ToggleableUserDisplay
from .level import Level
from .sprites import Sprite

#: The version that `arcengine` 0.9.3 reports.
__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  (the original's order)
    "Sprite",
    "BlockingMode",
    "InteractionMode",
    "PlaceableArea",
    "Camera",
    "Level",
    "GameAction",
    "GameState",
    "SimpleAction",
    "ComplexAction",
    "FrameData",
    "FrameDataRaw",
    "ARCBaseGame",
    "ActionInput",
    "RenderableUserDisplay",
    "ToggleableUserDisplay",
    "MAX_REASONING_BYTES",
]

_SUBMODULES = (base_game, camera, enums, interfaces, level, sprites)


def install(*, force: bool = False) -> None:
    """Makes `import arcengine` return this package, in this process.

    Call it before any module imports `arcengine`. Modules that have already imported the original
    keep using its classes, and the classes of the two engines cannot be mixed in one game.

    Args:
        force: Replace an original that is already imported.

    Raises:
        RuntimeError: The original is already imported, and `force` is false.

    Examples:
        >>> import rhae.arcengine
        >>> rhae.arcengine.install()
        >>> import arcengine
        >>> arcengine is rhae.arcengine
        True
    """
    present = sys.modules.get("arcengine")
    this = sys.modules[__name__]
    if present is this:
        return
    if present is not None and not force:
        raise RuntimeError("arcengine is already imported; call rhae.arcengine.install() before the first import")
    for name in [name for name in sys.modules if name.startswith("arcengine.")]:
        del sys.modules[name]
    sys.modules["arcengine"] = this
    for module in _SUBMODULES:
        sys.modules[f"arcengine.{module.__name__.rpartition('.')[2]}"] = module


CloneError.__module__ = __name__
