"""The shape of a code's row and of its page (`lang.codes`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Since(Enum):
    """The part of Rho that gives a code; a page's program runs as a test once that part is active."""

    NOW = "now"
    SIGNATURES = "symbolic signatures and the solver"
    QUANTITIES = "quantities"
    SCHEDULER = "the scheduler"


ACTIVE: frozenset[Since] = frozenset({Since.NOW, Since.SIGNATURES, Since.QUANTITIES, Since.SCHEDULER})
"""What this version has: its pages run as tests."""


class Stage(Enum):
    """What has to be done with the failing program before the code appears."""

    CHECK = "rho check"
    STRICT = "rho check --strict"
    RUN = "rho run"
    EVAL = "rho eval"
    SHOWN = "shown only"


@dataclass(frozen=True, slots=True)
class Code:
    """One row: `related` are codes easily taken for this one."""

    code: str
    title: str
    related: tuple[str, ...] = ()
    since: Since = Since.NOW


@dataclass(frozen=True, slots=True)
class Page:
    """What `rho explain CODE` prints.

    `failing` gives exactly this code at `stage`; `repaired` is accepted there.  `files` are text files
    (name, content) that both need beside them.  A page `SHOWN` has programs that need a device, a plan or a
    permission, so only their text is shown.
    """

    explanation: str
    failing: str
    repaired: str
    stage: Stage = Stage.CHECK
    files: tuple[tuple[str, str], ...] = ()
