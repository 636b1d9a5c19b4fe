"""Asking the solver, and keeping its answers: in memory for this process, on disk for the next.

A proof or a refutation is the solver's word; an example is never taken on trust but evaluated, whether it comes from the
solver or from the cache.  What is interrupted, or has no answer because the solver's process ended, is not kept.

Neighbours: `decide` asks; `question` writes, `child` answers, `cache` remembers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ...lang.diagnostics import Verdict
from ..obligations import Relation, SizeFact
from ..sizes import SizeVariable
from . import cache, child
from .child import Satisfiable
from .question import Question, question


class Unproved(Enum):
    """Why a verdict is UNKNOWN."""

    ABSENT = "the solver is not installed (`pip install 'rho-lang[solver]'`), and it might prove this"
    FAILED = "the solver's process ended without an answer (it may have run out of memory)"
    STOPPED = f"the solver gave up after at most {child.STEPS:_} steps: it may well be true".replace("_", " ")


@dataclass(frozen=True, slots=True)
class Answered:
    """`example`: sizes that break the fact, if the verdict is DEPENDS."""

    verdict: Verdict
    example: Mapping[SizeVariable, int] | None = None
    unproved: Unproved | None = None


_kept: dict[str, tuple[Verdict, tuple[int, ...]]] = {}
_MOST_KEPT = 10_000


def ask(fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None = None) -> Answered:
    """The solver's verdict; `known` is a counterexample found already, so that only NEVER or DEPENDS remain."""
    if fact.relation is Relation.POWER:  # a premise says as much of it as is linear, which is not enough of what is asked
        return Answered(Verdict.UNKNOWN)
    asked = question(fact, premises)
    version = child.version()
    if version is None:
        return Answered(Verdict.UNKNOWN, unproved=Unproved.ABSENT)
    key = f"z3 {version} {child.STEPS}\n{'may be false' if known is not None else 'open'}\n{asked.key}"
    found = _kept.get(key) or _stored(key, asked, fact, premises, known)
    if found is None:
        solved = _solve(asked, fact, premises, known)
        if isinstance(solved, Unproved):
            return Answered(Verdict.UNKNOWN, unproved=solved)
        found = solved
        cache.write(key, {"verdict": found[0].value, "model": list(found[1])})
    if len(_kept) < _MOST_KEPT:
        _kept[key] = found
    verdict, model = found
    if verdict is Verdict.UNKNOWN:
        return Answered(verdict, unproved=Unproved.STOPPED)
    return Answered(verdict, dict(zip(asked.sizes, model, strict=True)) if model else None)


def _solve(
    asked: Question, fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None
) -> tuple[Verdict, tuple[int, ...]] | Unproved:
    """The verdict and the model that breaks the fact; why there is none without a solver or an answer."""
    names = [f"v{i}" for i in range(len(asked.sizes))]
    model: tuple[int, ...] = ()
    can_fail = Satisfiable.UNKNOWN
    if known is None:
        answer = child.solve(asked.counterexample(), asked.logic, names)
        if answer is None or answer.satisfiable is Satisfiable.FAILED:
            return Unproved.ABSENT if answer is None else Unproved.FAILED
        can_fail = answer.satisfiable
        if can_fail is Satisfiable.NO:
            return Verdict.PROVED, ()
        if can_fail is Satisfiable.YES and breaks(fact, premises, asked.sizes, answer.model):
            model = answer.model
    answer = child.solve(asked.example(), asked.logic, names)
    if answer is None or answer.satisfiable is Satisfiable.FAILED:
        return Unproved.ABSENT if answer is None else Unproved.FAILED
    if answer.satisfiable is Satisfiable.NO:
        return Verdict.NEVER, ()
    return (Verdict.DEPENDS, model) if model or known is not None else (Verdict.UNKNOWN, ())


def _stored(
    key: str, asked: Question, fact: SizeFact, premises: Sequence[SizeFact], known: Mapping[SizeVariable, int] | None
) -> tuple[Verdict, tuple[int, ...]] | None:
    """What the disk says, if it can be believed."""
    entry = cache.read(key)
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
    """Do these numbers keep every bound and premise and break the fact?"""
    if len(sizes) != len(model):
        return False
    values = dict(zip(sizes, model, strict=True))
    bounded = all(v.minimum <= n and (v.cap is None or n <= v.cap.evaluate(values)) for v, n in values.items())
    return bounded and not fact.holds(values) and all(premise.holds(values) for premise in premises)
