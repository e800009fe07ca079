"""Runs agents on environments, with the functions behind the command ``rhae run``.

:func:`run` releases the interpreter lock while agents play, reports progress to a callback, and stops
on Ctrl-C: partial results are written, then ``KeyboardInterrupt`` is raised. An exception of the
callback stops the run in the same way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rhae import _native
from rhae._hosting import GamesDir, games_request
from rhae._native import RunProgress
from rhae._notebook import page_frame

__all__ = [
    "EnvironmentScore",
    "ModelUsage",
    "RunProgress",
    "RunResults",
    "RunScore",
    "RunSummary",
    "Scorecard",
    "SummaryEnvironment",
    "TagScore",
    "ValidResults",
    "run",
]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class ModelUsage:
    """The usage of language models, as their providers report it."""

    #: Requests that were sent, including failed ones.
    calls: int
    #: Input tokens, including cached ones.
    input_tokens: int
    #: Input tokens that were read from a cache.
    cached_tokens: int
    #: Output tokens, including reasoning.
    output_tokens: int
    #: Output tokens that were reasoning.
    reasoning_tokens: int
    #: Requests that were cut off and may have consumed more than was counted.
    uncounted: int
    #: Cost in US dollars; ``None`` if no prices are known.
    cost_usd: float | None = None
    #: The maximum additional cost of the uncounted requests in US dollars; ``None`` if no request is
    #: uncounted or the cost has no bound.
    possibly_paid_usd: float | None = None


@dataclass(frozen=True)
class RunScore:
    """The score of one run of an environment. A full reset starts another run."""

    #: The id of the environment with its version.
    id: str
    #: The id of the play.
    guid: str
    #: The score in percent.
    score: float
    levels_completed: int
    #: The number of actions, including level resets.
    actions: int
    #: The number of actions that changed nothing.
    unchanged_actions: int
    #: The number of level resets.
    resets: int
    #: ``"NOT_FINISHED"``, ``"WIN"`` or ``"GAME_OVER"``.
    state: str
    #: Whether the run was won.
    completed: bool
    #: The score of each level in percent.
    level_scores: list[float]
    #: The number of actions on each level.
    level_actions: list[int]
    #: The baseline of each level; -1 if unknown.
    level_baseline_actions: list[int]
    #: The number of levels of the environment.
    number_of_levels: int
    #: Always 1: a run belongs to one environment.
    number_of_environments: int
    #: Why the run ended, such as ``"won"``, ``"budget"``, ``"stopped"``, ``"timeout"``,
    #: ``"failed"`` (the agent), ``"environment failed"`` or ``"interrupted"``.
    ending: str | None = None
    #: The error of the agent or of the environment, if there was one.
    message: str | None = None
    #: The model usage on each level.
    level_spent: list[ModelUsage] = field(default_factory=list)


@dataclass(frozen=True)
class EnvironmentScore:
    """The score of one environment on a scorecard."""

    #: The id of the environment with its version.
    id: str
    #: The runs of the environment; never empty.
    runs: list[RunScore]
    #: The score of the best run in percent.
    score: float
    #: The number of actions of all runs.
    actions: int
    #: The highest number of levels that a run completed.
    levels_completed: int
    #: Whether a run was won.
    completed: bool
    #: The number of levels of the environment.
    level_count: int
    #: The number of level resets of all runs.
    resets: int
    #: The source of the baseline of each level.
    baseline_source: list[str]
    #: The digests of the sources that were played; empty for a built-in environment.
    source_digests: list[str] = field(default_factory=list)
    spent: ModelUsage | None = None


@dataclass(frozen=True)
class TagScore:
    """The score of the environments on a scorecard that share a tag."""

    #: The tag.
    id: str
    #: The mean over the environments with this tag, in percent.
    score: float
    levels_completed: int
    actions: int
    number_of_levels: int
    number_of_environments: int


@dataclass(frozen=True)
class Scorecard:
    """The results of one repeat, with the fields of the REST API."""

    card_id: str
    #: The mean over the environments in percent.
    score: float
    #: The name of the scoring method.
    method: str
    #: The name and version of the software that made the card.
    software: str
    tags: list[str]
    environments: list[EnvironmentScore]
    tags_scores: list[TagScore]
    #: The number of environments with a won run.
    total_environments_completed: int
    total_environments: int
    total_levels_completed: int
    total_levels: int
    total_actions: int
    source_url: str | None = None
    opaque: Any = None
    competition_mode: bool | None = None
    spent: ModelUsage | None = None


@dataclass(frozen=True)
class ValidResults:
    """The total over the valid results of a run. A result is the play of one environment on one
    scorecard. It is valid if the play ended, the environment did not fail, and the environment has
    the baselines that its score needs."""

    #: The mean score of the valid results in percent; ``None`` if there are none.
    score: float | None
    #: The number of valid results.
    n: int
    #: The number of all results.
    of: int


@dataclass(frozen=True)
class SummaryEnvironment:
    """One environment in the summary of a run."""

    #: The id of the environment with its version.
    game_id: str
    #: The mean score over the scorecards in percent.
    score: float
    #: The mean number of completed levels.
    levels_completed: float
    #: The number of levels of the environment.
    levels: int
    #: The mean number of actions.
    actions: float
    #: The baseline of each level.
    baseline_actions: list[int]
    #: The source of each baseline.
    baseline_source: list[str]
    #: How the play on each scorecard ended, such as ``"won"`` or ``"budget"``.
    endings: list[str]
    spent: ModelUsage | None = None


@dataclass(frozen=True)
class RunSummary:
    """The summary of a run, with the fields that ``rhae run --json`` prints."""

    software: str
    run_id: str
    #: The name of the agent.
    agent: str
    #: The seed of the agent in the first repeat.
    seed: int
    #: The name of the scoring method.
    method: str
    #: The action budget of each play.
    budget: str
    #: The mean score of the scorecards in percent. A missing result counts as 0.
    score: float
    #: The score of each scorecard in percent.
    card_scores: list[float]
    #: Whether all plays ended. ``False`` if a limit stopped the run.
    finished: bool
    #: The number of plays that ended as ``"failed"``, because the agent failed.
    failed_plays: int
    #: Whether any baseline was computed by a solver instead of derived from plays by people.
    provisional_baselines: bool
    environments: list[SummaryEnvironment]
    #: The path of the run folder.
    folder: str
    #: The path of the HTML report.
    report: str
    #: The working time of all processes of the run.
    seconds: float
    #: Half the width of the 95 % interval of ``score`` in percentage points; ``None`` for one card.
    score_half_width: float | None = None
    #: The 95 % interval of ``score`` in percent, between 0 and 100; ``None`` for one card.
    score_interval: list[float] | None = None
    #: The total over the valid results.
    valid_results: ValidResults | None = None
    #: The number of plays that ended as ``"environment failed"``.
    failed_environments: int = 0
    spent: ModelUsage | None = None
    #: The provider of the model that played, if one did.
    provider: str | None = None
    #: The start of the run as a Unix time in milliseconds.
    started_ms: int | None = None
    #: The end of the run as a Unix time in milliseconds.
    ended_ms: int | None = None
    name: str | None = None
    tags: list[str] = field(default_factory=list)
    note: str | None = None
    #: The commit of the git repository in which the run was started.
    git_commit: str | None = None
    #: The digests of the sources of hosted games, by id.
    source_digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunResults:
    """The result of :func:`run`."""

    summary: RunSummary
    #: One scorecard for each repeat.
    cards: list[Scorecard]

    def _repr_html_(self) -> str | None:
        """Shows the report in a notebook; ``None`` if the file is gone."""
        try:
            return page_frame(Path(self.summary.report).read_text(encoding="utf-8"))
        except OSError:
            return None


@dataclass(frozen=True)
class _Arguments:
    agent: str | None
    agent_cmd: str | None
    games: str | None
    seed: int | None
    env_seed: int | None
    repeat: int | None
    budget: str | None
    method: str | None
    step_timeout: float | None
    task_timeout: float | None
    run_timeout: float | None
    jobs: int | None
    out: _Path | None
    name: str | None
    tags: list[str]
    note: str | None
    server: str | None
    key: str | None
    competition: bool
    resume: _Path | None
    models: _Path | None
    max_cost: float | None
    rate_limit: str | None
    timeout: float | None
    keep_reasoning: bool
    context_tokens: int | None
    prompts: _Path | None


#: The arguments that may be given with ``resume``. A resumed run takes the others from its folder.
_RESUMABLE = {
    "agent_cmd",
    "jobs",
    "key",
    "max_cost",
    "models",
    "rate_limit",
    "resume",
    "run_timeout",
    "server",
    "task_timeout",
    "timeout",
}


def run(
    agent: str | None = None,
    *,
    agent_cmd: str | None = None,
    games: str | Iterable[str] | None = None,
    seed: int | None = None,
    env_seed: int | None = None,
    repeat: int | None = None,
    budget: str | int | None = None,
    method: str | None = None,
    step_timeout: float | None = None,
    task_timeout: float | None = None,
    run_timeout: float | None = None,
    jobs: int | None = None,
    out: _Path | None = None,
    name: str | None = None,
    tags: Iterable[str] = (),
    note: str | None = None,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
    server: str | None = None,
    key: str | None = None,
    competition: bool = False,
    models: _Path | None = None,
    max_cost: float | None = None,
    rate_limit: str | float | None = None,
    timeout: float | None = None,
    keep_reasoning: bool = False,
    context_tokens: int | None = None,
    prompts: _Path | None = None,
    resume: _Path | None = None,
    progress: Callable[[RunProgress], object] | None = None,
) -> RunResults:
    """Runs an agent on environments and writes scorecards, recordings and a report into a folder.

    An argument that is ``None`` has the default of the command ``rhae run``, which ``rhae run
    --help`` and ``docs/reference/cli.md`` list. Notes about the run are issued as warnings.

    Args:
        agent: A built-in agent such as ``"explorer"`` or ``"random"``, ``"model:NAME"``,
            another agent with a model such as ``"rgb:NAME"``, or ``"replay:FILE"``.
        agent_cmd: The shell command of an agent that exchanges JSON lines, instead of ``agent``.
        games: The ids of the environments, or ``"all"``; the games of ``games_dir`` or, without such a
            folder, all environments if ``None``.
        seed: The seed of the agent; each further repeat uses the next number.
        env_seed: The seed of the environments.
        repeat: The number of scorecards. The score is their mean.
        budget: The action limit: ``"5x"`` (five times the baseline on each level), a number for the
            whole play, or ``"none"``.
        method: The scoring method.
        step_timeout: The time limit of the agent for one action, in seconds.
        task_timeout: The time limit of one play, from its start, in seconds.
        run_timeout: The time limit of the run in seconds, including the time before it was
            interrupted. A run that reaches it returns with ``summary.finished`` false.
        jobs: The number of concurrent plays.
        out: The run folder, which must be empty or not exist.
        name: A name of the run, for ``rhae runs list``.
        tags: Tags of the run.
        note: A note about the run.
        games_dir: A folder of hosted games, or several, in addition to the built-in environments.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.
        server: The address of a server of the ARC-AGI-3 API, to run there instead of locally.
        key: The API key of the server; the environment variable ``ARC_API_KEY`` if ``None``.
        competition: Open the server's scorecards in competition mode.
        models: The configuration file of the models, for ``agent="model:NAME"``.
        max_cost: The maximum cost of the run in US dollars.
        rate_limit: The maximum rate of requests to the model: ``"5/s"``, ``"300/min"``, or a number
            per second.
        timeout: The time limit for one request to the model, retries included, in seconds.
        keep_reasoning: Send the provider's reasoning back with the conversation.
        context_tokens: Drop the oldest turns of a conversation beyond this many tokens.
        prompts: A folder with files ``AGENT/NAME.md`` that replace the prompts of an agent with tools.
        resume: The folder of an interrupted run, to continue it. Only ``task_timeout``,
            ``run_timeout``, ``jobs``, ``games_dir``, ``unsafe_host``, ``key``, ``models``,
            ``max_cost``, ``rate_limit``, ``timeout`` and ``progress`` may be given with it. If other
            users can change the folder, ``agent_cmd`` and ``server`` of the run must be repeated.
        progress: Called about twenty times per second, on the calling thread.

    Raises:
        ValueError: An argument is invalid, or does not fit the others.
        OSError: A file cannot be read or written, or the server does not respond
            (``ConnectionError``).
        RuntimeError: The run cannot be executed, for example because another process uses its
            folder. Failures of agents and environments are results, not errors.
        KeyboardInterrupt: Ctrl-C was pressed. Partial results are written; a note of the exception
            names the folder, and ``rhae.run(resume=folder)`` continues the run.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import rhae
        >>> temp = tempfile.TemporaryDirectory()
        >>> results = rhae.run("random", games=["kq19", "bx20"], budget=50, seed=7, out=Path(temp.name) / "run")
        >>> [(one.game_id, one.actions, one.endings) for one in results.summary.environments]
        [('kq19-v1', 50.0, ['budget']), ('bx20-v1', 50.0, ['budget'])]
        >>> results.summary.finished, len(results.cards)
        (True, 1)
        >>> Path(results.summary.report).is_file()
        True
        >>> temp.cleanup()
    """
    arguments = _Arguments(
        agent=agent,
        agent_cmd=agent_cmd,
        games=games if games is None or isinstance(games, str) else ",".join(_strings("games", games)),
        seed=seed,
        env_seed=env_seed,
        repeat=repeat,
        budget=None if budget is None else str(budget),
        method=method,
        step_timeout=step_timeout,
        task_timeout=task_timeout,
        run_timeout=run_timeout,
        jobs=jobs,
        out=out,
        name=name,
        tags=_strings("tags", tags),
        note=note,
        server=server,
        key=key,
        competition=competition,
        resume=resume,
        models=models,
        max_cost=max_cost,
        rate_limit=None if rate_limit is None else str(rate_limit),
        timeout=timeout,
        keep_reasoning=keep_reasoning,
        context_tokens=context_tokens,
        prompts=prompts,
    )
    if resume is not None:
        given = [f"`{name}`" for name, value in vars(arguments).items() if name not in _RESUMABLE and not _is_default(value)]
        if given:
            raise ValueError(f"a resumed run takes its settings from its folder; omit {', '.join(given)}")
    return _results(json.loads(_native.run(arguments, games_request(games_dir, unsafe_host=unsafe_host), progress)))


def _is_default(value: object) -> bool:
    return value is None or value is False or value == []


def _strings(argument: str, values: Iterable[str]) -> list[str]:
    """Returns the strings of a list. An error about another value names the argument."""
    if isinstance(values, str):
        raise ValueError(f"`{argument}` must be a list of strings, found the string {values!r}")
    if not isinstance(values, Iterable):
        raise TypeError(f"`{argument}` must be a list of strings, found {values!r}")
    strings = list(values)
    for value in strings:
        if not isinstance(value, str):
            raise TypeError(f"`{argument}` must contain strings, found {value!r}")
    return strings


def _usage(data: dict[str, Any] | None) -> ModelUsage | None:
    return None if data is None else ModelUsage(**data)


def _results(data: dict[str, Any]) -> RunResults:
    def run_score(one: dict[str, Any]) -> RunScore:
        return RunScore(**{**one, "level_spent": [ModelUsage(**level) for level in one.get("level_spent", [])]})

    def environment_score(one: dict[str, Any]) -> EnvironmentScore:
        parts = {"runs": [run_score(run) for run in one["runs"]], "spent": _usage(one.get("spent"))}
        return EnvironmentScore(**{**one, **parts})

    def card(one: dict[str, Any]) -> Scorecard:
        parts = {
            "environments": [environment_score(environment) for environment in one["environments"]],
            "tags_scores": [TagScore(**tag) for tag in one["tags_scores"]],
            "spent": _usage(one.get("spent")),
        }
        return Scorecard(**{**one, **parts})

    summary = data["summary"]
    environments = [SummaryEnvironment(**{**one, "spent": _usage(one.get("spent"))}) for one in summary["environments"]]
    valid = summary.get("valid_results")
    parts = {
        "environments": environments,
        "spent": _usage(summary.get("spent")),
        "valid_results": None if valid is None else ValidResults(**valid),
    }
    return RunResults(
        summary=RunSummary(**{**summary, **parts}),
        cards=[card(one) for one in data["cards"]],
    )
