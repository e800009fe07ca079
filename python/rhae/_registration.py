"""Registers the built-in environments with Gymnasium.

Gymnasium is optional and takes long to import, so `rhae` does not import it. The environments are
registered when both packages are imported, in either order.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from rhae import _native

GYMNASIUM = "gymnasium"


def register_environments() -> None:
    """Registers the built-in environments with Gymnasium as soon as it is imported."""
    if GYMNASIUM in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _GymnasiumFinder())


def _register() -> None:
    import gymnasium

    for game in json.loads(_native.games()):
        name = f"rhae/{game['game_id']}"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="rhae.gym:Environment",
                vector_entry_point="rhae.gym:VectorEnvironment",
                kwargs={"id": game["game_id"]},
            )


class _GymnasiumFinder(MetaPathFinder):
    """Notices the import of Gymnasium and registers the environments after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the usual spec of Gymnasium, whose loader also registers the environments."""
        if fullname != GYMNASIUM:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(GYMNASIUM)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            _register()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
