"""What a plan's bound, and its being optimal, range over, in words, from the plan's own data.

    bound over: whole shards, along axis 0 of 2 (x a b), axis 1 of 2 (c)
    not cut: y (no cut of a sort is known)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...graph.phases import PhaseId
from .model import Plan
from .parts import PlannedPhase

MOST_NAMED: Final = 8


def space_lines(plan: Plan) -> list[str]:
    """Which plans the bound is of, and what is not cut."""
    if plan.prediction is None:
        return []
    names = {phase.id: _name(phase) for phase in plan.phases}
    parts = ["whole shards" if plan.space.chunks == 1 else f"at most {plan.space.chunks} chunks a device"]
    if not _is_cuttable(plan):
        parts = ["phases each whole on one device"]
    parts += _axes(plan, names)
    kinds = {phase.id: [kind for _, kind in phase.axes] for phase in plan.phases}
    cut = [one for one in plan.space.cuts if one.axis is not None]
    joined = [names.get(one.phase, "") for one in cut if kinds.get(one.phase, [])[one.axis :][:1] == ["reduce"]]
    if joined:
        parts.append(f"partial results at home ({_listed(joined)})")
    if plan.space.dealt:
        parts.append(f"iterations of {_listed([names.get(id, f'#{id}') for id in plan.space.dealt])} on one device or several")
    lines = [f"bound over: {', '.join(parts)}"]
    reasons: dict[str, list[str]] = {}
    for one in plan.space.cuts:
        if one.because:
            reasons.setdefault(one.because, []).append(names.get(one.phase, f"#{one.phase}"))
    if reasons:
        lines.append("not cut: " + "; ".join(f"{_listed(own)} ({because})" for because, own in reasons.items()))
    return lines


def has_other_axes(plan: Plan) -> bool:
    """Could a phase be cut along another axis than in the plans that the bound is of?"""
    return any(len(one.axes) > 1 for one in plan.space.cuts)


def plans_text(plan: Plan) -> str:
    """`plan of whole shards along these axes`: what no better one is of."""
    words = ["plan"]
    if plan.space.chunks > 1:
        words.append(f"with at most {plan.space.chunks} chunks a device")
    elif _is_cuttable(plan):
        words.append("of whole shards")
    if has_other_axes(plan):
        words.append("along these axes")
    return " ".join(words)


def _is_cuttable(plan: Plan) -> bool:
    inputs = {phase.id for phase in plan.phases if phase.op == "input"}
    return bool(plan.space.dealt) or any(one.axes and one.phase not in inputs for one in plan.space.cuts)


def _axes(plan: Plan, names: Mapping[PhaseId, str]) -> Iterator[str]:
    """The axes that were chosen, each with what is cut along it."""
    chosen: dict[tuple[int | None, int], list[str]] = {}
    for one in plan.space.cuts:
        if len(one.axes) > 1:
            chosen.setdefault((one.axis, len(one.axes)), []).append(names.get(one.phase, f"#{one.phase}"))
    for place, ((axis, count), own) in enumerate(chosen.items()):
        along = "uncut" if axis is None else f"axis {axis} of {count}"
        yield f"{'along ' if place == 0 and axis is not None else ''}{along} ({_listed(own)})"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _name(phase: PlannedPhase) -> str:
    named, arrow, _ = phase.label.partition(" ← ")
    return named if arrow else phase.label or f"#{phase.id}"
