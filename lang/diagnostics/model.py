"""Diagnostics as data.

Every stage reports problems as `Diagnostic` values; `lang.diagnostics.render` turns them into text, JSON,
SARIF or GitHub annotations.  A stage collects as many as it can and raises `Rejected` once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, StrEnum
from typing import Self

from ..support.records import dataclass, replace
from ..syntax.source import Source, Span

# ---------------------------------------------------------------------------------------------------- pages

class PageStage(Enum):
    """The command that reports the code for the failing program of a page."""

    CHECK = "rho check"
    STRICT = "rho check --strict"
    RUN = "rho run"
    EVAL = "rho eval"
    SHOWN = "shown only"


@dataclass(frozen=True, slots=True)
class Page:
    """The page that `rho explain CODE` prints.

    `failing` gives exactly this code at `stage`; `repaired` is accepted there.  `files` are text files (name, content) that both
    read.  The programs of a page `SHOWN` need a device, a plan or a permission: they are shown and not run.
    """

    explanation: str
    failing: str
    repaired: str
    stage: PageStage = PageStage.CHECK
    files: tuple[tuple[str, str], ...] = ()


# ---------------------------------------------------------------------------------------------------- codes
#
# A code has a summary, which names nothing of the program, and the codes it is easily confused with.  Its page is in
# `code_pages`; `help_pages` prints both.  To add a code, add a member here and a page there; `tests/lang/test_codes.py` runs the
# page.

class Code(StrEnum):
    """A diagnostic code, equal to its text; `related` are codes that are easily confused with it."""

    summary: str
    related: tuple[str, ...]

    def __new__(cls, code: str, summary: str, related: tuple[str, ...] = ()) -> Self:
        member = str.__new__(cls, code)
        member._value_, member.summary, member.related = code, summary, related
        return member

    __repr__ = str.__repr__

    # ---- syntax and names
    E001 = "E001", "unknown name", ("E007", "E019")
    E002 = "E002", "this cannot be read here", ("E003", "E011")
    E003 = "E003", "a bracket is not matched", ("E002", "E004")
    E004 = "E004", "text is not closed", ("E003",)
    E005 = "E005", "not a number", ("E302",)
    E006 = "E006", "not a character of the language", ("E007",)
    E007 = "E007", "unknown backtick spelling", ("E006",)
    E008 = "E008", "an operator lacks an operand", ("E009", "E130")
    E009 = "E009", "a function lacks its right argument", ("E008", "E133")
    E010 = "E010", "this cannot be assigned to", ("E014", "E105")
    E011 = "E011", "not a type or declaration", ("E002", "E012")
    E012 = "E012", "a size mixes + and - or × without parentheses", ("E011",)
    E013 = "E013", "a name touches a literal operand", ("E002",)
    E014 = "E014", "a reserved word is used as a name", ("E010",)
    E015 = "E015", "`_` stands for nothing here", ("E010",)
    E016 = "E016", "the source is too deep or too large", ("E610",)
    E017 = "E017", "this statement does not belong here", ("E018",)
    E018 = "E018", "`⎕IO` is not set by the first statement", ("E017",)
    E019 = "E019", "there is no such module", ("E001",)
    # ---- shapes
    E101 = "E101", "these arrays do not line up", ("E102", "E103", "E140", "W201")
    E102 = "E102", "the inner axes of a product differ", ("E101",)
    E103 = "E103", "arrays that are joined differ in another axis", ("E101", "E110")
    E105 = "E105", "a destructuring has the wrong number of names", ("E010", "E305")
    E110 = "E110", "items of array notation have different shapes", ("E103", "E111")
    E111 = "E111", "a strand mixes what cannot be one vector", ("E110",)
    E120 = "E120", "the element type and inner shape are unknown", ("E110",)
    E121 = "E121", "two shape variables cannot be told apart", ("E122",)
    E122 = "E122", "no argument determines this size", ("E121",)
    E130 = "E130", "wrong number of arguments or operands", ("E133", "E008")
    E131 = "E131", "the argument has too few axes", ("E101", "E132")
    E132 = "E132", "there is no such axis", ("E131",)
    E133 = "E133", "this function has no such valence", ("E130", "E009")
    E134 = "E134", "a value is needed here, or a function, and this is the other", ("E130",)
    E140 = "E140", "a size known only at run time does not line up", ("E101", "E401")
    # ---- facts about sizes
    E200 = "E200", "this can never work", ("E201", "E701")
    E201 = "E201", "a fact about sizes is needed and not given", ("E200", "E209", "W201")
    E202 = "E202", "a size may be negative", ("E201", "E203")
    E203 = "E203", "a divisor may be zero", ("E201", "E202")
    E204 = "E204", "an axis may be empty where one item is needed", ("E201",)
    E209 = "E209", "a fact about sizes could not be proved", ("E201",)
    # ---- elements
    E300 = "E300", "the element types do not suit the function", ("E301", "E303")
    E301 = "E301", "this type does not narrow by itself", ("E302", "E703")
    E302 = "E302", "a number does not fit its type", ("E005", "E301", "E703")
    E303 = "E303", "a bool is needed here", ("E300", "E304")
    E304 = "E304", "a mask inside an index", ("E303",)
    E305 = "E305", "a tuple where an array is needed", ("E105", "E300")
    E310 = "E310", "an index is out of range", ("W310",)
    E330 = "E330", "a known result does not fit its type", ("E302", "W330")
    E340 = "E340", "this pattern is not one of the regular expressions that can be searched for", ()
    # ---- runtime sizes
    E401 = "E401", "each cell would get its own length", ("E140", "E402")
    E402 = "E402", "the state of a loop changes shape", ("E401", "E601")
    E403 = "E403", "a size has no bound", ("E601",)
    # ---- quantities
    E500 = "E500", "a value is read more often than declared", ("E501", "E503")
    E501 = "E501", "a value declared shape-only has its data read", ("E500",)
    E502 = "E502", "a value is used after it was moved", ("E500",)
    E503 = "E503", "a value is read less often than declared", ("E500",)
    # ---- termination and budgets
    E600 = "E600", "definitions form a cycle", ("E601",)
    E601 = "E601", "a loop has no bound", ("E600", "E403")
    E602 = "E602", "printing inside a function that an operator applies", ("E600",)
    E610 = "E610", "the program expands to too many operations", ("E016", "E600")
    E620 = "E620", "not in this version", ("E001",)
    E630 = "E630", "a gradient that does not exist", ("E300", "W630")
    # ---- loading and running
    E701 = "E701", "the data breaks a fact the program needs", ("W201", "E200")
    E702 = "E702", "the program needs more memory than there is", ("E701",)
    E703 = "E703", "a value does not fit when converted", ("E301", "E302")
    E704 = "E704", "a file cannot be read", ("E705", "E706")
    E705 = "E705", "a file does not hold what its format promises", ("E704", "E706")
    E706 = "E706", "a file does not agree with its declared type", ("E701", "E705")
    E707 = "E707", "a file outside the permitted folders", ("E704", "E708")
    E708 = "E708", "a file cannot be written", ("E704", "E707")
    E709 = "E709", "the time allowed ran out", ("E702",)
    E710 = "E710", "a device failed while the program ran", ("E702",)
    # ---- the schedule
    SCH101 = "SCH101", "directives contradict each other", ("SCH102",)
    SCH102 = "SCH102", "a directive contradicts the flow of data", ("SCH101",)
    SCH103 = "SCH103", "the memory limits cannot be met", ("E702", "SCH106")
    SCH104 = "SCH104", "a device has no kernel for an operation", ("SCH105",)
    SCH105 = "SCH105", "input and output run on the home device", ("SCH104",)
    SCH106 = "SCH106", "a deadline or limit cannot be met", ("SCH103",)
    SCH107 = "SCH107", "unknown device or value in a schedule", ("SCH201",)
    SCH201 = "SCH201", "a name in a schedule means several values", ("SCH107",)
    SCH202 = "SCH202", "a device name means several devices", ("SCH201",)
    SCH203 = "SCH203", "`before` waits for every shard"
    SCH204 = "SCH204", "an objective gives way to one asked for"
    SCH301 = "SCH301", "a stored plan is out of date", ("SCH302",)
    SCH302 = "SCH302", "a plan is not proved optimal", ("SCH301",)
    SCH303 = "SCH303", "a part of the planner failed and was left out", ("SCH302",)
    # ---- warnings
    W201 = "W201", "a fact about sizes is checked when the data is loaded", ("E201", "E701")
    W310 = "W310", "an index is checked when the program runs", ("E310",)
    W320 = "W320", "a literal left of `⌷` selects cells, not one element", ("E310",)
    W330 = "W330", "a result may not fit its type", ("E330", "E703")
    W340 = "W340", "a fold over the one item of a vector, which was a count once", ("E601",)
    W350 = "W350", "a comparison with a literal that is not the one that is meant", ("E300",)
    W630 = "W630", "a value does not depend on what it is differentiated by", ("E630",)
    # ---- errors of Rho itself and of the command line
    BUG = "BUG", "Rho itself is at fault", ("E702", "E709")
    USAGE = "USAGE", "the command line is wrong"
    # ---- notes
    N001 = "N001", "this is Rho, but means something else in other languages", ("E001",)


def code_of(text: str) -> Code | None:
    """The code of a text such as `E101`; None for an unknown one."""
    return Code.__members__.get(text)


# ---------------------------------------------------------------------------------------------------- diagnostics

class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Verdict(Enum):
    """The result of trying to prove an obligation."""

    PROVED = "proved"
    NEVER = "never"
    DEPENDS = "depends"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary underline: `message` is short enough for an editor tooltip."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One concrete repair that an editor can apply."""

    title: str
    edits: tuple[Edit, ...] = ()


