"""The environments for Gymnasium, single and vectorised."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

import rhae
from rhae.gym import FIRST_CLICK, Actions, Observation

GAMES = ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("actions", ["multi", "flat"])
def test_environment_passes_the_gymnasium_checker(game: str, actions: Actions) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = gymnasium.make(f"rhae/{game}-v1", actions=actions, render_mode="rgb_array")
        check_env(environment.unwrapped)


@pytest.mark.parametrize("observation", ["onehot", "packed", "rgb"])
def test_observations_pass_the_gymnasium_checker_and_contain_the_frame(observation: Observation) -> None:
    environment = gymnasium.make("rhae/kq19-v1", observation=observation)
    check_env(environment.unwrapped)
    encoded, info = environment.reset()
    vector = rhae.make_vec("kq19", 3, observation=observation)
    encoded_many, _ = vector.reset()
    assert np.array_equal(encoded_many[2], encoded)
    assert vector.observation_space.contains(encoded_many)
    frame = info["frames"][-1]
    if observation == "onehot":
        decoded = encoded.argmax(axis=0)
    elif observation == "packed":
        decoded = np.stack([encoded & 15, encoded >> 4], axis=-1).reshape(64, 64)
    else:
        decoded = (encoded[:, :, None] == rhae.PALETTE).all(axis=-1).argmax(axis=-1)
    assert np.array_equal(decoded, frame)
    if observation == "onehot":
        assert (encoded.sum(axis=0) == 1).all()


def test_arrays_are_shared_without_copies() -> None:
    vector = rhae.make_vec("kq19", 4)
    frames, _ = vector.reset()
    shared = np.from_dlpack(frames)
    assert np.shares_memory(shared, frames)
    before = shared.copy()
    vector.step(np.full((4, 3), 4))
    assert not np.array_equal(shared, before), "the array of DLPack shows the new frames"


@pytest.mark.parametrize("imports", ["gymnasium, rhae", "rhae, gymnasium", "gymnasium", "gymnasium, rhae.gym"])
def test_environments_are_registered_in_either_order_of_imports(imports: str) -> None:
    name = "rhae/kq19-v1" if "rhae" in imports else "rhae:rhae/kq19-v1"
    code = f"""
