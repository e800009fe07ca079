"""`rhae.run`: results, progress, interruption, resumption and errors."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import EXAMPLES, FIXTURES, program, rhae_json, serving

import rhae
from rhae.runs import RunProgress, RunSummary

#: Fields of a summary that differ between two runs with the same settings.
OWN = {"run_id", "folder", "report", "seconds", "started_ms", "ended_ms"}

#: An agent that plays ACTION1. From the second repeat on, it waits forever unless a file exists.
AGENT = """
import json, pathlib, sys, threading
seed = json.loads(sys.stdin.readline())["seed"]
for line in sys.stdin:
    if json.loads(line)["type"] == "end":
        break
    if seed > 0 and not pathlib.Path(sys.argv[1]).exists():
        threading.Event().wait()
    print(json.dumps({"action": 1}), flush=True)
"""


#: Lists that the files leave out if they are empty.
EMPTY: list[tuple[str, list[object]]] = [("level_spent", []), ("source_digests", [])]


def without_absent(value: Any) -> Any:
    """Returns a dataclass as JSON, in which absent values and empty lists of usage are left out."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if one is not None and (name, one) not in EMPTY}
        return {name: without_absent(one) for name, one in kept.items()}
    return [without_absent(one) for one in value] if isinstance(value, list) else value


def test_results_equal_those_of_the_program(tmp_path: Path) -> None:
    seen: list[RunProgress] = []
    results = rhae.run("random", games="kq19,bx20", seed=3, repeat=2, budget=40, out=tmp_path / "ours", progress=seen.append)
    flags = ["--agent", "random", "--games", "kq19,bx20", "--seed", "3", "--repeat", "2", "--budget", "40"]
    printed = rhae_json(tmp_path, "run", *flags, "--out", "theirs")
    summary = without_absent(dataclasses.asdict(results.summary))
    assert set(printed) <= {field.name for field in dataclasses.fields(RunSummary)}
    for name in printed.keys() - OWN - {"git_commit"}:
        assert summary[name] == printed[name], name
    assert results.summary.score_half_width is not None
    assert [without_absent(dataclasses.asdict(card)) for card in results.cards] == [
        json.loads((tmp_path / "ours" / f"scorecard-{number}.json").read_text()) for number in (1, 2)
    ]
    assert Path(results.summary.report).is_file() and results.summary.folder == str(tmp_path / "ours")
    assert (seen[-1].done, seen[-1].total, seen[-1].actions) == (4, 4, 160)


def test_defaults_are_those_of_the_program(tmp_path: Path) -> None:
    """Compares the configurations that the two runs write. The agent exits, so all plays fail."""
    rhae.run(agent_cmd="exit", out=tmp_path / "ours")
    command = [str(program()), "run", "--agent-cmd", "exit", "--out", str(tmp_path / "theirs")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    ours, theirs = (json.loads((tmp_path / name / "config.json").read_text()) for name in ("ours", "theirs"))
    for config in (ours, theirs):
        del config["run_id"]
        config.pop("git_commit", None)
    assert ours == theirs


def test_identity_is_stored(tmp_path: Path) -> None:
    out = tmp_path / "run"
    results = rhae.run("random", games=["kq19"], budget=10, out=out, name="mine", tags=["a", "b"], note="text")
    assert (results.summary.name, results.summary.tags, results.summary.note) == ("mine", ["a", "b"], "text")
    assert json.loads((out / "config.json").read_text())["name"] == "mine"


def test_hosted_game_is_run(tmp_path: Path) -> None:
    results = rhae.run("random", games="rv52", games_dir=EXAMPLES, budget=20, out=tmp_path / "run")
    (environment,) = results.summary.environments
    assert (environment.game_id, environment.endings) == ("rv52-v1", ["budget"])
    assert set(results.summary.source_digests) == {"rv52-v1"}


def test_run_on_a_server_equals_a_local_run(tmp_path: Path) -> None:
    with serving(tmp_path, FIXTURES) as url:
        remote = rhae.run("random", games="kq19", seed=5, budget=30, out=tmp_path / "remote", server=url, key="k")
    local = rhae.run("random", games="kq19", seed=5, budget=30, out=tmp_path / "local")
    assert remote.summary.environments == local.summary.environments
    assert (tmp_path / "remote" / "server.json").is_file()


def test_model_plays_with_its_limits(tmp_path: Path) -> None:
    models = tmp_path / "m.toml"
    models.write_text(
        '[models.words]\nprovider = "mock"\nreplies = ["ACTION1", "ACTION4"]\n'
        'prices = { date = "2026-11-01", input = 1, output = 5 }\n'
    )
    results = rhae.run(
        "model:words", games="kq19", budget=12, out=tmp_path / "run", models=models, max_cost=5.0, rate_limit="1000/s"
    )
    spent = results.summary.spent
    assert spent is not None and spent.calls == 12 and spent.cost_usd is not None and spent.cost_usd > 0
    (card,) = results.cards
    assert sum(level.calls for level in card.environments[0].runs[0].level_spent) == 12


def test_notes_are_warnings(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="the budget is 5 actions per play") as warned:
        rhae.run("random", games="kq19", budget=5, out=tmp_path / "run")
    assert warned[0].filename == __file__


def test_failed_plays_are_results(tmp_path: Path) -> None:
    results = rhae.run(agent_cmd="exit 3", games="kq19", out=tmp_path / "run")
    assert results.summary.finished and results.summary.failed_plays == 1
    (play,) = results.cards[0].environments[0].runs
    assert play.ending == "failed" and play.message


def test_failed_environments_are_not_valid_results(tmp_path: Path) -> None:
    folder = tmp_path / "games" / "sx01"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"game_id": "sx01-v1", "baseline_actions": [5]}')
    (folder / "sx01.py").write_text("class Sx01(:\n")
    summary = rhae.run("random", games="sx01,kq19", games_dir=tmp_path / "games", budget=20, out=tmp_path / "run").summary
    assert (summary.failed_plays, summary.failed_environments) == (0, 1)
    assert summary.environments[0].endings == ["environment failed"]
    valid = summary.valid_results
    assert valid is not None and (valid.n, valid.of) == (1, 2)
    assert valid.score == 2 * summary.score


