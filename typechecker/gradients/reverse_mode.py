"""Reverse-mode differentiation: from the cotangents of results to those of values that ops read.

`ReversePass.run` goes over ops from last to first and emits, for each op whose result has a cotangent, the ops that give the
cotangents of its operands (`scalar_rules`, `array_rules`, `control_rules`).  What is emitted is core like any other: it is typed,
counted, fused, planned and differentiated again.  Only active values have cotangents: floats that depend on the differentiated
ones.  Cotangents of one value are added in the order in which its readers are met, last reader first, so that a gradient is the
same in every plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ...lang.syntax.source import Span
from ..core.builder import Builder, DeclaredAdjoint
from ..core.operations import (
    CoreBranch,
    CoreFold,
    CoreLoop,
    FoldScan,
    Gather,
    MapCells,
    Op,
    Scalar,
    ValueId,
    operands_of,
    results_of,
)
from . import scalar_rules
from .terms import Hidden, NotDifferentiable, Terms

# ---------------------------------------------------------------------------------------------------- activity

class Activity:
    """The active values: those that depend on given ones and are floats or complex."""

    def __init__(self, builder: Builder, values: Iterable[ValueId]) -> None:
        self.builder, self.values = builder, set(values)

    def is_real(self, value: ValueId) -> bool:
        kind = self.builder.types[value].element.kind
        return kind.is_float or kind.is_complex

    def add(self, values: Iterable[ValueId]) -> bool:
        """Make values active, as far as they are floats; is any of them new?"""
        new = {value for value in values if self.is_real(value)} - self.values
        self.values |= new
        return bool(new)

    def extend(self, ops: Sequence[Op]) -> None:
        """Find the active results of ops in order."""
        for op in ops:
            match op:
                case MapCells():
                    self._pass(op.body.params, op.args)
                    self.extend(op.body.ops)
                    self._pass(op.results, op.body.results)
                case CoreLoop():
                    cells = len(op.cells)
                    self._pass(op.body.params, (*op.cells, *op.initial))
                    self.extend(op.body.ops)
                    while self._pass(op.body.params[cells:], op.body.results):
                        self.extend(op.body.ops)
                    self._pass(op.results, op.body.params[cells:])
                case CoreFold() | FoldScan():
                    count = len(op.results)
                    states = op.body.params[count:] if isinstance(op, CoreFold) else op.body.params[:count]
                    items = op.body.params[:count] if isinstance(op, CoreFold) else op.body.params[count:]
                    self._pass(items, op.args)
                    self._pass(states, op.args)
                    self.extend(op.body.ops)
                    while self._pass(states, op.body.results):
                        self.extend(op.body.ops)
                    self._pass(op.results, states)
                case CoreBranch():
                    for arm in (op.then, op.otherwise):
                        self.extend(arm.ops)
                        self._pass(op.results, arm.results)
                case _:
                    declared = self.builder.adjoints.get(results_of(op)[0]) if results_of(op) else None
                    reads = operands_of(op) if declared is None else declared.arguments
                    if not self.values.isdisjoint(reads):
                        self.add(results_of(op))

    def _pass(self, targets: Sequence[ValueId], sources: Sequence[ValueId]) -> bool:
        """Make each target active whose source is; is any of them new?"""
        return self.add(target for target, source in zip(targets, sources, strict=True) if source in self.values)


# ---------------------------------------------------------------------------------------------------- the pass

Rules: TypeAlias = Mapping[type, "Callable[[ReversePass, Any], None]"]


Cell: TypeAlias = tuple[Gather, ValueId, Hidden]
"""A selection, its cotangent, and what zeros of that may hide."""

Gathers: TypeAlias = Mapping[ValueId, "list[Cell]"]
"""By array, selections with their cotangents."""


class ReversePass:
    """The cotangents of the values of one block, emitted into the innermost open block.

    `rules`: of ops other than scalar functions, by their types.  `cells`: of an array, by axis and position, the cotangents of
    its cells at literal positions, until that of the array is asked for.  `gathers`: of some arrays, the selections whose
    cotangents are left to the caller (`_map` sums those of all cells by index).  `hidden`: by value, what zeros of its
    cotangent may hide."""

    def __init__(self, builder: Builder, span: Span, activity: Activity, rules: Rules, gathers: Gathers) -> None:
        self.builder, self.span, self.activity, self.rules, self.gathers = builder, span, activity, rules, gathers
        self.terms = Terms(builder, span)
        self.cotangents: dict[ValueId, ValueId] = {}
        self.cells: dict[ValueId, dict[int, dict[int, Cell]]] = {}
        self.hidden: dict[ValueId, Hidden] = {}

    def is_active(self, value: ValueId) -> bool:
        return value in self.activity.values

    def add(self, value: ValueId, cotangent: ValueId | None, hidden: Hidden | None = None) -> None:
        """Add to the cotangent of a value; `hidden`: what its zeros may hide (None: as the one at hand).

        An item is selected away only if it is so for all that read it."""
        if cotangent is None or not self.is_active(value):
            return
        before = self.cotangents.get(value)
        total = cotangent if before is None else self.terms.add(before, cotangent)
        self.replace(value, total, self.terms.hidden if hidden is None else hidden)

    def add_cell(self, op: Gather, position: int, cotangent: ValueId) -> None:
        """Add to the cotangent of the cell that is selected at a literal position."""
        cells, t = self.cells.setdefault(op.arg, {}).setdefault(op.axis, {}), self.terms
        if position in cells:
            _, before, hidden = cells[position]
            cells[position] = op, t.add(before, cotangent), min(hidden, t.hidden)
        else:
            cells[position] = op, cotangent, t.hidden

    def settle(self, values: Iterable[ValueId]) -> None:
        """Add the cotangents of cells to those of their arrays: those of most of an axis as one array, of few each in place."""
        t = self.terms
        for value in values:
            for axis, cells in self.cells.pop(value, {}).items():
                t.span, length = self.builder.spans[value], t.shape(value)[axis].constant or 0
                if 2 * len(cells) < length:
                    for op, cell, _ in cells.values():
                        self.replace(value, t.add_to_cell(self.cotangents.get(value), op, cell), Hidden.VALUES)
                    continue
                zero = t.zeros_like(next(iter(cells.values()))[1])
                parts = [cells[position][1] if position in cells else zero for position in range(length)]
                hidden = max(cell[2] for cell in cells.values()) if len(cells) == length else Hidden.VALUES
                self.add(value, t.stack(axis, parts), hidden)

    def replace(self, value: ValueId, total: ValueId, hidden: Hidden) -> None:
        """Set the cotangent of a value to one that what there was has been added to; `hidden`: by the zeros of what is new."""
        self.hidden[value] = min(hidden, self.hidden.get(value, hidden))
        self.cotangents[value] = total

    def hidden_by(self, values: Iterable[ValueId]) -> Hidden:
        """What zeros of the cotangents of values may hide."""
        return max((self.hidden.get(value, Hidden.NOTHING) for value in values), default=Hidden.NOTHING)

    def run(self, ops: Sequence[Op]) -> None:
        """Go over ops from last to first."""
        skipped = frozenset[ValueId]()
        for op in reversed(ops):
            results = results_of(op)
            if not skipped.isdisjoint(results):
                continue
            self.settle(results)
            declared = self.builder.adjoints.get(results[0]) if results else None
            if declared is not None:
                skipped |= declared.defined
                self._declared(declared)
                continue
            if self.cotangents.keys().isdisjoint(results) or self.activity.values.isdisjoint(results):
                continue
            self.terms.span = self.builder.spans[results[0]]
            self.terms.hidden = self.hidden_by(results)
            self._op(op)

    def _op(self, op: Op) -> None:
        if isinstance(op, Scalar):
            self._scalar(op, self.cotangents[op.result])
            return
        rule = self.rules.get(type(op))
        if rule is None:
            raise self.terms.refuse(f"{_article(type(op).__name__)} has no gradient")
        rule(self, op)

    def _declared(self, declared: DeclaredAdjoint) -> None:
        """The cotangents that a declared adjoint gives."""
        cotangent = self.cotangents.get(declared.result)
        if cotangent is None or not any(map(self.is_active, declared.arguments)):
            return
        hidden = self.hidden[declared.result]
        parts = declared.pull(declared.arguments, cotangent)
        if not parts:
            raise NotDifferentiable(is_reported=True)
        for argument, part in zip(declared.arguments, parts, strict=True):
            self.add(argument, part, hidden)

    def _scalar(self, op: Scalar, cotangent: ValueId) -> None:
        t = self.terms
        rules = scalar_rules.CIRCULAR.get(op.parameter) if op.function == "circular" else None
        rows = (rules,) if op.function == "circular" else scalar_rules.RULES.get(op.function)
        hidden = max(t.hidden, scalar_rules.hidden_by(t, op))
        for number, arg in enumerate(op.args):
            if not self.is_active(arg):
                continue
            is_complex = t.kind(arg).is_complex or t.kind(op.result).is_complex
            if not (t.kind(op.result).is_float or is_complex):
                continue
            if is_complex and not (op.function in scalar_rules.ANALYTIC or op.parameter in scalar_rules.ANALYTIC_CIRCULAR):
                raise t.refuse(f"the function `{op.function}` of complex numbers has no gradient in this version")
            if rows is None:
                raise t.refuse(f"the function `{op.function}` has no gradient in this version")
            rule = rows[number]
            if rule is not None:
                part = t.sum_to_rank(rule(t, op.args, op.result, cotangent), len(t.shape(arg)))
                self.add(arg, part, hidden)

    # ------------------------------------------------------------------------------------------- blocks

    def emitted(self, emit: Callable[[], object]) -> list[Op]:
        """The ops that a function emits into the open block."""
        before = self.builder.position
        emit()
        return self.builder.since(before)


def cotangents_of(
    builder: Builder, span: Span, ops: Sequence[Op], activity: Activity,
    seeds: Sequence[tuple[ValueId, ValueId, Hidden]], wanted: Sequence[ValueId], rules: Rules, gathers: Gathers,
) -> tuple[list[ValueId | None], list[Hidden]]:  # fmt: skip
    """The cotangents of `wanted`, and what zeros of each may hide, from `seeds`: (value, its cotangent, what zeros of that may
    hide); None is 0.

    The ops have been emitted and define, from the wanted values and others, the values that have seeds."""
    reverse = ReversePass(builder, span, activity, rules, gathers)
    for seed in seeds:
        reverse.add(*seed)
    reverse.run(ops)
    reverse.settle(wanted)
    return [reverse.cotangents.get(value) for value in wanted], [reverse.hidden_by((value,)) for value in wanted]


_NAMES: Final = {"Format": "text of a number", "Library": "library function"}


def _article(name: str) -> str:
    return f"a {_NAMES.get(name, name)}"
