"""Games have equal frames, states and counts on both engines over thousands of random actions."""

from __future__ import annotations

import os
import random

import pytest
from engines import NAMES, actions, game_on, official, ours, summary, take

FULL = bool(os.environ.get("RHAE_FULL"))
ACTIONS = 20_000 if FULL else 1_500


@pytest.mark.short_form("1,500 instead of 20,000 actions")
@pytest.mark.parametrize("name", NAMES)
def test_game_is_equal_on_both_engines(name: str) -> None:
    theirs, mine = (game_on(name, engine) for engine in (official, ours))
    won = levels = 0
    for number, action in enumerate(actions(random.Random(name), ACTIONS)):
        raw = number % 50 != 0
        one, two = take(theirs, official, action, raw), take(mine, ours, action, raw)
        assert summary(mine, two) == summary(theirs, one), f"action {number}: {action}"
        won += one.state.name == "WIN"
        levels = max(levels, one.levels_completed)
    if name != "crowd":
        assert levels, "random play never completed a level, so the later levels are untested"
