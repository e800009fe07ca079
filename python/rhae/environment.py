"""One play as a ``gymnasium.Env``; see :mod:`rhae.gym`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._spaces import (
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
from rhae.pictures import ansi, png, rgb

__all__ = ["Environment"]


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
    ``frames``           a list of all frames of the action: the animation, then the settled frame
    ==================== ====================================================================
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 10}  # noqa: RUF012 (declared like this by Gymnasium)

    def __init__(
        self,
        id: str,
        seed: int = 0,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        observation: Observation = "frame",
        render_mode: str | None = None,
        games_dir: GamesDir | None = None,
        unsafe_host: bool = False,
    ) -> None:
        if render_mode not in (None, "rgb_array", "ansi"):
            raise ValueError(f'render_mode must be None, "rgb_array" or "ansi", found {render_mode!r}')
        self.action_space = action_space(actions)
        self.render_mode = render_mode
        self._flat = actions == "flat"
        self._continues_after_loss = continues_after_loss(on_loss)
        self._level = level
        check_max_actions(max_actions)
        self._max_actions = max_actions
        self._seed = seed
        self._request = games_request(games_dir, unsafe_host=unsafe_host)
        self._games = _native.GameSet(self._request)
        self._play = self._open(id)
        self._facts = self._play.facts
        self._observation = observation
        self.observation_space = observation_space(observation, self._facts.hosted)
        self._result = self._play.observe()
        self._over = False

    @property
    def id(self) -> str:
        """The id of the environment with its version, such as ``"kq19-v1"``."""
        return self._facts.id

    @property
    def seeded(self) -> bool | None:
        """Whether the levels depend on the seed.

        ``None`` for a hosted game: its source decides whether it uses the seed.
        """
        return self._facts.seeded

    @property
    def baselines(self) -> list[int]:
        """The baseline of each level in actions; empty if the baselines are unknown."""
        return self._facts.baselines

    def _open(self, id: str, saved: bytes | None = None) -> _native.Play:
        return self._games.open(id, self._seed, True, 1 if self._level is None else self._level, saved)

    def _frame(self) -> Frame:
        frame: Frame = self._result.frames[-1]
        return frame

    def _observe(self) -> Frame:
        frame = self._frame()
        return frame if self._observation == "frame" else _native.observation(frame, self._observation)

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
        check_options(options)
        super().reset(seed=seed)
        if seed is not None:
            self._seed = seed
        self._play = self._open(self.id)
        self._over = False
        self._result = self._play.observe()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        """Executes an action.

        Returns the observation, the reward, whether the episode terminated, whether it was
        truncated by ``max_actions``, and ``info``.

        Raises:
            ValueError: The action is not in the action space.
            RuntimeError: The episode is over.

        Examples:
            Level 1 of bx20 takes seven clicks. The last one is rewarded:

            >>> import rhae
            >>> env = rhae.make("bx20", level=1)
            >>> _ = env.reset()
            >>> for x, y in [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2:
            ...     frame, reward, terminated, truncated, info = env.step((6, x, y))
            >>> reward, terminated, info["actions"]
            (1.0, True, 7)
        """
        if self._over:
            raise RuntimeError("the episode is over: call reset()")
        before = self._play.levels_completed
        if self._flat:
            result = self._play.act_flat(int(action))
        else:
            number, x, y = (int(part) for part in action)
            result = self._play.act(number, x, y)
        self._result = result
        state, completed = result.state, result.levels_completed
        won = state == "WIN" or (self._level is not None and completed >= self._level)
        terminated = won or (state == "GAME_OVER" and not self._continues_after_loss)
        truncated = not terminated and self._max_actions is not None and self._play.action_count >= self._max_actions
        self._over = terminated or truncated
        return self._observe(), float(max(0, completed - before)), terminated, truncated, self._info()

    def render(self) -> NDArray[np.uint8] | str | None:
        """Returns the settled frame as a picture.

        With ``render_mode="rgb_array"`` this is an array of 512 x 512 pixels, with ``"ansi"`` a
        text with colour codes for a terminal. Without a render mode it is ``None``.

        Examples:
            >>> import rhae
            >>> env = rhae.make("kq19", render_mode="ansi")
            >>> _ = env.reset()
            >>> len(env.render().splitlines())
            32
        """
        frame = np.minimum(self._frame(), 15)
        if self.render_mode == "rgb_array":
            return rgb(frame, zoom=8)
        return ansi(frame) if self.render_mode == "ansi" else None

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the available actions in the form that sb3-contrib's ``MaskablePPO`` expects.

        With ``actions="flat"`` the mask has 4,104 entries. Otherwise it consists of the masks of the
        action number, the column and the row: 8 + 64 + 64 entries.

        Examples:
            >>> import rhae
            >>> env = rhae.make("kq19")
            >>> _ = env.reset()
            >>> env.action_masks()[:8].tolist()
            [False, True, True, True, True, True, False, True]
        """
        return policy_mask(self._mask(), self._flat)

    def _repr_png_(self) -> bytes:
        """Shows the settled frame in a notebook."""
        return png(np.minimum(self._frame(), 15))

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for a pickle, which includes the play in progress."""
        state = self.__dict__.copy()
        for name in ("_games", "_facts", "_result"):
            del state[name]
        state["_play"] = (self.id, self._play.save())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continues the play of a pickle."""
        self.__dict__.update(state)
        self._games = _native.GameSet(self._request)
        self._play = self._open(*state["_play"])
        self._facts = self._play.facts
        self._result = self._play.observe()

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
        self._seed = snapshot.seed
        self._result = self._play.observe()
        return self._observe()

    def _mask(self) -> NDArray[np.int8]:
        result = self._result
        mask = np.zeros(8, np.int8)
        if result.state == "NOT_FINISHED":
            mask[result.available_actions] = 1
        mask[0] = not self._play.reset_restarts_game
        return mask

    def _info(self) -> dict[str, Any]:
        result, mask = self._result, self._mask()
        return {
            "state": result.state,
            "level": self._play.level,
            "levels_completed": result.levels_completed,
            "win_levels": result.win_levels,
            "actions": self._play.action_count,
            "changed": result.changed,
            "frames": list(result.frames),
            "action_mask": flat_mask(mask) if self._flat else mask,
        }
