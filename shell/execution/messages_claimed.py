"""What is told of a program, beside what `execution.claims` expects of it: messages, their notes, and what is read how often."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...lang.diagnostics import Diagnostic
from ...lang.render import render_text
from ...lang.source import Source
from ...typechecker.quantities.written import written
from ..stages import Checked
from .examples import Claim, Said

_MESSAGE = re.compile(r"(\S*)(?: (.*?))??(?: at `(.*)`)?")
_SOURCE_LINE = re.compile(r"\s*\d+ │")


def fits(said: Said, given: Diagnostic, source: Source) -> bool:
    """Is this the message, of a program that `source` is the text of, that `said` claims?"""
    read = _MESSAGE.fullmatch(said.expected)
    if read is None or given.code != read[1] or (read[2] or "") not in given.message:
        return False
    if given.is_error is not (said.claim is Claim.ERROR):
        return False
    underlined = source.text[given.span.start : given.span.end].replace("\n", "⏎")
    return read[3] is None or (given.span.file == source.name and underlined == read[3])


def notes(given: Diagnostic, shown: str, words: str) -> bool:
    """Has a message, as it is `shown`, these words, beside those of the program?  What is needed counts where it is not shown."""
    lines = [line for line in shown.split("\n") if not _SOURCE_LINE.match(line)]
    return any(words in line for line in (*lines, f"needed: {given.goal}"))


def reads_as(expected: str, line: str) -> bool:
    """Is this the line, where `…` stands for any text?"""
    return re.fullmatch(".*".join(re.escape(part.strip()) for part in expected.split("…")), line.strip()) is not None


def reads(checked: Checked) -> list[str]:
    """`x 2×n` for each named value of which elements are read."""
    quantities = [] if checked.result is None else checked.result.quantities()
    return [f"{one.name} {written(one.grade)}" for one in quantities if not one.grade.is_zero]


def rendered(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> str:
    return render_text(diagnostics, sources).rstrip("\n")
