"""ARC-AGI environments for Python.

=============================== ================================================================
``make``, ``make_vec``          environments for Gymnasium: one play, or many plays at once
``Arcade``, ``OperationMode``   the calls of the official toolkit, in this process
``verify``, ``score``           replay and score recordings
``run``                         run agents on environments: scorecards, recordings, a report
``load_runs``                   results of finished runs as tables, for pandas, Polars and Parquet
``explore``, ``validate``       analyse the states of a level; check environments against rules
``compare``                     compare finished runs: paired differences with exact tests
``show``, ``rgb``, ``png``      frames as pictures, also ``ansi`` and ``PALETTE``
``rhae.wrappers``               frame stacks, rewards by efficiency, masked observations
``rhae.percept``                perception on frames: objects, changes, status bars
``rhae.trackers``               exports of finished runs to W&B, MLflow and TensorBoard
``rhae.agents``                 agents in the style of the official agents repository
``rhae.arcengine``              a drop-in replacement for the package ``arcengine``
=============================== ================================================================

Examples:
    >>> import rhae
    >>> env = rhae.make("kq19")
    >>> frame, info = env.reset()
    >>> frame.shape, info["state"]
    ((64, 64), 'NOT_FINISHED')
"""

import importlib
from typing import TYPE_CHECKING, Any

from rhae._native import __version__
from rhae._registration import register_environments

if TYPE_CHECKING:
    from rhae.analysis import explore, validate
    from rhae.arcade import Arcade, OperationMode
    from rhae.comparison import compare
    from rhae.gym import make, make_vec
    from rhae.pictures import PALETTE, ansi, png, rgb, show
    from rhae.results import score, verify
    from rhae.runs import run
    from rhae.tables import load_runs

#: The modules that define the public names. Each is imported when one of its names is first used,
#: because Gymnasium is optional and pydantic takes long to import.
_MODULES = {
    "Arcade": "rhae.arcade",
    "OperationMode": "rhae.arcade",
    "PALETTE": "rhae.pictures",
    "ansi": "rhae.pictures",
    "compare": "rhae.comparison",
    "explore": "rhae.analysis",
    "load_runs": "rhae.tables",
    "make": "rhae.gym",
    "make_vec": "rhae.gym",
    "png": "rhae.pictures",
    "rgb": "rhae.pictures",
    "run": "rhae.runs",
    "score": "rhae.results",
    "show": "rhae.pictures",
    "validate": "rhae.analysis",
    "verify": "rhae.results",
}

__all__ = [
    "PALETTE",
    "Arcade",
    "OperationMode",
    "__version__",
    "ansi",
    "compare",
    "explore",
    "load_runs",
    "make",
    "make_vec",
    "png",
    "rgb",
    "run",
    "score",
    "show",
    "validate",
    "verify",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module `rhae` has no attribute `{name}`")
    try:
        module = importlib.import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        if error.name == "gymnasium":
            raise ModuleNotFoundError(f"rhae.{name} needs Gymnasium: pip install gymnasium", name="gymnasium") from error
        raise
    return getattr(module, name)


register_environments()
