"""The scripts of `python/examples` run and produce the documented results."""

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import level
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rhae

EXAMPLES = Path(__file__).parents[1] / "examples"

#: The examples that need PyTorch.
LEARNING = ["maskable_ppo.py", "ppo.py", "rllib_ppo.py"]


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-P", str(EXAMPLES / name), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


def test_random_agent_plays_every_environment() -> None:
    lines = run("random_agent.py", "--actions", "100").splitlines()
    assert len(lines) == len(rhae.Arcade().get_environments()) + 1
    assert all("levels in 100 actions" in line for line in lines[:-1])


def test_learning_agent_improves() -> None:
    from learning_agent import train

    ended = train("kq19", 1000)
    early = [completed for completed, _ in ended[:100]]
    late = [completed for completed, _ in ended[-100:]]
    assert sum(early) < 70
    assert sum(late) > 95
    best = min(actions for completed, actions in ended if completed)
    assert sum(actions for _, actions in ended[-100:]) / 100 < best + 1


@pytest.mark.parametrize("example", LEARNING)
def test_imports_of_learning_examples_exist(example: str) -> None:
    """Names that an example imports from installed modules exist."""
    checked = 0
    for node in ast.walk(ast.parse((EXAMPLES / example).read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            checked += sum(importlib.import_module(name) is not None for name in names if installed(name))
        elif isinstance(node, ast.ImportFrom) and node.module and installed(node.module):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)
            checked += 1
    assert checked >= 3


def installed(name: str) -> bool:
    package = name.split(".")[0]
    # RLlib itself imports PyTorch.
    return not name.startswith("ray") and importlib.util.find_spec(package) is not None


def test_level_of_learning_examples_is_a_valid_environment() -> None:
    check_env(level.single(), skip_render_check=True)
    environment = level.masked()
    observation, info = environment.reset(seed=0)
    assert environment.observation_space.contains(observation)
    assert observation["action_mask"].tolist() == [1, 1, 1, 1, 1] and info["action_mask"].dtype == np.bool_
    vector, _ = level.many(3).reset()
    planes, _ = level.single().reset()
    assert np.array_equal(vector[2], planes)
    assert np.array_equal(observation["observations"], planes[:, 2::4, 2::4].reshape(-1))


def test_random_play_does_not_improve_but_the_best_keys_do() -> None:
    rng = np.random.default_rng(1)
    plays = level.many(64)
    _, info = plays.reset()
    returns = level.Returns()
    for _ in range(800):
        mask = level.keys(info["action_mask"])
        _, rewards, terminated, truncated, info = plays.step(1 + (mask * rng.random(mask.shape)).argmax(axis=1))
        returns.add(rewards, terminated | truncated)
    assert abs(returns.improvement()) < 4
    first, _ = returns.tenths()
    assert 0.1 < first.mean() < 0.6, "random play completes the level in about a third of the episodes"
    learned = level.Returns([0.0, 1.0] * 50 + [1.0] * 900)
    assert learned.improvement() > 3 and str(learned).startswith("1000 episodes; mean return 0.500 at first, 1.000")
    with pytest.raises(ValueError, match="expected at least 20 episodes, found 3"):
        level.Returns([1.0] * 3).tenths()


def test_masked_episode_plays_like_the_vector() -> None:
    environment: Any = level.masked()
    environment.reset()
    plays = level.many(1)
    plays.reset()
    rng = np.random.default_rng(2)
    for _ in range(40):
        key = int(rng.integers(4))
        _, reward, terminated, truncated, _ = environment.step(np.int64(key))
        _, rewards, *ends, _ = plays.step(np.array([key + 1]))
        assert (reward, terminated, truncated) == (rewards[0], ends[0][0], ends[1][0])
        if terminated or truncated:
            break
    assert terminated or truncated
