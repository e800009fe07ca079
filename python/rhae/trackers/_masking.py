"""Removes secrets from texts before they are exported."""

from __future__ import annotations

import os
import re
from typing import Any

_SECRET = "key|token|secret|passw|credential|authorization"
_NAME = rf"[\w-]*(?:{_SECRET})[\w-]*"
#: ``NAME=value``, ``--name value`` and ``Bearer value`` in a command, if the name is that of a secret.
_ASSIGNMENT = re.compile(rf"""(\bBearer\s+|--?{_NAME}\s+|{_NAME}\s*=\s*)("[^"]*"|'[^']*'|\S+)""", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(_SECRET, re.IGNORECASE)
#: The user and password of an address.
_USER_INFO = re.compile(r"(\w+://)[^/\s@]+@")
#: Shorter values occur in texts by chance.
_MIN_SECRET_LENGTH = 8


class Masker:
    """Replaces secrets by ``***``: the values of environment variables whose names are those of secrets,
    the values of such variables and flags in the command of an agent, and passwords in addresses."""

    def __init__(self, command: str | None) -> None:
        self._command = command
        values = {value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name)}
        if command is not None:
            values.update(match[2].strip("\"'") for match in _ASSIGNMENT.finditer(command))
        self._secrets = sorted((value for value in values if len(value) >= _MIN_SECRET_LENGTH), key=len, reverse=True)

    def mask(self, value: Any) -> Any:
        """Returns a JSON value without secrets."""
        if isinstance(value, str):
            return self._mask_text(value)
        if isinstance(value, dict):
            return {self.mask(key): self.mask(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.mask(one) for one in value]
        return value

    def _mask_text(self, text: str) -> str:
        # Without a name, an external agent is called by its command.
        if self._command is not None and self._command in text:
            text = text.replace(self._command, _ASSIGNMENT.sub(r"\1***", self._command))
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _USER_INFO.sub(r"\1***@", text)
