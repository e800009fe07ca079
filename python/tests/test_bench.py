"""The benchmark prints all results, and they are consistent. Their size is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rhae import _native, _timing

PYTHON = Path(__file__).parents[1]


def test_json_output_is_complete_and_consistent() -> None:
    options = ["--games", str(PYTHON / "tests/games"), "--only", "walls", "--seconds", "0.05"]
    command = [sys.executable, "-P", "-m", "rhae.bench", *options, "--pair", str(PYTHON / "bench/bx20.py")]
    output = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)
    (game,) = output["games"]
    share, ratio = game["own_share"], game["ratio"]
    assert game["game"] == "walls" and ratio > 0 and 0 <= share <= 1 and game["clone_ratio"] > 0
    assert game["ratio_if_engine_ten_times_faster"] == pytest.approx(1 / (share + (1 - share) / 10))
    assert game["part_of_possible_gain"] == pytest.approx((1 - 1 / ratio) / (1 - share))
    vector = output["vector"]
    assert vector["ratio"] == pytest.approx(vector["steps_per_second"] / vector["python_file_steps_per_cpu_second"])
    assert vector["fastest"] in vector["by_environment"] and len(vector["by_environment"]) == len(json.loads(_native.games()))


def burn(rounds: int) -> int:
    """Does work outside game and engine, which counts for the caller."""
    return sum(number * number for number in range(rounds))


def test_time_is_attributed_to_the_innermost_function_of_game_or_engine(tmp_path: Path) -> None:
    space: dict[str, Any] = {"burn": burn}
    for name, text in {
        "engine/level.py": "def query():\n    burn(4000)\ndef perform():\n    burn(8000)\n    step()\n",
        "game.py": "def step():\n    burn(4000)\n    query()\n",
    }.items():
        exec(compile(text, str(tmp_path / name), "exec"), space)

    def work() -> float:
        started = time.process_time()
        for _ in range(20):
            space["perform"]()
        return time.process_time() - started

    clock = _native.Clock(str(tmp_path / "game.py"), str(tmp_path / "engine"))
    excess: list[float] = []
    for _ in range(5):
        plain = work()
        with _timing.watched(clock):
            excess.append(work() - plain)
    # A quarter: 4,000 of 16,000 rounds run in the game. Calls from the game to the engine count for
    # the engine.
    assert 0.15 < _timing.share(clock, excess) < 0.35
    reading = clock.read()
    assert reading.engine_events > 2 * reading.game_events > 0
    assert reading.game_seconds > 0 and reading.engine_seconds > 0


def test_vector_bench_reports_shares_of_copying() -> None:
    command = [sys.executable, "-P", "-m", "rhae.vector_bench", "--plays", "32", "--rounds", "2"]
    done = subprocess.run([*command, "--only", "kq19", "bx20-v1", "--json"], check=True, capture_output=True, text=True)
    output = json.loads(done.stdout)
    rows = output["environments"]
    assert list(rows) == ["kq19-v1", "bx20-v1"] and output["slowest"] in rows
    assert all(row["steps_per_second"] > 0 and row["share_of_copying"] > 0 for row in rows.values())
    table = subprocess.run([*command, "--only", "kq19"], check=True, capture_output=True, text=True).stdout
    assert "32 plays on 2 threads" in table and table.endswith("slowest: kq19-v1\n")
    done = subprocess.run([*command, "--only", "zz99"], check=False, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no environment `zz99`" in done.stderr
