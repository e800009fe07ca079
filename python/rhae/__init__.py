"""Rhae from Python: its environments for Gymnasium, the toolkit's calls in one process, scores, replays and pictures."""

import importlib
from typing import TYPE_CHECKING, Any

from rhae._native import __version__

if TYPE_CHECKING:
    from rhae.arcade import Arcade, OperationMode
    from rhae.gym import make, make_vec
    from rhae.pictures import PALETTE, png, rgb
    from rhae.results import score, verify

#: Where each name comes from: what needs Gymnasium or pydantic is imported when it is first used.
_MODULES = {
    "Arcade": "rhae.arcade",
    "OperationMode": "rhae.arcade",
    "PALETTE": "rhae.pictures",
    "make": "rhae.gym",
    "make_vec": "rhae.gym",
    "png": "rhae.pictures",
    "rgb": "rhae.pictures",
    "score": "rhae.results",
    "verify": "rhae.results",
}

__all__ = [
    "PALETTE",
    "Arcade",
    "OperationMode",
    "__version__",
    "make",
    "make_vec",
    "png",
    "rgb",
    "score",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module `rhae` has no attribute `{name}`")
    try:
        module = importlib.import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        if error.name == "gymnasium":
            raise ModuleNotFoundError(f"rhae.{name} needs Gymnasium: pip install 'rhae[gym]'", name="gymnasium") from error
        raise
    return getattr(module, name)
