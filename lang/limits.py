"""Limits of a source text, and the recursion head-room every tree walk may count on.

Nesting follows brackets in the parser and applications in the bound tree; both are capped here, with a
diagnostic, before anything recurses.  A walk over a bound tree may use about ten Python frames a level:
call `ensure_recursion_headroom` once before walking.
"""

from __future__ import annotations

import sys

MAXIMUM_NESTING = 100
"""Brackets inside brackets."""

MAXIMUM_CHARACTERS = 1_000_000
"""Of one source text."""

MAXIMUM_DEPTH = 2_000
"""Levels of the bound tree of one statement: applications, operators, trains and brackets."""

_FRAMES = 60_000


def ensure_recursion_headroom() -> None:
    """Raise Python's recursion limit so that a walk over a tree within the limits above cannot meet it.

    It only ever raises the limit, so threads cannot disturb each other; since Python 3.11 calls between
    Python functions use no C stack.
    """
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
