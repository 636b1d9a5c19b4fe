"""Parses doctests: the programs of a Markdown or `.rho` file with the claims about them (`rho test` checks them;
docs/testing.md).

Note [Claims].  In Markdown every fence ```` ```rho ```` is a program of its own; ```` ```rho continued ```` goes on with
the one before and ```` ```rho skip ```` is not read.  A `.rho` file is one program.  Claims stand below the lines they are about:

    +/⍳10
    ⍝ → 45                       what the lines above print since the last claim, one `⍝ →` a printed line
    1000 1000⍴⍳7
    ⍝ → ⋮ 1000 lines             as many printed lines, whatever they say
    1 2 + 1 2 3
    ⍝ error: E101                with the lines above, the program is rejected with this code, and no other; the last statement
                                 is then left out (all of these lines, if the others are wrong without it)
    ⍝ error: E101 line up at `+` the message has these words and underlines this text (`⏎` for the end of a line)
    ⍝ note: needed: 2 = 3        the message claimed above is shown with these words
    ⍝ fix: 1 2 + 1 2             one of its fixes changes a line to this one, where `…` is any text, and then the message is gone
    ⍝ warning: W201              the program so far gives this warning
    m ← 2 3⍴1
    ⍝ type: i64[2 3]             the type of the binding or expression above, or `none`; no warning is given that is not claimed
    ⍝ reads: m 0                 how often elements of named values are read, but for those read 0 times
    ⍝ plan: 1 step               `rho plan` prints a line with these words; `plan n=9:` for these sizes, without data

On one line, `claim, claim ⇐ program` is about the definitions above and this program alone; a value to the left of `⇐` is what
the program prints, in the same shape; `E101 ⇐ …` stands for `error: E101 ⇐ …`.

A block whose lines start with six blanks is a session: indented lines are typed, the others are printed.
In a `.rho` file, comment lines `⍝ >>> expression` and the comment lines below it (the value) are an example of the
definition under them; an expression that mentions `stem.` uses the file as a module, any other sees its definitions.
A program without a claim about values is only checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from ...lang.support.records import dataclass, field

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*(.*)$")
_LINES = re.compile(r"⋮ (\d{1,12}) lines?")
_WORDS = r"(?:error|warning|note|fix|type|reads|plan(?: \w+=\d+)*):"
_CLAIM = re.compile(rf"^\s*⍝ ?(→|{_WORDS}) ?(.*)$")
_BEFORE = re.compile(rf"(?:^|, )({_WORDS}) ?(.*?)(?=, {_WORDS}|$)")
_CODE = re.compile(r"[EW]\d{3}")
_EXAMPLE = re.compile(r"^\s*⍝ ?>>> ?(.*)$")
_COMMENT = re.compile(r"^\s*⍝ ?(.*)$")
SESSION_INDENT = "      "


def lines_claim(count: int) -> str:
    """The claim that `count` lines are printed."""
    return f"⍝ → ⋮ {count} line{'s' * (count != 1)}"


def claimed_lines(expected: str) -> int | None:
    """The number of lines in a claim `⋮ 12 lines`; None for any other claim."""
    match = _LINES.fullmatch(expected.rstrip())
    return None if match is None else int(match[1])


class ClaimKind(Enum):
    """The kinds of claims, by the words that introduce them."""

    PRINTS = "→"
    EQUALS = "⇐"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    FIX = "fix"
    TYPE = "type"
    READS = "reads"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class DoctestClaim:
    """One claim and its 1-based line; `sizes`: those in `plan n=9:`."""

    line: int
    kind: ClaimKind
    expected: str
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DoctestStep:
    """Program text that starts at a 1-based line, and the claims about it."""

    line: int
    text: str
    claims: tuple[DoctestClaim, ...] = ()

    def of(self, *claims: ClaimKind) -> list[DoctestClaim]:
        return [claim for claim in self.claims if claim.kind in claims]


@dataclass(frozen=True, slots=True)
class ProgramCase:
    """One program with its steps in order; `line` is where it starts."""

    line: int
    steps: tuple[DoctestStep, ...]

    @property
    def runs(self) -> bool:
        """Does it claim a value (else it is only checked)?"""
        return any(step.of(ClaimKind.PRINTS) for step in self.steps)


@dataclass(frozen=True, slots=True)
class LineCase:
    """`claims ⇐ program` after the definitions `before`."""

    before: str
    step: DoctestStep

    @property
    def line(self) -> int:
        return self.step.line


@dataclass(frozen=True, slots=True)
class ExpressionCase:
    """`⍝ >>> expression` with the printed lines that follow, in a `.rho` file."""

    line: int
    expression: str
    expected: tuple[str, ...]


Case = ProgramCase | LineCase | ExpressionCase


@dataclass(slots=True)
class CodeFence:
    """The lines of a block, and the 1-based number of the first."""

    line: int
    lines: list[str] = field(default_factory=list)


def markdown_cases(text: str) -> Iterator[Case]:
    """The cases of a Markdown file."""
    program: CodeFence | None = None
    for fence, continued in fences(text):
        if continued and program is not None:
            blank = fence.line - program.line - len(program.lines)
            program.lines += [""] * max(0, blank) + fence.lines
            continue
        if program is not None:
            yield from program_cases(program.lines, program.line)
        program = fence
    if program is not None:
        yield from program_cases(program.lines, program.line)


def fences(text: str) -> Iterator[tuple[CodeFence, bool]]:
    """The ```` ```rho ```` blocks and whether each continues the one before."""
    mark = ""
    indent = 0
    fence: CodeFence | None = None
    words: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if not mark:
            if match:
                mark, indent, words = match[2], len(match[1]), match[3].split()
                fence = CodeFence(number + 1) if words[:1] == ["rho"] and "skip" not in words else None
        elif match and match[2].startswith(mark) and not match[3]:
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
        match = _EXAMPLE.match(lines[at])
        at += 1
        if not match:
            continue
        line, expected = at, []
        while at < len(lines) and (value := _COMMENT.match(lines[at])) and not _EXAMPLE.match(lines[at]):
            expected.append(value[1])
            at += 1
        while expected and not expected[-1].strip():
            expected.pop()
        yield ExpressionCase(line, match[1].strip(), tuple(expected))


def program_cases(lines: list[str], first: int) -> Iterator[Case]:
    """The program of a block and its `⇐` lines; `first` is the number of its first line."""
    written = [line for line in lines if line.strip()]
    if written and written[0].startswith(SESSION_INDENT):
        yield ProgramCase(first, tuple(_session_steps(lines, first)))
        return
    steps: list[DoctestStep] = []
    pending: list[str] = []
    claims: list[DoctestClaim] = []
    before: list[str] = []
    start = first
    for number, line in enumerate(lines, first):
        claim = _CLAIM.match(line)
        if claim is not None:
            claims.append(_parse_claim(number, claim[1], claim[2]))
            continue
        if claims:
            steps.append(DoctestStep(start, "\n".join(pending), tuple(claims)))
            pending, claims, start = [], [], number
        if "⇐" in line and not line.lstrip().startswith("⍝"):
            expected, _, program = line.partition("⇐")
            step = DoctestStep(number, program.strip(), tuple(_line_claims(number, expected.strip())))
            yield LineCase("\n".join(before), step)
            line = ""
        pending.append(line)
        before.append(line)
    steps.append(DoctestStep(start, "\n".join(pending), tuple(claims)))
    if any(line.strip() and not line.lstrip().startswith("⍝") for step in steps for line in step.text.splitlines()):
        yield ProgramCase(first, tuple(step for step in steps if step.text.strip() or step.claims))


def _parse_claim(line: int, word: str, expected: str) -> DoctestClaim:
    kind, *sizes = word.removesuffix(":").split()
    named = tuple((name, int(size)) for name, _, size in (text.partition("=") for text in sizes))
    return DoctestClaim(line, ClaimKind(kind), expected.rstrip() if kind == "→" else expected.strip(), named)


def _line_claims(line: int, text: str) -> Iterator[DoctestClaim]:
    if _CODE.fullmatch(text):
        yield DoctestClaim(line, ClaimKind.ERROR, text)
    elif _CLAIM.match(f"⍝ {text}"):
        yield from (_parse_claim(line, claim[1], claim[2]) for claim in _BEFORE.finditer(text))
    else:
        yield DoctestClaim(line, ClaimKind.EQUALS, text)


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


def _session_steps(lines: list[str], first: int) -> Iterator[DoctestStep]:
    """The steps of a transcript: the lines typed up to each printed part, and that part as claims."""
    typed: list[str] = []
    printed: list[str] = []
    at = first
    for number, line in enumerate(lines, first):
        if line.startswith(SESSION_INDENT) and line.strip():
            if printed:
                yield DoctestStep(at, "\n".join(typed), _printed_claims(at, printed))
                typed, printed = [], []
            typed.append(line.strip())
            at = number + 1
        elif line.strip() or printed:
            printed.append(line)
    if typed:
        yield DoctestStep(at, "\n".join(typed), _printed_claims(at, printed))


def _printed_claims(line: int, printed: list[str]) -> tuple[DoctestClaim, ...]:
    """The printed lines of a transcript as claims, without the blank lines at the end."""
    end = len(printed)
    while end and not printed[end - 1].strip():
        end -= 1
    return tuple(DoctestClaim(line, ClaimKind.PRINTS, text.rstrip()) for text in printed[:end])
