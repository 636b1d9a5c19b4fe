"""Every word of a line with its class, for colours.

Neighbours: `lang.highlighting` (classes, of broken text too), `terminal` (the colours).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...lang import highlighting
from ...lang.highlighting import WordClass
from ...lang.source import Source

_STYLES = {
    WordClass.COMMENT: "comment", WordClass.NUMBER: "number", WordClass.TEXT: "text", WordClass.UNENDED: "text",
    WordClass.PUNCTUATION: "keyword", WordClass.KEYWORD: "keyword", WordClass.BRACKET: "bracket", WordClass.TYPE: "type",
    WordClass.ARGUMENT: "argument", WordClass.FUNCTION: "function", WordClass.OPERATOR: "operator", WordClass.NAME: "name",
    WordClass.LIBRARY: "function", WordClass.CONSTANT: "number",
}  # fmt: skip


def coloured(line: str, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """(style or "", characters) of a line, from left to right and nothing left out; `types` are the session's names."""
    if line.lstrip().startswith(")"):
        return [("command", line)]
    found: list[tuple[str, str]] = []
    at = 0
    for word in highlighting.words(Source("<line>", line)):
        if word.start > at:
            found.append(("", line[at : word.start]))
        found.append((_style(word, types), line[word.start : word.end]))
        at = word.end
    if at < len(line):
        found.append(("", line[at:]))
    return found


def _style(word: highlighting.Word, types: Mapping[str, str]) -> str:
    known = types.get(word.text) if word.kind is WordClass.NAME else None
    if known is None:
        return _STYLES.get(word.kind, "")
    return known if known in ("function", "operator", "module") else "defined"
