"""Names of real things among the made-up ones, so that requests get further than the first check."""

import os

import schemathesis

REAL = {"guid": os.environ["RHAE_GUID"], "card_id": os.environ["RHAE_CARD"], "game_id": "kq19", "id": "kq19"}
turn = 0


def named(fields):
    """Every other time with the names of real things."""
    global turn
    turn += 1
    if not isinstance(fields, dict) or turn % 2:
        return fields
    return {name: REAL.get(name, value) if isinstance(value, str) else value for name, value in fields.items()}


@schemathesis.hook
def map_body(context, body):
    # A card that is closed takes no commands, and there is one.
    return body if context.operation.path.endswith("/close") else named(body)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return named(path_parameters)
