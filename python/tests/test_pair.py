"""The environment bx20 as a Python game shows the same frames as the native one."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from rhae import _native

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
arcengine = pytest.importorskip("arcengine")

SOLUTIONS = Path(__file__).parents[2] / "crates/games/src/bx20/solutions.txt"


def compare(actions: list[tuple[int, int, int]]) -> str:
    """Play both with the same actions and compare every frame; give the last state."""
    from bx20 import Bx20

    native = _native.Play("bx20", 0, 1, False)
    game = Bx20()
    game.perform_action(arcengine.ActionInput(id=arcengine.GameAction.RESET), raw=True)
    state = "NOT_FINISHED"
    for index, (number, x, y) in enumerate(actions):
        frames, state, completed, win_levels, available, full_reset, _, _ = native.act(number, x, y)
        action = arcengine.ActionInput(id=arcengine.GameAction.from_id(number), data={"x": x, "y": y})
        told = game.perform_action(action, raw=True)
        where = f"action {index}: {number} at {x}, {y}"
        assert len(told.frame) == len(frames), where
        assert np.array_equal(np.stack(told.frame), frames), where
        assert (told.state.name, told.levels_completed, told.win_levels) == (state, completed, win_levels), where
        assert (told.available_actions, told.full_reset) == (available, full_reset), where
    return state


def test_the_stored_solutions_win_both() -> None:
    clicks = []
    for line in SOLUTIONS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            clicks += [tuple(map(int, click.split("@")[1].split(","))) for click in line.split() if "@" in click]
    assert len(clicks) > 80
    assert compare([(6, x, y) for x, y in clicks]) == "WIN"


@pytest.mark.parametrize("seed", range(4))
def test_random_play_shows_equal_frames(seed: int) -> None:
    rng = random.Random(seed)
    click = lambda: (6, rng.randrange(64), rng.randrange(64))  # noqa: E731
    # Windows are few cells at the rim: clicks there are drawn more often, so that plants grow.
    rim = lambda: rng.choice([(6, rng.randrange(64), rng.choice((3, 61))), (6, rng.choice((3, 61)), rng.randrange(64))])  # noqa: E731
    other = lambda: (rng.choice((0, 1, 5)), 0, 0)  # noqa: E731
    compare([rng.choices((click, rim, other), (3, 6, 0.3))[0]() for _ in range(400)])
