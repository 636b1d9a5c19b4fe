"""The last step of the prover: facts that normal form, bounds and small examples leave open go to an SMT solver.

The module writes a fact and its premises as SMT-LIB text over integers, sends it to `z3_process` and caches the verdict in memory
and on disk.  `z3_process` starts `z3_leaf`, the only module that imports z3, in a process of its own for the first query that no
cache answers.  Without z3 such facts stay unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from ...lang.diagnostics.model import Verdict
from ...lang.support.bounded_parsing import decode
from ...lang.support.caches import Cache
from ...lang.support.records import dataclass
from ..sizes.polynomials import AtomKind, NonlinearAtom, Size, SizeVariable
from . import z3_process
from .obligations import Relation, SizeFact
from .z3_process import Satisfiable

# ---------------------------------------------------------------------------------------------------- queries
#
# A fact and its premises as SMT-LIB text.
#
# Sizes are α-normalised (`v0`, `v1`, … in order of first occurrence), so the text is independent of names and is the cache key of
# the verdict.  Nonlinear atoms are purified: `p÷q` and `q|p` become fresh integers d and r with `p = q·d + r`, `0 ≤ r < q`; `⌈`
# and `⌊` a fresh integer that equals one operand and bounds all.  For divisors that are not positive the fresh integers are
# defined as by `Size.evaluate`, so every model is an example.

LINEAR, NONLINEAR = "QF_LIA", "QF_NIA"


@dataclass(frozen=True, slots=True)
class SmtQuery:
    """The question whether `goal` is true, false or neither for all sizes that satisfy `premises`; `sizes[i]` is `v{i}` in the
    text."""

    sizes: tuple[SizeVariable, ...]
    premises: str
    goal: str
    logic: str

    @property
    def key(self) -> str:
        """The cache key: the whole question without the solver."""
        return f"{self.logic}\n{self.premises}\n{self.goal}"

    def counterexample(self) -> str:
        """The text that is satisfiable exactly if the goal can be false."""
        return f"{self.premises}\n(assert (not {self.goal}))"

    def example(self) -> str:
        """The text that is satisfiable exactly if the goal can be true."""
        return f"{self.premises}\n(assert {self.goal})"


def smt_query(fact: SizeFact, premises: Sequence[SizeFact]) -> SmtQuery:
    """The normalised query; `premises` are those connected to the fact."""
    writer = _QueryWriter()
    goal = writer.fact(fact)
    known = [writer.fact(premise) for premise in premises]
    lines = [*writer.declarations, *writer.definitions, *known]
    asserted = [line if line.startswith("(declare") else f"(assert {line})" for line in lines]
    return SmtQuery(tuple(writer.sizes), "\n".join(asserted), goal, LINEAR if writer.linear else NONLINEAR)


class _QueryWriter:
    """Writes sizes and facts as SMT-LIB terms, and collects the names and definitions that they need."""

    def __init__(self) -> None:
        self.sizes: dict[SizeVariable, str] = {}
        self.declarations: list[str] = []
        self.definitions: list[str] = []
        self.linear = True
        self._divided: dict[tuple[str, str], tuple[str, str]] = {}
        self._extreme: dict[str, str] = {}

    def fact(self, fact: SizeFact) -> str:
        left, right = self.size(fact.left), self.size(fact.right)
        match fact.relation:
            case Relation.EQUAL:
                return f"(= {left} {right})"
            case Relation.NOT_EQUAL:
                return f"(not (= {left} {right}))"
            case Relation.AT_MOST:
                return f"(<= {left} {right})"
            case Relation.LESS:
                return f"(< {left} {right})"
            case Relation.DIVIDES:
                _, rest = self._division(fact.right, fact.left)  # the remainder of a division by 0 is the dividend
                return f"(= {rest} 0)"
            case Relation.POWER:  # of a premise only the linear consequences; it is never a goal
                return f"(or (>= {right} 1) (and (= {left} 0) (= {right} 0)))"

    def size(self, size: Size) -> str:
        terms = [self._term(coefficient, monomial) for monomial, coefficient in size.terms]
        if not terms:
            return "0"
        return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"

    def _term(self, coefficient: int, monomial: Sequence[tuple[SizeVariable | NonlinearAtom, int]]) -> str:
        factors = [self._atom(atom) for atom, power in monomial for _ in range(power)]
        if len(factors) > 1:
            self.linear = False
        if coefficient != 1 or not factors:
            factors.insert(0, _integer(coefficient))
        return factors[0] if len(factors) == 1 else f"(* {' '.join(factors)})"

    def _atom(self, atom: SizeVariable | NonlinearAtom) -> str:
        if isinstance(atom, SizeVariable):
            return self._variable(atom)
        match atom.kind:
            case AtomKind.QUOTIENT:
                return self._division(atom.args[0], atom.args[1])[0]
            case AtomKind.REMAINDER:
                return self._division(atom.args[0], atom.args[1])[1]
            case AtomKind.MAXIMUM | AtomKind.MINIMUM:
                return self._extremum(atom)

    def _variable(self, which: SizeVariable) -> str:
        known = self.sizes.get(which)
        if known is None:
            known = self.sizes[which] = f"v{len(self.sizes)}"
            self.declarations.append(f"(declare-const {known} Int)")
            self.definitions.append(f"(>= {known} {_integer(which.minimum)})")
            if which.cap is not None:
                self.definitions.append(f"(<= {known} {self.size(which.cap)})")
        return known

    def _fresh(self, letter: str, count: int) -> str:
        name = f"{letter}{count}"
        self.declarations.append(f"(declare-const {name} Int)")
        return name

    def _division(self, dividend: Size, divisor: Size) -> tuple[str, str]:
        """(quotient, remainder)."""
        key = (dividend.key, divisor.key)
        known = self._divided.get(key)
        if known is None:
            p, q = self.size(dividend), self.size(divisor)
            count = len(self._divided)
            known = self._divided[key] = quotient_name, rest = self._fresh("d", count), self._fresh("r", count)
            low = divisor.bounds()[0]
            if divisor.constant is None:
                self.linear = False
            self.definitions.append(f"(= {p} (+ (* {q} {quotient_name}) {rest}))")
            positive = f"(and (<= 0 {rest}) (< {rest} {q}))"
            if low is not None and low >= 1:
                self.definitions.append(positive)
            else:
                negative = f"(and (< {q} {rest}) (<= {rest} 0))"
                self.definitions.append(
                    f"(or (and (>= {q} 1) {positive}) (and (= {q} 0) (= {quotient_name} 0)) (and (< {q} 0) {negative}))"
                )
        return known

    def _extremum(self, atom: NonlinearAtom) -> str:
        known = self._extreme.get(atom.key)
        if known is None:
            args = [self.size(a) for a in atom.args]
            known = self._extreme[atom.key] = self._fresh("m", len(self._extreme))
            relation = ">=" if atom.kind is AtomKind.MAXIMUM else "<="
            bounds = " ".join(f"({relation} {known} {a})" for a in args)
            reached = " ".join(f"(= {known} {a})" for a in args)
            self.definitions.append(f"(and {bounds} (or {reached}))")
        return known


def _integer(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


# ---------------------------------------------------------------------------------------------------- verdicts on disk
#
# One small JSON file for each query, in the user's cache folder, named by the digest of the query, the solver's version and its
# step limit; the query is also in the file and compared.  Only entries that this user wrote are read (`lang.support.caches`); one
# that cannot be read, decoded or validated counts as absent, and a folder that cannot be written is no error.  `RHO_VERDICTS=off`
# turns the cache off.

SWITCH = "RHO_VERDICTS"
FORMAT = 2
CACHE = Cache("verdicts", SWITCH, ".json", 65_536, 10_000)


def read(key: str) -> Mapping[str, Any] | None:
    """The stored entry of a query, not yet validated; None if there is none."""
    text = CACHE.read(key)
    if text is None:
        return None
    try:
        entry = decode(text.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT or entry.get("question") != key:
        return None
    return entry


def write(key: str, verdict: Mapping[str, Any]) -> None:
    """Store a verdict, best effort: failures are ignored."""
    CACHE.write(key, json.dumps({"format": FORMAT, "question": key, **verdict}, ensure_ascii=True).encode("ascii"))


# ---------------------------------------------------------------------------------------------------- verdicts
#
# Verdicts are cached in memory for this process and on disk for the next.  Proofs and refutations are trusted; examples, from the
# solver or the cache, are evaluated.  Interrupted queries, and those during which the solver's process ended, are not cached.

class Unproved(Enum):
    """The reason why a verdict is UNKNOWN."""

    ABSENT = "the solver z3 is not installed (`pip install z3-solver`), and it might prove this"
    FAILED = "the solver's process ended without an answer (it may have run out of memory)"
    STOPPED = f"the solver gave up after at most {z3_process.STEPS:_} steps: it may well be true".replace("_", " ")


@dataclass(frozen=True, slots=True)
class SmtVerdict:
    """A verdict; `example`: sizes that falsify the fact (DEPENDS)."""

    verdict: Verdict
    example: Mapping[SizeVariable, int] | None = None
    unproved: Unproved | None = None


_verdicts: dict[str, tuple[Verdict, tuple[int, ...]]] = {}
_MOST_VERDICTS = 10_000


def query_solver(fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None = None) -> SmtVerdict:
    """The solver's verdict.  With a counterexample (`known`) only NEVER or DEPENDS remain."""
    if fact.relation is Relation.POWER:  # powers cannot be written, except for linear consequences of premises
        return SmtVerdict(Verdict.UNKNOWN)
    asked = smt_query(fact, premises)
    version = z3_process.version()
    if version is None:
        return SmtVerdict(Verdict.UNKNOWN, unproved=Unproved.ABSENT)
    key = f"z3 {version} {z3_process.STEPS}\n{'may be false' if known is not None else 'open'}\n{asked.key}"
    outcome = _verdicts.get(key) or _read_verdict(key, asked, fact, premises, known)
    if outcome is None:
        solved = _solve(asked, fact, premises, known)
        if isinstance(solved, Unproved):
            return SmtVerdict(Verdict.UNKNOWN, unproved=solved)
        outcome = solved
        write(key, {"verdict": outcome[0].value, "model": list(outcome[1])})
    if len(_verdicts) < _MOST_VERDICTS:
        _verdicts[key] = outcome
    verdict, model = outcome
    if verdict is Verdict.UNKNOWN:
        return SmtVerdict(verdict, unproved=Unproved.STOPPED)
    return SmtVerdict(verdict, dict(zip(asked.sizes, model, strict=True)) if model else None)


