"""The program `rhae`, as a user runs it, and a server of it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "games"
EXAMPLES = ROOT / "python" / "examples" / "games"


def program() -> Path:
    """The program; the test fails, or is left out where that is allowed, if it is not built."""
    path = Path(os.environ.get("RHAE_PROGRAM", ROOT / "target" / "release" / "rhae"))
    if not path.is_file():
        why = f"this test needs the program {path}, which `cargo xtask test` builds"
        if os.environ.get("RHAE_SKIP_MISSING"):
            pytest.skip(why)
        pytest.fail(f"{why}; RHAE_SKIP_MISSING=1 leaves the test out")
    return path


def hosting(folder: Path) -> list[str]:
    """The flags that lead to a folder of games, run by this interpreter, in which both engines are installed."""
    return ["--games-dir", str(folder), "--python", sys.executable, "--host-seconds", "60"]


def rhae(at: Path, *arguments: str) -> str:
    """Runs the program in a folder and gives what it printed."""
    done = subprocess.run([program(), *arguments], cwd=at, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rhae_json(at: Path, *arguments: str) -> Any:
    """Runs the program with `--json` and reads what it printed."""
    return json.loads(rhae(at, *arguments, "--json"))


@contextlib.contextmanager
def serving(at: Path, folder: Path) -> Iterator[str]:
    """A server of a folder of games, by its address."""
    command = [program(), "serve", "--addr", "127.0.0.1:0", *hosting(folder)]
    with subprocess.Popen(command, cwd=at, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line.startswith("listening at "), line
            yield line.split()[2]
        finally:
            server.kill()
