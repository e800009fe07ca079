"""Measures how much time of a game is spent in its own code and how much in the engine.

Time is attributed to the innermost running Python function that belongs to the game or to the
engine. Sampling is not used, because it is unreliable on a busy machine: an external sampler counts
moments in which the process does not run, and the interpreter handles signals late, often in
another function. Instead, `sys.monitoring` (Python 3.12 and newer) reports every start and end of a
function. To measure the cost of monitoring, the same work is also done without it; the difference
is subtracted.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
from collections.abc import Iterator
from typing import Any

from rhae import _native


@contextlib.contextmanager
def watched(clock: Any) -> Iterator[None]:
    """Reports the functions that are called within the block to a clock of `rhae._native`."""
    monitoring = sys.monitoring
    tool, events = monitoring.PROFILER_ID, monitoring.events
    begins = (events.PY_START, events.PY_RESUME, events.PY_THROW)
    ends = (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND)
    monitoring.use_tool_id(tool, "rhae.bench")
    try:
        for event in begins:
            monitoring.register_callback(tool, event, clock.begin)
        for event in ends:
            monitoring.register_callback(tool, event, clock.end)
        monitoring.set_events(tool, sum(begins + ends))
        yield
    finally:
        monitoring.set_events(tool, 0)
        for event in begins + ends:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


def share(clock: _native.Clock, excess: list[float]) -> float:
    """Returns the share of the game's own code in the time that a clock measured.

    `excess` contains one number for each of several rounds of the same work: the seconds that
    monitoring added to the round.
    """
    reading = clock.read()
    events = reading.game_events + reading.engine_events
    # The median is used, because other processes may have slowed some rounds.
    cost_per_event = max(0.0, statistics.median(excess)) * len(excess) / events
    own = reading.game_seconds - reading.game_events * cost_per_event
    return own / (reading.game_seconds + reading.engine_seconds - events * cost_per_event)
