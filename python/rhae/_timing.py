"""Whose the time of a game is: the game's own code's or the engine's.

It belongs to the innermost Python function that is either's. Samples would do, but on a machine whose host is busy they are not
worth much: a program that looks from outside sees a moment in which the host runs something else many times, and the
interpreter's own signals are handled late, often in another function. So the beginnings and ends of all functions are counted
(`sys.monitoring`, Python 3.12 and newer), and what that takes is measured against the same work unwatched and taken off again.
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
    """Lets a clock of `rhae._native` see the functions that are called meanwhile."""
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
    """The share of the game's own code in what a clock watched in rounds of equal work, each of which took longer by so many seconds."""
    (own, own_events), (engine, engine_events) = clock.read()
    events = own_events + engine_events
    # The middle one: a round during which the host ran something else says nothing about the clock.
    an_event = max(0.0, statistics.median(excess)) * len(excess) / events
    return (own - own_events * an_event) / (own + engine - events * an_event)
