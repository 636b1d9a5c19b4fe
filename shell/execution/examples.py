"""Documented examples: what a Markdown or `.rho` file claims about programs, as data (`rho test` checks the claims).

Note [Claims].  In Markdown every fence ```` ```rho ```` is a program of its own; ```` ```rho continued ```` goes on with
the one before and ```` ```rho skip ```` is not read.  A `.rho` file is one program.  In a program

    +/⍳10
    ⍝ → 45                       what the lines above print since the last claim, one `⍝ →` a printed line
    1000 1000⍴⍳7
    ⍝ → ⋮ 1000 lines             as many printed lines, whatever they say
    1 2 + 1 2 3
    ⍝ error: E101                with the lines above, the program is rejected with this code; the last statement
                                 is then left out (all of these lines, if the others are wrong without it)
    ⍝ error: E101 line up        more words must occur in the message
    ⍝ warning: W201              the program so far gives this warning
    m ← 2 3⍴1
    ⍝ type: i64[2 3]             the type of the binding or expression above
    45 ⇐ +/⍳10                   both sides print the same; `E101 ⇐ …` expects a rejection

and a block whose lines start with six blanks is a session: indented lines are typed, the others are printed.
In a `.rho` file, comment lines `⍝ >>> expression` and the comment lines below it (the value) are an example of the
definition under them; an expression that mentions `stem.` uses the file as a module, any other sees its definitions.
A program without a claim about values is only checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*(.*)$")
_LINES = re.compile(r"⋮ (\d{1,12}) lines?")
_CLAIM = re.compile(r"^\s*⍝ ?(→|error:|warning:|type:) ?(.*)$")
_EXAMPLE = re.compile(r"^\s*⍝ ?>>> ?(.*)$")
_COMMENT = re.compile(r"^\s*⍝ ?(.*)$")
SESSION_INDENT = "      "


def lines_claim(count: int) -> str:
    """The claim that so many lines are printed."""
    return f"⍝ → ⋮ {count} line{'s' * (count != 1)}"


def claimed_lines(expected: str) -> int | None:
    """How many lines a claim stands for without saying what they are; None where it says."""
    found = _LINES.fullmatch(expected.rstrip())
    return None if found is None else int(found[1])


class Claim(Enum):
    PRINTS = "prints"
    ERROR = "error"
    WARNING = "warning"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Step:
    """Program text and what is claimed about it; `line` is the 1-based line of the claim (or of the text)."""

    line: int
    text: str
    claim: Claim | None
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramCase:
    """One program with its steps in order; `line` is where it starts."""

    line: int
    steps: tuple[Step, ...]

    @property
    def runs(self) -> bool:
        """Does it claim a value (else it is only checked)?"""
        return any(step.claim is Claim.PRINTS for step in self.steps)


@dataclass(frozen=True, slots=True)
class EqualCase:
    """`expected ⇐ expression` after the definitions `before`; `code` when a rejection is expected instead."""

    line: int
    before: str
    expected: str
    expression: str

    @property
    def code(self) -> str | None:
        return self.expected if re.fullmatch(r"[EW]\d{3}", self.expected) else None


@dataclass(frozen=True, slots=True)
class ExpressionCase:
    """`⍝ >>> expression` with the printed lines that follow, in a `.rho` file."""

    line: int
    expression: str
    expected: tuple[str, ...]


Case = ProgramCase | EqualCase | ExpressionCase


@dataclass(slots=True)
class _Fence:
    line: int
    lines: list[str] = field(default_factory=list)


def markdown_cases(text: str) -> Iterator[Case]:
    """The cases of a Markdown file."""
    program: _Fence | None = None
    for fence, continued in _fences(text):
        if continued and program is not None:
            blank = fence.line - program.line - len(program.lines)
            program.lines += [""] * max(0, blank) + fence.lines
            continue
        if program is not None:
            yield from program_cases(program.lines, program.line)
        program = fence
    if program is not None:
        yield from program_cases(program.lines, program.line)


def _fences(text: str) -> Iterator[tuple[_Fence, bool]]:
    """The ```` ```rho ```` blocks and whether each continues the one before."""
    mark = ""
    indent = 0
    fence: _Fence | None = None
    words: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _FENCE.match(line)
        if not mark:
            if found:
                mark, indent, words = found[2], len(found[1]), found[3].split()
                fence = _Fence(number + 1) if words[:1] == ["rho"] and "skip" not in words else None
        elif found and found[2].startswith(mark) and not found[3]:
            if fence is not None:
                yield fence, "continued" in words
            mark, fence = "", None
        elif fence is not None:
            fence.lines.append(line.removeprefix(" " * indent))
    if mark and fence is not None:
        yield fence, "continued" in words


def rho_cases(text: str) -> Iterator[Case]:
    """The cases of a `.rho` file: the program itself, then its `>>>` examples."""
    lines = text.splitlines()
    yield from program_cases(lines, 1)
    at = 0
    while at < len(lines):
        found = _EXAMPLE.match(lines[at])
        at += 1
        if not found:
            continue
        line, expected = at, []
        while at < len(lines) and (value := _COMMENT.match(lines[at])) and not _EXAMPLE.match(lines[at]):
            expected.append(value[1])
            at += 1
        while expected and not expected[-1].strip():
            expected.pop()
        yield ExpressionCase(line, found[1].strip(), tuple(expected))


def program_cases(lines: list[str], first: int) -> Iterator[Case]:
    """The program of a block and its `⇐` lines; `first` is the number of its first line."""
    written = [line for line in lines if line.strip()]
    if written and written[0].startswith(SESSION_INDENT):
        yield ProgramCase(first, tuple(_session_steps(lines, first)))
        return
    steps: list[Step] = []
    pending: list[str] = []
    printed: list[str] = []
    before: list[str] = []
    printed_line = first
    for number, line in enumerate(lines, first):
        claim = _CLAIM.match(line)
        if printed and (claim is None or claim[1] != "→"):
            steps.append(Step(printed_line, "\n".join(pending), Claim.PRINTS, tuple(printed)))
            pending, printed = [], []
        if claim is not None and claim[1] == "→":
            printed_line = number if not printed else printed_line
            printed.append(claim[2])
        elif claim is not None:
            steps.append(Step(number, "\n".join(pending), Claim(claim[1].removesuffix(":")), (claim[2].strip(),)))
            pending = []
        elif "⇐" in line and not line.lstrip().startswith("⍝"):
            expected, _, expression = line.partition("⇐")
            yield EqualCase(number, "\n".join(before), expected.strip(), expression.strip())
        else:
            pending.append(line)
            before.append(line)
    if printed:
        steps.append(Step(printed_line, "\n".join(pending), Claim.PRINTS, tuple(printed)))
    elif any(line.strip() for line in pending):
        steps.append(Step(first, "\n".join(pending), None))
    if any(line.strip() and not line.lstrip().startswith("⍝") for step in steps for line in step.text.splitlines()):
        yield ProgramCase(first, tuple(steps))


def without_last_statement(text: str) -> str:
    """The lines before the last statement, which goes back to a line at the margin that closes no bracket."""
    lines = text.split("\n")
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("⍝")):
        end -= 1
    start = max(0, end - 1)
    while start > 0 and (lines[start][:1] in " \t)]}" or not lines[start].strip()):
        start -= 1
    return "\n".join(lines[:start])


def _session_steps(lines: list[str], first: int) -> Iterator[Step]:
    """A transcript: what is typed up to each printed part."""
    typed: list[str] = []
    printed: list[str] = []
    at = first
    for number, line in enumerate(lines, first):
        if line.startswith(SESSION_INDENT) and line.strip():
            if printed:
                yield Step(at, "\n".join(typed), Claim.PRINTS, tuple(_without_blank_end(printed)))
                typed, printed = [], []
            typed.append(line.strip())
            at = number + 1
        elif line.strip() or printed:
            printed.append(line)
    if typed:
        rest = tuple(_without_blank_end(printed))
        yield Step(at, "\n".join(typed), Claim.PRINTS if rest else None, rest)


def _without_blank_end(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]