def test_command_of_a_folder_that_others_can_change_must_be_repeated(tmp_path: Path) -> None:
    command, out = "exit 3", tmp_path / "run"
    rhae.run(agent_cmd=command, games="kq19", out=out)
    out.chmod(0o777)
    with pytest.raises(ValueError, match=r"execute the agent command `exit 3`, but other users can write"):
        rhae.run(resume=out)
    with pytest.raises(ValueError, match="the run was started with"):
        rhae.run(resume=out, agent_cmd="exit 4")
    assert rhae.run(resume=out, agent_cmd=command).summary.failed_plays == 1


def test_ctrl_c_writes_partial_results_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    agent, go, out = tmp_path / "agent.py", tmp_path / "go", tmp_path / "run"
    agent.write_text(AGENT)
    command = shlex.join([sys.executable, "-P", str(agent), str(go)])
    text = (
        "import rhae\n"
        "try:\n"
        f"    rhae.run(agent_cmd={command!r}, games='kq19', repeat=2, jobs=1, budget=10, out={str(out)!r},\n"
        "             progress=lambda progress: print(progress.done, flush=True))\n"
        "except KeyboardInterrupt as error:\n"
        "    print(*error.__notes__, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", text], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "1\n":
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 0
    assert rest.splitlines()[-1] == f'partial results are written; continue with `rhae.run(resume="{out}")`'
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["finished"], summary["environments"][0]["endings"]) == (False, ["budget", "interrupted"])
    first = (out / "recordings" / "1-kq19-v1.jsonl").read_bytes()

    go.touch()
    results = rhae.run(resume=out, jobs=2)
    assert results.summary.finished
    assert results.summary.environments[0].endings == ["budget", "budget"]
    assert (out / "recordings" / "1-kq19-v1.jsonl").read_bytes() == first


def test_exception_of_the_callback_stops_the_run(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(_: RunProgress) -> None:
        raise Stopped

    with pytest.raises(Stopped) as raised:
        rhae.run("random", games="kq19", budget="none", out=tmp_path / "run", progress=stop)
    (note,) = raised.value.__notes__
    assert "rhae.run(resume=" in note and str(tmp_path / "run") in note
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["finished"] is False


def test_time_limit_returns_an_unfinished_run(tmp_path: Path) -> None:
    results = rhae.run("random", games="kq19", budget="none", run_timeout=0.2, out=tmp_path / "run")
    assert not results.summary.finished and results.summary.environments[0].endings == ["interrupted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agent": "nobody"}, "nobody"),
        ({"agent": "random", "agent_cmd": "true"}, "either `agent` or `agent_cmd`"),
        ({"games": "kq91"}, "the nearest is `kq19-v1`"),
        ({"games": []}, "`games` names no environment"),
        ({"games": ["kq19", "kq19-v1"]}, "`kq19-v1` is named twice in `games`"),
        ({"seed": -1}, "`seed` must not be negative, found -1"),
        ({"env_seed": 2**64}, "`env_seed` is too large"),
        ({"repeat": 0}, "`repeat` must be from 1 to 10000, found 0"),
        ({"jobs": 2000}, "`jobs` must be from 1 to 1024, found 2000"),
        ({"budget": "7y"}, "`7y` is not a budget"),
        ({"method": "best"}, "best"),
        ({"step_timeout": 0}, "`step_timeout` must be more than 0"),
        ({"run_timeout": -1.0}, "`run_timeout` must be more than 0"),
        ({"rate_limit": "fast"}, "`fast` is not a rate"),
        ({"key": "k"}, '`key` is the key of a server; add `server="URL"`'),
        ({"competition": True}, '`competition` is for servers; add `server="URL"`'),
        ({"server": "example", "games_dir": str(EXAMPLES)}, "`games_dir` names local environments"),
        ({"server": "example"}, "`example` is not the address of a server"),
        ({"max_cost": 5.0}, '`max_cost`.* require `agent="model:NAME"`'),
        ({"agent": "model:big", "models": "missing.toml"}, '`missing.toml`; choose a file with `models="FILE"`'),
        ({"tags": "one"}, "`tags` must be a list of strings"),
        ({"resume": "missing", "seed": 0}, "omit `seed`, `out`"),
    ],
)
def test_invalid_argument_is_named(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        rhae.run(**{"out": tmp_path / "run", **arguments})
    assert not re.search(r"--[a-z]", str(raised.value)), "the message names a flag of the command line"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("argument", ["agent", "games", "tags", "seed", "step_timeout", "out"])
def test_argument_of_a_wrong_type_is_named(argument: str) -> None:
    with pytest.raises(TypeError, match=rf"\b{argument}\b"):
        rhae.run(**{argument: object()})  # type: ignore[arg-type]


def test_unusable_files_and_servers_are_errors_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        rhae.run(games_dir="missing", out=tmp_path / "run")
    with pytest.raises(ValueError, match="is not a run folder"):
        rhae.run(resume=tmp_path)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    with pytest.raises(ValueError, match=r'exists and is not empty.*resume=".*used"'):
        rhae.run("random", games="kq19", out=tmp_path / "used")
