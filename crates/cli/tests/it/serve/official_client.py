"""Runs the official client against a server and prints its observations and computed scores.

Standard input: {"url", "mode", "plan": {game: [[action, ...] per level]}}; an action is [id] or [6, x, y].
Last line of standard output: one JSON object.
"""

import json
import logging
import sys

from arc_agi import Arcade, OperationMode
from arc_agi.scorecard import EnvironmentScoreCalculator
from arcengine import GameAction


class Counter:
    """Counts the actions of each run and level of a play, from frames only."""

    def __init__(self, frame):
        self.runs = []
        self.see(frame, counted=False)

    def see(self, frame, counted=True):
        if not self.runs or frame.full_reset:
            self.runs.append({"actions": {}, "levels": 0})
        elif counted:
            run = self.runs[-1]
            run["actions"][run["levels"]] = run["actions"].get(run["levels"], 0) + 1
        self.runs[-1]["levels"] = frame.levels_completed

    def scores(self, baselines):
        """Return the official calculator's score of every run."""
        scores = []
        for run in self.runs:
            calculator = EnvironmentScoreCalculator()
            for level, baseline in enumerate(baselines):
                calculator.add_level(level + 1, level < run["levels"], run["actions"].get(level, 0), baseline)
            scores.append(calculator.to_score().score)
        return scores


def step(environment, counter, action, counted=True):
    data = {"x": action[1], "y": action[2]} if len(action) > 1 else None
    frame = environment.step(GameAction.from_id(action[0]), data, reasoning={"action": action})
    assert frame is not None, f"no answer to {action}"
    counter.see(frame, counted)
    return frame


def play(arcade, card, game, levels, competing):
    environment = arcade.make(game, scorecard_id=card)
    assert environment is not None, f"cannot make {game}"
    counter = Counter(environment.observation_space)
    # A superfluous action, then RESET: a counted level reset. A second RESET is a full reset, except in a competition.
    step(environment, counter, levels[0][0])
    level_reset = environment.reset()
    assert not level_reset.full_reset
    counter.see(level_reset)
    again = environment.reset()
    assert again.full_reset != competing
    counter.see(again, counted=False)
    if competing:
        assert arcade.make(game, scorecard_id=card).observation_space is None, "a second play was allowed"
    for level, actions in enumerate(levels):
        if level % 2:
            # A detour that a level reset undoes.
            step(environment, counter, actions[0])
            step(environment, counter, [0])
        for action in actions:
            frame = step(environment, counter, action)
        assert frame.levels_completed == level + 1, f"{game}: level {level + 1} was not won"
    return counter, frame.state.name


def main():
    config = json.load(sys.stdin)
    logger = logging.getLogger("quiet")
    logger.addHandler(logging.StreamHandler(sys.stderr))
    competing = config["mode"] == "competition"
    arcade = Arcade(
        arc_base_url=config["url"],
        operation_mode=OperationMode.COMPETITION if competing else OperationMode.ONLINE,
        logger=logger,
    )
    listed = {info.game_id: info for info in arcade.get_environments()}
    card = arcade.open_scorecard(source_url="https://example.org", tags=["conformance"], opaque={"a": 1})
    computed, states = {}, {}
    for game, levels in config["plan"].items():
        counter, states[game] = play(arcade, card, game, levels, competing)
        info = next(info for info in listed.values() if info.game_id.startswith(game))
        computed[info.game_id] = counter.scores(info.baseline_actions)
    in_flight = None
    if competing:
        try:
            arcade.get_scorecard(card)
            raise SystemExit("the card of an open competition was returned")
        except Exception as error:
            assert "403" in str(error), error
    else:
        in_flight = json.loads(arcade.get_scorecard(card).model_dump_json())
    closed = arcade.close_scorecard(card)
    best = {game: max(scores) for game, scores in computed.items()}
    environments = len(listed) if competing else len(best)
    print(
        json.dumps(
            {
                "key": arcade.arc_api_key,
                "listed": sorted(listed),
                "card": card,
                "states": states,
                "computed": computed,
                "computed_total": sum(best.values()) / environments,
                "in_flight": in_flight,
                "closed": json.loads(closed.model_dump_json()),
            }
        )
    )


main()
