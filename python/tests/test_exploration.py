"""Searches of hosted games: many states per message, several processes, representative clicks, and hostile games."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program import FIXTURES, ROOT, hosting, program, rhae_json

LARGE = ROOT / "fixtures" / "games-explore"
HOSTILE = ROOT / "fixtures" / "games-hostile"


def explored(at: Path, game: str, folder: Path, *flags: str) -> tuple[Any, Any]:
    """Explores a level. Returns its report without the facts that differ between runs, and its graph."""
    report = rhae_json(at, "explore", game, "--export", "graph.json", *hosting(folder), *flags)
    for name in ("seconds", "states_per_s", "peak_bytes"):
        report.pop(name)
    return report, json.loads((at / "graph.json").read_text())


def failure(at: Path, game: str, folder: Path, *flags: str) -> str:
    """Explores a level of a game that fails. Returns the error message."""
    seconds = [] if "--host-seconds" in flags else ["--host-seconds", "60"]
    hosted = ["--games-dir", str(folder), "--python", sys.executable, *seconds]
    command = [str(program()), "explore", game, *hosted, *flags]
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stdout
    return done.stderr


def write_game(folder: Path, name: str, body: str, variables: str = "") -> Path:
    """Writes a game of one level with the arrows as actions, whose sprite `dot` moves in a row."""
    home = folder / "games" / name / "v1"
    home.mkdir(parents=True)
    class_name = name.capitalize()
    (home / "metadata.json").write_text(
        json.dumps({"game_id": f"{name}-v1", "class_name": class_name, "baseline_actions": [5]})
    )
    (home / f"{name}.py").write_text(
        "import gc, os, random, time\n"
        "import numpy as np\n"
        "from arcengine import ARCBaseGame, Camera, GameAction, Level, Sprite\n"
        f"{variables}\n"
        f"class {class_name}(ARCBaseGame):\n"
        "    def __init__(self, seed=0):\n"
        "        levels = [Level([Sprite([[9]], name='dot', x=8)], (16, 16))]\n"
        f"        super().__init__('{name}', levels, available_actions=[1, 2, 3, 4])\n"
        "    @property\n"
        "    def dot(self):\n"
        "        return self.current_level.get_sprites()[0]\n"
        "    def step(self):\n"
        + "".join(f"        {line}\n" for line in body.splitlines())
        + "        self.complete_action()\n"
    )
    return folder / "games"


WALK = """dx, dy = {1: (0, -1), 2: (0, 1), 3: (-1, 0), 4: (1, 0)}.get(self.action.id.value, (0, 0))
self.dot.set_position((self.dot.x + dx) % 16, (self.dot.y + dy) % 16)"""


@pytest.mark.parametrize(("game", "folder", "nodes"), [("en60", LARGE, 60), ("wk31", FIXTURES, 120), ("ck61", LARGE, 50)])
def test_graph_does_not_depend_on_the_way_in_which_states_are_expanded(
    tmp_path: Path, game: str, folder: Path, nodes: int
) -> None:
    limit = ["--nodes", str(nodes), "--checks", "20"]
    expected = explored(tmp_path, game, folder, "--step-by-step", *limit)
    assert len(expected[1]["nodes"]) > 3
    for jobs in ("1", "3"):
        assert explored(tmp_path, game, folder, "--jobs", jobs, *limit) == expected, jobs


def test_benchmark_compares_searches_of_the_same_states(tmp_path: Path) -> None:
    games = write_game(tmp_path, "wa01", WALK)
    measured = rhae_json(tmp_path, "bench", "hosted", "wa01", *hosting(games))
    assert (measured["nodes"], measured["edges"], measured["same_size"]) == (256, 1024, True)


def test_deep_identity_gives_the_same_graph(tmp_path: Path) -> None:
    flags = ["--deep", "--nodes", "15", "--checks", "5"]
    expected = explored(tmp_path, "wk31", FIXTURES, "--step-by-step", *flags)
    assert expected[0]["identity"] == "deep"
    assert explored(tmp_path, "wk31", FIXTURES, "--jobs", "2", *flags) == expected


def test_random_numbers_belong_to_each_state(tmp_path: Path) -> None:
    """Draws random numbers in both generators, which the search must restore for every state."""
    body = "\n".join((WALK, "self.dot.color_remap(None, random.randrange(4) + 4 * np.random.randint(2) + 1)"))
    games = write_game(tmp_path, "rn01", body)
    flags = ["--nodes", "60", "--deep", "--checks", "20"]
    report, graph = explored(tmp_path, "rn01", games, "--step-by-step", *flags)
    assert report["warnings"] == []
    assert explored(tmp_path, "rn01", games, "--jobs", "2", *flags) == (report, graph)


#: Ways to keep state outside the game object: the variables of the module, and two lines of `step` that count and
#: return the count.
HIDING_PLACES = {
    "variable": ("COUNT = 0", "global COUNT\nCOUNT += 1\ncount = COUNT"),
    "container": ("COUNT = {'steps': [0]}", "COUNT['steps'][0] += 1\ncount = COUNT['steps'][0]"),
    "class": ("class Counter:\n    steps = 0", "Counter.steps += 1\ncount = Counter.steps"),
    "function": ("def steps(): pass", "steps.count = getattr(steps, 'count', 0) + 1\ncount = steps.count"),
    "default": ("def steps(known=[0]):\n    known[0] += 1\n    return known[0]", "count = steps()"),
    "random": ("RANDOM = random.Random(3)", "count = RANDOM.randrange(12)"),
    "numpy": ("RANDOM = np.random.default_rng(3)", "count = int(RANDOM.integers(12))"),
}


@pytest.mark.parametrize("place", HIDING_PLACES)
def test_state_outside_the_game_belongs_to_each_state(tmp_path: Path, place: str) -> None:
    """The colour of the sprite depends on state that a copy of the game does not contain."""
    variables, count = HIDING_PLACES[place]
    games = write_game(tmp_path, "hs01", "\n".join((WALK, count, "self.dot.color_remap(None, count % 12 + 1)")), variables)
    flags = ["--nodes", "50", "--deep", "--checks", "20"]
    report, graph = explored(tmp_path, "hs01", games, *flags)
    assert report["warnings"] == []
    # The same position is reached after different numbers of steps.
    assert len(graph["nodes"]) == 50
    for way in (["--jobs", "2"], ["--step-by-step"]):
        assert explored(tmp_path, "hs01", games, *flags, *way) == (report, graph), way


def test_game_that_depends_on_a_clock_is_reported(tmp_path: Path) -> None:
    body = "\n".join((WALK, "self.dot.color_remap(None, time.perf_counter_ns() // 1000 % 12 + 1)"))
    games = write_game(tmp_path, "tm01", body)
    assert "the game is not deterministic" in failure(tmp_path, "tm01", games, "--nodes", "500", "--checks", "0")


def test_game_with_an_object_that_cannot_be_restored_is_copied(tmp_path: Path) -> None:
    """From one state on, the game holds an iterator, whose position cannot be set."""
    body = "\n".join(
        (
            WALK,
            "if self.dot.x == 11 and not hasattr(self, 'colors'): self.colors = iter([2, 3, 4] * 99)",
            "if hasattr(self, 'colors'): self.dot.color_remap(None, next(self.colors))",
        )
    )
    games = write_game(tmp_path, "it01", body)
    flags = ["--nodes", "90", "--checks", "10"]
    expected = explored(tmp_path, "it01", games, "--step-by-step", *flags)
    for jobs in ("1", "2"):
        assert explored(tmp_path, "it01", games, "--jobs", jobs, *flags) == expected, jobs


def test_game_without_listed_clicks_is_explored_by_representatives(tmp_path: Path) -> None:
    report, graph = explored(tmp_path, "ck61", LARGE)
    assert (report["clicks"], report["complete"]) == ("representative", True)
    # Two lamps, the two colours of the switch, and the background.
    assert all(len([edge for edge in graph["edges"] if edge[0] == node]) in (0, 5) for node in range(len(graph["nodes"])))
    assert report["shortest_win"]["length"] == 1
    assert report["p_win"] == {"lower": 0.0, "upper": 1.0, "fraction": None, "one_in": None}
    assert (report["p_win_blind"], report["dead_ends"]) == (None, 0)
    second, _ = explored(tmp_path, "ck61", LARGE, "--level", "2")
    assert second["shortest_win"] is not None


def test_states_beyond_the_memory_limit_are_rebuilt(tmp_path: Path) -> None:
    """Every state holds 8 MiB, so that half of the memory limit does not suffice for a depth of the search."""
    ballast = "\n".join((WALK, "self.ballast = np.full(1 << 23, self.dot.x + 16 * self.dot.y, dtype=np.uint8)"))
    games = write_game(tmp_path, "bl01", ballast)
    flags = ["explore", "bl01", "--checks", "0", "--seconds", "600", *hosting(games)]
    plenty = rhae_json(tmp_path, *flags)
    little = rhae_json(tmp_path, *flags, "--jobs", "2", "--host-memory", "1024")
    for name in ("nodes", "edges", "layers", "complete", "sccs"):
        assert little[name] == plenty[name], name
    assert (plenty["nodes"], plenty["complete"]) == (256, True)


def test_hang_in_the_middle_of_a_batch_is_reported(tmp_path: Path) -> None:
    body = "\n".join((WALK, "while (self.dot.x, self.dot.y) == (11, 3): pass"))
    games = write_game(tmp_path, "hg01", body)
    found = failure(tmp_path, "hg01", games, "--host-seconds", "1", "--jobs", "2")
    assert "did not respond within" in found


def test_garbage_in_the_middle_of_a_batch_is_reported(tmp_path: Path) -> None:
    assert "broke the protocol" in failure(tmp_path, "rubb", HOSTILE)


def test_failure_is_that_of_the_first_state_in_order(tmp_path: Path) -> None:
    """Two states fail. The one that a single process reaches first is reported, for every number of processes."""
    body = "\n".join((WALK, "if self.dot.x in (5, 12): raise ValueError(f'column {self.dot.x}')"))
    games = write_game(tmp_path, "fa01", body)
    one = failure(tmp_path, "fa01", games)
    assert "the game raised ValueError: column 5" in one
    for flags in (["--jobs", "3"], ["--step-by-step"]):
        assert failure(tmp_path, "fa01", games, *flags) == one


def test_limit_before_a_failing_state_ends_the_search(tmp_path: Path) -> None:
    body = "\n".join((WALK, "if self.dot.x == 5: raise ValueError"))
    games = write_game(tmp_path, "lm01", body)
    flags = ["--depth", "2", "--checks", "0"]
    report, graph = explored(tmp_path, "lm01", games, *flags)
    assert (report["stopped_by"], report["nodes"]) == ("depth", 13)
    assert explored(tmp_path, "lm01", games, "--step-by-step", *flags) == (report, graph)


def test_slow_game_is_stopped_by_the_time_limit(tmp_path: Path) -> None:
    body = "\n".join((WALK, "time.sleep(0.05)"))
    games = write_game(tmp_path, "sl01", body)
    report, _ = explored(tmp_path, "sl01", games, "--seconds", "1", "--checks", "0")
    assert (report["stopped_by"], report["complete"]) == ("time", False)


def test_long_replays_do_not_exceed_the_time_limit_of_one_action(tmp_path: Path) -> None:
    """Parts of a response that contain no result show that the process makes progress."""
    host = start_host(write_game(tmp_path, "lp01", "\n".join((WALK, "time.sleep(0.1)"))) / "lp01" / "v1" / "lp01.py", "Lp01")
    with host:
        assert send(host, 2, (1).to_bytes(4, "little") + bytes(8))[0] == 0x82
        # The path leads back to the start.
        path = [(4, 0, 0)] * 16
        kinds, parts = [], []
        kind, part = send(host, 9, expansion(0, 4, path, start_key(host)))
        while not part[0]:
            kinds.append(kind)
            parts.append(part)
            kind, part = receive(host)
        assert set(kinds) == {0x86}
        assert any(len(part) == 17 for part in parts), "a part without records"
        host.kill()


def test_all_cells_are_clicked_and_grouped_by_result() -> None:
    host = start_host(LARGE / "ck61" / "v1" / "ck61.py", "Ck61")
    with host:
        assert send(host, 2, numbers(1) + bytes(8))[0] == 0x82
        kind, part = send(host, 9, expansion(2, 0, [], start_key(host)))
        records = part[17:]
        while not part[0]:
            kind, part = receive(host)
            records += part[17:]
        host.kill()
    assert kind == 0x86
    edges = [records[at : at + 28] for at in range(0, len(records) - 2, 28)]
    # Nothing, each lamp alone, and both lamps, which wins.
    assert records[-2:] == bytes((0, 3)) and len({edge[8:24] for edge in edges}) == len(edges) == 4
    assert sum(int.from_bytes(edge[5:7], "little") for edge in edges) == 64 * 64


def test_rebuilt_state_must_have_the_same_key(tmp_path: Path) -> None:
    host = start_host(write_game(tmp_path, "rb01", WALK) / "rb01" / "v1" / "rb01.py", "Rb01")
    with host:
        assert send(host, 2, numbers(1) + bytes(8))[0] == 0x82
        kind, reason = send(host, 9, expansion(0, 4, [(4, 0, 0)], start_key(host)))
        assert kind == 0xFF and b"the game is not deterministic" in reason
        host.kill()


def expansion(clicks: int, keep: int, path: list[tuple[int, int, int]], key: bytes) -> bytes:
    """Returns the body of a request that expands the state with a key, to which a path from the start leads."""
    head = bytes((2, 1, clicks, 0)) + numbers(keep, 0, 1, 0) + bytes((0,)) + key
    return numbers(1) + head + numbers(len(path)) + b"".join(map(bytes, path))


def start_key(host: subprocess.Popen[bytes]) -> bytes:
    """Returns the key of the start, which a request without states asks for."""
    kind, part = send(host, 9, numbers(1) + bytes((2, 1, 0, 0)) + numbers(0, 0, 0))
    assert kind == 0x86 and part[0] == 1
    return part[1:17]


def numbers(*values: int) -> bytes:
    """Returns numbers of four bytes."""
    return b"".join(value.to_bytes(4, "little") for value in values)


def start_host(file: Path, class_name: str) -> subprocess.Popen[bytes]:
    """Starts a host as the program does, but without its sandbox."""
    import rhae.host

    command = [sys.executable, "-P", rhae.host.__file__, str(file), class_name, "60"]
    host = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": "0"})
    assert host.stdin is not None
    source = file.read_bytes()
    host.stdin.write(numbers(len(source)) + source)
    assert send(host, 1, b"\x01\x00")[0] == 0x81
    return host


def send(host: subprocess.Popen[bytes], kind: int, body: bytes) -> tuple[int, bytes]:
    """Sends a message and returns the kind and the body of the first answer."""
    assert host.stdin is not None
    host.stdin.write(numbers(len(body) + 1) + bytes((kind,)) + body)
    host.stdin.flush()
    return receive(host)


def receive(host: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    assert host.stdout is not None
    length = int.from_bytes(host.stdout.read(4), "little")
    message = host.stdout.read(length)
    return message[0], message[1:]


def test_unknown_version_of_the_request_is_refused(tmp_path: Path) -> None:
    host = start_host(FIXTURES / "wk31" / "v1" / "wk31.py", "Wk31")
    with host:
        assert send(host, 2, (1).to_bytes(4, "little") + bytes(8))[0] == 0x82
        kind, reason = send(host, 9, numbers(1) + bytes((99, 1, 0, 0)) + numbers(0, 0, 0))
        assert kind == 0xFE and b"version 2 of searches, not 99" in reason
        # The play continues.
        assert send(host, 3, numbers(1) + bytes((4, 0, 0)))[0] == 0x82
        host.kill()


def test_validation_searches_hosted_games_in_bulk(tmp_path: Path) -> None:
    """A validation with several processes finds the same as with one."""
    flags = ["validate", "wk31", "--steps", "100", "--nodes", "60", *hosting(FIXTURES)]
    done = [
        subprocess.run(
            [str(program()), *flags, "--jobs", jobs, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        for jobs in ("1", "2")
    ]
    graphs = []
    for one in done:
        (environment,) = json.loads(one.stdout)["environments"]
        rules = {rule["rule"]: rule for rule in environment["rules"]}
        graphs.append([rules[name] for name in ("luck-proved", "wins", "dead-ends", "optimum")])
    assert graphs[0] == graphs[1]


def test_validation_with_representative_clicks_proves_nothing(tmp_path: Path) -> None:
    command = [str(program()), "validate", "ck61", "--steps", "100", "--json", *hosting(LARGE)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (environment,) = json.loads(done.stdout)["environments"]
    texts = {
        rule["rule"]: [finding["text"] for finding in rule["findings"]]
        for rule in environment["rules"]
        if rule["rule"] in ("luck-proved", "dead-ends")
    }
    assert set(texts) == {"luck-proved", "dead-ends"}
    for text in (text for found in texts.values() for text in found):
        assert "clicks: representative" in text and "stopped by" not in text and "1 in" not in text
