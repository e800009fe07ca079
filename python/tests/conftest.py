"""Reports skipped tests, and tests that run in a short form, to `cargo xtask test`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


def record(kind: str, test: str, reason: str) -> None:
    """Appends a line to the file named by `RHAE_SKIP_REPORT`, if it is set."""
    report = os.environ.get("RHAE_SKIP_REPORT")
    if report:
        with Path(report).open("a") as file:
            file.write(json.dumps({"kind": kind, "test": f"python {test}", "reason": reason}) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Reports a test that was skipped while it ran."""
    if report.skipped:
        record("missing", report.nodeid, reason_of(report))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Reports a module that was skipped while it was collected."""
    if report.skipped:
        record("missing", report.nodeid, reason_of(report))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reports the tests that have a long form and run in their short form."""
    if os.environ.get("RHAE_FULL"):
        return
    for item in items:
        mark = item.get_closest_marker("short_form")
        if mark is not None:
            record("short", item.nodeid.split("[")[0], mark.args[0])


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Returns the reason of a skipped test."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")
