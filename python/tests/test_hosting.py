"""Python games hosted by the program `rhae`, and in the official client on both engines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import EXAMPLES, FIXTURES, hosting, program, rhae, rhae_json, serving

from rhae import make

#: The shortest solution of each level of the example game.
WIN = [
    *[2, 2, 2, 4, 4],
    *[4, 2, 3, 3, 2, 2, 4, 4, 4, 4],
    *[3, 2, 2, 4, 2, 4, 4, 4, 4, 1, 3, 2],
    *[1, 4, 4, 4, 4, 4, 4, 4, 2, 3, 3, 2, 3, 1, 4, 4],
    *[2, 2, 3, 1, 4, 4, 4, 2, 4, 1, 1, 4, 4, 4, 4, 4, 4, 3, 3],
    *[1, 3, 1, 3, 1, 1, 4, 2, 4, 2, 4, 4, 4, 4, 2, 2, 3, 3, 2, 2, 2, 1, 4, 1, 2],
]


def test_example_game_is_run_won_and_verified(tmp_path: Path) -> None:
    moves = " ".join(map(str, WIN))
    agent = f'for action in {moves}; do read line; echo "{{\\"action\\": $action}}"; done; read line'
    arguments = ["--games", "rv52", "--agent-cmd", agent, "--budget", "none", "--out", "run"]
    summary = rhae_json(tmp_path, "run", *arguments, *hosting(EXAMPLES))
    assert summary["failed_plays"] == 0
    (recording,) = (tmp_path / "run" / "recordings").glob("*.jsonl")
    verified = rhae(tmp_path, "replay", "verify", str(recording), *hosting(EXAMPLES))
    assert ": verified" in verified and "87 actions, 6 of 6 levels, WIN" in verified
    card = rhae_json(tmp_path, "score", "recording", str(recording), *hosting(EXAMPLES))
    (environment,) = card["environments"]
    assert (environment["id"], environment["completed"], environment["actions"]) == ("rv52-v1", True, len(WIN))
    assert environment["score"] == pytest.approx(100)


def test_example_game_violates_no_rule(tmp_path: Path) -> None:
    """Limits steps and states per level to keep the test short.

    Such a validation is incomplete (exit code 3): it can only find faults.
    """
    flags = ["--steps", "300", "--nodes", "200", *hosting(EXAMPLES)]
    report = rhae_json(tmp_path, "validate", "rv52", *flags, codes=(0, 3))
    assert report["verdict"] != "fail", report


def test_host_uses_the_drop_in_engine(tmp_path: Path) -> None:
    """Hosts a game whose sprite has another colour on each engine."""
    folder = tmp_path / "games" / "en31" / "v1"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"game_id": "en31-v1", "class_name": "En31", "baseline_actions": [1]}))
    (folder / "en31.py").write_text(
        "import arcengine\n"
        "from arcengine import ARCBaseGame, Level, Sprite\n"
        "class En31(ARCBaseGame):\n"
        "    def __init__(self, seed=0):\n"
        "        color = 14 if arcengine.__name__ == 'rhae.arcengine' else 8\n"
        "        super().__init__('en31', [Level([Sprite([[color]], name='one')], (1, 1))], available_actions=[1])\n"
        "    def step(self):\n"
        "        if self.action.id.value:\n"
        "            self.next_level()\n"
        "        self.complete_action()\n"
    )
    with serving(tmp_path, tmp_path / "games") as url:
        seen = official(url, "ONLINE", "theirs", tmp_path, "en31", [1])
    assert seen["color"] == 14
    assert seen["state"] == "WIN"


@pytest.mark.parametrize("counts_in_module", [True, False])
def test_saved_play_continues_with_the_state_of_its_module(tmp_path: Path, counts_in_module: bool) -> None:
    """A pickle of a game lacks the variables of its module.

    If an action has changed them, the actions are repeated instead.
    """
    folder = tmp_path / "mv44" / "v1"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"game_id": "mv44-v1", "class_name": "Mv44", "baseline_actions": [99]}))
    (folder / "mv44.py").write_text(
        "from arcengine import ARCBaseGame, Level, Sprite\n"
        f"steps = [0] if {counts_in_module} else None\n"
        "class Mv44(ARCBaseGame):\n"
        "    def __init__(self, seed=0):\n"
        "        self.steps = [0] if steps is None else None\n"
        "        super().__init__('mv44', [Level([Sprite([[1]], name='mark')], (1, 1))], available_actions=[1])\n"
        "    def step(self):\n"
        "        counter = self.steps or steps\n"
        "        counter[0] += self.action.id.value\n"
        "        self.current_level.get_sprites()[0].color_remap(None, counter[0] % 16)\n"
        "        self.complete_action()\n"
    )
    plays: Any = make("mv44", games_dir=tmp_path).unwrapped
    play = plays._play
    for _ in range(3):
        play.act(1, 0, 0)
    saved = play.save()
    assert (b"Mv44" in saved) != counts_in_module
    restored = plays._open("mv44", saved)
    assert [restored.act(1, 0, 0).frames[-1][32, 32] for _ in range(2)] == [4, 5]


#: The official client. It reads a request from standard input; the last line of its output is the
#: result.
CLIENT = """
import json, logging, sys
request = json.load(sys.stdin)
if request["engine"] == "ours":
    import rhae.arcengine
    rhae.arcengine.install()
