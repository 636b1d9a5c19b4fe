"""Parsimonious, imported without the `regex` package.

Parsimonious prefers `regex` and falls back to the standard `re` where it is missing.  The grammars here need
nothing that `re` lacks, and importing `regex` would cost a third of the cold start of `rho check`, so it is
hidden while parsimonious is first imported.
"""

from __future__ import annotations

import sys

_hidden = "parsimonious" not in sys.modules and "regex" not in sys.modules
if _hidden:
    sys.modules["regex"] = None  # type: ignore[assignment]
try:
    from parsimonious.exceptions import ParseError
    from parsimonious.expressions import Regex
    from parsimonious.grammar import Grammar
    from parsimonious.nodes import Node
finally:
    if _hidden:
        del sys.modules["regex"]

__all__ = ["Grammar", "Node", "ParseError", "Regex"]