import {imports}
environment = gymnasium.make({name!r}, max_actions=3)
environment.reset()
print(environment.spec.id, gymnasium.make_vec({name!r}, 5, max_actions=3).num_envs)
"""
    done = subprocess.run([sys.executable, "-P", "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["rhae/kq19-v1", "5"]
    assert done.stderr == ""


def test_sampling_with_the_mask_returns_only_offered_actions() -> None:
    environment = rhae.make("bx20", actions="flat")
    _, info = environment.reset(seed=3)
    environment.action_space.seed(3)
    for _ in range(50):
        action = environment.action_space.sample(mask=info["action_mask"])
        assert action in (0, 7) or action >= FIRST_CLICK
        _, _, _, _, info = environment.step(action)
    assert info["action_mask"].sum() == 4096 + 2, "every cell, undo and, after an action, RESET"


@pytest.mark.parametrize("game", GAMES)
def test_vector_equals_single_environment(game: str) -> None:
    rng = np.random.default_rng(5)
    one = rhae.make(game, max_actions=50)
    many = rhae.make_vec(game, 5, max_actions=50, threads=2)
    frame, _ = one.reset()
    frames, _ = many.reset()
    over = False
    for _ in range(300):
        actions = np.stack([rng.integers(0, 8, 5), rng.integers(0, 64, 5), rng.integers(0, 64, 5)], axis=1)
        frames, rewards, terminated, truncated, infos = many.step(actions)
        if over:
            frame, info = one.reset()
            single = (0.0, False, False)
        else:
            frame, reward, ended, cut, info = one.step(actions[2])
            single = (reward, ended, cut)
        over = single[1] or single[2]
        assert np.array_equal(frame, frames[2])
        assert single == (rewards[2], terminated[2], truncated[2])
        assert (info["level"], info["levels_completed"], info["actions"]) == (
            infos["level"][2],
            infos["levels_completed"][2],
            infos["actions"][2],
        )
        assert np.array_equal(info["action_mask"], infos["action_mask"][2])


def test_vector_overwrites_its_arrays() -> None:
    vector = rhae.make_vec("kq19", 8)
    first, _ = vector.reset()
    again, rewards, *_ = vector.step(np.ones((8, 3), np.int64))
    later, more, *_ = vector.step(np.ones((8, 3), np.int64))
    assert first is again is later
    assert rewards is more


def test_restore_returns_to_the_snapshot() -> None:
    rng = np.random.default_rng(1)
    vector = rhae.make_vec("ny40", 4, on_loss="continue")
    vector.reset()
    actions = [np.stack([rng.integers(1, 6, 4), np.zeros(4, int), np.zeros(4, int)], axis=1) for _ in range(20)]
    for action in actions[:10]:
        vector.step(action)
    snapshot = vector.snapshot()
    after = [vector.step(action)[0].copy() for action in actions[10:]]
    vector.restore(snapshot)
    assert all(np.array_equal(vector.step(action)[0], frames) for action, frames in zip(actions[10:], after, strict=True))
    frames = vector.restore(snapshot, [3, 3, 3, 3])
    assert all(np.array_equal(frame, frames[3]) for frame in frames)

    environment = rhae.make("ny40", on_loss="continue")
    environment.reset()
    saved = environment.snapshot()
    first = environment.step((1, 0, 0))[0].copy()
    environment.restore(saved)
    assert np.array_equal(environment.step((1, 0, 0))[0], first)
    with pytest.raises(ValueError, match="the snapshot is of `ny40-v1`"):
        rhae.make("kq19").restore(saved)


def test_invalid_arguments_raise_value_error() -> None:
    with pytest.raises(ValueError, match="the nearest is `kq19-v1`"):
        rhae.make("kq91")
    for level in (0, 9):
        with pytest.raises(ValueError, match=f"found {level}"):
            rhae.make("kq19", level=level)
    for make in (lambda: rhae.make("kq19", max_actions=-1), lambda: rhae.make_vec("kq19", 2, max_actions=0)):
        with pytest.raises(ValueError, match="max_actions must be at least 1, found"):
            make()
    with pytest.raises(ValueError, match="unknown option `level` of reset\\(\\): it takes no options"):
        rhae.make("kq19").reset(options={"level": 2})
    with pytest.raises(ValueError, match="unknown option `mask` of reset\\(\\): `reset_mask` is the only option"):
        rhae.make_vec("kq19", 2).reset(options={"mask": np.ones(2, bool)})
    with pytest.raises(ValueError, match=r'actions must be "multi" or "flat"'):
        rhae.make("kq19", actions="keys")  # type: ignore[arg-type]
    environment = rhae.make("kq19")
    with pytest.raises(ValueError, match="a number from 0 \\(RESET\\) to 7, found 8"):
        environment.step((8, 0, 0))
    with pytest.raises(ValueError, match="x must be a cell from 0 to 63, found 64"):
        environment.step((6, 64, 0))
    vector = rhae.make_vec("kq19", 3)
    with pytest.raises(ValueError, match="expected 3 actions, one for each play, found 2"):
        vector.step(np.ones((2, 3), np.int64))
    with pytest.raises(ValueError, match=r"shape \(n, 3\) or \(n,\)"):
        vector.step(np.ones((3, 2), np.int64))
    with pytest.raises(ValueError, match="must name its cell"):
        vector.step(np.full(3, 6))
    with pytest.raises(ValueError, match="must not be 0"):
        rhae.make_vec("kq19", 0)
    with pytest.raises(ValueError, match="2 plays cannot be divided among 3 environments"):
        rhae.make_vec(["kq19", "ny40", "bx20"], 2)
    with pytest.raises(ValueError, match='observation must be "frame", "onehot", "packed" or "rgb", found `grey`'):
        rhae.make("kq19", observation="grey")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="autoreset_mode must be one of NEXT_STEP, SAME_STEP, DISABLED, found 'never'"):
        rhae.make_vec("kq19", 2, autoreset_mode="never")
    with pytest.raises(ValueError, match="games of your own need `games_dir`"):
        rhae.make("zz99")


def test_single_level_is_an_episode() -> None:
    environment = rhae.make("bx20", level=1)
    environment.reset()
    clicks = [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2
    steps = [environment.step((6, x, y)) for x, y in clicks]
    assert [step[1] for step in steps] == [0.0] * 6 + [1.0]
    assert steps[-1][2]
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        environment.step((6, 0, 0))


def test_frames_are_rendered_as_pictures() -> None:
    environment = rhae.make("kq19", render_mode="rgb_array")
    frame, info = environment.reset()
    picture = environment.render()
    assert isinstance(picture, np.ndarray) and picture.shape == (512, 512, 3)
    assert np.array_equal(rhae.rgb(frame)[0, 0], rhae.PALETTE[frame[0, 0]])
    assert rhae.png(info["frames"]).startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="from 0 to 15"):
        rhae.png(frame + 100)
