"""The only module that imports z3, and only when a question is asked.

Every question gets a context of its own and a fixed number of steps, never a time limit, so that an answer does not
depend on what was asked before or on how busy the machine is.  An interrupted question is not an answer: it raises.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

STEPS = 2_000_000
MEGABYTES = 512


class Satisfiable(Enum):
    YES = "sat"
    NO = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """`model` gives the whole numbers asked for, in order, if there are any."""

    satisfiable: Satisfiable
    model: tuple[int, ...] = ()


@lru_cache(maxsize=1)
def version() -> str | None:
    """The installed solver's version, read from its folder's name without importing it; None without z3."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        if "z3" in names:
            for name in names:
                if name.startswith("z3_solver-") and name.endswith((".dist-info", ".egg-info")):
                    return name[len("z3_solver-") : -len(".dist-info")].rstrip(".")
    return None


def solve(text: str, logic: str, wanted: Sequence[str]) -> Answer | None:
    """Ask whether the assertions of an SMT-LIB text can hold; None if z3 cannot be imported."""
    try:
        import z3
    except (ImportError, OSError):
        return None
    try:
        solver = z3.SolverFor(logic, ctx=z3.Context())
        solver.set("rlimit", STEPS)
        solver.set("max_memory", MEGABYTES)
        solver.from_string(text)
        found = solver.check()
        if found == z3.unsat:
            return Answer(Satisfiable.NO)
        if found == z3.sat:
            model = solver.model()
            values = {declared.name(): model[declared] for declared in model.decls()}
            numbers = tuple(int(values[name].as_long()) if name in values else 0 for name in wanted)
            return Answer(Satisfiable.YES, numbers)
        if "interrupt" in solver.reason_unknown():
            raise KeyboardInterrupt
    except z3.Z3Exception:  # out of memory among them
        pass
    return Answer(Satisfiable.UNKNOWN)
