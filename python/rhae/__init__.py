"""Rhae from Python."""

from rhae._native import __version__

__all__ = ["__version__"]