import arcengine
from arc_agi import Arcade, OperationMode
arcade = Arcade(
    arc_base_url=request["url"],
    operation_mode=OperationMode[request["mode"]],
    environments_dir=request["folder"],
    logger=logging.getLogger("quiet"),
)
card = arcade.open_scorecard(tags=["conformance"])
environment = arcade.make(request["game"], scorecard_id=card)
frames = []
for action in request["actions"]:
    frame = environment.step(arcengine.GameAction.from_id(action))
    frames.append([picture.tolist() for picture in frame.frame])
closed = json.loads(arcade.close_scorecard(card).model_dump_json())
print()
print(json.dumps({
    "engine": arcengine.__name__, "state": frame.state.name, "card": closed, "frames": frames, "color": frames[-1][-1][32][32],
}))
"""


def official(url: str, mode: str, engine: str, home: Path, game: str, actions: list[int]) -> dict[str, Any]:
    """Plays a game with the official client on one of the engines.

    Returns the scorecard and the frames.
    """
    request = {"url": url, "mode": mode, "engine": engine, "folder": str(home), "game": game, "actions": actions}
    client = [sys.executable, "-P", "-c", CLIENT]
    done = subprocess.run(client, input=json.dumps(request), cwd=home, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def comparable_results(seen: dict[str, Any]) -> list[Any]:
    """Returns the values that a play must have in common on server and client."""
    environment = seen["card"]["environments"][0]
    run = environment["runs"][0]
    same = ("levels_completed", "actions", "resets", "state", "completed", "level_actions", "level_baseline_actions")
    scores = [seen["card"]["score"], run["score"], *run["level_scores"]]
    return [seen["state"], environment["id"], [run[name] for name in same], [round(score, 9) for score in scores]]


def without_generated_ids(seen: dict[str, Any]) -> dict[str, Any]:
    """Returns a scorecard without its generated ids."""
    text = json.dumps(seen["card"])
    for name in (seen["card"]["card_id"], seen["card"]["environments"][0]["runs"][0]["guid"]):
        text = text.replace(name, "")
    card: dict[str, Any] = json.loads(text)
    return card


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the official toolkit needs Python 3.12")
def test_official_client_returns_equal_scorecards_on_both_engines(tmp_path: Path) -> None:
    detour = [2, 0, *[4] * 5, *[2] * 5, *[4] * 5, *[2] * 3, *[4] * 3, *[1] * 3, *[4] * 2]
    seen = {}
    with serving(tmp_path, FIXTURES) as url:
        for mode, engine in (("ONLINE", "theirs"), ("NORMAL", "theirs"), ("NORMAL", "ours")):
            home = tmp_path / f"{mode} {engine}"
            home.mkdir()
            seen[mode, engine] = official(url, mode, engine, home, "wk31", detour)
            assert (home / "wk31/v1/wk31.py").is_file() == (mode == "NORMAL"), "only NORMAL mode downloads the source"
    online, theirs, ours = seen.values()
    assert (theirs["engine"], ours["engine"]) == ("arcengine", "rhae.arcengine")
    assert online["state"] == "WIN"
    assert without_generated_ids(theirs) == without_generated_ids(ours)
    assert comparable_results(online) == comparable_results(ours)
    assert online["frames"] == theirs["frames"] == ours["frames"]


def test_hosted_game_is_listed(tmp_path: Path) -> None:
    listed = rhae_json(tmp_path, "games", "list", "--games-dir", str(EXAMPLES))
    (game,) = [game for game in listed if game["game_id"] == "rv52-v1"]
    assert game["baseline_actions"] == [5, 10, 12, 16, 19, 25]
    assert program().is_file()
