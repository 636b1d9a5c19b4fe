"""Functions by polynomials, as LLVM text.  (None yet.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MONADIC: Final[dict[str, Callable[..., str]]] = {}
CIRCULAR: Final[dict[int, Callable[..., str]]] = {}
PARAMETERS: Final[frozenset[int]] = frozenset(CIRCULAR)
TRANSCENDENTAL: Final[frozenset[str]] = frozenset(MONADIC)
