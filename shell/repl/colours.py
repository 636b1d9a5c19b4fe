"""Every word of a line with its class, for colours.

Neighbours: `shell.lsp.words` (tokens of broken text too), `terminal` (the colours).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.primitives import RESERVED_WORDS
from ...lang.vocabulary import CONVERSIONS, DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS
from ..lsp.words import flat

_KINDS = {
    "comment": "comment", "numbers": "number", "text": "text", "broken": "text", "zilde": "number", "gets": "keyword",
    "separator": "keyword", "colon": "keyword", "arrow": "keyword", "open": "bracket", "close": "bracket",
}  # fmt: skip


def coloured(line: str, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """(class or "", characters) of a line, from left to right and nothing left out; `types` are the session's names."""
    if line.lstrip().startswith(")"):
        return [("command", line)]
    found: list[tuple[str, str]] = []
    at = 0
    for kind, start, end in flat(line):
        if start > at:
            found.append(("", line[at:start]))
        found.append((_class(kind, line[start:end], types), line[start:end]))
        at = end
    if at < len(line):
        found.append(("", line[at:]))
    return found


def _class(kind: str, text: str, types: Mapping[str, str]) -> str:
    if kind == "name":
        if text in ("⍵", "⍺", "⍺⍺", "⍵⍵"):
            return "argument"
        if text in RESERVED_WORDS:
            return "keyword"
        if text in CONVERSIONS:
            return "type"
        known = types.get(text)
        return "name" if known is None else known if known in ("function", "operator", "module") else "defined"
    if kind == "glyph":
        return "operator" if text in MONADIC_OPERATORS or text in DYADIC_OPERATORS else "function"
    if kind == "quad":
        return "function" if text in FUNCTIONS or text == "⎕" else "number"
    return _KINDS.get(kind, "")
