"""The shape of a code's page (`lang.codes`)."""

from __future__ import annotations

from enum import Enum

from .records import dataclass


class Stage(Enum):
    """What has to be done with the failing program before the code appears."""

    CHECK = "rho check"
    STRICT = "rho check --strict"
    RUN = "rho run"
    EVAL = "rho eval"
    SHOWN = "shown only"


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
