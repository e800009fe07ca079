"""Vector environments on a Ray cluster.

:func:`vector` creates a ``gymnasium.vector.VectorEnv`` whose plays run in Ray actors, each with a
part of the plays:

>>> import rhae.ray  # doctest: +SKIP
>>> vec = rhae.ray.vector("kq19", 4096, seeds=0, actors=8, max_actions=200)  # doctest: +SKIP
>>> frames, info = vec.reset()  # doctest: +SKIP

A play is determined by its seed and its actions, so the loss of actors and nodes does not change
results: the plays of a lost actor continue in a new one, from their last saved state and the actions
since then. If Ray announces that a node will be shut down (a drain, for example before a spot
instance ends), the hook ``on_drain`` is called, and the plays of the node move to others.

Ray is optional: ``pip install ray``. ``rhae`` must be installed on all nodes, and folders of hosted
games must be at the same path.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._spaces import check_options
from rhae.vector_environment import check_running, seed_list

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("rhae.ray needs Ray: pip install ray", name="ray") from error

from rhae._ray_actor import BY_STEP, Block, Facts, Policy, Rollout

__all__ = ["Drain", "Policy", "RayVectorEnvironment", "Rollout", "vector"]

_Array = NDArray[Any]

#: The number of operations after which the plays are saved. A lost actor repeats at most so many.
SAVE_INTERVAL = 256
#: The minimum number of seconds between two requests for the nodes that are drained.
DRAIN_POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Drain:
    """A node that will be shut down."""

    #: The id of the node, in hexadecimal digits.
    node: str
    #: The time until which the node exists, in seconds since 1970; ``None`` if it is unknown.
    deadline: float | None
    #: The indices of the plays that move to another node.
    plays: list[int]
    #: Whether the node is that of the calling program.
    is_driver: bool


def vector(
    id: str | Sequence[str],
    n: int,
    seeds: int | Sequence[int] | None = None,
    *,
    actors: int | None = None,
    rollout_seed: int = 0,
    on_drain: Callable[[Drain], None] | None = None,
    actor_options: dict[str, Any] | None = None,
    threads: int = 1,
    games_dir: GamesDir | None = None,
    **arguments: Any,
) -> RayVectorEnvironment:
    """Creates many plays in Ray actors.

    If this process is not connected to Ray, it connects to the cluster of ``RAY_ADDRESS``, or starts
    Ray on this machine.

    Args:
        id: The id of the environment, or a list of ids, all of which every actor plays.
        n: The number of plays.
        seeds: One seed per play, or a number that gives play i the seed ``seeds + i``. All plays
            have the seed 0 if ``None``.
        actors: The number of actors; one per CPU of the cluster if ``None``.
        rollout_seed: Seeds the random generators of policies, one for each actor.
        on_drain: Called with a :class:`Drain` before plays move, for example to save a checkpoint.
        actor_options: Options of ``ray.remote``, such as ``{"num_cpus": 2}``. An actor needs one CPU
            by default.
        threads: The number of Rust threads of each actor.
        games_dir: A folder of hosted games, or several, at the same path on all nodes.
        **arguments: Further arguments of :func:`rhae.make_vec`.

    Raises:
        ValueError: There is no such environment, or an argument has no such value.
    """
    if n < 1:
        raise ValueError("the number of environments must not be 0")
    if not ray.is_initialized():
        ray.init()
    if actors is None:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
        actors = max(1, min(n, int(resources.get("CPU", 1))))
    if not 1 <= actors <= n:
        raise ValueError(f"actors must be from 1 to the number of plays, {n}, found {actors}")
    each = [0] * n if seeds is None else seed_list(seeds, n)
    folders = [str(Path(folder).absolute()) for folder in games_request(games_dir).folders]
    arguments |= {"id": id, "threads": threads, "games_dir": folders}
    options = {"num_cpus": 1} | (actor_options or {})
    return RayVectorEnvironment(arguments, each, actors, rollout_seed, options, on_drain)


class RayVectorEnvironment(VectorEnv[_Array, Any, _Array]):
    """Many plays in Ray actors, as a ``gymnasium.vector.VectorEnv``. :func:`vector` creates it.

    Observations, rewards, ``info`` and the autoreset modes are those of
    :class:`rhae.gym.VectorEnvironment`, whose plays with the same seeds have the same results: these
    depend neither on the number of actors nor on losses. The next call overwrites the arrays.

    A pickle contains the plays in progress, so that it is a checkpoint. It does not contain
    ``on_drain``.
    """

    def __init__(
        self,
        arguments: dict[str, Any],
        seeds: list[int],
        actors: int,
        rollout_seed: int,
        actor_options: dict[str, Any],
        on_drain: Callable[[Drain], None] | None = None,
        states: list[bytes] | None = None,
    ) -> None:
        self.num_envs = len(seeds)
        #: Called with a :class:`Drain` before plays leave a node.
        self.on_drain = on_drain
        self._arguments = arguments, seeds, actors, rollout_seed, actor_options
        self._drained: set[str] = set()
        self._last_poll = time.monotonic()
        bounds = np.linspace(0, self.num_envs, actors + 1).astype(int).tolist()
        self._parts = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        self._blocks = [
            Block(arguments, seeds[part], np.random.default_rng([rollout_seed, index]), actor_options)
            for index, part in enumerate(self._parts)
        ]
        for index, block in enumerate(self._blocks):
            block.start(None if states is None else states[index])
        facts: list[Facts] = self._call("facts")
        self.ids = [id for part in facts for id in part.ids]
        self.seeded = [seeded for part in facts for seeded in part.seeded]
        self.baselines = [baselines for part in facts for baselines in part.baselines]
        self.metadata = facts[0].metadata
        self.single_action_space = facts[0].single_action_space
        self.single_observation_space = facts[0].single_observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._buffers: dict[str, _Array] = {}
        #: The plays whose episode ended in the last step.
        self._over = np.zeros(self.num_envs, np.bool_) if states is None else np.concatenate(self._call("over"))

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Array, dict[str, Any]]:
        """Starts new episodes; see :meth:`rhae.gym.VectorEnvironment.reset`."""
        check_options(options, "reset_mask")
        seeds = None if seed is None else seed_list(seed, self.num_envs)
        super().reset(seed=None if seeds is None else seeds[0])
        chosen = None if options is None else options.get("reset_mask")
        chosen = None if chosen is None else np.array(chosen, np.bool_)
        self._over[... if chosen is None else chosen] = False
        pick = [(seeds and seeds[part], None if chosen is None else chosen[part]) for part in self._parts]
        observations, infos = zip(*self._execute("reset", pick), strict=True)
        return self._join("observations", observations), self._info(infos)

    def step(self, actions: Any) -> tuple[_Array, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Executes one action per play; see :meth:`rhae.gym.VectorEnvironment.step`."""
        numbers = np.array(actions, np.int64)
        _native.check_actions(numbers, self.num_envs)
        if self.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            check_running(self._over)
        results = self._execute("step", [(numbers[part],) for part in self._parts])
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        ended = self._join("terminated", terminated), self._join("truncated", truncated)
        np.logical_or(*ended, out=self._over)
        return self._join("observations", observations), self._join("rewards", rewards), *ended, self._info(infos)

    def observe(self) -> tuple[_Array, dict[str, Any]]:
        """Returns the current observations and info without executing an action."""
        observations, infos = zip(*self._call("observe"), strict=True)
        return self._join("observations", observations), self._info(infos)

    def rollout(self, policy: Policy, steps: int) -> Rollout:
        """Lets a policy play in the actors, so that observations are transferred once.

        Args:
            policy: A function that can be pickled. It gets the observations and info of the plays of
                one actor and the actor's random generator, and returns an action for each play.
            steps: The number of steps.

        Raises:
            ValueError: The mode ``DISABLED`` has no rollouts, or ``steps`` is not positive.
        """
        if self.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            raise ValueError('a rollout needs autoreset_mode="NEXT_STEP" or "SAME_STEP"')
        if steps < 1:
            raise ValueError(f"steps must be at least 1, found {steps}")
        shared = ray.put(policy)
        results = self._call("rollout", [(shared, steps)] * len(self._blocks))
        for block, (_, state) in zip(self._blocks, results, strict=True):
            block.saved(state)
        parts = [part for part, _ in results]
        arrays = {name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in BY_STEP}
        return Rollout(**arrays, last_observations=np.concatenate([part.last_observations for part in parts]))

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the mask of :meth:`rhae.gym.Environment.action_masks` for each play."""
        return np.concatenate(self._call("action_masks"))

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the actors."""
        for block in self._blocks:
            block.stop()

    def __reduce__(self) -> tuple[Any, ...]:
        return _continued, (*self._arguments, None, self._save())

    def _save(self) -> list[bytes]:
        states: list[bytes] = self._call("save")
        for block, state in zip(self._blocks, states, strict=True):
            block.saved(state)
        return states

    def _execute(self, name: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Calls a method that changes the plays."""
        results = self._call(name, arguments)
        if max(block.length for block in self._blocks) >= SAVE_INTERVAL:
            self._save()
        return results

    def _call(self, name: str, arguments: list[tuple[Any, ...]] | None = None) -> list[Any]:
        """Calls a method of all actors in parallel. If plays failed, raises the error of the first."""
        self._leave_drained_nodes()
        given = [()] * len(self._blocks) if arguments is None else arguments
        references = [block.call(name, values) for block, values in zip(self._blocks, given, strict=True)]
        results, errors = [], []
        for block, values, reference in zip(self._blocks, given, references, strict=True):
            try:
                results.append(block.result(name, values, reference))
            except (ValueError, RuntimeError) as error:
                errors.append(error)
            if name in ("reset", "step"):
                block.executed(name, values)
        if errors:
            raise errors[0]
        return results

    def _leave_drained_nodes(self) -> None:
        """Moves the plays of nodes that will be shut down."""
        now = time.monotonic()
        if now - self._last_poll < DRAIN_POLL_SECONDS:
            return
        self._last_poll = now
        # Ray has no public function for this; its libraries use the same one.
        draining = ray._private.state.state.get_draining_nodes()
        own = ray.get_runtime_context().get_node_id()
        for node in sorted(set(draining) - self._drained):
            self._drained.add(node)
            leaving = [index for index, block in enumerate(self._blocks) if block.node == node]
            if not leaving and node != own:
                continue
            if self.on_drain is not None:
                plays = [play for index in leaving for play in range(self.num_envs)[self._parts[index]]]
                deadline = draining[node] / 1000 if draining[node] else None
                self.on_drain(Drain(node, deadline, plays, node == own))
            for index in leaving:
                self._blocks[index].move()

    def _join(self, name: str, parts: Sequence[_Array]) -> _Array:
        """Joins the parts of all actors in an array that later calls overwrite."""
        if name not in self._buffers:
            self._buffers[name] = np.empty((self.num_envs, *parts[0].shape[1:]), parts[0].dtype)
        return np.concatenate(parts, out=self._buffers[name])

    def _info(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        names = [name for name in infos[0] if "final" not in name]
        joined = {name: self._join(name, [info[name] for info in infos]) for name in names}
        ended = [(part, info) for part, info in zip(self._parts, infos, strict=True) if "final_obs" in info]
        if not ended:
            return joined
        mask = np.zeros(self.num_envs, np.bool_)
        final_obs = np.full(self.num_envs, None, object)
        final_info: dict[str, _Array] = {}
        for part, info in ended:
            mask[part] = info["_final_obs"]
            final_obs[part] = info["final_obs"]
            for name, values in info["final_info"].items():
                final_info.setdefault(name, np.zeros((self.num_envs, *values.shape[1:]), values.dtype))[part] = values
        final = {"final_obs": final_obs, "_final_obs": mask, "final_info": final_info, "_final_info": mask}
        return joined | final


def _continued(*arguments: Any) -> RayVectorEnvironment:
    """Continues the plays of a pickle."""
    if not ray.is_initialized():
        ray.init()
    return RayVectorEnvironment(*arguments)
