"""The scripts of `python/examples` run and produce the documented results."""

import subprocess
import sys
from pathlib import Path

import rhae

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-P", str(EXAMPLES / name), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


def test_random_agent_plays_every_environment() -> None:
    lines = run("random_agent.py", "--actions", "100").splitlines()
    assert len(lines) == len(rhae.Arcade().get_environments()) + 1
    assert all("levels in 100 actions" in line for line in lines[:-1])


def test_learning_agent_improves() -> None:
    sys.path.insert(0, str(EXAMPLES))
    from learning_agent import train

    ended = train("kq19", 1000)
    early = [completed for completed, _ in ended[:100]]
    late = [completed for completed, _ in ended[-100:]]
    assert sum(early) < 70
    assert sum(late) > 95
    best = min(actions for completed, actions in ended if completed)
    assert sum(actions for _, actions in ended[-100:]) / 100 < best + 1
