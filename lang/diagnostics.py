"""Diagnostics as data.

Every stage reports problems as `Diagnostic` values; `lang.render` turns them into text, JSON,
SARIF or GitHub annotations.  A stage collects as many as it can and raises `Rejected` once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum

from .codes import Code
from .records import dataclass
from .source import Source, Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Verdict(Enum):
    """What is known about an obligation (types.md 3.4)."""

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


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One cause, one diagnostic.

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
    """Base of every error Rho raises on purpose; carries the diagnostics."""

    text = ""
    """What the command line would show, where somebody has written it down (`shell.embedding.showing`)."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source] | None = None) -> None:
        """`sources`: the texts that the diagnostics point into, where whoever raises the error knows them."""
        self.diagnostics, self.sources = tuple(diagnostics), sources or {}
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return self.text or "; ".join(f"{d.code}: {d.message}" for d in self.diagnostics)


class Rejected(RhoError):
    """The program is rejected before anything runs (exit code 3)."""


class Refused(RhoError):
    """A load-time guard, a bound or a permission refuses the run (exit code 4)."""


class RunFailed(RhoError):
    """The program failed while running (exit code 1): E3xx index or E7xx value checks, files, memory."""


@contextmanager
def about(sources: Mapping[str, Source]) -> Iterator[None]:
    """Errors inside the block point into these texts, unless they say themselves into which."""
    try:
        yield
    except RhoError as error:
        error.sources = error.sources or sources
        raise