def with_edits(source: Source, edits: Iterable[Edit]) -> Source:
    """The text with edits, which must not overlap."""
    text = source.text
    for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return Source(source.name, text)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error, warning or note; each cause gets one.

    `code` is `E101`, `W201`, …; `message` is one sentence that stands alone; `span` is the
    smallest range at fault; `labels` say where each conflicting fact came from; `notes` are
    further lines (`= …`); `goal` is the undecided or false fact in the program's own words and
    `counterexample` the sizes that break it.  `origin` of a warning is the code that it has as an error (`--strict`).
    """

    code: Code
    message: str
    span: Span
    severity: Severity = Severity.ERROR
    label: str = ""
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    goal: str | None = None
    verdict: Verdict | None = None
    counterexample: Mapping[str, int] | None = None
    origin: Code | None = None

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


class RhoError(Exception):
    """Base of the errors that Rho raises on purpose; carries their diagnostics."""

    text = ""
    """The rendered diagnostics, set by `shell.embedding.evaluating`."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        """`sources`: the texts that the diagnostics point into, if the raiser knows them."""
        self.diagnostics, self.sources = tuple(diagnostics), sources or {}
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return self.text or "; ".join(f"{d.code}: {d.message}" for d in self.diagnostics)


class Rejected(RhoError):
    """The program is rejected before anything runs (exit code 3)."""


class Refused(RhoError):
    """A load-time guard, a bound or a permission refuses the run (exit code 4)."""


class RunFailed(RhoError):
    """The program failed while running (exit code 1): E3xx index or E7xx value checks, files, memory.

    A failed check in the text of a library module has the comment on its line as its message.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        super().__init__([replace(d, message=d.span.failure) if d.span.failure else d for d in diagnostics], sources)


@contextmanager
def pointing_into(sources: Mapping[str, Source]) -> Iterator[None]:
    """Set `sources` on errors raised inside the block, if they have none."""
    try:
        yield
    except RhoError as error:
        error.sources = error.sources or sources
        raise
