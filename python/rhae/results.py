"""Recordings and scores: nothing in a file is believed but the actions."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rhae import _native

__all__ = ["Verified", "score", "verify"]


@dataclass(frozen=True)
class Verified:
    """What playing a recording again gave."""

    #: The environment with its version.
    game_id: str
    #: Whether every entry gave what was recorded.
    ok: bool
    #: The first entry, from 1, that did not; ``None`` if all did.
    entry: int | None
    #: What differs there.
    difference: str | None
    #: Actions counted up to there.
    actions: int
    #: Where the play stands at the end.
    state: str
    #: Levels completed.
    levels_completed: int


def _text(recording: str | os.PathLike[str]) -> str:
    return Path(recording).read_text(encoding="utf-8")


def verify(recording: str | os.PathLike[str]) -> Verified:
    """Play a recording file again, in any format that ``rhae replay`` reads, and compare every frame."""
    play, _, mismatch = _native.replayed(_text(recording))
    told = play.look()
    entry, difference = mismatch or (None, None)
    return Verified(play.id, mismatch is None, entry, difference, play.action_count, told[1], told[2])


def score(*recordings: str | os.PathLike[str], method: str | None = None) -> dict[str, Any]:
    """The scorecard of recordings that verify, under a scoring method; refuses those that do not."""
    plays = []
    for recording in recordings:
        play, guid, mismatch = _native.replayed(_text(recording))
        if mismatch is not None:
            raise ValueError(f"`{os.fspath(recording)}` cannot be scored: at entry {mismatch[0]} {mismatch[1]}")
        plays.append((play, guid or ""))
    card: dict[str, Any] = json.loads(
        _native.scorecard(json.dumps({"card_id": "recordings"}), plays, [], method or _native.methods()[0])
    )
    return card
