"""Compares finished runs, with the functions behind the command ``rhae compare``."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._notebook import page_frame

__all__ = ["Comparison", "compare"]

#: The width of the text in columns.
_WIDTH = 100


class Comparison:
    """The comparison of runs. :func:`compare` creates it; a notebook shows it as a page."""

    def __init__(self, comparison: _native.Comparison) -> None:
        self._comparison = comparison
        #: The fields that ``rhae compare --json`` prints. For two runs they include ``difference``,
        #: ``interval`` and ``p``; for more runs, ``pairs`` contains these fields for each pair.
        self.data: dict[str, Any] = json.loads(comparison.json())

    def __str__(self) -> str:
        return self._comparison.text(_WIDTH)

    def to_csv(self) -> str:
        """Returns one line for each environment and level."""
        return self._comparison.csv()

    def to_html(self, *, replays: bool = True) -> str:
        """Returns a page with tables, plots and, with ``replays``, replays next to each other.

        A warning names a play whose replay is missing.
        """
        page = self._comparison.page(replays)
        for note in page.notes:
            warnings.warn(note, stacklevel=2)
        return page.html

    def _repr_html_(self) -> str:
        return page_frame(self.to_html(replays=False))


def compare(
    *folders: str | os.PathLike[str],
    force: bool = False,
    seen: Sequence[str] | None = None,
    unseen: Sequence[str] | None = None,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
) -> Comparison:
    """Compares runs pair by pair: differences with intervals and exact tests.

    Args:
        folders: The folders of two or more runs of ``rhae run`` or ``rhae arc eval``. The first is A,
            the second B.
        force: Compare runs that differ in scoring method, budget, environment versions or baselines,
            and label the result.
        seen: The environments that the authors of the agents have seen; reports the generalisation
            gap. If only one of ``seen`` and ``unseen`` is given, the other contains the rest.
        unseen: The environments that they have not seen.
        games_dir: A folder of hosted games, or several, in addition to those that the runs name.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.

    Raises:
        ValueError: The runs are not comparable, a folder contains no results, or an argument is
            invalid.
        OSError: A file cannot be read.

    Examples:
        >>> import rhae, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for seed in (1, 2):
        ...     _ = rhae.run("random", games=["bx20", "kq19"], budget=20, seed=seed, out=f"{folder}/{seed}")
        >>> comparison = rhae.compare(f"{folder}/1", f"{folder}/2")
        >>> comparison.data["difference"], comparison.data["p"]
        (0.0, 1.0)
    """
    request = games_request(games_dir, unsafe_host=unsafe_host)
    names = [os.fspath(folder) for folder in folders]
    seen = None if seen is None else list(seen)
    unseen = None if unseen is None else list(unseen)
    return Comparison(_native.compare(names, force, seen, unseen, request))
