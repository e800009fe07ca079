"""The Python code in the documentation runs.

The blocks of a page run in one process, one after the other, as a reader would type them. A comment
`<!-- needs: torch -->` before a block names packages that are not installed with `rhae`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium")

import rhae

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?:<!-- needs: (?P<needs>[^>]*) -->\n)?```python\n(?P<code>.*?)```", re.DOTALL)
#: What exists before a reader gets to the blocks of a page.
BEFORE = {
    "training.md": "",
    "python.md": """
import rhae
rhae.run("explorer", games=["kq19"], budget="20", out="runs/explorer")
rhae.run("random", games=["kq19"], budget="20", out="runs/random")
""",
}
#: The blocks of `python.md` that need a server, an account or the packages of others.
LEFT_OUT = ("rhae.trackers.to_", "from arc_agi import")


def blocks(page: str) -> list[tuple[set[str], str]]:
    """Returns the needed packages and the code of each block."""
    text = (ROOT / "docs" / page).read_text()
    found = [(match["needs"] or "", match["code"]) for match in BLOCK.finditer(text)]
    return [({name.strip() for name in needs.split(",") if name.strip()}, code) for needs, code in found]


def program(page: str) -> str:
    """Returns the code of a page, without the blocks whose packages are missing."""
    code = [BEFORE[page]]
    for needs, block in blocks(page):
        present = all(importlib.util.find_spec(name) for name in needs)
        if present and not any(text in block for text in LEFT_OUT):
            code.append(block)
    return "\n".join(code)


@pytest.mark.parametrize("page", BEFORE)
def test_code_of_the_page_runs(page: str, tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to(ROOT / "python")
    recorded = tmp_path / "recorded"
    rhae.run("random", games=["kq19"], budget="10", out=recorded)
    recording = next((recorded / "recordings").glob("*.jsonl"))
    for name in ("play", "a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(recording.read_bytes())
    env = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": "/tmp"}
    file = tmp_path / "page.py"
    file.write_text(program(page))
    done = subprocess.run([sys.executable, "-P", str(file)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_only_blocks_with_large_packages_are_left_out() -> None:
    needs = [names for page in BEFORE for names, _ in blocks(page) if names]
    assert needs == [{"torch", "jax"}, {"ray"}]


def test_training_page_names_the_environments_with_seeds() -> None:
    text = (ROOT / "docs" / "training.md").read_text()
    named = re.search(r"^Other seeds change the levels of (.*?)\.$", text, re.MULTILINE | re.DOTALL)
    assert named is not None
    seeded = [game["game_id"][:4] for game in json.loads(rhae._native.games()) if rhae.make(game["game_id"]).seeded]
    assert re.findall(r"[a-z0-9]{4}", named[1].replace(" and ", " ")) == seeded
