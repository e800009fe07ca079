"""Environments for Gymnasium: one play, or many plays at once.

The observation is the settled frame: 64 x 64 cells with colours 0 to 15. The reward is 1 for each
level that an action completes. An episode terminates when the game is won or a level is lost. With
``on_loss="continue"`` the episode continues after a lost level. As in the official rules, only
RESET then has an effect. RESET restarts the level and never the whole game, so no reward is earned
twice.

There are two action spaces:

* ``actions="multi"``: ``MultiDiscrete([8, 64, 64])``: the official number of the action (0 is
  RESET), the column and the row. Only ACTION6 uses column and row.
* ``actions="flat"``: ``Discrete(4104)``: 0 to 7 are the official numbers, except that 6 is not
  used, and ``8 + 64 * y + x`` is a click.

``info["action_mask"]`` marks the actions that are offered in the current state, and RESET if it
would restart the level. It has one entry for each official number, or one for each action of the
flat space.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rhae import _native
from rhae.pictures import rgb

__all__ = ["Environment", "VectorEnvironment", "make", "make_vec"]

Actions = Literal["multi", "flat"]
OnLoss = Literal["end", "continue"]
Frame = NDArray[np.uint8]

#: The first click in the flat space. Clicks are numbered row by row.
FIRST_CLICK = 8
CLICK = 6
CELLS = 64 * 64


def _observation_space() -> spaces.Box[np.uint8]:
    return spaces.Box(0, 15, (64, 64), np.uint8)


def _action_space(actions: str) -> spaces.Space[Any]:
    if actions == "multi":
        return spaces.MultiDiscrete([8, 64, 64])
    if actions == "flat":
        return spaces.Discrete(FIRST_CLICK + CELLS)
    raise ValueError(f'actions must be "multi" or "flat", found {actions!r}')


def _continues_after_loss(on_loss: str) -> bool:
    if on_loss not in ("end", "continue"):
        raise ValueError(f'on_loss must be "end" or "continue", found {on_loss!r}')
    return on_loss == "continue"


def _check_max_actions(max_actions: int | None) -> None:
    if max_actions is not None and max_actions < 1:
        raise ValueError(f"max_actions must be at least 1, found {max_actions}")


def _check_options(options: dict[str, Any] | None, known: str = "") -> None:
    for name in options or ():
        if name != known:
            expected = f"`{known}` is the only option" if known else "it takes no options"
            raise ValueError(f"unknown option `{name}` of reset(): {expected}")


def _flat_mask(mask: NDArray[Any]) -> NDArray[np.int8]:
    """Expands a mask over official numbers to the flat space: the last axis grows to 4,104."""
    flat = np.zeros((*mask.shape[:-1], FIRST_CLICK + CELLS), np.int8)
    flat[..., :FIRST_CLICK] = mask
    flat[..., CLICK] = 0
    flat[..., FIRST_CLICK:] = mask[..., CLICK, None]
    return flat


class Environment(gymnasium.Env[Frame, Any]):
    """One play of an environment, as a ``gymnasium.Env``. :func:`make` creates it.

    :meth:`reset` and :meth:`step` return ``info`` with these keys:

    ==================== ====================================================================
    ``state``            the play state: ``NOT_FINISHED``, ``WIN`` or ``GAME_OVER``
    ``level``            the current level, counted from 1
    ``levels_completed`` the number of completed levels
    ``win_levels``       the number of levels of the environment
    ``actions``          the actions counted in this episode
    ``changed``          whether the action changed the state
    ``action_mask``      the actions that are meaningful now
    ``frames``           all frames of the action: the animation, then the observation
    ==================== ====================================================================
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (declared like this by Gymnasium)

    def __init__(
        self,
        id: str,
        seed: int = 0,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode must be None or "rgb_array", found {render_mode!r}')
        self.observation_space = _observation_space()
        self.action_space = _action_space(actions)
        self.render_mode = render_mode
        self._flat = actions == "flat"
        self._continues_after_loss = _continues_after_loss(on_loss)
        self._level = level
        _check_max_actions(max_actions)
        self._max_actions = max_actions
        self._seed = seed
        self._play = self._open(id)
        self._frame: Frame = self._play.observe().frames[-1]
        self._over = False

    @property
    def id(self) -> str:
        """The id of the environment with its version, such as ``"kq19-v1"``."""
        return self._play.id

    def _open(self, id: str) -> _native.Play:
        return _native.Play(id, self._seed, 1 if self._level is None else self._level, True)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, dict[str, Any]]:
        """Starts a new episode and returns its first observation.

        Later calls without a seed use the last given one. There are no ``options``.

        Raises:
            ValueError: ``options`` contains anything.

        Examples:
            >>> import rhae
            >>> env = rhae.make("kq19")
            >>> frame, info = env.reset(seed=7)
            >>> frame.shape, frame.dtype.name
            ((64, 64), 'uint8')
            >>> info["level"], info["levels_completed"], info["win_levels"]
            (1, 0, 8)
        """
        _check_options(options)
        super().reset(seed=seed)
        if seed is not None:
            self._seed = seed
        self._play = self._open(self._play.id)
        self._over = False
        result = self._play.observe()
        self._frame = result.frames[-1]
        return self._frame, self._info(result)

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        """Executes an action.

        Returns the observation, the reward, whether the episode terminated, whether it was
        truncated by ``max_actions``, and ``info``.

        Raises:
            ValueError: The action is not in the action space.
            RuntimeError: The episode is over.

        Examples:
            Level 1 of bx20 takes eight clicks. The last one is rewarded:

            >>> import rhae
            >>> env = rhae.make("bx20", level=1)
            >>> _ = env.reset()
            >>> for x, y in [(23, 3)] * 4 + [(61, 23)] * 4:
            ...     frame, reward, terminated, truncated, info = env.step((6, x, y))
            >>> reward, terminated, info["actions"]
            (1.0, True, 8)
        """
        if self._over:
            raise RuntimeError("the episode is over: call reset()")
        before = self._play.levels_completed
        if self._flat:
            result = self._play.act_flat(int(action))
        else:
            number, x, y = (int(part) for part in action)
            result = self._play.act(number, x, y)
        self._frame = result.frames[-1]
        state, completed = result.state, result.levels_completed
        won = state == "WIN" or (self._level is not None and completed >= self._level)
        terminated = won or (state == "GAME_OVER" and not self._continues_after_loss)
        truncated = not terminated and self._max_actions is not None and self._play.action_count >= self._max_actions
        self._over = terminated or truncated
        return self._frame, float(max(0, completed - before)), terminated, truncated, self._info(result)

    def render(self) -> NDArray[np.uint8] | None:
        """Returns the observation in colour, 512 x 512 pixels.

        Returns ``None`` unless ``render_mode`` is ``"rgb_array"``.
        """
        return rgb(self._frame, zoom=8) if self.render_mode == "rgb_array" else None

    def snapshot(self) -> _native.Play:
        """Returns the current state of the play, for :meth:`restore`.

        Examples:
            >>> import numpy as np
            >>> import rhae
            >>> env = rhae.make("kq19")
            >>> start, _ = env.reset()
            >>> snapshot = env.snapshot()
            >>> _ = env.step((4, 0, 0))
            >>> np.array_equal(env.restore(snapshot), start)
            True
        """
        return self._play.fork()

    def restore(self, snapshot: _native.Play) -> Frame:
        """Returns to the state of a snapshot and returns its observation.

        A snapshot can be restored any number of times, also in another ``Environment`` with the
        same id. If the current episode is over, play continues from the state of the snapshot.

        Raises:
            ValueError: The snapshot is of an environment with another id.

        Examples:
            Try every key from the same state:

            >>> import rhae
            >>> env = rhae.make("kq19")
            >>> _ = env.reset()
            >>> snapshot = env.snapshot()
            >>> changed = []
            >>> for key in (1, 2, 3, 4):
            ...     _ = env.restore(snapshot)
            ...     changed.append(env.step((key, 0, 0))[4]["changed"])
            >>> changed
            [True, True, True, True]
        """
        if snapshot.id != self._play.id:
            raise ValueError(f"the snapshot is of `{snapshot.id}`, this environment is `{self._play.id}`")
        self._play = snapshot.fork()
        self._over = False
        self._frame = self._play.observe().frames[-1]
        return self._frame

    def _info(self, result: _native.StepResult) -> dict[str, Any]:
        mask = np.zeros(8, np.int8)
        if result.state == "NOT_FINISHED":
            mask[result.available_actions] = 1
        mask[0] = not self._play.reset_restarts_game
        return {
            "state": result.state,
            "level": self._play.level,
            "levels_completed": result.levels_completed,
            "win_levels": result.win_levels,
            "actions": self._play.action_count,
            "changed": result.changed,
            "frames": result.frames,
            "action_mask": _flat_mask(mask) if self._flat else mask,
        }