def _solve(
    asked: SmtQuery, fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None
) -> tuple[Verdict, tuple[int, ...]] | Unproved:
    """The verdict with the model that falsifies the fact, or why there is none."""
    names = [f"v{i}" for i in range(len(asked.sizes))]
    model: tuple[int, ...] = ()
    can_fail = Satisfiable.UNKNOWN
    if known is None:
        answer = z3_process.solve(asked.counterexample(), asked.logic, names)
        if answer is None or answer.satisfiable is Satisfiable.FAILED:
            return Unproved.ABSENT if answer is None else Unproved.FAILED
        can_fail = answer.satisfiable
        if can_fail is Satisfiable.NO:
            return Verdict.PROVED, ()
        if can_fail is Satisfiable.YES and breaks(fact, premises, asked.sizes, answer.model):
            model = answer.model
    answer = z3_process.solve(asked.example(), asked.logic, names)
    if answer is None or answer.satisfiable is Satisfiable.FAILED:
        return Unproved.ABSENT if answer is None else Unproved.FAILED
    if answer.satisfiable is Satisfiable.NO:
        return Verdict.NEVER, ()
    return (Verdict.DEPENDS, model) if model or known is not None else (Verdict.UNKNOWN, ())


def _read_verdict(
    key: str, asked: SmtQuery, fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None
) -> tuple[Verdict, tuple[int, ...]] | None:
    """The verdict on disk, if it is valid."""
    entry = read(key)
    if entry is None:
        return None
    verdicts = {verdict.value: verdict for verdict in Verdict}
    verdict, model = verdicts.get(str(entry.get("verdict"))), entry.get("model")
    if verdict is None or not isinstance(model, list) or not all(type(n) is int for n in model):
        return None
    if model and (verdict is not Verdict.DEPENDS or not breaks(fact, premises, asked.sizes, tuple(model))):
        return None
    if verdict is Verdict.DEPENDS and not model and known is None:
        return None
    return verdict, tuple(model)


def breaks(fact: SizeFact, premises: Sequence[SizeFact], sizes: Sequence[SizeVariable], model: Sequence[int]) -> bool:
    """Do these numbers satisfy every bound and premise and falsify the fact?"""
    if len(sizes) != len(model):
        return False
    values = dict(zip(sizes, model, strict=True))
    bounded = all(v.minimum <= n and (v.cap is None or n <= v.cap.evaluate(values)) for v, n in values.items())
    return bounded and not fact.holds(values) and all(premise.holds(values) for premise in premises)
