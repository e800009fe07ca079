"""Plays every environment with random actions, through the calls of the official toolkit."""

import argparse
import random

from rhae import Arcade
from rhae.arcengine import GameAction, GameState


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=200, help="actions per environment")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    rng = random.Random(arguments.seed)
    arcade = Arcade()
    for info in arcade.get_environments():
        environment = arcade.make(info.game_id)
        assert environment is not None
        for _ in range(arguments.actions):
            state = environment.observation_space.state
            if state is GameState.WIN:
                break
            action = GameAction.RESET if state is GameState.GAME_OVER else rng.choice(environment.action_space)
            data = {"x": rng.randrange(64), "y": rng.randrange(64)} if action is GameAction.ACTION6 else {}
            environment.step(action, data=data)
    card = arcade.close_scorecard()
    assert card is not None
    for environment_score in card.environments:
        print(f"{environment_score.id}  {environment_score.levels_completed} levels in {environment_score.actions} actions")
    print(f"score {card.score:.3f} %")


if __name__ == "__main__":
    main()
