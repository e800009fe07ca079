"""Perception from Python: the values are those of the Rust library, and bad input is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import rhae
from rhae import percept


def board(*rectangles: tuple[int, int, int, int, int]) -> np.ndarray:
    """Returns a frame with rectangles: column, row, width, height, colour."""
    frame = np.zeros((64, 64), dtype=np.int8)
    for x, y, width, height, color in rectangles:
        frame[y : y + height, x : x + width] = color
    return frame


def test_objects_partition_the_frame_and_are_nested() -> None:
    found = percept.objects(board((5, 5, 20, 20, 1), (8, 8, 3, 3, 9)))
    assert [one.id for one in found] == [0, 1, 2]
    assert sum(one.area for one in found) == 64 * 64
    assert [one.parent for one in found] == [None, 0, 1]
    assert found[2].center == (9, 9)


def test_rotated_object_keeps_its_canonical_shape() -> None:
    corner = board((20, 20, 6, 2, 9), (20, 22, 2, 2, 9))
    turned = np.rot90(corner)
    first, second = (percept.objects(frame)[1] for frame in (corner, turned))
    assert first.shape != second.shape
    assert first.canonical_shape == second.canonical_shape
    (change,) = (one for one in percept.changes(corner, turned) if one.after == second.id)
    assert (change.kind, change.before) == ("turned", first.id)


def test_click_candidates_leave_out_ignored_cells() -> None:
    frame = board((10, 10, 4, 4, 9), (30, 30, 4, 4, 9))
    candidates = percept.click_candidates(frame)
    assert candidates[1].click_class == candidates[2].click_class
    ignored = np.zeros((64, 64), dtype=bool)
    ignored[30:34, 30:34] = True
    assert [(one.x, one.y) for one in percept.click_candidates(frame, ignored)[1:]] == [(11, 11)]


def test_grid_of_several_frames() -> None:
    found = percept.grid([board((5 * k, 10, 5, 5, 9), (20, 5 * k, 5, 5, 8)) for k in range(1, 11)])
    assert (found.cell, found.offset_x, found.offset_y) == (5, 0, 0)


def test_play_of_an_environment_is_perceived() -> None:
    """After some actions of `hk26` the budget bar is recognised, and what moves is reported."""
    env = rhae.make("hk26")
    before, _ = env.reset(seed=0)
    bars = percept.StatusBars()
    kinds: Counter[str] = Counter()
    for step in range(12):
        action = 1 + step % 4
        after, *_ = env.step((action, 0, 0))
        bars.observe(action, before, after)
        kinds.update(one.kind for one in percept.changes(before, after))
        before = after.copy()
    assert [one.kind for one in bars.indicators] == ["bar"]
    assert kinds["moved"] > 0


@pytest.mark.parametrize("shape", [(64,), (1, 64, 64), (63, 64)])
def test_arrays_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    bad, good = np.zeros(shape, dtype=np.int8), np.zeros((64, 64), dtype=np.int8)
    with pytest.raises(ValueError, match="expected an array of shape"):
        percept.objects(bad)
    with pytest.raises(ValueError, match="expected an array of shape"):
        percept.changes(good, bad)
    with pytest.raises(ValueError, match="expected an array of shape"):
        percept.grid([bad])


@pytest.mark.parametrize("action", [0, 8])
def test_only_actions_from_1_to_7_are_observed(action: int) -> None:
    frame = np.zeros((64, 64), dtype=np.int8)
    with pytest.raises(ValueError, match="expected an action from 1 to 7"):
        percept.StatusBars().observe(action, frame, frame)
