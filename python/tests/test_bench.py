"""The benchmark's numbers are there and add up; how large they are is no test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rhae import _sampling

PYTHON = Path(__file__).parents[1]


def test_every_number_is_printed() -> None:
    options = ["--games", str(PYTHON / "tests/games"), "--only", "walls", "--seconds", "0.05"]
    command = [sys.executable, "-P", "-m", "rhae.bench", *options, "--pair", str(PYTHON / "bench/bx20.py")]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)
    (game,) = told["games"]
    share, ratio = game["own_share"], game["ratio"]
    assert game["game"] == "walls" and ratio > 0 and 0 <= share <= 1 and game["clone_ratio"] > 0
    assert game["ratio_if_engine_ten_times_faster"] == pytest.approx(1 / (share + (1 - share) / 10))
    assert game["part_of_possible_gain"] == pytest.approx((1 - 1 / ratio) / (1 - share))
    vector = told["vector"]
    assert vector["ratio"] == pytest.approx(vector["steps_per_second"] / vector["python_file_steps_per_cpu_second"])
    assert vector["fastest"] in vector["by_environment"] and len(vector["by_environment"]) == 6


def test_a_stack_belongs_to_its_innermost_frame_of_game_or_engine() -> None:
    outer = "play (rhae/bench.py:9);ARCBaseGame.perform_action (arcengine/base_game.py:231);"
    stacks = [
        f"{outer}Walls.step (walls.py:70);where (numpy/multiarray.py:3) 6",
        f"{outer}Walls.step (walls.py:70);Level.get_sprites_by_tag (arcengine/level.py:5) 3",
        f"{outer}Camera.render (arcengine/camera.py:1);Bar.render_interface (walls.py:50) 2",
        "load (rhae/bench.py:1);<module> (walls.py:1) 100",
        f"{outer}Camera.render (arcengine/camera.py:1);repeat (numpy/core.py:1) 5",
    ]
    assert _sampling._share("\n".join(stacks), "walls.py") == 0.5
