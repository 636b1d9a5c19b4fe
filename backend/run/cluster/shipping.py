"""A program with its plan as text, and back: what home sends, and how a worker reads it.

A worker checks, lowers and binds the program again, as the loader of a stored plan does, and verifies the plan before it runs.
Both ends must have exactly the same source of Rho.

Neighbours: `home` (ships), `resident` (unpacks), `schedule.plan.stored`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ....lang.certain import certain
from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, Label, RunFailed
from ....lang.module_names import module_name
from ....lang.opening import read_bytes
from ....lang.source import Source, Span
from ....typechecker.check import check
from ...graph import BoundGraph, bind, lower, optimise, settle
from ...schedule.plan.model import Plan
from ...schedule.plan.stored import PlanFormatError, decode_plan, encode_plan
from ...schedule.verify.plans import check_plan
from .wire import Lost

_PACKAGE: Final = Path(__file__).parents[3]
_MOST_BYTES: Final = 16 << 20
"""Of a file of Rho."""
_SHIPPED: Final[deque[tuple[Plan, dict[str, Any]]]] = deque(maxlen=16)
"""Plans that run again are not written again, which takes as long as a small run."""
_ROOMS: Final = ("lang", "typechecker", "backend", "stdlib")


@cache
def version() -> str:
    """Of the text of Rho, so that both ends know whether they are the same."""
    found = sha256()
    for room in _ROOMS:
        for path in sorted((_PACKAGE / room).rglob("*")):
            if path.suffix in (".py", ".ll", ".rho") and path.is_file():
                found.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + read_bytes(path, _MOST_BYTES))
    return found.hexdigest()[:16]


def require_same(address: str, other: str) -> None:
    """RunFailed E710: the version of a worker is not that of the Rho that is here."""
    if other != version():
        raise RunFailed([Diagnostic(
            Code.E710, f"worker {address} has another version of Rho", Span("", 0, 0),
            notes=("install on every worker what is installed here",),
        )])  # fmt: skip


def shipment(plan: Plan, without: Collection[str]) -> dict[str, Any]:
    """The facts of a program with its plan; `without`: passes that are left out."""
    certain(bool(plan.program), "a plan that is shipped has its program with it")
    left = sorted(without)
    known = next((facts for one, facts in [*_SHIPPED] if one is plan and facts["without"] == left), None)
    if known is None:
        facts = {"plan": encode_plan(plan), "without": left}
        known = {"digest": sha256(repr(facts).encode()).hexdigest(), **facts}
        _SHIPPED.append((plan, known))
    return known


def unpacked(facts: Mapping[str, Any]) -> tuple[Plan, BoundGraph]:
    """PlanFormatError: no plan, or not one of its program."""
    plan = decode_plan(facts["plan"])
    main, *others = [Source(file.name, file.text) for file in plan.program]
    texts = {source.name: source for source in others}

    def load(module: str, importer: str | None) -> Source | None:
        return texts.get(module_name(module, importer or "<eval>"))

    core = check(main, load_module=load).core
    if core is None:
        raise PlanFormatError("the program is rejected here")
    without = frozenset(facts["without"])
    graph = optimise(lower(core), without)
    sizes = dict(plan.sizes)
    wanted = {variable for type in graph.types.values() for size in type.shape for variable in size.variables()}
    wanted |= {param.variable for param in core.params}
    bound = settle(bind(graph, {v: sizes[v.name] for v in wanted if not v.is_runtime and v.name in sizes}), without)
    faults = check_plan(plan, bound)
    if faults:
        raise PlanFormatError(f"the plan is not one of the program: {faults[0].message}")
    return plan, bound


def given_up(lost: Sequence[Lost], bound: BoundGraph) -> RunFailed:
    """E710, of the workers that a run lost."""
    count = f"{len(lost)} workers were" if len(lost) > 1 else "a worker was"
    first = bound.graph.phases[0].span if bound.graph.phases else Span("", 0, 0)
    message = f"{count} lost while the program ran, the last one {lost[-1].words}"
    return RunFailed([Diagnostic(Code.E710, message, Span(first.file, 0, 0), notes=tuple(one.words for one in lost[:-1][-3:]))])


def failure_facts(failure: RunFailed) -> list[dict[str, Any]]:
    """The diagnostics of a failure as JSON has them."""
    return [
        {
            "code": one.code, "message": one.message, "span": _span(one.span), "label": one.label, "notes": one.notes,
            "labels": [[_span(label.span), label.message] for label in one.labels], "goal": one.goal,
            "counterexample": None if one.counterexample is None else dict(one.counterexample),
        } for one in failure.diagnostics
    ]  # fmt: skip


def failure_of(facts: Collection[Mapping[str, Any]]) -> RunFailed:
    return RunFailed([
        Diagnostic(
            one["code"], one["message"], Span(*one["span"]), label=one["label"], notes=tuple(one["notes"]),
            labels=tuple(Label(Span(*span), message) for span, message in one["labels"]), goal=one["goal"],
            counterexample=one["counterexample"],
        ) for one in facts
    ])  # fmt: skip


def _span(span: Span) -> tuple[str, int, int]:
    return span.file, span.start, span.end
