"""Vector environments as training libraries use them: autoreset, several games, pickles, wrappers."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rhae
from rhae.wrappers import EfficiencyReward, MaskedObservation, VectorEfficiencyReward, VectorFrameStack

HOSTED = Path(__file__).parents[1] / "examples" / "games"
MODES = list(AutoresetMode)


def random_actions(rng: np.random.Generator, n: int) -> Any:
    return np.stack([rng.integers(0, 8, n), rng.integers(0, 64, n), rng.integers(0, 64, n)], axis=1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("game", ["kq19", "pz19"])
def test_autoreset_equals_that_of_gymnasium(game: str, mode: AutoresetMode) -> None:
    arguments: dict[str, Any] = {"max_actions": 7, "on_loss": "end"}
    ours: Any = gymnasium.make_vec(f"rhae/{game}-v1", 6, autoreset_mode=mode, **arguments)
    assert ours.metadata["autoreset_mode"] is mode
    theirs: Any = SyncVectorEnv([lambda: rhae.make(game, **arguments)] * 6, autoreset_mode=mode)
    rng = np.random.default_rng(3)
    seeds = [0, 1, 2, 3, 4, 5]
    first = [vector.reset(seed=seeds)[0] for vector in (ours, theirs)]
    assert np.array_equal(*first)
    for _ in range(40):
        actions = random_actions(rng, 6)
        mine, expected = ours.step(actions), theirs.step(actions)
        for one, other in zip(mine[:4], expected[:4], strict=True):
            assert np.array_equal(one, other)
        for name in ("level", "levels_completed", "actions", "action_mask"):
            assert np.array_equal(mine[4][name], expected[4][name]), name
        ended = mine[2] | mine[3]
        assert ("final_obs" in mine[4]) == (mode is AutoresetMode.SAME_STEP and ended.any()) == ("final_obs" in expected[4])
        if "final_obs" in mine[4]:
            assert np.array_equal(mine[4]["_final_obs"], expected[4]["_final_obs"])
            for one, other in zip(mine[4]["final_obs"], expected[4]["final_obs"], strict=True):
                assert np.array_equal(one, other)
            for name, values in mine[4]["final_info"].items():
                assert np.array_equal(values, expected[4]["final_info"][name]), name
        if mode is AutoresetMode.DISABLED and ended.any():
            with pytest.raises(RuntimeError, match=f"the episode of play {np.flatnonzero(ended)[0]} is over"):
                ours.step(actions)
            again = [vector.reset(options={"reset_mask": ended.copy()})[0] for vector in (ours, theirs)]
            assert np.array_equal(*again)


def test_several_games_in_one_vector_play_as_alone() -> None:
    names = ["kq19", "bx20", "pz19"]
    together = rhae.make_vec(names, 7, seeds=5, max_actions=20, threads=2)
    assert together.ids == ["kq19-v1"] * 3 + ["bx20-v1"] * 2 + ["pz19-v1"] * 2
    assert together.id == "kq19-v1,bx20-v1,pz19-v1"
    alone = [rhae.make(name, seed=5 + play, max_actions=20) for name, play in (("kq19", 0), ("bx20", 3), ("pz19", 6))]
    frames, _ = together.reset()
    for environment, play in zip(alone, (0, 3, 6), strict=True):
        assert np.array_equal(environment.reset()[0], frames[play])
    rng = np.random.default_rng(2)
    for _ in range(19):
        actions = random_actions(rng, 7)
        frames, rewards, *_ = together.step(actions)
        for environment, play in zip(alone, (0, 3, 6), strict=True):
            frame, reward, *_ = environment.step(actions[play])
            assert np.array_equal(frame, frames[play]) and reward == rewards[play]
    with pytest.raises(ValueError, match="play 0 is of `kq19-v1`, so it cannot take the state of play 3"):
        together.restore(together.snapshot(), [3] * 7)


def test_seeds_change_levels_where_the_environment_says_so() -> None:
    for name in ("kq19", "pz19"):
        environment = rhae.make(name)
        first, second = (environment.reset(seed=seed)[0] for seed in (0, 1))
        assert np.array_equal(first, second) == (not environment.seeded)
    assert rhae.make_vec(["kq19", "pz19"], 2).seeded == [False, True]


def test_hosted_game_plays_in_single_and_vector_environments() -> None:
    single = rhae.make("rv52", games_dir=HOSTED, max_actions=12)
    assert single.seeded is None and single.baselines == [5, 10, 12, 16, 19, 25]
    check_env(single, skip_render_check=True)
    vector = rhae.make_vec(["kq19", "rv52"], 4, games_dir=HOSTED, max_actions=12, threads=2)
    frames, info = vector.reset()
    frame, alone = single.reset()
    assert np.array_equal(frames[3], frame)
    rng = np.random.default_rng(1)
    over = False
    saved, then = None, None
    for step in range(30):
        actions = random_actions(rng, 4)
        frames, rewards, terminated, truncated, info = vector.step(actions)
        if over:
            frame, alone = single.reset()
            outcome = (0.0, False, False)
        else:
            frame, reward, ended, cut, alone = single.step(actions[3])
            outcome = (reward, ended, cut)
        over = outcome[1] or outcome[2]
        assert np.array_equal(frames[3], frame)
        assert outcome == (rewards[3], terminated[3], truncated[3])
        assert (alone["level"], alone["actions"]) == (info["level"][3], info["actions"][3])
        assert np.array_equal(alone["action_mask"], info["action_mask"][3])
        if step == 15:
            saved, then = vector.snapshot(), frames.copy()
    assert saved is not None and then is not None
    assert np.array_equal(vector.restore(saved), then)
    with pytest.raises(ValueError, match="`rv52-v1` is a hosted game, whose plays start at level 1, found level 2"):
        rhae.make("rv52", games_dir=HOSTED, level=2)


@pytest.mark.parametrize(
    "arguments", [{"id": "ny40", "level": 2}, {"id": "pz19", "seed": 3}, {"id": "rv52", "games_dir": HOSTED}]
)
def test_pickled_environment_continues_the_play(arguments: dict[str, Any]) -> None:
    environment = rhae.make(actions="flat", observation="rgb", max_actions=30, **arguments)
    environment.reset()
    rng = np.random.default_rng(0)
    moves = [int(rng.choice([1, 2, 3, 4, 500, 2000])) for _ in range(20)]
    for move in moves[:10]:
        environment.step(move)
    copies = [pickle.loads(pickle.dumps(environment)), copy.deepcopy(environment)]
    for move in moves[10:]:
        frame, _, terminated, truncated, _ = environment.step(move)
        for other in copies:
            assert np.array_equal(other.step(move)[0], frame)
            assert np.array_equal(other.action_masks(), environment.action_masks())
        if terminated or truncated:
            break


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("names", [["kq19", "pz19"], ["zg58", "rv52"]])
def test_pickled_vector_continues_all_plays(names: list[str], mode: AutoresetMode) -> None:
    vector = rhae.make_vec(names, 4, seeds=9, max_actions=12, games_dir=HOSTED, autoreset_mode=mode, threads=2)
    vector.reset()
    rng = np.random.default_rng(6)
    for _ in range(18):
        vector.step(random_actions(rng, 4))
    other = pickle.loads(pickle.dumps(vector))
    assert (other.ids, other.metadata, other.single_action_space) == (vector.ids, vector.metadata, vector.single_action_space)
    for _ in range(20):
        (frames, info), (theirs, their_info) = vector.observe(), other.observe()
        assert np.array_equal(frames, theirs)
        assert all(np.array_equal(info[name], their_info[name]) for name in info)
        actions = random_actions(rng, 4)
        mine: tuple[Any, ...] = vector.step(actions)
        for one, another in zip(mine[:4], other.step(actions)[:4], strict=True):
            assert np.array_equal(one, another)
    assert np.array_equal(other.reset()[0], vector.reset()[0]), "the seeds of later episodes are the same"


WORKERS = """
import sys
import numpy as np
from gymnasium.vector import AsyncVectorEnv
import rhae
vector = AsyncVectorEnv([lambda: rhae.make("kq19", max_actions=5)] * 2, context=sys.argv[1])
try:
    vector.reset()
    frames, *_ = vector.step(np.full((2, 3), 4))
    print(frames.shape)
