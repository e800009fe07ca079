"""HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any


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
