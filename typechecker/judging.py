"""What is known of expressions at a place of a program, beside what checking the program finds: ranks, element kinds, ranges.

Neighbours: `lang.foreign_domains` (facts, and the domains that ask for them), `incremental` (checked again at little cost).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..lang.diagnostics import RhoError
from ..lang.foreign_domains import Fact, literal
from ..lang.source import Source
from .check import LoadModule
from .elements import Kind
from .incremental import Checker
from .operands import Operand

_LETTERS: Final = {Kind.BOOL: "b", Kind.I64: "i", Kind.F64: "f", Kind.CHAR: "c"}
_LIBRARIES: Final = re.compile(r"(?<![\w.])(stats|sort|text|linalg)\.")


class Judging:
    """Facts of expressions after the first statements of one file; expensive ones are worked out once."""

    def __init__(self, checker: Checker, load: LoadModule, file: str) -> None:
        self._checker, self._load, self._file = checker, load, file
        self._known: dict[tuple[str, str], Fact | None] = {}

    def __call__(self, before: str, texts: Sequence[str]) -> list[Fact | None]:
        """The facts of some expressions after a text; None for what has an error or is no array."""
        asked = [text for text in dict.fromkeys(texts) if (before, text) not in self._known]
        for text in asked:
            self._known[before, text] = literal(text)
        self._work_out(before, [text for text in asked if self._known[before, text] is None])
        return [self._known[before, text] for text in texts]

    def _work_out(self, before: str, texts: Sequence[str]) -> None:
        needed = [name for name in dict.fromkeys(_LIBRARIES.findall(" ".join(texts))) if f"use {name}" not in before]
        if not texts or any("\n" in text or "…" in text for text in texts):
            return
        names = [f"expression_{number}_asked" for number in range(len(texts))]
        lines = [f"use {name}" for name in needed] + [f"{name} ← {text}" for name, text in zip(names, texts, strict=True)]
        try:
            entries = self._checker.check(Source(self._file, "\n".join([before, *lines, ""])), self._load).elaborated.names
        except RhoError:
            return
        for name, text in zip(names, texts, strict=True):
            entry = entries.get(name)
            if isinstance(entry, Operand) and not entry.poisoned:
                self._known[before, text] = _fact(entry)


def _fact(value: Operand) -> Fact:
    element, shape = value.type.element, value.type.shape
    low, high = element.low, element.high
    if element.below is not None:
        low = 0
    return Fact(tuple([size.constant for size in shape]), _LETTERS.get(element.kind, "o"), low, high, value.constant)
