"""The games of a call: the built-in environments, and hosted games from folders.

A hosted game runs in a sandboxed process. This interpreter starts it with `rhae._launcher`, which
enters the sandbox and then becomes the process of the game.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

#: A folder of games in the official toolkit's layout, or several of them.
GamesDir = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class GamesRequest:
    """What the extension module needs to load the games."""

    folders: list[str]
    launcher: list[str]
    python: str
    unsafe_host: bool
    host_seconds: float
    host_memory: int


def games_request(games_dir: GamesDir | None, *, unsafe_host: bool = False) -> GamesRequest:
    """Returns the request for the built-in environments and the games of the folders."""
    if games_dir is None:
        folders = []
    elif isinstance(games_dir, str | os.PathLike):
        folders = [os.fspath(games_dir)]
    else:
        folders = [os.fspath(folder) for folder in games_dir]
    return GamesRequest(
        folders=folders,
        launcher=[sys.executable, "-P", "-m", "rhae._launcher"],
        python=sys.executable,
        unsafe_host=unsafe_host,
        host_seconds=10.0,
        host_memory=2048,
    )
