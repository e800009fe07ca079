"""The public API: names, signatures, and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("gymnasium")

import rhae
from rhae.agents import swarm
from rhae.gym import Environment, VectorEnvironment

#: Modules that run as programs, and the extension module, whose docstrings are Rust comments.
SKIPPED = {"rhae.host", "rhae._native"}
#: Docstrings that must contain an example.
DOCUMENTED = [
    "rhae",
    "rhae.agents.Agent",
    "rhae.agents.swarm",
    "rhae.arcade.Arcade",
    "rhae.arcengine",
    "rhae.arcengine.install",
    "rhae.arcengine.base_game.ARCBaseGame.clone",
    "rhae.comparison.compare",
    "rhae.environment.Environment.action_masks",
    "rhae.environment.Environment.render",
    "rhae.environment.Environment.reset",
    "rhae.environment.Environment.restore",
    "rhae.environment.Environment.snapshot",
    "rhae.environment.Environment.step",
    "rhae.gym",
    "rhae.gym.make",
    "rhae.gym.make_vec",
    "rhae.percept",
    "rhae.percept.StatusBars",
    "rhae.pictures.ansi",
    "rhae.pictures.png",
    "rhae.pictures.rgb",
    "rhae.pictures.show",
    "rhae.results.score",
    "rhae.results.verify",
    "rhae.runs.run",
    "rhae.trackers.to_tensorboard",
    "rhae.vector_environment.VectorEnvironment",
    "rhae.vector_environment.VectorEnvironment.step",
    "rhae.wrappers.EfficiencyReward",
    "rhae.wrappers.MaskedObservation",
    "rhae.wrappers.VectorEfficiencyReward",
    "rhae.wrappers.VectorFrameStack",
]


def modules() -> list[types.ModuleType]:
    """Returns all modules of the installed package."""
    names = ["rhae", *(info.name for info in pkgutil.walk_packages(rhae.__path__, "rhae."))]
    return [importlib.import_module(name) for name in names if name not in SKIPPED]


def examples() -> dict[str, doctest.DocTest]:
    """Returns the docstrings that contain examples, by their qualified names."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {test.name: test for module in modules() for test in finder.find(module, module.__name__)}
    return {name: test for name, test in found.items() if test.examples}


def test_dir_lists_the_public_api() -> None:
    assert dir(rhae) == sorted(rhae.__all__)
    assert all(getattr(rhae, name) is not None for name in dir(rhae))
    code = "import rhae; names = dir(rhae); from rhae import *; assert set(names) <= set(globals()), names"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module `rhae` has no attribute `nothing`"):
        rhae.nothing  # noqa: B018


def parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the parameters of a function with their defaults, without `self`."""
    found = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    assert not [parameter.name for parameter in found if parameter.kind in kinds], "every option must be named"
    return {parameter.name: parameter.default for parameter in found if parameter.name != "self"}


@pytest.mark.parametrize(
    ("function", "target", "renamed"),
    [(rhae.make, Environment.__init__, {}), (rhae.make_vec, VectorEnvironment.__init__, {"n": "num_envs"})],
)
def test_options_are_explicit_and_equal_the_constructor(
    function: Callable[..., Any], target: Callable[..., Any], renamed: dict[str, str]
) -> None:
    options = parameters(function)
    assert {renamed.get(name, name): default for name, default in options.items()} == parameters(target)
    assert {"level", "max_actions", "actions", "on_loss"} <= options.keys()


def test_swarm_has_explicit_options() -> None:
    assert list(parameters(swarm)) == ["agent", "games", "arcade", "tags", "agent_options"]


def test_every_public_object_has_a_docstring() -> None:
    for name in rhae.__all__:
        value = getattr(rhae, name)
        if callable(value):
            assert inspect.getdoc(value), name


def test_public_api_has_examples() -> None:
    missing = set(DOCUMENTED) - examples().keys()
    assert not missing


def remove_arcengine() -> dict[str, types.ModuleType]:
    """Removes `arcengine` from the imported modules and returns the removed ones."""
    names = [name for name in sys.modules if name.partition(".")[0] == "arcengine"]
    return {name: sys.modules.pop(name) for name in names}


@pytest.mark.parametrize("name", sorted(examples()))
def test_docstring_examples_run(name: str) -> None:
    report: list[str] = []
    # The example of `install` needs a process without the original engine. Other tests use it.
    original = remove_arcengine()
    try:
        result = doctest.DocTestRunner().run(examples()[name], out=report.append)
    finally:
        remove_arcengine()
        sys.modules.update(original)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 0


def test_enough_examples_are_tested() -> None:
    """Guards against a finder that silently finds nothing."""
    tests = examples().values()
    assert len(tests) >= len(DOCUMENTED)
    assert sum(len(test.examples) for test in tests) >= 100
