"""Replaces half of the generated ids by ids that exist, so that requests pass the first check."""

import itertools
import os

import schemathesis

REAL = {"guid": os.environ["RHAE_GUID"], "card_id": os.environ["RHAE_CARD"], "game_id": "kq19", "id": "kq19"}
bodies, paths = itertools.cycle([True, False]), itertools.cycle([True, False])


@schemathesis.hook
def map_body(context, body):
    path = context.operation.path
    # The only card must stay open, because a closed card accepts no commands.
    if not isinstance(body, dict) or path.endswith("/close") or not next(bodies):
        return body
    names = ["game_id", "guid"] if "/cmd/" in path else ["card_id"]
    return body | {name: REAL[name] for name in names}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    real = isinstance(path_parameters, dict) and next(paths)
    return {name: REAL.get(name, value) for name, value in path_parameters.items()} if real else path_parameters
