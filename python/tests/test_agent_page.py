"""The page "Write your own agent": its commands run as they are written, and its agent beats `random`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

from program import ROOT, rhae

PAGE = ROOT / "docs" / "write-an-agent.md"


def commands() -> list[list[str]]:
    """Returns the words of the commands with which the page runs the agent in Python."""
    blocks: list[str] = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = [block for block in blocks if "percept_agent.py" in block]
    return [shlex.split(line) for line in block.splitlines()]


def levels(run: Path) -> list[float]:
    """Returns the mean number of levels that a run completed in each environment."""
    summary = json.loads((run / "summary.json").read_text())
    return [environment["levels_completed"] for environment in summary["environments"]]


def test_commands_of_the_page_show_that_the_agent_beats_random(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for program, *arguments in commands():
        assert program == "rhae"
        # The page says `python3`; the package is in the interpreter that runs this test.
        rhae(tmp_path, *(argument.replace("python3", shlex.quote(sys.executable)) for argument in arguments))
    ours, random = levels(tmp_path / "runs" / "percept"), levels(tmp_path / "runs" / "random")
    pairs = list(zip(ours, random, strict=True))
    assert len(pairs) >= 15
    assert sum(ours) > sum(random), pairs
    assert sum(one > other for one, other in pairs) > sum(one < other for one, other in pairs), pairs
