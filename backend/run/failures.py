"""How an operation of any back end says that a run-time check failed, before its span is known.

Operations know the code and the sentence; the executor adds the span of the phase and raises `RunFailed`.
"""

from __future__ import annotations


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction, E702 memory."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")
