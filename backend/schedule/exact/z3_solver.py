"""The only module of the scheduler that imports z3, and only when a question is asked.

Questions are SMT-LIB text (built far faster than z3's Python expressions), each `Solver` in a context of its own, with a
fixed number of steps instead of a time limit: a verdict does not depend on how busy the machine is. The clock and Ctrl-C can only
abort.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from ....lang.support.records import dataclass

MOST_STEPS: Final = 4_000_000_000
"""z3 counts steps in 32 bits."""


class ProbeVerdict(Enum):
    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"  # out of steps or memory
    ABORTED = "aborted"  # by the clock, or no solver is installed


@dataclass(slots=True)
class SolverSteps:
    """Solver steps left of a budget, and the moment at which the watchdog aborts (None: never)."""

    remaining: int
    until: float | None = None

    def take(self, used: int) -> None:
        self.remaining = max(0, self.remaining - used)

    @property
    def is_expired(self) -> bool:
        return self.until is not None and time.monotonic() > self.until


def available() -> bool:
    try:
        import z3  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


class Solver:
    """Assertions by text; Booleans and integers are declared on first use by `boolean` and `integer`."""

    __slots__ = ("_core", "_defined", "_depth", "_fresh", "_known", "_pending", "_solver", "_z3", "recorded")

    def __init__(self, megabytes: int = 1500) -> None:
        import z3

        self._z3: Any = z3
        self._solver: Any = z3.Solver(ctx=z3.Context())
        self._solver.set("max_memory", megabytes)
        self._solver.set("random_seed", 0)
        self._known: set[str] = set()
        self._pending: list[str] = []
        self._fresh = 0
        self._core: tuple[str, ...] = ()
        self.recorded: list[str] | None = None
        """Where it is a list, what is added is noted there too, to be said again after a pop."""
        self._depth = 0
        self._defined: list[Sequence[str]] = []

    def boolean(self, name: str) -> str:
        if name not in self._known:
            self._known.add(name)
            self._pending.append(f"(declare-fun {name} () Bool)")
        return name

    def integer(self, name: str) -> str:
        if name not in self._known:
            self._known.add(name)
            self._pending.append(f"(declare-fun {name} () Int)")
        return name

    def fresh(self, stem: str = "aux") -> str:
        self._fresh += 1
        return self.boolean(f"{stem}!{self._fresh}")

    def add(self, formula: str) -> None:
        self._pending.append(f"(assert {formula})")
        if self.recorded is not None:
            self.recorded.append(formula)

    def clause(self, literals: Sequence[str]) -> None:
        """Assert a disjunction of literals; "true" and "false" are simplified."""
        if "true" in literals:
            return
        left = [literal for literal in dict.fromkeys(literals) if literal != "false"]
        if not left:
            self.add("false")
        elif len(left) == 1:
            self.add(left[0])
        else:
            self.add(f"(or {' '.join(left)})")

    def define(self, literals: Sequence[str]) -> None:
        """Assert a clause that defines a name.  It survives a pop, as the name does."""
        self.clause(literals)
        if self._depth and self.recorded is None:
            self._defined.append(tuple(literals))

    def at_most(self, weighted: Iterable[tuple[str, int]], limit: int) -> None:
        """The weights of the true literals sum to `limit` at most."""
        terms: dict[str, int] = {}
        for literal, weight in weighted:
            if literal == "true":
                limit -= weight
            elif literal != "false" and weight:
                terms[literal] = terms.get(literal, 0) + weight
        if limit < 0:
            self.add("false")
            return
        if sum(terms.values()) <= limit:
            return
        for literal in [literal for literal, weight in terms.items() if weight > limit]:
            self.add(negation(literal))
            del terms[literal]
        if sum(terms.values()) > limit:
            numbers = " ".join(str(weight) for weight in terms.values())
            self.add(f"((_ pble {limit} {numbers}) {' '.join(terms)})")

    def _flush(self) -> None:
        if self._pending:
            self._solver.from_string("".join(self._pending))
            self._pending.clear()

    def push(self) -> None:
        self._flush()
        self._solver.push()
        self._depth += 1

    def pop(self) -> None:
        self._flush()
        self._solver.pop()
        self._depth -= 1
        again, self._defined = self._defined, []
        for literals in again:
            self.define(literals)

    def set(self, name: str, value: int | bool) -> None:
        self._solver.set(name, value)

    def check(self, steps: SolverSteps, share: int, assumptions: Sequence[str] = ()) -> ProbeVerdict:
        """The verdict after at most `share` of the remaining steps; subtracts the steps used from `steps`."""
        self._flush()
        limit = min(share, steps.remaining, MOST_STEPS)
        if limit <= 0:
            return ProbeVerdict.UNKNOWN
        if steps.is_expired:
            return ProbeVerdict.ABORTED
        self._solver.set("rlimit", limit)
        z3, context = self._z3, self._solver.ctx
        watchdog: threading.Timer | None = None
        if steps.until is not None:
            watchdog = threading.Timer(max(0.01, steps.until - time.monotonic()), context.interrupt)
            watchdog.daemon = True
            watchdog.start()
        before = self._count()
        try:
            verdict = self._solver.check(*(z3.Bool(name, ctx=context) for name in assumptions))
        except z3.Z3Exception:  # includes out of memory
            return ProbeVerdict.UNKNOWN
        finally:
            if watchdog is not None:
                watchdog.cancel()
        steps.take(max(1, self._count() - before))
        if verdict == z3.sat:
            return ProbeVerdict.SAT
        if verdict == z3.unsat:
            self._core = tuple(str(literal) for literal in self._solver.unsat_core()) if assumptions else ()
            return ProbeVerdict.UNSAT
        if "interrupt" in self._solver.reason_unknown():
            if steps.is_expired:
                return ProbeVerdict.ABORTED
            raise KeyboardInterrupt  # z3 catches Ctrl-C itself
        return ProbeVerdict.UNKNOWN

    def _count(self) -> int:
        statistics = self._solver.statistics()
        for name, value in statistics:
            if name == "rlimit count":
                return int(value)
        return 0

    @property
    def core(self) -> tuple[str, ...]:
        return self._core

    def model(self) -> tuple[Mapping[str, int], frozenset[str]]:
        """The model: integers by name (only those that the solver assigned), and the Booleans that are true."""
        model = self._solver.model()
        numbers: dict[str, int] = {}
        true: set[str] = set()
        for declared in model.decls():
            if declared.arity():
                continue
            value = model[declared]
            if self._z3.is_true(value):
                true.add(declared.name())
            elif self._z3.is_int_value(value):
                numbers[declared.name()] = int(value.as_long())
        return numbers, frozenset(true)


def negation(literal: str) -> str:
    if literal in ("true", "false"):
        return "false" if literal == "true" else "true"
    return literal[5:-1] if literal.startswith("(not ") else f"(not {literal})"
