"""What has to hold before memory is touched: it is asked for under `python -O` too, where an `assert` says nothing.

An `assert` of `backend.graph`, `kernels` and `run` only tells the type checker what is known (`isinstance`, `is not None`), which
`tests/faults/test_optimised.py` holds.
"""

from __future__ import annotations


def certain(holds: bool, what: str) -> None:
    """AssertionError, a bug in Rho, unless it holds.  `what` says what holds."""
    if not holds:
        raise AssertionError(f"this does not hold: {what}")
