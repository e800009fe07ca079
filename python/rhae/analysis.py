"""Explores levels and validates environments, with the functions behind ``rhae explore`` and ``rhae validate``.

Both functions release the interpreter lock while they work, report progress to a callback, and stop
on Ctrl-C with ``KeyboardInterrupt``. An exception of the callback stops the work and is raised.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._native import ExploreProgress, ValidateProgress
from rhae._notebook import environment_html, level_html, report_html

__all__ = [
    "ComponentCounts",
    "Evidence",
    "ExploreProgress",
    "ExploredLevel",
    "Finding",
    "RuleResult",
    "ShortestWin",
    "TerminalCounts",
    "ValidateProgress",
    "ValidatedEnvironment",
    "ValidationReport",
    "WinProbability",
    "WinWithin",
    "explore",
    "validate",
]


@dataclass(frozen=True)
class WinProbability:
    """The probability that random play wins eventually."""

    #: A proved lower bound.
    lower: float
    #: A proved upper bound.
    upper: float
    #: The exact value as a fraction such as ``"3/10"``, if it is known and short enough.
    fraction: str | None
    #: The N of "1 in N"; ``None`` if the lower bound is 0 or the bounds are far apart.
    one_in: float | None


@dataclass(frozen=True)
class WinWithin:
    """The probability that random play wins within a number of actions."""

    actions: int
    #: A proved lower bound.
    lower: float
    #: A proved upper bound.
    upper: float
    #: The N of "1 in N"; ``None`` if the lower bound is 0 or the bounds are far apart.
    one_in: float | None


@dataclass(frozen=True)
class ShortestWin:
    """A shortest win of a level."""

    length: int
    #: The number of action sequences of this length that win.
    count: int
    #: Whether ``count`` is exact. Otherwise it is a lower bound.
    all_counted: bool
    #: The actions in their short form, such as ``"1"`` or ``"6@3,9"``.
    actions: list[str]


@dataclass(frozen=True)
class TerminalCounts:
    """The number of terminal states."""

    wins: int
    losses: int


@dataclass(frozen=True)
class ComponentCounts:
    """Strongly connected components."""

    count: int
    #: The number of components with more than one state.
    cyclic: int
    largest: int
    #: The sizes of the largest components with more than one state, at most twenty.
    sizes: list[int]
    #: The number of states with an action that changes nothing.
    self_loops: int


@dataclass(frozen=True)
class ExploredLevel:
    """The result of :func:`explore`; ``docs/explore.md`` describes every field."""

    software: str
    #: The id of the environment with its version.
    game_id: str
    #: The level, counted from 1.
    level: int
    seed: int
    #: The number of states.
    nodes: int
    #: The number of transitions.
    edges: int
    #: Whether every reachable state was expanded.
    complete: bool
    #: The limit that stopped the search; ``None`` if the graph is complete.
    stopped_by: str | None
    #: How states are identified: ``"packed"`` (exactly), ``"hash-126"``, ``"frame"``,
    #: ``"frame-and-hidden"`` or ``"deep"``.
    identity: str
    #: The clicks that were searched: ``"listed"``, ``"all"`` or ``"none"``.
    clicks: str
    #: The number of states that were not expanded.
    frontier: int
    #: The share of transitions that lead to an already known state.
    merge_density: float
    max_depth: int
    #: The number of states at each depth.
    layers: list[int]
    terminals: TerminalCounts
    sccs: ComponentCounts
    #: The number of states that are not terminal and from which no win is reachable.
    dead_ends: int
    #: A shortest sequence of actions into a dead end.
    first_dead_end: list[str] | None
    shortest_win: ShortestWin | None
    p_win: WinProbability
    p_win_within: WinWithin
    #: The probability for a player who clicks any cell; known with ``all_clicks``, or without clicks.
    p_win_blind: WinProbability | None
    p_win_within_blind: WinWithin | None
    #: The number of random actions that were compared with the graph.
    checked_actions: int
    #: The duration of the search.
    seconds: float
    states_per_s: float
    peak_bytes: int
    warnings: list[str]

    def _repr_html_(self) -> str:
        """Shows the report in a notebook, with the frames of a shortest win."""
        return level_html(self)


@dataclass(frozen=True)
class Evidence:
    """A play that demonstrates a finding."""

    shows: str
    #: The actions in their short form.
    actions: list[str]


@dataclass(frozen=True)
class Finding:
    """The result of one check of a rule."""

    #: The level, counted from 1; ``None`` if the finding concerns the whole environment.
    level: int | None
    #: ``"pass"``, ``"warn"``, ``"fail"`` or ``"open"``.
    verdict: str
    text: str
    evidence: list[Evidence]


@dataclass(frozen=True)
class RuleResult:
    """The verdict on one rule."""

    rule: str
    group: str
    #: The requirement that the rule checks.
    asks: str
    #: ``"pass"``, ``"warn"``, ``"fail"`` or ``"open"``.
    verdict: str
    summary: str
    findings: list[Finding]


@dataclass(frozen=True)
class ValidatedEnvironment:
    """The results of one environment."""

    game_id: str
    #: ``"pass"``, ``"fail"``, or ``"incomplete"`` if no rule fails but something that a complete
    #: validation needs was not checked.
    verdict: str
    #: Whether ``verdict`` is ``"pass"``.
    passes: bool
    #: The number of checks.
    checks: int
    #: The number of checks that an interrupt left unfinished.
    checks_not_done: int
    #: The number of steps of each kind of random play.
    steps: int
    #: The maximum number of states of a level's graph.
    nodes: int
    #: The time spent on the environment, summed over all threads.
    work_seconds: float
    #: The levels that could not be reached, counted from 1.
    levels_not_checked: list[int]
    #: The rules that a complete validation needs and that are not decided on a reached level.
    undecided_rules: list[str]
    #: The number of rules that were not selected.
    rules_not_selected: int
    #: The results of the selected rules, and of other rules that failed.
    rules: list[RuleResult]

    def rule(self, name: str) -> RuleResult:
        """Returns the result of a rule.

        Raises:
            KeyError: There is no such rule.
        """
        for result in self.rules:
            if result.rule == name:
                return result
        raise KeyError(name)

    def _repr_html_(self) -> str:
        """Shows the rules in a notebook."""
        return environment_html(self)


@dataclass(frozen=True)
class ValidationReport:
    """The result of :func:`validate`."""

    software: str
    #: The seed of all random play.
    seed: int
    #: The seed of the environments.
    env_seed: int
    #: Whether a single win by random play fails an environment.
    strict: bool
    #: The worst verdict of the environments: ``"fail"``, else ``"incomplete"``, else ``"pass"``.
    verdict: str
    #: Whether ``verdict`` is ``"pass"``.
    passes: bool
    environments: list[ValidatedEnvironment]

    def _repr_html_(self) -> str:
        """Shows the rules of all environments in a notebook."""
        return report_html(self)


@dataclass(frozen=True)
class _ExploreRequest:
    id: str
    level: int
    seed: int
    all_clicks: bool
    within: int | None
    max_states: int
    max_edges: int
    max_depth: int | None
    seconds: float
    memory_mb: int
    jobs: int
    checks: int | None
    deep: bool


def explore(
    id: str,
    level: int = 1,
    *,
    seed: int = 0,
    all_clicks: bool = False,
    within: int | None = None,
    max_states: int = 20_000_000,
    max_edges: int = 2**32 - 1,
    max_depth: int | None = None,
    seconds: float = 60.0,
    memory_mb: int = 1024,
    jobs: int = 1,
    checks: int | None = None,
    deep: bool = False,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
    progress: Callable[[ExploreProgress], object] | None = None,
) -> ExploredLevel:
    """Searches the states of a level: its graph, its shortest win, and the probability of a random win.

    Args:
        id: The id of the environment, such as ``"kq19"`` or ``"kq19-v1"``.
        level: The level, counted from 1.
        seed: The seed of the environment.
        all_clicks: Click on all 4,096 cells instead of only those that the environment lists.
        within: Report the probability of a win within this many actions; five times the baseline if
            ``None``.
        max_states: The maximum number of states.
        max_edges: The maximum number of transitions.
        max_depth: The maximum number of actions from the start.
        seconds: The time limit for each phase: reaching the level, searching it, and analysing it.
        memory_mb: The memory limit for the graph and its analysis.
        jobs: The number of search threads, or of processes for a hosted game. The graph does not depend
            on it.
        checks: The number of random actions that check the graph; 2,000 if ``None``, or 200 for
            hosted games.
        deep: Identify states of a hosted game by its complete Python state.
        games_dir: A folder of hosted games, or several, in addition to the built-in environments.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.
        progress: Called about twenty times per second, on the calling thread.

    Raises:
        ValueError: There is no such environment or level, or an argument is invalid.
        RuntimeError: The environment fails, or the level cannot be reached.
        KeyboardInterrupt: Ctrl-C was pressed.

    Examples:
        >>> import rhae
        >>> level = rhae.explore("bx20")
        >>> level.complete, level.nodes, level.shortest_win.length
        (True, 208, 7)
        >>> level.p_win_within.upper < level.p_win.lower
        True
    """
    request = _ExploreRequest(
        id=id,
        level=level,
        seed=seed,
        all_clicks=all_clicks,
        within=within,
        max_states=max_states,
        max_edges=max_edges,
        max_depth=max_depth,
        seconds=seconds,
        memory_mb=memory_mb,
        jobs=jobs,
        checks=checks,
        deep=deep,
    )
    return _level(json.loads(_native.explore(request, games_request(games_dir, unsafe_host=unsafe_host), progress)))


@dataclass(frozen=True)
class _ValidateRequest:
    ids: list[str]
    seed: int
    env_seed: int
    steps: int | None
    strict: bool
    rules: list[str]
    jobs: int
    max_states: int | None
    deep: bool
    verify: list[str]


def validate(
    *ids: str,
    seed: int = 0,
    env_seed: int = 0,
    steps: int | None = None,
    strict: bool = False,
    rules: Sequence[str] = (),
    jobs: int | None = None,
    max_states: int | None = None,
    deep: bool = False,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
    progress: Callable[[ValidateProgress], object] | None = None,
) -> ValidationReport:
    """Checks environments against all rules: structure, laws, luck, robustness, solvability and design.

    Args:
        ids: The ids of the environments. If there are none, all games of ``games_dir``, or all
            built-in environments if it is not given.
        seed: The seed of all random play.
        env_seed: The seed of the environments.
        steps: The number of steps of each kind of random play; 1,000,000 if ``None``, or 20,000 for
            hosted games.
        strict: Fail an environment for any win of random play, as in the paper.
        rules: The names of the rules to check; all rules if it is empty. A validation without all
            rules is incomplete.
        jobs: The number of checks that run in parallel; one per processor if ``None``.
        max_states: The maximum number of states of a level's graph; 1,000,000 if ``None``, or 2,000
            for hosted games.
        deep: Identify states of hosted games by their complete Python state.
        games_dir: A folder of hosted games, or several.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.
        progress: Called about twenty times per second, on the calling thread.

    Raises:
        ValueError: There is no such environment, or an argument is invalid.
        RuntimeError: The system cannot run hosted games.
        KeyboardInterrupt: Ctrl-C was pressed.

    Examples:
        >>> import rhae
        >>> report = rhae.validate("bx20", steps=500, max_states=2_000)
        >>> report.environments[0].rule("wins").verdict
        'pass'

        So few steps do not show whether random play wins:

        >>> report.verdict, report.environments[0].undecided_rules
        ('incomplete', ['luck-levels'])
    """
    games = games_request(games_dir, unsafe_host=unsafe_host)
    verify = [sys.executable, "-P", "-m", "rhae._verify"]
    for folder in games.folders:
        verify += ["--games-dir", folder]
    if unsafe_host:
        verify.append("--unsafe-host")
    request = _ValidateRequest(
        ids=list(ids),
        seed=seed,
        env_seed=env_seed,
        steps=steps,
        strict=strict,
        rules=list(rules),
        jobs=os.cpu_count() or 1 if jobs is None else jobs,
        max_states=max_states,
        deep=deep,
        verify=verify,
    )
    return _report(json.loads(_native.validate(request, games, progress)))


def _level(data: dict[str, Any]) -> ExploredLevel:
    win, blind, within_blind = data["shortest_win"], data["p_win_blind"], data["p_win_within_blind"]
    parts = {
        "terminals": TerminalCounts(**data["terminals"]),
        "sccs": ComponentCounts(**data["sccs"]),
        "shortest_win": None if win is None else ShortestWin(**win),
        "p_win": WinProbability(**data["p_win"]),
        "p_win_within": WinWithin(**data["p_win_within"]),
        "p_win_blind": None if blind is None else WinProbability(**blind),
        "p_win_within_blind": None if within_blind is None else WinWithin(**within_blind),
    }
    return ExploredLevel(**{**data, **parts})


def _report(data: dict[str, Any]) -> ValidationReport:
    def finding(found: dict[str, Any]) -> Finding:
        evidence = [Evidence(piece["shows"], piece["actions"].split()) for piece in found["evidence"]]
        return Finding(found["level"], found["verdict"], found["text"], evidence)

    def rule(result: dict[str, Any]) -> RuleResult:
        return RuleResult(**{**result, "findings": [finding(found) for found in result["findings"]]})

    environments = [
        ValidatedEnvironment(**{**one, "rules": [rule(result) for result in one["rules"]]}) for one in data["environments"]
    ]
    return ValidationReport(
        software=data["software"],
        seed=data["seed"],
        env_seed=data["env_seed"],
        strict=data["strict"],
        verdict=data["verdict"],
        passes=data["passes"],
        environments=environments,
    )
