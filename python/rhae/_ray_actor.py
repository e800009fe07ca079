"""The Ray actors of :mod:`rhae.ray`, and how their plays continue after a loss."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import NodeDiedError, ObjectLostError, RayActorError, RayTaskError

from rhae.vector_environment import VectorEnvironment

#: Returns the actions for some plays, given their observations, their info and a random generator.
Policy = Callable[[NDArray[np.uint8], dict[str, Any], np.random.Generator], Any]

#: The number of times in a row that an actor may be lost during the same operation.
MAX_LOSSES = 5

_LOST = (RayActorError, NodeDiedError, ObjectLostError)


@dataclass(frozen=True)
class Rollout:
    """What a policy saw and did. The first axis is the step, the second the play.

    With the autoreset mode ``NEXT_STEP``, the step after the end of an episode ignores the action.
    """

    #: What the policy saw before each step.
    observations: NDArray[np.uint8]
    #: The masks of the actions that were available before each step.
    action_masks: NDArray[Any]
    actions: NDArray[Any]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    #: The observations after the last step, without the axis of steps.
    last_observations: NDArray[np.uint8]


#: The parts of a rollout that have an axis of steps.
BY_STEP = ("observations", "action_masks", "actions", "rewards", "terminated", "truncated")


@dataclass(frozen=True)
class Facts:
    """What a vector knows about its plays."""

    ids: list[str]
    seeded: list[bool | None]
    baselines: list[list[int]]
    metadata: dict[str, Any]
    single_action_space: Any
    single_observation_space: Any


class Plays:
    """Some of the plays and the random generator of the policy. Ray runs it as an actor."""

    def __init__(self, arguments: dict[str, Any], seeds: list[int], generator: np.random.Generator) -> None:
        self._arguments = arguments
        self._seeds = seeds
        self._plays: VectorEnvironment | None = None
        self._generator = generator

    @property
    def _environment(self) -> VectorEnvironment:
        """The plays. They start with the first call, whose errors reach the caller.

        Ray reports an error of a constructor as the loss of the actor.
        """
        if self._plays is None:
            self._plays = VectorEnvironment(num_envs=len(self._seeds), seeds=self._seeds, **self._arguments)
        return self._plays

    def repeat(self, state: bytes | None, operations: list[tuple[str, tuple[Any, ...]]]) -> str:
        """Loads a saved state, repeats the operations since then and returns the id of the node."""
        if state is not None:
            self._plays, self._generator = pickle.loads(state)
        for name, arguments in operations:
            # An operation that failed has been reported before.
            with contextlib.suppress(RuntimeError, ValueError):
                getattr(self, name)(*arguments)
        node: str = ray.get_runtime_context().get_node_id()
        return node

    def facts(self) -> Facts:
        """Returns what the environment knows about its plays."""
        plays = self._environment
        space, observations = plays.single_action_space, plays.single_observation_space
        return Facts(plays.ids, plays.seeded, plays.baselines, plays.metadata, space, observations)

    def save(self) -> bytes:
        """Returns the state of all plays."""
        return pickle.dumps((self._environment, self._generator))

    def observe(self) -> tuple[Any, ...]:
        """Returns the current observations and info."""
        return self._environment.observe()

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the masks for policies."""
        return self._environment.action_masks()

    def over(self) -> NDArray[np.bool_]:
        """Returns the plays whose episode is over."""
        return self._environment.over

    def reset(self, seeds: list[int] | None, chosen: NDArray[np.bool_] | None) -> tuple[Any, ...]:
        """Starts new episodes."""
        return self._environment.reset(seed=seeds, options=None if chosen is None else {"reset_mask": chosen})

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Executes one action per play."""
        return self._environment.step(actions)

    def rollout(self, policy: Policy, steps: int) -> tuple[Rollout, bytes]:
        """Lets a policy play. Also returns the state afterwards."""
        rows: list[tuple[Any, ...]] = []
        observations, info = self._environment.observe()
        for _ in range(steps):
            before = observations.copy(), info["action_mask"].copy()
            actions = np.array(policy(observations, info, self._generator))
            observations, rewards, terminated, truncated, info = self._environment.step(actions)
            rows.append((*before, actions, rewards.copy(), terminated.copy(), truncated.copy()))
        columns = (np.stack(column) for column in zip(*rows, strict=True))
        arrays = dict(zip(BY_STEP, columns, strict=True))
        return Rollout(**arrays, last_observations=observations), self.save()


class Block:
    """Consecutive plays in one actor.

    A lost actor is replaced by another, which repeats the operations since the last saved state. The
    plays are deterministic, so they reach the same states.
    """

    def __init__(
        self, arguments: dict[str, Any], seeds: list[int], generator: np.random.Generator, options: dict[str, Any]
    ) -> None:
        self._creation = arguments, seeds, generator
        self._actor_class = ray.remote(**options)(Plays)
        self._actor: Any = None
        self._started: Any = None
        self._node: str | None = None
        self._state: bytes | None = None
        self._operations: list[tuple[str, tuple[Any, ...]]] = []

    def start(self, state: bytes | None = None) -> None:
        """Starts an actor without waiting for it. `state` replaces the known one."""
        if state is not None:
            self._state, self._operations = state, []
        self._actor = self._actor_class.remote(*self._creation)
        self._started = self._actor.repeat.remote(self._state, self._operations)
        self._node = None

    @property
    def node(self) -> str:
        """The id of the node of the actor."""
        if self._node is None:
            self._node = self.result("repeat", (None, []), self._started)
        return self._node

    def move(self) -> None:
        """Moves the plays to another actor. Ray starts none on a node that is being drained."""
        state = self.result("save", (), self.call("save", ()))
        self.stop()
        self.start(state)

    @property
    def length(self) -> int:
        """The number of operations since the last saved state."""
        return len(self._operations)

    def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Starts a method of the actor and returns a reference to its result."""
        return getattr(self._actor, name).remote(*arguments)

    def result(self, name: str, arguments: tuple[Any, ...], reference: Any) -> Any:
        """Waits for the result of a call, which is repeated if the actor is lost.

        Raises:
            RuntimeError: The actor was lost several times in a row.
        """
        for _ in range(MAX_LOSSES):
            try:
                return ray.get(reference)
            except _LOST as error:
                reason = error
                self.stop()
                self.start()
                reference = self.call(name, arguments)
            except RayTaskError as error:
                raise error.cause from error
        raise RuntimeError(f"the actor was lost {MAX_LOSSES} times in a row during `{name}`: {reason}")

    def executed(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Records an operation, which changed the plays."""
        self._operations.append((name, arguments))

    def saved(self, state: bytes) -> None:
        """Records the current state."""
        self._state, self._operations = state, []

    def stop(self) -> None:
        """Ends the actor."""
        if ray.is_initialized():
            ray.kill(self._actor)
