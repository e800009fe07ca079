"""Plays one environment with the official client and prints the scorecard.

Standard input: {"url", "mode", "folder", "game", "actions": [action id, ...]}. Last line of standard output: the card as JSON.
"""

import json
import logging
import sys

from arc_agi import Arcade, OperationMode
from arcengine import GameAction

config = json.load(sys.stdin)
logger = logging.getLogger("quiet")
logger.addHandler(logging.StreamHandler(sys.stderr))
arcade = Arcade(
    arc_base_url=config["url"],
    operation_mode=OperationMode[config["mode"]],
    environments_dir=config["folder"],
    logger=logger,
)
card = arcade.open_scorecard(tags=["conformance"])
environment = arcade.make(config["game"], scorecard_id=card)
assert environment is not None, "cannot make the environment"
for action in config["actions"]:
    frame = environment.step(GameAction.from_id(action))
    assert frame is not None, f"no answer to {action}"
print(json.dumps({"state": frame.state.name, "card": json.loads(arcade.close_scorecard(card).model_dump_json())}))
