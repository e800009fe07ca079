"""HTML for notebooks."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rhae import _native
from rhae._hosting import games_request
from rhae.pictures import png

if TYPE_CHECKING:
    from rhae.analysis import ExploredLevel, ValidatedEnvironment, ValidationReport

#: The maximum number of actions of a shortest win that are shown as pictures.
SHOWN_ACTIONS = 32
_COLORS = {"pass": "#2e7d32", "warn": "#b26a00", "fail": "#c62828", "open": "#616161", "incomplete": "#616161"}


def page_frame(page: str, height: int = 640) -> str:
    """Returns a whole page as an element of a notebook.

    The page runs in a sandbox without access to the notebook.
    """
    source = html.escape(page, quote=True)
    return f'<iframe sandbox="allow-scripts" style="width: 100%; border: 0" height="{height}" srcdoc="{source}"></iframe>'


def table(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """Returns rows as an HTML table. Missing values are shown as an empty cell."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_text(row[name])}</td>" for name in columns) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return html.escape(f"{value:.2f}" if isinstance(value, float) else str(value))


def level_html(level: ExploredLevel) -> str:
    """Returns the report of a level: its first frame, its numbers and the frames of a shortest win."""
    win, within = level.shortest_win, level.p_win_within
    complete = "complete" if level.complete else f"stopped by {level.stopped_by}"
    facts = {
        "states": f"{level.nodes:,} ({complete})",
        "transitions": f"{level.edges:,}",
        "wins and losses": f"{level.terminals.wins:,} and {level.terminals.losses:,} states",
        "dead ends": f"{level.dead_ends:,} states",
        "shortest win": "none was found" if win is None else f"{win.length} actions: {' '.join(win.actions)}",
        f"random play wins within {within.actions} actions": _interval(within.lower, within.upper),
        "random play wins eventually": _interval(level.p_win.lower, level.p_win.upper),
    }
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in facts.items())
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in level.warnings)
    title = f"<h4>{html.escape(level.game_id)}, level {level.level}, seed {level.seed}</h4>"
    return f"{title}<table>{rows}</table>{notes}{_film(level)}"


def _interval(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _film(level: ExploredLevel) -> str:
    """Returns a picture of the first frame and of the settled frames of a shortest win."""
    try:
        games = _native.GameSet(games_request(None))
        play = games.open(level.game_id, level.seed, True, level.level)
    except ValueError:
        # A hosted game, whose process has ended.
        return ""
    frames = [play.observe().frames[-1]]
    actions = [] if level.shortest_win is None else level.shortest_win.actions
    for action in actions[:SHOWN_ACTIONS]:
        number, _, cell = action.partition("@")
        x, y = (int(part) for part in cell.split(",")) if cell else (0, 0)
        shown = play.act(int(number), x, y).frames
        # The last frame after a win is the first of the next level.
        frames.append(shown[-2] if len(shown) > 1 and play.levels_completed >= level.level else shown[-1])
    data = base64.b64encode(png(np.stack(frames), zoom=2, columns=8)).decode()
    return f'<img alt="the first frame and those of a shortest win" src="data:image/png;base64,{data}">'


def report_html(report: ValidationReport) -> str:
    """Returns a table of rules for each environment, with the findings that are no passes."""
    return "".join(map(environment_html, report.environments))


def environment_html(environment: ValidatedEnvironment) -> str:
    """Returns a table of the rules of an environment."""
    rows = []
    for rule in environment.rules:
        findings = "".join(
            f"<li>{_level_name(finding.level)}{html.escape(finding.text)}</li>"
            for finding in rule.findings
            if finding.verdict != "pass"
        )
        found = f"<ul>{findings}</ul>" if findings else ""
        cells = f"<td>{html.escape(rule.rule)}</td><td>{_verdict(rule.verdict)}</td>"
        rows.append(f'<tr>{cells}<td style="text-align: left">{html.escape(rule.summary)}{found}</td></tr>')
    head = "<thead><tr><th>rule</th><th>verdict</th><th>summary</th></tr></thead>"
    title = f"<h4>{html.escape(environment.game_id)}: {_verdict(environment.verdict)}</h4>"
    return f"{title}<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _level_name(level: int | None) -> str:
    return "" if level is None else f"level {level}: "


def _verdict(verdict: str) -> str:
    return f'<b style="color: {_COLORS.get(verdict, "inherit")}">{html.escape(verdict)}</b>'
