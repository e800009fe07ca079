"""Rhae from Python: its environments for Gymnasium, the toolkit's calls in one process, scores, replays and pictures."""

from typing import TYPE_CHECKING, Any

from rhae._native import __version__

if TYPE_CHECKING:
    from rhae.gym import make, make_vec

__all__ = ["__version__", "make", "make_vec"]

_MODULES = {"make": "rhae.gym", "make_vec": "rhae.gym"}


def __getattr__(name: str) -> Any:
    """Import what needs more than NumPy when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module `rhae` has no attribute `{name}`")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)
