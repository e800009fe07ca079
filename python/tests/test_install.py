"""The drop-in under the name `arcengine`, in separate processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from engines import official, ours

GAME = Path(__file__).parent / "games" / "walls.py"


def run(code: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-P", "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_and_signatures_equal_the_original() -> None:
    import inspect

    assert ours.__all__ == official.__all__ and ours.__version__ == official.__version__
    for name in official.__all__:
        mine, theirs = getattr(ours, name), getattr(official, name)
        if not isinstance(theirs, type):
            assert mine == theirs
            continue
        missing = [part for part in vars(theirs) if part not in vars(mine) and part not in vars(object)]
        assert [part for part in missing if not part.startswith("__")] == [], name
        for part, value in vars(theirs).items():
            if inspect.isfunction(value) and not part.startswith("__pydantic"):
                parameters = [list(inspect.signature(vars(one)[part]).parameters) for one in (mine, theirs)]
                assert parameters[0] == parameters[1], (name, part)


def test_installed_drop_in_is_imported_as_arcengine() -> None:
    code = """
import rhae.arcengine
rhae.arcengine.install()
rhae.arcengine.install()
import arcengine, arcengine.sprites
from arcengine.enums import GameAction
from arcengine import Sprite
assert arcengine is rhae.arcengine and arcengine.sprites.Sprite is Sprite is rhae.arcengine.Sprite
"""
    run(code)


def test_install_fails_if_the_original_is_already_imported() -> None:
    code = """
import arcengine
import rhae.arcengine
try:
    rhae.arcengine.install()
except RuntimeError as error:
    assert 'already imported' in str(error)
else:
    raise AssertionError
rhae.arcengine.install(force=True)
"""
    run(code)


TOOLKIT = """
import json, logging, sys
if sys.argv[1] == "ours":
    import rhae.arcengine
    rhae.arcengine.install()
import arcengine
from arc_agi.local_wrapper import LocalEnvironmentWrapper
from arc_agi.models import EnvironmentInfo
info = EnvironmentInfo(game_id="walls-v1", title="walls", local_dir=sys.argv[2], class_name="Walls")
environment = LocalEnvironmentWrapper(info, logging.getLogger(), "card", seed=1)
seen = []
for number in range(300):
    action = arcengine.GameAction.from_id([1, 2, 3, 4, 4, 2, 7, 1, 3, 4, 4, 0][number * 7 % 12])
    data = environment.step(action)
    seen.append([data.state.name, data.levels_completed, [frame.tolist() for frame in data.frame]])
print(json.dumps([arcengine.__name__, seen]))
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the official toolkit needs Python 3.12")
def test_official_toolkit_plays_equally_on_the_drop_in() -> None:
    (name, mine), (other, theirs) = (json.loads(run(TOOLKIT, which, str(GAME.parent))) for which in ("ours", "theirs"))
    assert (name, other) == ("rhae.arcengine", "arcengine")
    assert mine == theirs
