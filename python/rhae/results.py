"""Replays and scores recordings.

Only the actions of a recording are trusted. They are replayed, and everything else in the file is
compared with the replay.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rhae import _native
from rhae._hosting import GamesDir, games_request

__all__ = ["Verified", "score", "verify"]


@dataclass(frozen=True)
class Verified:
    """The result of :func:`verify`."""

    #: The id of the environment with its version.
    game_id: str
    #: Whether the replay matches every entry of the recording.
    ok: bool
    #: The first entry that does not match, counted from 1; ``None`` if all match.
    entry: int | None
    #: How that entry differs; ``None`` if all match.
    difference: str | None
    #: The number of counted actions up to the end of the recording or up to the first mismatch.
    actions: int
    #: The play state at that point, such as ``"NOT_FINISHED"``.
    state: str
    #: The number of levels completed at that point.
    levels_completed: int


def _text(recording: str | os.PathLike[str]) -> str:
    return Path(recording).read_text(encoding="utf-8")


def verify(recording: str | os.PathLike[str], *, games_dir: GamesDir | None = None, unsafe_host: bool = False) -> Verified:
    """Replays a recording and compares every frame.

    Args:
        recording: A file in any format that ``rhae replay`` reads.
        games_dir: A folder of hosted games, or several, in addition to the built-in environments.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.

    Raises:
        ValueError: The file is not a recording, or its environment is unknown.

    Examples:
        Record a play of one action, then verify it:

        >>> import tempfile
        >>> from pathlib import Path
        >>> import rhae
        >>> folder = tempfile.TemporaryDirectory()
        >>> arcade = rhae.Arcade(recordings_dir=folder.name)
        >>> env = arcade.make("bx20", save_recording=True)
        >>> _ = env.step(6, data={"x": 23, "y": 3})
        >>> (recording,) = Path(folder.name).rglob("*.jsonl")
        >>> rhae.verify(recording)
        Verified(game_id='bx20-v1', ok=True, entry=None, difference=None, actions=1, state='NOT_FINISHED', levels_completed=0)
        >>> folder.cleanup()
    """
    replay = _native.replay_recording(_text(recording), games_request(games_dir, unsafe_host=unsafe_host))
    play = replay.play
    current = play.observe()
    return Verified(
        game_id=play.id,
        ok=replay.mismatch_entry is None,
        entry=replay.mismatch_entry,
        difference=replay.mismatch_reason,
        actions=play.action_count,
        state=current.state,
        levels_completed=current.levels_completed,
    )


def score(*recordings: str | os.PathLike[str], method: str | None = None) -> dict[str, Any]:
    """Returns the scorecard of recordings, in the format of the REST API.

    Args:
        recordings: Files in any format that ``rhae replay`` reads.
        method: The scoring method, such as ``"docs-2026-04"``; the default method if ``None``.

    Raises:
        ValueError: A recording does not verify, or there is no such scoring method.

    Examples:
        Complete one level while recording, then score the recording:

        >>> import tempfile
        >>> from pathlib import Path
        >>> import rhae
        >>> folder = tempfile.TemporaryDirectory()
        >>> arcade = rhae.Arcade(recordings_dir=folder.name)
        >>> env = arcade.make("bx20", save_recording=True)
        >>> for x, y in [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2:
        ...     _ = env.step(6, data={"x": x, "y": y})
        >>> (recording,) = Path(folder.name).rglob("*.jsonl")
        >>> card = rhae.score(recording)
        >>> card["total_levels_completed"], card["total_actions"]
        (1, 7)
        >>> card["score"] == arcade.close_scorecard().score
        True
        >>> folder.cleanup()
    """
    plays = []
    for recording in recordings:
        replay = _native.replay_recording(_text(recording), games_request(None))
        if replay.mismatch_entry is not None:
            where = f"at entry {replay.mismatch_entry} {replay.mismatch_reason}"
            raise ValueError(f"`{os.fspath(recording)}` cannot be scored: {where}")
        plays.append((replay.play, replay.guid or ""))
    card: dict[str, Any] = json.loads(
        _native.scorecard(json.dumps({"card_id": "recordings"}), plays, None, method or _native.methods()[0])
    )
    return card
