"""How an operation of the reference interpreter says that a run-time check failed.

Operations know the code and the sentence; the interpreter adds the span of the op and raises `RunFailed`.  A broken
invariant (a shape that is not the declared one) is an `InternalError`: a bug in Rho, never the user's fault.
"""

from __future__ import annotations


class CheckFailed(Exception):
    """A run-time check of the program failed: E310 index, E703 value, E403 size, E204 empty reduction."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")


class InternalError(AssertionError):
    """The core breaks one of its own invariants."""
