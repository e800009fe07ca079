"""Comparisons of finished runs, and their display in notebooks."""

import csv
import json
import subprocess
from pathlib import Path

import pytest
from program import program

import rhae


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the folders of two runs of the random agent with different seeds."""
    folder = tmp_path_factory.mktemp("runs")
    folders = [str(folder / str(seed)) for seed in (1, 2)]
    for seed, out in zip((1, 2), folders, strict=True):
        rhae.run("random", games=["bx20", "ym39"], budget=400, seed=seed, out=out)
    return folders


def test_comparison_equals_that_of_the_command(runs: list[str]) -> None:
    comparison = rhae.compare(*runs, seen=["bx20"])
    command = [str(program()), "compare", *runs, "--seen", "bx20"]

    def printed(*flags: str) -> str:
        return subprocess.run([*command, *flags], check=True, capture_output=True, text=True).stdout

    assert comparison.data == json.loads(printed("--json"))
    assert comparison.to_csv() == printed("--csv")
    assert len(list(csv.DictReader(comparison.to_csv().splitlines()))) == 2 * (1 + 8), (
        "a line for each environment and each level"
    )


def test_page_has_replays_if_they_are_asked_for(runs: list[str], tmp_path: Path) -> None:
    comparison = rhae.compare(*runs)
    file = tmp_path / "comparison.html"
    subprocess.run([program(), "compare", *runs, "--html", str(file)], check=True, capture_output=True)
    assert comparison.to_html() == file.read_text(encoding="utf-8")
    assert len(comparison.to_html(replays=False)) < len(comparison.to_html())


def test_results_are_shown_in_notebooks(runs: list[str]) -> None:
    shown = rhae.compare(*runs)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"') and shown.endswith("</iframe>")
    assert '"' not in shown.split('srcdoc="')[1].removesuffix('"></iframe>'), "the page is escaped"
    table = rhae.load_runs(*runs)._repr_html_()
    assert table.count("<tr>") == 3 and "<td>random, seed 1</td>" in table
    results = rhae.run(resume=runs[0])
    report = results._repr_html_()
    assert report is not None and "&lt;html" in report
    Path(results.summary.report).unlink()
    assert results._repr_html_() is None


def test_invalid_comparisons_raise_value_error(runs: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a comparison needs two or more runs, and 1 was given"):
        rhae.compare(runs[0])
    other = str(tmp_path / "other")
    rhae.run("random", games="ym39", budget=20, out=other)
    with pytest.raises(ValueError, match=r"(?s)not comparable.*or add `force` to compare them anyway"):
        rhae.compare(runs[0], other)
    assert rhae.compare(runs[0], other, force=True).data["forced"]
    with pytest.raises(ValueError, match="`kq19` in `seen` is not an environment of the runs"):
        rhae.compare(*runs, seen=["kq19"])
