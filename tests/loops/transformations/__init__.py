"""What each transformation makes of a small program: transformation, text before, text after (None: the same)."""

from __future__ import annotations

from .expressions import CASES as EXPRESSIONS
from .loops import CASES as LOOPS
from .nests import CASES as NESTS

CASES = EXPRESSIONS | NESTS | LOOPS
