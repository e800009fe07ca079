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
    assert change.symmetry == "three-quarter turn"


def test_recolored_object_has_both_colors() -> None:
    changes = percept.changes(board((20, 20, 4, 4, 9)), board((20, 20, 4, 4, 3)))
    assert [(one.kind, one.colors, one.symmetry) for one in changes] == [("recolored", (9, 3), None)]


def test_islands_contain_all_colors_of_a_figure() -> None:
    frame = board((20, 20, 4, 2, 9), (20, 22, 4, 3, 12), (40, 8, 3, 3, 9))
    objects = percept.objects(frame)
    small, figure = percept.islands(frame)
    assert figure.bounds == (20, 20, 23, 24)
    assert (small.container, figure.container) == (0, 0)
    assert [objects[one].color for one in figure.objects] == [9, 12]
    head, body = figure.objects
    assert body in objects[head].neighbours
    assert head in objects[body].neighbours


def test_animation_is_a_sequence_of_events() -> None:
    frames = [board((x, 20, 4, 4, 9)) for x in (12, 14, 16)] + [board((16, 20, 4, 4, 3))]
    found = percept.animation(board((10, 20, 4, 4, 9)), frames)
    seen = [(one.kind, one.dx, one.first_frame, one.last_frame, one.before, one.after) for one in found]
    assert seen == [
        ("moved", 6, 0, 2, (10, 20, 13, 23), (16, 20, 19, 23)),
        ("recolored", 0, 3, 3, (16, 20, 19, 23), (16, 20, 19, 23)),
    ]


def test_objects_that_move_together_are_one_sprite() -> None:
    def figure(x: int) -> np.ndarray:
        return board((x, 20, 4, 2, 9), (x, 22, 4, 3, 12), (40, 40, 3, 3, 9), (40, 43, 3, 3, 12))

    sprites = percept.Composites()
    for x in (10, 14, 18):
        sprites.observe(figure(x), figure(x + 4))
    # The pair that did not move has other shapes, so it is not grouped.
    assert sprites.group(figure(26)) == [0, 1, 1, 3, 4]


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
    """After some actions of `kq19` the bar of actions is recognised, and what moves is reported."""
    env = rhae.make("kq19", level=2)
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
    with pytest.raises(ValueError, match="expected an array of shape"):
        percept.animation(good, [bad])
    with pytest.raises(ValueError, match="expected an array of shape"):
        percept.Composites().group(bad)


@pytest.mark.parametrize("action", [0, 8])
def test_only_actions_from_1_to_7_are_observed(action: int) -> None:
    frame = np.zeros((64, 64), dtype=np.int8)
    with pytest.raises(ValueError, match="expected an action from 1 to 7"):
        percept.StatusBars().observe(action, frame, frame)
