"""`Arcade`, agents, and the recordings and scores of their plays."""

import json
import random
from pathlib import Path

import pytest
from program import EXAMPLES

import rhae
from rhae import Arcade, OperationMode
from rhae.agents import Agent, swarm
from rhae.arcade import EnvironmentWrapper
from rhae.arcengine import FrameData, GameAction, GameState

SOLUTION = [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2


def solve_first_level(environment: EnvironmentWrapper) -> None:
    for x, y in SOLUTION:
        assert environment.step(GameAction.ACTION6, data={"x": x, "y": y}) is not None


def test_play_is_counted_recorded_and_verified(tmp_path: Path) -> None:
    arcade = Arcade(recordings_dir=tmp_path)
    card = arcade.open_scorecard(tags=["test"], opaque={"note": 1})
    environment = arcade.make("bx20", scorecard_id=card, save_recording=True)
    assert environment is not None
    assert environment.action_space == [GameAction.ACTION6, GameAction.ACTION7]
    solve_first_level(environment)
    environment.step(GameAction.ACTION6, data={"x": 32, "y": 32}, reasoning={"why": "to see"})
    environment.reset()
    scored = arcade.close_scorecard(card)
    assert scored is not None
    assert (scored.total_actions, scored.total_levels_completed) == (9, 1)
    assert scored.environments[0].runs[0].level_actions[:2] == [7, 2]
    assert scored.tags == ["test", "agent"]
    assert environment.step(GameAction.ACTION6, data={"x": 1, "y": 1}) is None, "the card is closed"

    (recording,) = tmp_path.rglob("*.jsonl")
    verified = rhae.verify(recording)
    assert (verified.ok, verified.actions, verified.levels_completed) == (True, 9, 1)
    assert rhae.score(recording)["score"] == pytest.approx(scored.score)
    lines = recording.read_text().splitlines()
    assert json.loads(lines[8])["data"]["action_input"]["reasoning"] == {"why": "to see"}

    forged = tmp_path / "forged.jsonl"
    forged.write_text("\n".join(lines[:3] + lines[4:]))
    assert rhae.verify(forged).entry == 4
    with pytest.raises(ValueError, match="cannot be scored: at entry 4"):
        rhae.score(forged)


def test_competition_mode_applies_the_competition_rules(tmp_path: Path) -> None:
    arcade = Arcade(operation_mode=OperationMode.COMPETITION, recordings_dir=tmp_path)
    environment = arcade.make("bx20")
    assert environment is not None
    assert arcade.make("bx20") is None, "one play of each environment"
    solve_first_level(environment)
    again = environment.reset()
    assert again is not None
    assert (again.full_reset, again.levels_completed) == (False, 1)
    assert arcade.get_scorecard() is None
    card = arcade.close_scorecard()
    assert card is not None
    assert (card.competition_mode, card.total_environments, card.total_actions) == (True, 15, 7)


def test_impossible_calls_return_none() -> None:
    arcade = Arcade()
    assert arcade.make("nope") is None
    assert arcade.make("bx20", scorecard_id="nope") is None
    environment = arcade.make("bx20")
    assert environment is not None
    assert environment.step(GameAction.ACTION6) is None
    assert environment.step(GameAction.ACTION6, data={"x": 64, "y": 0}) is None
    card = arcade.get_scorecard()
    assert card is not None
    assert card.total_actions == 0
    with pytest.raises(ValueError, match="there is no scoring method `best`"):
        Arcade(method="best")


def test_games_of_a_folder_are_played_in_their_processes(tmp_path: Path) -> None:
    arcade = Arcade(environments_dir=EXAMPLES, recordings_dir=tmp_path, operation_mode="competition")
    assert "rv52" in [info.game_id[:4] for info in arcade.get_environments()]
    assert arcade.make("bx20") is None, "built-in environments are not part of the folder"
    environment = arcade.make("rv52", save_recording=True)
    assert environment is not None
    first = environment.observation_space
    for action in environment.action_space:
        assert environment.step(action, data={"x": 0, "y": 0}) is not None
    assert first.frame[-1].shape == (64, 64)
    card = arcade.close_scorecard()
    assert card is not None
    assert card.total_environments == len(arcade.get_environments())
    assert card.total_actions == len(environment.action_space)
    (recording,) = tmp_path.rglob("*.jsonl")
    assert rhae.verify(recording, games_dir=EXAMPLES).ok


def test_arguments_for_a_server_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="takes no arc_base_url; to play on a server"):
        Arcade(arc_base_url="http://127.0.0.1:8001")
    with pytest.raises(ValueError, match="takes no arc_api_key"):
        Arcade(arc_api_key="secret")
    with pytest.raises((ValueError, OSError), match="missing"):
        Arcade(environments_dir="missing")
    Arcade(operation_mode=OperationMode.ONLINE)
    assert "ONLINE has no effect" in caplog.text


class Solver(Agent):
    """Plays a fixed solution of one level."""

    MAX_ACTIONS = 20

    def is_done(self, frames: list[FrameData], latest_frame: FrameData) -> bool:
        return latest_frame.levels_completed == 1

    def choose_action(self, frames: list[FrameData], latest_frame: FrameData) -> GameAction:
        if latest_frame.state is GameState.NOT_PLAYED:
            return GameAction.RESET
        x, y = SOLUTION[len(frames) - 2]
        GameAction.ACTION6.set_data({"x": x, "y": y})
        return GameAction.ACTION6


class Wanderer(Agent):
    def is_done(self, frames: list[FrameData], latest_frame: FrameData) -> bool:
        return latest_frame.state is GameState.WIN

    def choose_action(self, frames: list[FrameData], latest_frame: FrameData) -> GameAction:
        if latest_frame.state is not GameState.NOT_FINISHED:
            return GameAction.RESET
        action = GameAction.from_id(random.choice(latest_frame.available_actions))
        if action.is_complex():
            action.set_data({"x": random.randrange(64), "y": random.randrange(64)})
        return action


def test_swarm_runs_official_style_agents() -> None:
    card = swarm(Solver, ["bx20"])
    assert (card.total_levels_completed, card.total_actions) == (1, 7)
    card = swarm(Wanderer)
    assert card.total_environments == len(Arcade().get_environments())
    assert all(environment.actions <= Wanderer.MAX_ACTIONS for environment in card.environments)
    assert "wanderer" in card.tags
