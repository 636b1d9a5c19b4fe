"""How an operation of the reference interpreter stops.

`CheckFailed` is a failed run-time check, shared with the other back ends.  A broken invariant (a shape that is not the
declared one) is an `InternalError`: a bug in Rho, never the user's fault.
"""

from __future__ import annotations

from ..run.failures import CheckFailed

__all__ = ["CheckFailed", "InternalError"]


class InternalError(AssertionError):
    """The core breaks one of its own invariants."""
