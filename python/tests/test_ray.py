"""Vector environments on a real Ray cluster, whose actors and nodes are lost, drained and replaced."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("ray")

import ray
from gymnasium.vector import AutoresetMode
from ray_cluster import Nodes, started

import rhae
import rhae.ray
from rhae.wrappers import VectorEfficiencyReward, VectorFrameStack

HOSTED = Path(__file__).parents[1] / "examples" / "games"


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    # The paths of Ray's sockets must be short.
    folder = tempfile.mkdtemp(prefix="rhae-")
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_TMPDIR", folder)
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setattr(rhae.ray, "DRAIN_POLL_SECONDS", 0.0)
    # Workers would import the package from the folder of its source, where it is not built.
    patch.chdir(folder)
    try:
        with started() as running:
            yield running
    finally:
        patch.undo()
        shutil.rmtree(folder, ignore_errors=True)


def random_actions(rng: np.random.Generator, n: int) -> Any:
    return np.stack([rng.integers(0, 8, n), rng.integers(0, 64, n), rng.integers(0, 64, n)], axis=1)


def assert_equal(mine: Any, theirs: Any) -> None:
    """Compares what two vectors returned: arrays, and dictionaries and arrays of arrays."""
    if isinstance(mine, dict):
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert_equal(mine[name], theirs[name])
    elif isinstance(mine, tuple) or mine.dtype == object:
        for one, other in zip(mine, theirs, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                assert_equal(one, other)
    else:
        assert np.array_equal(mine, theirs) and mine.dtype == theirs.dtype


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_losses_do_not_change_results(nodes: Nodes, mode: AutoresetMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rhae.ray, "SAVE_INTERVAL", 8)
    arguments: dict[str, Any] = {"seeds": 3, "max_actions": 12, "autoreset_mode": mode}
    local = rhae.make_vec("pz19", 7, **arguments)
    drains: list[rhae.ray.Drain] = []
    far = rhae.ray.vector("pz19", 7, actors=3, on_drain=drains.append, **arguments)
    assert (far.ids, far.seeded, far.baselines, far.metadata) == (local.ids, local.seeded, local.baselines, local.metadata)
    assert far.observation_space == local.observation_space and far.action_space == local.action_space
    assert_equal(far.reset(), local.reset())
    rng = np.random.default_rng(1)
    homes = [block.node for block in far._blocks]
    for step in range(60):
        if step == 10:
            ray.kill(far._blocks[1]._actor)
        if step == 20:
            lost = next(node for node in nodes.nodes if node.node_id == homes[0])
            nodes.nodes.append(nodes.add())
            nodes.remove(lost)
            nodes.nodes.remove(lost)
        if step == 30:
            # An actor may outlive its node for some steps, so its block can still name the lost node.
            used = [block.node for block in far._blocks]
            drained = next(node for node in nodes.nodes if node.node_id in used)
            leaving = [index for index, block in enumerate(far._blocks) if block.node == drained.node_id]
            nodes.nodes.append(nodes.add())
            nodes.drain(drained)
        if step == 40:
            mask = np.arange(7) % 2 == 0
            assert_equal(far.reset(options={"reset_mask": mask}), local.reset(options={"reset_mask": mask}))
        actions = random_actions(rng, 7)
        assert_equal(far.step(actions), local.step(actions))
    assert [(drain.node, drain.deadline is not None, drain.is_driver) for drain in drains] == [(drained.node_id, True, False)]
    assert drains[0].plays == [play for index in leaving for play in range(7)[far._parts[index]]]
    assert drained.node_id not in [block.node for block in far._blocks], "the plays have left the node"
    nodes.remove(drained)
    nodes.nodes.remove(drained)
    assert_equal(far.step(actions), local.step(actions))
    checkpoint = pickle.dumps(far)
    far.close()
    continued = pickle.loads(checkpoint)
    assert_equal(continued.observe(), local.observe())
    assert_equal(continued.step(actions), local.step(actions))
    assert_equal(continued.reset(seed=5), local.reset(seed=5))
    continued.close()


def test_rollout_equals_the_steps_of_its_policy(nodes: Nodes) -> None:
    def policy(observations: Any, info: dict[str, Any], generator: np.random.Generator) -> Any:
        mask = info["action_mask"][:, 1:6]
        return 1 + (mask * generator.random(mask.shape)).argmax(axis=1)

    arguments: dict[str, Any] = {"actions": "flat", "observation": "packed", "max_actions": 9}
    far = rhae.ray.vector("kq19", 5, actors=2, rollout_seed=4, **arguments)
    far.reset()
    rolled = [far.rollout(policy, 6)]
    ray.kill(far._blocks[0]._actor)
    rolled.append(far.rollout(policy, 7))
    local = rhae.make_vec("kq19", 5, **arguments)
    observations, info = local.reset()
    generators = [np.random.default_rng([4, index]) for index in range(2)]
    parts = [slice(0, 2), slice(2, 5)]
    for rollout in rolled:
        assert_equal(rollout.observations[0], observations)
        for step in range(len(rollout.actions)):
            masks = info["action_mask"].copy()
            parted = [
                policy(observations[part], {"action_mask": masks[part]}, generator)
                for part, generator in zip(parts, generators, strict=True)
            ]
            actions = np.concatenate(parted)
            assert_equal((rollout.action_masks[step], rollout.actions[step]), (masks, actions))
            assert_equal(rollout.observations[step], observations)
            observations, rewards, terminated, truncated, info = local.step(actions)
            seen = rollout.rewards[step], rollout.terminated[step], rollout.truncated[step]
            assert_equal(seen, (rewards, terminated, truncated))
        assert_equal(rollout.last_observations, observations)
    assert any(rollout.truncated.any() for rollout in rolled)
    far.close()


def test_wrappers_and_hosted_games_work_on_the_cluster(nodes: Nodes) -> None:
    stacked = VectorFrameStack(VectorEfficiencyReward(rhae.ray.vector("bx20", 4, level=1, actors=2)), 2)
    stacked.reset()
    for x, y in [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2:
        stacks, rewards, terminated, *_ = stacked.step(np.array([(6, x, y)] * 4))
    assert stacks.shape == (4, 2, 64, 64) and terminated.all() and (rewards > 1).all()
    stacked.close()
    far = rhae.ray.vector(["kq19", "rv52"], 4, actors=2, games_dir=HOSTED, autoreset_mode="DISABLED", max_actions=2)
    assert far.ids == ["kq19-v1", "rv52-v1"] * 2
    far.reset()
    for _ in range(2):
        far.step(np.full((4, 3), 1))
    with pytest.raises(RuntimeError, match="the episode of play 0 is over"):
        far.step(np.full((4, 3), 1))
    far.reset(options={"reset_mask": np.ones(4, np.bool_)})
    far.step(np.full((4, 3), 1))
    far.close()


def test_invalid_arguments_raise_before_any_play_changes(nodes: Nodes) -> None:
    far = rhae.ray.vector("kq19", 3, actors=2)
    far.reset()
    with pytest.raises(ValueError, match="x must be a cell from 0 to 63, found 64"):
        far.step(np.array([(1, 0, 0), (1, 0, 0), (6, 64, 0)]))
    with pytest.raises(ValueError, match="expected 3 actions, one for each play, found 2"):
        far.step(np.ones((2, 3), np.int64))
    assert far.observe()[1]["actions"].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="unknown option `mask`"):
        far.reset(options={"mask": 1})
    far.close()
    with pytest.raises(ValueError, match="the nearest is `kq19-v1`"):
        rhae.ray.vector("kq91", 2, actors=1)
    with pytest.raises(ValueError, match="actors must be from 1 to the number of plays, 2, found 3"):
        rhae.ray.vector("kq19", 2, actors=3)
    with pytest.raises(ValueError, match="expected 2 seeds, one for each play, found 1"):
        rhae.ray.vector("kq19", 2, [1], actors=1)


def test_actor_that_is_always_lost_is_an_error(nodes: Nodes) -> None:
    def deadly(observations: Any, info: dict[str, Any], generator: np.random.Generator) -> Any:
        import os

        os._exit(1)

    far = rhae.ray.vector("kq19", 2, actors=1)
    with pytest.raises(RuntimeError, match="the actor was lost 5 times in a row during `rollout`"):
        far.rollout(deadly, 1)
    far.close()
