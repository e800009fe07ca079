"""A drop-in for the package `arcengine` 0.9.3: the same games, the same frames, faster.

`rhae.arcengine.install()` registers this package under the name `arcengine`, so that unmodified game files and the
official toolkit `arc_agi` use it.
"""

from __future__ import annotations

import sys

from . import base_game, camera, enums, interfaces, level, sprites
from ._copying import CloneError
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

#: What the original says of itself.
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
    """Lets `import arcengine` find this package, in this process.

    Call it before anything imports `arcengine`: what was imported from the original stays the original's, and the two
    do not mix. If that has happened this fails, unless `force` is given.
    """
    present = sys.modules.get("arcengine")
    this = sys.modules[__name__]
    if present is this:
        return
    if present is not None and not force:
        raise RuntimeError("arcengine has been imported already; call rhae.arcengine.install() before that")
    for name in [name for name in sys.modules if name.startswith("arcengine.")]:
        del sys.modules[name]
    sys.modules["arcengine"] = this
    for module in _SUBMODULES:
        sys.modules[f"arcengine.{module.__name__.rpartition('.')[2]}"] = module


CloneError.__module__ = __name__
