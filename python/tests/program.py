"""Runs the program `rhae` and its server, as a user does."""

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
    """Returns the path of the program.

    Without a build the test fails, or is skipped if the environment variable `RHAE_SKIP_MISSING`
    is set.
    """
    path = Path(os.environ.get("RHAE_PROGRAM", ROOT / "target" / "release" / "rhae"))
    if not path.is_file():
        why = f"this test needs the program {path}, which `cargo xtask test` builds"
        if os.environ.get("RHAE_SKIP_MISSING"):
            pytest.skip(why)
        pytest.fail(f"{why}; set RHAE_SKIP_MISSING=1 to skip the test")
    return path


def hosting(folder: Path) -> list[str]:
    """Returns the flags to host a folder of games with this interpreter, which has both engines."""
    return ["--games-dir", str(folder), "--python", sys.executable, "--host-seconds", "60"]


def rhae(at: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    """Runs the program in a folder and returns its output. Its exit code must be one of `codes`."""
    done = subprocess.run([program(), *arguments], cwd=at, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in codes, done.stderr
    return done.stdout


def rhae_json(at: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
    """Runs the program with `--json` and returns the parsed output."""
    return json.loads(rhae(at, *arguments, "--json", codes=codes))


@contextlib.contextmanager
def serving(at: Path, folder: Path) -> Iterator[str]:
    """Runs a server of a folder of games and yields its address."""
    command = [str(program()), "serve", "--addr", "127.0.0.1:0", *hosting(folder)]
    with subprocess.Popen(command, cwd=at, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            assert line.startswith("listening at "), line
            yield line.split()[2]
        finally:
            server.kill()