finally:
    vector.close()
"""


# In a separate process: other tests start Ray, whose threads make children of fork crash.
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_environments_work_in_worker_processes(context: str) -> None:
    arguments = [sys.executable, "-P", "-c", WORKERS, context]
    output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert output == "(2, 64, 64)\n"


@pytest.mark.parametrize("observation", ["frame", "onehot", "packed", "rgb"])
def test_libraries_need_no_copy_of_aligned_observations(observation: Any) -> None:
    for count in [1, 3]:
        frames, _ = rhae.make_vec("kq19", count, observation=observation).reset()
        assert frames.ctypes.data % 64 == 0, "JAX copies arrays that do not start at a multiple of 64"
        assert frames.flags.c_contiguous and frames.flags.writeable


def test_action_masks_have_the_form_of_sb3_contrib() -> None:
    environment = rhae.make("hk26")
    _, info = environment.reset()
    mask = environment.action_masks()
    assert mask.dtype == np.bool_ and mask.shape == (int(environment.action_space.nvec.sum()),)  # type: ignore[attr-defined]
    assert np.array_equal(mask[:8], info["action_mask"]) and mask[8:].all()
    flat = rhae.make("hk26", actions="flat")
    _, info = flat.reset()
    assert np.array_equal(flat.action_masks(), info["action_mask"])
    vector = rhae.make_vec("hk26", 3, actions="flat")
    _, info = vector.reset()
    assert np.array_equal(vector.action_masks(), info["action_mask"]) and vector.action_masks().shape == (3, 4104)


def test_masked_observation_contains_the_mask() -> None:
    environment = MaskedObservation(rhae.make("kq19", actions="flat"))
    observation, info = environment.reset(seed=0)
    assert environment.observation_space.contains(observation)
    assert np.array_equal(observation["action_mask"], info["action_mask"])
    observation, _, _, _, info = environment.step(1)
    assert environment.observation_space.contains(observation) and observation["action_mask"][0] == 1
    with pytest.raises(ValueError, match='actions="flat"'):
        MaskedObservation(rhae.make("kq19"))


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_stacks_contain_the_last_frames_of_the_episode(mode: AutoresetMode) -> None:
    plain = rhae.make_vec("kq19", 3, max_actions=4, autoreset_mode=mode)
    stacked = VectorFrameStack(rhae.make_vec("kq19", 3, max_actions=4, autoreset_mode=mode), 3)
    rng = np.random.default_rng(4)
    frames, _ = plain.reset()
    stacks, _ = stacked.reset()
    history = [[frames[play].copy()] * 3 for play in range(3)]
    starts = np.zeros(3, np.bool_)
    for _ in range(20):
        assert stacked.observation_space.contains(stacks)
        assert all(np.array_equal(stacks[play], history[play]) for play in range(3))
        actions = random_actions(rng, 3)
        frames, _, terminated, truncated, info = plain.step(actions)
        stacks, _, _, _, stacked_info = stacked.step(actions)
        ended = terminated | truncated
        starts = ended if mode is AutoresetMode.SAME_STEP else starts
        for play in range(3):
            if mode is AutoresetMode.SAME_STEP and ended[play]:
                last = [*history[play][1:], info["final_obs"][play]]
                assert np.array_equal(stacked_info["final_obs"][play], last)
            frame = frames[play].copy()
            history[play] = [frame] * 3 if starts[play] else [*history[play][1:], frame]
        starts = ended


def test_efficiency_rewards_are_the_scores_of_the_levels() -> None:
    solution = [(6, 2, 2)] + [(6, 61, 38)] * 4 + [(6, 32, 3)] * 2
    moves = [(6, 32, 32)] * 21 + solution
    for method, expected in (("draft-2025", 0.5), (None, 0.25)):
        single = EfficiencyReward(rhae.make("bx20", level=1), method)
        single.reset()
        assert [single.step(move)[1] for move in moves] == [0.0] * 27 + [expected]
        for mode in MODES:
            many = VectorEfficiencyReward(rhae.make_vec("bx20", 2, level=1, autoreset_mode=mode), method)
            for _ in range(2):
                many.reset()
                rewards = [many.step(np.array([move] * 2))[1].tolist() for move in moves]
                assert rewards == [[0.0, 0.0]] * 27 + [[expected] * 2]
    with pytest.raises(ValueError, match="there is no scoring method `best`"):
        EfficiencyReward(rhae.make("bx20"), "best")


def test_frames_are_shown_in_terminals_and_notebooks() -> None:
    environment = rhae.make("kq19", render_mode="ansi")
    frame, info = environment.reset()
    text = environment.render()
    assert isinstance(text, str) and text == rhae.ansi(frame)
    red, green, blue = rhae.PALETTE[frame[0, 0]]
    assert text.startswith(f"\x1b[38;2;{red};{green};{blue};48;2;")
    assert environment._repr_png_() == rhae.png(frame)
    assert rhae.show(info["frames"], zoom=2)._repr_png_() == rhae.png(info["frames"], zoom=2)
    with pytest.raises(ValueError, match=r"a frame has 64 x 64 cells, found \(3, 3\)"):
        rhae.ansi(np.zeros((3, 3), np.uint8))
