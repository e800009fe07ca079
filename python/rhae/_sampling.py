"""Whose the time of a game on the original engine is: the game's own code's or the engine's.

The innermost Python frame that belongs to either says it. Where py-spy is installed beside the interpreter, it looks at the
running process from outside. Otherwise the interpreter's own signals do, which are handled only where a function begins, ends
or is called: what operators on arrays take is then often put down to the wrong one.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path

#: How often py-spy looks, in a second.
RATE = 500
_ENGINE = tuple(f"arcengine/{part}.py:" for part in ("base_game", "camera", "enums", "interfaces", "level", "sprites"))


def sampler() -> str | None:
    """The program py-spy, beside the interpreter or on the path."""
    return shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")


def from_outside(program: str, path: Path, seconds: float) -> float:
    """The share of the game's own code as py-spy sees it, while another process plays the game for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        stacks = Path(folder) / "stacks"
        spy = [program, "record", "--rate", str(RATE), "--nonblocking", "--format", "raw", "--output", str(stacks)]
        play = [sys.executable, "-P", "-m", "rhae.bench", "--play", str(path), "--seconds", str(seconds)]
        subprocess.run([*spy, "--", *play], check=True, capture_output=True)
        return _share(stacks.read_text(encoding="utf-8"), path.name)


def _share(stacks: str, file: str) -> float:
    """Each line is a stack, from the outermost frame, and how often it was seen."""
    own = engine = 0
    for line in stacks.splitlines():
        frames, _, count = line.rpartition(" ")
        if "perform_action" not in frames:
            continue
        for frame in reversed(frames.split(";")):
            if f"{file}:" in frame and "arcengine/" not in frame:
                own += int(count)
                break
            if any(part in frame for part in _ENGINE):
                engine += int(count)
                break
    return own / max(1, own + engine)


def from_inside(file: str, engine: str, play: Callable[[], bool]) -> float:
    """The share of the game's own code as signals see it, while `play` is called until it says that it is enough."""
    counts = [0, 0]

    def sample(_number: int, frame: types.FrameType | None) -> None:
        while frame is not None:
            name = frame.f_code.co_filename
            if name == file or name.startswith(engine):
                counts[name == file] += 1
                return
            frame = frame.f_back

    before = signal.signal(signal.SIGPROF, sample)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        while not play():
            pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return counts[1] / max(1, sum(counts))
