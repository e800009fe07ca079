"""Many plays as a ``gymnasium.vector.VectorEnv``; see :mod:`rhae.gym`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._spaces import (
    CELLS,
    FIRST_CLICK,
    Actions,
    Frame,
    Observation,
    OnLoss,
    action_space,
    check_max_actions,
    check_options,
    continues_after_loss,
    flat_mask,
    observation_space,
    policy_mask,
)

__all__ = ["VectorEnvironment"]

_Step = tuple[Frame, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class VectorEnvironment(VectorEnv[Frame, Any, Any]):
    """Many plays of one or several environments, as a ``gymnasium.vector.VectorEnv``.

    :func:`rhae.make_vec` creates it. The plays are stepped by Rust threads, while the interpreter
    lock is released. Observations, rewards and the entries of ``info`` are arrays that the next
    call overwrites, so copy those that you want to keep. Do not write to them: the observation of a
    play whose state has not changed is not written again.

    ``metadata["autoreset_mode"]`` says what happens after the end of an episode:

    ============= ==============================================================================
    ``NEXT_STEP`` the next step ignores the action for that play and starts a new episode
    ``SAME_STEP`` the same step starts a new episode and returns its first observation. The last
                  observation is in ``info["final_obs"]`` and the last info in
                  ``info["final_info"]``, in the form of Gymnasium's own vector environments
    ``DISABLED``  the play must be restarted with ``reset(options={"reset_mask": mask})``
    ============= ==============================================================================

    ``info`` has the keys ``level``, ``levels_completed``, ``actions``, ``changed`` and
    ``action_mask`` of :class:`rhae.gym.Environment`, with one entry per play. Only settled frames
    are drawn.

    A pickle contains the plays in progress, so that it is a checkpoint: the unpickled environment
    continues them. Its current observations are those of :meth:`observe`.

    Examples:
        >>> import numpy as np
        >>> import rhae
        >>> vec = rhae.make_vec("kq19", 4, threads=2)
        >>> frames, info = vec.reset()
        >>> actions = np.array([(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)])
        >>> frames, rewards, terminated, truncated, info = vec.step(actions)
        >>> frames.shape, rewards.shape, info["action_mask"].shape
        ((4, 64, 64), (4,), (4, 8))
    """

    def __init__(
        self,
        id: str | Sequence[str],
        num_envs: int,
        seeds: int | Sequence[int] | None = None,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        observation: Observation = "frame",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        games_dir: GamesDir | None = None,
        unsafe_host: bool = False,
    ) -> None:
        check_max_actions(max_actions)
        names = [id] if isinstance(id, str) else list(id)
        continues = continues_after_loss(on_loss)
        self._autoreset = _autoreset_mode(autoreset_mode)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": self._autoreset}
        self.single_action_space = action_space(actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._flat = actions == "flat"
        games = _native.GameSet(games_request(games_dir, unsafe_host=unsafe_host))
        threads = os.cpu_count() or 1 if threads is None else threads
        plays = _native.Vector(games, names, num_envs, threads, level, max_actions, continues, observation)
        self._plays = plays
        hosted = any(facts.hosted for facts, _, _ in plays.blocks)
        self.single_observation_space = observation_space(observation, hosted)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._flat_mask = np.zeros((num_envs, FIRST_CLICK + CELLS), np.int8) if self._flat else None
        #: The results of the last step, which a reset within the step does not overwrite.
        self._rewards = np.zeros(num_envs)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)
        self._seeds = [0] * num_envs if seeds is None else seed_list(seeds, num_envs)
        self._arguments: dict[str, Any] = {
            "id": id,
            "num_envs": num_envs,
            "level": level,
            "max_actions": max_actions,
            "actions": actions,
            "on_loss": on_loss,
            "observation": observation,
            "autoreset_mode": self._autoreset,
            "threads": threads,
            "games_dir": games_dir,
            "unsafe_host": unsafe_host,
        }
        plays.reset(self._seeds, None)

    @property
    def id(self) -> str:
        """The id of the environment with its version, such as ``"kq19-v1"``.

        The ids of several environments are separated by commas.
        """
        return ",".join(facts.id for facts, _, _ in self._plays.blocks)

    @property
    def ids(self) -> list[str]:
        """The id of the environment of each play."""
        return self._for_each_play(lambda facts: facts.id)

    @property
    def seeded(self) -> list[bool | None]:
        """Whether the levels of each play depend on its seed; see :attr:`Environment.seeded`."""
        return self._for_each_play(lambda facts: facts.seeded)

    @property
    def baselines(self) -> list[list[int]]:
        """The baselines of the environment of each play; see :attr:`Environment.baselines`."""
        return self._for_each_play(lambda facts: facts.baselines)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which episodes ended in the last step."""
        return self._terminated | self._truncated

    def _for_each_play(self, read: Any) -> list[Any]:
        return [read(facts) for facts, start, stop in self._plays.blocks for _ in range(start, stop)]

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        """Starts new episodes of all plays, or of those that ``options["reset_mask"]`` marks.

        A single number as ``seed`` gives play i the seed ``seed + i``.

        Raises:
            ValueError: ``options`` contains anything but ``reset_mask``.
            RuntimeError: A hosted game failed.

        Examples:
            Restart the first of two plays:

            >>> import numpy as np
            >>> import rhae
            >>> vec = rhae.make_vec("kq19", 2)
            >>> _ = vec.reset()
            >>> _ = vec.step(np.ones((2, 3), int))
            >>> _, info = vec.reset(options={"reset_mask": np.array([True, False])})
            >>> info["actions"].tolist()
            [0, 1]
        """
        check_options(options, "reset_mask")
        seeds = None if seed is None else seed_list(seed, self.num_envs)
        super().reset(seed=None if seeds is None else seeds[0])
        chosen = None if options is None else options.get("reset_mask")
        chosen = None if chosen is None else np.ascontiguousarray(chosen, np.bool_)
        self._plays.reset(seeds, chosen)
        self._seeds = self._seeds if seeds is None else seeds
        for ended in (self._terminated, self._truncated):
            ended[... if chosen is None else chosen] = False
        return self._plays.observations, self._info()

    def step(self, actions: Any) -> _Step:
        """Executes one action per play.

        Args:
            actions: An array with shape (n, 3), or with shape (n,) for flat actions. The shape
                determines how the array is read, so both forms work with either action space.

        Raises:
            ValueError: The array has another shape, or an action is not in the action space. In
                this case no play has changed.
            RuntimeError: A hosted game failed; or the episode of a play is over and the autoreset
                mode is ``DISABLED``.

        Examples:
            With ``SAME_STEP``, the observation already belongs to the next episode:

            >>> import numpy as np
            >>> import rhae
            >>> vec = rhae.make_vec("kq19", 2, max_actions=1, autoreset_mode="SameStep")
            >>> first = vec.reset()[0].copy()
            >>> frames, _, _, truncated, info = vec.step(np.full((2, 3), 4))
            >>> truncated.tolist(), np.array_equal(frames, first), info["actions"].tolist()
            ([True, True], True, [0, 0])
            >>> info["final_obs"][0].shape, info["final_info"]["actions"].tolist()
            ((64, 64), [1, 1])
        """
        plays = self._plays
        if self._autoreset is AutoresetMode.DISABLED:
            check_running(self.over)
        plays.step(np.asarray(actions, np.int64))
        self._rewards[:] = plays.rewards
        self._terminated[:] = plays.terminated
        self._truncated[:] = plays.truncated
        final: dict[str, Any] = {}
        if self._autoreset is AutoresetMode.SAME_STEP:
            ended = self.over
            if ended.any():
                final = self._final(ended)
                plays.reset(None, ended)
        return plays.observations, self._rewards, self._terminated, self._truncated, self._info() | final

    def observe(self) -> tuple[Frame, dict[str, Any]]:
        """Returns the current observations and info without executing an action.

        Examples:
            Continue from a checkpoint:

            >>> import pickle
            >>> import numpy as np
            >>> import rhae
            >>> vec = rhae.make_vec("kq19", 2)
            >>> _ = vec.reset()
            >>> frames, *_ = vec.step(np.full((2, 3), 4))
            >>> continued = pickle.loads(pickle.dumps(vec))
            >>> np.array_equal(continued.observe()[0], frames)
            True
        """
        return self._plays.observations, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the mask of :meth:`Environment.action_masks` for each play."""
        return policy_mask(self._plays.action_mask, self._flat)

    def snapshot(self) -> _native.Snapshot:
        """Returns the current states of all plays, for :meth:`restore`.

        Raises:
            RuntimeError: A play of a hosted game cannot be copied.
        """
        return self._plays.snapshot()

    def restore(self, snapshot: _native.Snapshot, plays: Sequence[int] | None = None) -> Frame:
        """Returns to the states of a snapshot and returns the observations.

        With ``plays``, play i gets the state of play ``plays[i]`` of the snapshot, which must be of
        the same environment.

        Examples:
            Put all plays into the state of play 2, for example to search from it:

            >>> import numpy as np
            >>> import rhae
            >>> vec = rhae.make_vec("kq19", 3)
            >>> _ = vec.reset()
            >>> _ = vec.step(np.array([(1, 0, 0), (2, 0, 0), (4, 0, 0)]))
            >>> frames = vec.restore(vec.snapshot(), [2, 2, 2])
            >>> bool((frames == frames[2]).all())
            True
        """
        self._plays.restore(snapshot, None if plays is None else list(plays))
        self._read_endings()
        return self._plays.observations

    def _read_endings(self) -> None:
        """Takes over from restored plays which episodes are over."""
        self._terminated[:] = self._plays.terminated
        self._truncated[:] = self._plays.truncated

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns what a pickle contains.

        Raises:
            RuntimeError: A play of a hosted game cannot be saved.
        """
        return _unpickle, (self._arguments, self._seeds, self._plays.save())

    def _info(self) -> dict[str, Any]:
        plays = self._plays
        mask = plays.action_mask
        return {
            "level": plays.level,
            "levels_completed": plays.levels_completed,
            "actions": plays.action_count,
            "changed": plays.changed,
            "action_mask": mask if self._flat_mask is None else flat_mask(mask, self._flat_mask),
        }

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Copies the last observation and info of the episodes that have ended."""
        observations = np.full(self.num_envs, None, object)
        for play in np.flatnonzero(ended):
            observations[play] = self._plays.observations[play].copy()
        infos: dict[str, Any] = {}
        for name, values in self._info().items():
            infos[name] = np.zeros_like(values)
            infos[name][ended] = values[ended]
            infos[f"_{name}"] = ended.copy()
        return {"final_obs": observations, "_final_obs": ended, "final_info": infos, "_final_info": ended}


def seed_list(seeds: int | Sequence[int], count: int) -> list[int]:
    """Returns the seed of each play. A single number gives play i the seed ``seeds + i``."""
    if isinstance(seeds, int | np.integer):
        return [int(seeds) + index for index in range(count)]
    if len(seeds) != count:
        raise ValueError(f"expected {count} seeds, one for each play, found {len(seeds)}")
    return [int(seed) for seed in seeds]


def check_running(over: NDArray[np.bool_]) -> None:
    """Raises an error if the episode of a play is over."""
    if over.any():
        restart = "restart it with reset(options={'reset_mask': mask})"
        raise RuntimeError(f"the episode of play {over.argmax()} is over: {restart}")


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.name, known.value):
            return known
    raise ValueError(f"autoreset_mode must be one of {', '.join(mode.name for mode in AutoresetMode)}, found {mode!r}")


def _unpickle(arguments: dict[str, Any], seeds: list[int], plays: bytes) -> VectorEnvironment:
    environment = VectorEnvironment(seeds=seeds, **arguments)
    environment._plays.load(plays)
    environment._read_endings()
    return environment
