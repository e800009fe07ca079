"""`rhae.explore` and `rhae.validate`: results, progress, interruption and errors."""

from __future__ import annotations

import base64
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from program import EXAMPLES
from program import rhae as run_program

import rhae
from rhae.analysis import ExploreProgress, ValidateProgress


def test_report_of_a_level_equals_that_of_the_program(tmp_path: Path) -> None:
    level = rhae.explore("ny40", level=2, checks=100)
    assert level.complete and level.stopped_by is None
    assert sum(level.layers) == level.nodes
    printed = json.loads(run_program(tmp_path, "explore", "ny40", "--level", "2", "--checks", "100", "--json"))
    assert level.shortest_win is not None
    assert (level.nodes, level.edges, level.dead_ends) == (printed["nodes"], printed["edges"], printed["dead_ends"])
    assert level.shortest_win.actions == printed["shortest_win"]["actions"]
    assert (level.p_win.lower, level.p_win.fraction) == (printed["p_win"]["lower"], printed["p_win"]["fraction"])


def test_graph_does_not_depend_on_jobs() -> None:
    one, two = (rhae.explore("bx20", checks=0, jobs=jobs) for jobs in (1, 2))
    assert (one.nodes, one.edges, one.shortest_win) == (two.nodes, two.edges, two.shortest_win)


def test_limited_search_reports_its_limit() -> None:
    level = rhae.explore("kq19", level=3, max_states=2_000, checks=0)
    assert (level.complete, level.stopped_by) == (False, "nodes")
    assert level.p_win.lower < level.p_win.upper


def test_notebooks_show_levels_and_validations() -> None:
    level = rhae.explore("bx20", checks=0)
    shown = level._repr_html_()
    assert "<h4>bx20-v1, level 1, seed 0</h4>" in shown and "208 (complete)" in shown
    assert f"7 actions: {' '.join(level.shortest_win.actions)}" in shown if level.shortest_win else False
    encoded = re.search(r'src="data:image/png;base64,([^"]+)"', shown)
    assert encoded is not None
    picture = Image.open(io.BytesIO(base64.b64decode(encoded[1])))
    assert picture.width > 8 * 2 * 64 and picture.height > 2 * 64, "eight frames in one row"
    report = rhae.validate("bx20", steps=500, max_states=2_000)
    shown = report._repr_html_()
    assert shown.count("<tr>") == 1 + len(report.environments[0].rules)
    assert "luck-levels" in shown and "level 1: " in shown
    assert report.environments[0]._repr_html_() == shown


def test_frames_of_a_hosted_game_are_not_shown() -> None:
    level = rhae.explore("rv52", games_dir=EXAMPLES, max_states=20, checks=0)
    assert "<table>" in level._repr_html_() and "<img" not in level._repr_html_()


def test_exploration_reports_progress() -> None:
    seen: list[ExploreProgress] = []
    rhae.explore("kq19", level=3, max_states=500_000, progress=seen.append)
    assert seen and {one.phase for one in seen} <= {"searching", "analysing"}
    assert all(one.states > 0 for one in seen)


def test_exception_of_the_callback_stops_the_work() -> None:
    class Stopped(Exception):
        pass

    def stop(_: object) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        rhae.explore("kq19", level=8, seconds=1000.0, progress=stop)
    with pytest.raises(Stopped):
        rhae.validate("kq19", progress=stop)


@pytest.mark.parametrize("call", ["explore('kq19', level=8, seconds=1000.0", "validate('kq19', jobs=2"])
def test_ctrl_c_raises_keyboard_interrupt(call: str) -> None:
    """Sends SIGINT to a process as soon as it has reported progress."""
    text = (
        "import rhae\n"
        "try:\n"
        f"    rhae.{call}, progress=lambda _: print('working', flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", text], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 0 and rest.splitlines()[-1] == "interrupted"


def test_environment_is_validated() -> None:
    seen: list[ValidateProgress] = []
    report = rhae.validate("bx20", steps=20_000, max_states=5_000, progress=seen.append)
    (environment,) = report.environments
    assert report.passes and report.verdict == "pass", environment
    assert environment.game_id == "bx20-v1" and environment.verdict == "pass"
    assert environment.checks_not_done == 0 and environment.levels_not_checked == []
    # A replay in a new process is part of this rule.
    assert environment.rule("recordings").verdict == "pass", environment.rule("recordings")
    assert seen[-1].total_steps > 0 and seen[-1].game_id == "bx20-v1"
    with pytest.raises(KeyError):
        environment.rule("no such rule")


def test_strict_validation_fails_with_evidence() -> None:
    report = rhae.validate("ny40", steps=5_000, max_states=20_000, strict=True)
    luck = report.environments[0].rule("luck-start")
    assert not report.passes and report.verdict == "fail" and luck.verdict == "fail"
    (finding, *_) = [found for found in luck.findings if found.verdict == "fail"]
    assert finding.evidence[0].actions


def test_selected_rule_is_checked_alone() -> None:
    report = rhae.validate("bx20", rules=["undo"])
    environment = report.environments[0]
    assert [rule.rule for rule in environment.rules] == ["undo"]
    assert environment.rules_not_selected > 0
    assert report.verdict == "incomplete"
    with pytest.raises(ValueError, match="there is no rule `un-do`; the rules are loads, "):
        rhae.validate("bx20", rules=["un-do"])


def test_hosted_game_is_explored_and_validated() -> None:
    level = rhae.explore("rv52", games_dir=EXAMPLES, max_states=200)
    assert level.game_id == "rv52-v1" and level.identity in ("frame", "frame-and-hidden")
    report = rhae.validate("rv52", games_dir=[EXAMPLES], steps=300, max_states=200)
    assert report.verdict != "fail", report


def test_too_few_steps_leave_a_validation_incomplete() -> None:
    report = rhae.validate("bx20", steps=500, max_states=2_000)
    (environment,) = report.environments
    assert (report.verdict, report.passes) == ("incomplete", False)
    assert (environment.verdict, environment.undecided_rules) == ("incomplete", ["luck-levels"])


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(ValueError, match="zz99"):
        rhae.explore("zz99")
    with pytest.raises(ValueError, match="has levels 1 to 8, found 9"):
        rhae.explore("kq19", level=9)
    with pytest.raises(ValueError, match="counted from 1"):
        rhae.explore("kq19", level=0)
    with pytest.raises(ValueError, match="more than 0"):
        rhae.explore("kq19", seconds=0.0)
    with pytest.raises(ValueError, match="named twice"):
        rhae.validate("kq19", "kq19-v1")
    with pytest.raises(OSError, match="missing"):
        rhae.validate(games_dir="missing")