class VectorEnvironment(VectorEnv[Frame, Any, Any]):
    """Many plays of one environment, as a ``gymnasium.vector.VectorEnv``.

    :func:`make_vec` creates it. The plays are stepped by Rust threads, while the interpreter lock
    is released. Observations, rewards and the entries of ``info`` are arrays that the next call
    overwrites, so copy those that you want to keep. If the episode of a play is over, the next step
    ignores the action for that play and starts a new episode (Gymnasium's ``NEXT_STEP`` mode).

    ``info`` has the keys ``level``, ``levels_completed``, ``actions``, ``changed`` and
    ``action_mask`` of :class:`Environment`, with one entry per play. Only settled frames are drawn.

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
        id: str,
        num_envs: int,
        seeds: int | Sequence[int] | None = None,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        threads: int | None = None,
    ) -> None:
        _check_max_actions(max_actions)
        threads = os.cpu_count() or 1 if threads is None else threads
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = _observation_space()
        self.single_action_space = _action_space(actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._flat = actions == "flat"
        self._plays = _native.Vector(id, num_envs, threads, level, max_actions, _continues_after_loss(on_loss))
        self._plays.reset(self._seeds(seeds), None)

    @property
    def id(self) -> str:
        """The id of the environment with its version, such as ``"kq19-v1"``."""
        return self._plays.id

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        """Starts new episodes of all plays, or of those that ``options["reset_mask"]`` marks.

        A single number as ``seed`` gives play i the seed ``seed + i``.

        Raises:
            ValueError: ``options`` contains anything but ``reset_mask``.

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
        _check_options(options, "reset_mask")
        super().reset(seed=None if seed is None or isinstance(seed, int) else seed[0])
        chosen = None if options is None else options.get("reset_mask")
        self._plays.reset(self._seeds(seed), None if chosen is None else np.ascontiguousarray(chosen, bool))
        return self._plays.frames, self._info()

    def step(self, actions: Any) -> tuple[Frame, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Executes one action per play.

        Args:
            actions: An array with shape (n, 3), or with shape (n,) for flat actions. The shape
                determines how the array is read, so both forms work with either action space.

        Raises:
            ValueError: The array has another shape, or an action is not in the action space. In
                this case no play has changed.
        """
        plays = self._plays
        plays.step(np.asarray(actions, np.int64))
        return plays.frames, plays.rewards, plays.terminated, plays.truncated, self._info()

    def snapshot(self) -> _native.Snapshot:
        """Returns the current states of all plays, for :meth:`restore`."""
        return self._plays.snapshot()

    def restore(self, snapshot: _native.Snapshot, plays: Sequence[int] | None = None) -> Frame:
        """Returns to the states of a snapshot and returns the observations.

        With ``plays``, play i gets the state of play ``plays[i]`` of the snapshot.

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
        return self._plays.frames

    def _seeds(self, seeds: int | Sequence[int] | None) -> list[int] | None:
        if isinstance(seeds, int):
            return [seeds + index for index in range(self.num_envs)]
        return None if seeds is None else [int(seed) for seed in seeds]

    def _info(self) -> dict[str, Any]:
        plays = self._plays
        return {
            "level": plays.level,
            "levels_completed": plays.levels_completed,
            "actions": plays.action_count,
            "changed": plays.changed,
            "action_mask": _flat_mask(plays.action_mask) if self._flat else plays.action_mask,
        }


def make(
    id: str,
    seed: int = 0,
    *,
    level: int | None = None,
    max_actions: int | None = None,
    actions: Actions = "multi",
    on_loss: OnLoss = "end",
    render_mode: str | None = None,
) -> Environment:
    """Creates one play of an environment, for Gymnasium.

    Args:
        id: The id of the environment, such as ``"kq19"`` or ``"kq19-v1"``.
        seed: Selects a variant of the environment. Seed 0 is the canonical one, which is scored.
        level: Play only this level, counted from 1. The episode ends when it is completed.
        max_actions: Truncate an episode after this many actions; no limit if ``None``.
        actions: The action space, ``"multi"`` or ``"flat"``; see :mod:`rhae.gym`.
        on_loss: ``"end"`` terminates the episode when a level is lost. ``"continue"`` lets it
            continue with RESET.
        render_mode: ``"rgb_array"`` enables :meth:`Environment.render`.

    Raises:
        ValueError: There is no such environment or level, or an argument has no such value.

    Examples:
        >>> import rhae
        >>> env = rhae.make("bx20", actions="flat", max_actions=100)
        >>> frame, info = env.reset()
        >>> click = 8 + 64 * 3 + 23  # column 23, row 3
        >>> frame, reward, terminated, truncated, info = env.step(click)
        >>> reward, terminated, truncated, info["actions"]
        (0.0, False, False, 1)
    """
    return Environment(
        id,
        seed,
        level=level,
        max_actions=max_actions,
        actions=actions,
        on_loss=on_loss,
        render_mode=render_mode,
    )


def make_vec(
    id: str,
    n: int,
    seeds: int | Sequence[int] | None = None,
    *,
    level: int | None = None,
    max_actions: int | None = None,
    actions: Actions = "multi",
    on_loss: OnLoss = "end",
    threads: int | None = None,
) -> VectorEnvironment:
    """Creates many plays of one environment, for Gymnasium.

    Args:
        id: The id of the environment, such as ``"kq19"`` or ``"kq19-v1"``.
        n: The number of plays.
        seeds: One seed per play, or a number that gives play i the seed ``seeds + i``. All plays
            have the seed 0 if ``None``.
        level: Play only this level, counted from 1.
        max_actions: Truncate an episode after this many actions; no limit if ``None``.
        actions: The action space, ``"multi"`` or ``"flat"``; see :mod:`rhae.gym`.
        on_loss: ``"end"`` terminates the episode when a level is lost. ``"continue"`` lets it
            continue with RESET.
        threads: The number of Rust threads; one per processor if ``None``. Results do not depend
            on it.

    Raises:
        ValueError: There is no such environment or level, or an argument has no such value.

    Examples:
        Play 64 episodes with random keys:

        >>> import numpy as np
        >>> import rhae
        >>> vec = rhae.make_vec("kq19", 64, seeds=0, max_actions=50)
        >>> frames, info = vec.reset()
        >>> rng = np.random.default_rng(0)
        >>> actions = np.zeros((64, 3), int)
        >>> for _ in range(50):
        ...     actions[:, 0] = rng.integers(1, 5, 64)
        ...     frames, rewards, terminated, truncated, info = vec.step(actions)
        >>> bool((terminated | truncated).any())
        True
    """
    return VectorEnvironment(
        id,
        n,
        seeds,
        level=level,
        max_actions=max_actions,
        actions=actions,
        on_loss=on_loss,
        threads=threads,
    )
