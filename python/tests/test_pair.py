"""The game bx20 as a Python file produces the same frames as the native environment."""

import random
from pathlib import Path

import numpy as np
import pytest

from rhae import _native
from rhae._hosting import games_request
from rhae.bench import load

arcengine = pytest.importorskip("arcengine")

GAME = Path(__file__).parents[1] / "bench" / "bx20.py"
SOLUTIONS = Path(__file__).parents[2] / "crates/games/src/bx20/solutions.txt"


def compare(actions: list[tuple[int, int, int]]) -> str:
    """Plays both with the same actions and compares every frame. Returns the final state."""
    native = _native.GameSet(games_request(None)).open("bx20", 0, False)
    game = load(GAME, arcengine)()
    game.perform_action(arcengine.ActionInput(id=arcengine.GameAction.RESET), raw=True)
    state = "NOT_FINISHED"
    for index, (number, x, y) in enumerate(actions):
        result = native.act(number, x, y)
        state = result.state
        action = arcengine.ActionInput(id=arcengine.GameAction.from_id(number), data={"x": x, "y": y})
        data = game.perform_action(action, raw=True)
        where = f"action {index}: {number} at {x}, {y}"
        assert len(data.frame) == len(result.frames), where
        assert np.array_equal(np.stack(data.frame), result.frames), where
        assert (data.state.name, data.levels_completed) == (state, result.levels_completed), where
        assert data.win_levels == result.win_levels, where
        assert (data.available_actions, data.full_reset) == (result.available_actions, result.full_reset), where
    return state


def test_stored_solutions_win_both_games() -> None:
    clicks = []
    for line in SOLUTIONS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            clicks += [tuple(map(int, click.split("@")[1].split(","))) for click in line.split() if "@" in click]
    assert len(clicks) > 80
    assert compare([(6, x, y) for x, y in clicks]) == "WIN"


@pytest.mark.parametrize("seed", range(4))
def test_random_play_produces_equal_frames(seed: int) -> None:
    rng = random.Random(seed)

    def click() -> tuple[int, int, int]:
        return (6, rng.randrange(64), rng.randrange(64))

    def rim() -> tuple[int, int, int]:
        return rng.choice([(6, rng.randrange(64), rng.choice((3, 61))), (6, rng.choice((3, 61)), rng.randrange(64)), (6, 2, 2)])

    def other() -> tuple[int, int, int]:
        return (rng.choice((0, 1, 5, 7, 7)), 0, 0)

    # Only the few window cells at the border have an effect, so clicks there are more frequent.
    compare([rng.choices((click, rim, other), (3, 6, 1))[0]() for _ in range(400)])
