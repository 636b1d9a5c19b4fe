"""Reverse-mode differentiation: computes the cotangents of operands from those of results.

`ReversePass.run` visits ops from last to first and emits, for each op whose result has a cotangent, the ops that compute the
cotangents of its operands (`scalar_rules`, `array_rules`, `control_rules`).  The result is ordinary core: it is typed, counted,
fused, planned and can be differentiated again.  Only active values have cotangents: floats that depend on the differentiated
ones.  Cotangents of one value are added in the order in which its readers are visited, so that a gradient has the same bits in
every plan.
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
from .terms import Masking, NotDifferentiable, Terms

# ---------------------------------------------------------------------------------------------------- activity

class Activity:
    """Activity analysis: the float and complex values that depend on given values."""

    def __init__(self, builder: Builder, values: Iterable[ValueId]) -> None:
        self.builder, self.values = builder, set(values)

    def is_real(self, value: ValueId) -> bool:
        kind = self.builder.types[value].element.kind
        return kind.is_float or kind.is_complex

    def add(self, values: Iterable[ValueId]) -> bool:
        """Make the floats among some values active; was any of them not active before?"""
        new = {value for value in values if self.is_real(value)} - self.values
        self.values |= new
        return bool(new)

    def extend(self, ops: Sequence[Op]) -> None:
        """Add the active results of ops, in order."""
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
        """Make each target active whose source is; was any of them not active before?"""
        return self.add(target for target, source in zip(targets, sources, strict=True) if source in self.values)


# ---------------------------------------------------------------------------------------------------- the pass

Rules: TypeAlias = Mapping[type, "Callable[[ReversePass, Any], None]"]


Cell: TypeAlias = tuple[Gather, ValueId, Masking]
"""A gather of one cell, the cotangent of its result, and the masking of that cotangent."""

Gathers: TypeAlias = Mapping[ValueId, "list[Cell]"]
"""The gathers from an array, with their cotangents."""


class ReversePass:
    """Computes the cotangents of the values of one block, emitted into the innermost open block.

    `rules` has the rules of ops other than scalar functions, by type.  `cells` collects, by array, axis and position, the
    cotangents of cells at literal positions until `settle` adds them.  `gathers` are selections from arrays whose cotangents the
    caller sums (`_map` sums those of all its cells by index).  `maskings` has the masking of the cotangent of each value.
    """

    def __init__(self, builder: Builder, span: Span, activity: Activity, rules: Rules, gathers: Gathers) -> None:
        self.builder, self.span, self.activity, self.rules, self.gathers = builder, span, activity, rules, gathers
        self.terms = Terms(builder, span)
        self.cotangents: dict[ValueId, ValueId] = {}
        self.cells: dict[ValueId, dict[int, dict[int, Cell]]] = {}
        self.maskings: dict[ValueId, Masking] = {}

    def is_active(self, value: ValueId) -> bool:
        return value in self.activity.values

    def add(self, value: ValueId, cotangent: ValueId | None, masking: Masking | None = None) -> None:
        """Add to the cotangent of a value; `masking` is the masking of the summand (None: that of the op being differentiated).

        An item is masked out only if all of its readers mask it out, so the masking of a sum is the least of its summands'.
        """
        if cotangent is None or not self.is_active(value):
            return
        before = self.cotangents.get(value)
        total = cotangent if before is None else self.terms.add(before, cotangent)
        self.replace(value, total, self.terms.masking if masking is None else masking)

    def add_cell(self, op: Gather, position: int, cotangent: ValueId) -> None:
        """Add to the cotangent of the cell that a gather selects at a literal position."""
        cells, t = self.cells.setdefault(op.arg, {}).setdefault(op.axis, {}), self.terms
        if position in cells:
            _, before, masking = cells[position]
            cells[position] = op, t.add(before, cotangent), min(masking, t.masking)
        else:
            cells[position] = op, cotangent, t.masking

    def settle(self, values: Iterable[ValueId]) -> None:
        """Add the collected cotangents of cells to those of their arrays: most of the cells of an axis as one array, few of them
        in place."""
        t = self.terms
        for value in values:
            for axis, cells in self.cells.pop(value, {}).items():
                t.span, length = self.builder.spans[value], t.shape(value)[axis].constant or 0
                if 2 * len(cells) < length:
                    for op, cell, _ in cells.values():
                        self.replace(value, t.add_to_cell(self.cotangents.get(value), op, cell), Masking.CHOICE)
                    continue
                zero = t.zeros_like(next(iter(cells.values()))[1])
                parts = [cells[position][1] if position in cells else zero for position in range(length)]
                masking = max(cell[2] for cell in cells.values()) if len(cells) == length else Masking.CHOICE
                self.add(value, t.stack(axis, parts), masking)

    def replace(self, value: ValueId, total: ValueId, masking: Masking) -> None:
        """Set the cotangent of a value to `total`, which includes the previous one; `masking` is the masking of the summand."""
        self.maskings[value] = min(masking, self.maskings.get(value, masking))
        self.cotangents[value] = total

    def masking_of(self, values: Iterable[ValueId]) -> Masking:
        """The greatest masking of the cotangents of some values."""
        return max((self.maskings.get(value, Masking.NONE) for value in values), default=Masking.NONE)

    def run(self, ops: Sequence[Op]) -> None:
        """Differentiate ops from last to first."""
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
            self.terms.masking = self.masking_of(results)
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
        """Add the cotangents of the arguments of `f⍫g`, which g gives."""
        cotangent = self.cotangents.get(declared.result)
        if cotangent is None or not any(map(self.is_active, declared.arguments)):
            return
        masking = self.maskings[declared.result]
        parts = declared.pull(declared.arguments, cotangent)
        if not parts:
            raise NotDifferentiable(is_reported=True)
        for argument, part in zip(declared.arguments, parts, strict=True):
            self.add(argument, part, masking)

    def _scalar(self, op: Scalar, cotangent: ValueId) -> None:
        t = self.terms
        rules = scalar_rules.CIRCULAR.get(op.parameter) if op.function == "circular" else None
        rows = (rules,) if op.function == "circular" else scalar_rules.RULES.get(op.function)
        masking = max(t.masking, scalar_rules.masking_of(t, op))
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
                self.add(arg, part, masking)

    # ------------------------------------------------------------------------------------------- blocks

    def emitted(self, emit: Callable[[], object]) -> list[Op]:
        """The ops that a function emits into the open block."""
        before = self.builder.position
        emit()
        return self.builder.since(before)


def cotangents_of(
    builder: Builder, span: Span, ops: Sequence[Op], activity: Activity,
    seeds: Sequence[tuple[ValueId, ValueId, Masking]], wanted: Sequence[ValueId], rules: Rules, gathers: Gathers,
) -> tuple[list[ValueId | None], list[Masking]]:  # fmt: skip
    """The cotangents of `wanted` (None is 0) and their maskings.

    `ops` have been emitted and define the values of `seeds`, which are triples (value, cotangent, masking), from the wanted
    values and others.
    """
    reverse = ReversePass(builder, span, activity, rules, gathers)
    for seed in seeds:
        reverse.add(*seed)
    reverse.run(ops)
    reverse.settle(wanted)
    return [reverse.cotangents.get(value) for value in wanted], [reverse.masking_of((value,)) for value in wanted]


_NAMES: Final = {"Format": "text of a number", "Library": "library function"}


def _article(name: str) -> str:
    return f"a {_NAMES.get(name, name)}"
