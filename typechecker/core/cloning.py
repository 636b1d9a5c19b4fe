"""Calls of a body that is checked: its ops once more, with fresh values and runtime sizes, or a function that calls share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...lang.support.records import field_names, replace
from ...lang.syntax.source import Span
from ..elements import ArrayType
from ..sizes.polynomials import Size, SizeVariable, variable
from ..sizes.size import upper_bound
from .builder import Builder
from .operations import (
    OPERANDS,
    Block,
    Compress,
    Core,
    CoreCall,
    CoreFunction,
    CoreInput,
    CoreLoop,
    CoreOutput,
    Invoke,
    Op,
    ValueId,
    Where,
    all_ops,
    defined_and_read,
    defined_sizes,
    field_sizes,
    results_of,
)

_SIZES = frozenset({"sizes", "starts", "trip", "frame"})


class Cloner:
    """Emits copies of ops.  `values` and `sizes` map originals to their replacements; a value or size without one stays as it
    is."""

    def __init__(
        self, builder: Builder, span: Span, values: Mapping[ValueId, ValueId], sizes: Mapping[SizeVariable, Size] | None = None
    ) -> None:
        self.builder, self.span, self.values, self.sizes = builder, span, dict(values), dict(sizes or {})
        self._substituted: dict[str, Size] = {}

    def value(self, value: ValueId) -> ValueId:
        return self.values.get(value, value)

    def type(self, type: ArrayType) -> ArrayType:
        element = type.element
        if not type.shape and element.index_bound is None and element.symbolic_max is None:
            return type
        if element.index_bound is not None or element.symbolic_max is not None:
            bound, most = (None if size is None else self.size(size) for size in (element.index_bound, element.symbolic_max))
            element = replace(element, index_bound=bound, symbolic_max=most)
        return ArrayType(element, tuple([self.size(size) for size in type.shape]), type.permutation)

    def size(self, size: Size) -> Size:
        known = self._substituted.get(size.key)
        if known is None:
            known = self._substituted[size.key] = size.substitute(self.sizes)
        return known

    def ops(self, ops: Iterable[Op]) -> list[Op]:
        """Emit the ops into the innermost open block; returns the new ones."""
        originals = list(ops)
        copies = [self.op(op) for op in originals]
        for op in originals if self.builder.adjoints else ():
            for result in results_of(op):
                declared = self.builder.adjoints.get(result)
                if declared is not None:
                    arguments, defined = tuple(map(self.value, declared.arguments)), frozenset(map(self.value, declared.defined))
                    copy = replace(declared, arguments=arguments, result=self.value(result), defined=defined)
                    self.builder.adjoints[copy.result] = copy
        return copies

    def op(self, op: Op) -> Op:
        builder = self.builder
        if isinstance(op, Invoke) and builder.inlines_calls:
            return self.inlined(op)
        for size in defined_sizes(op):
            if size not in self.sizes:
                self.sizes[size] = variable(self.runtime_size(op, size))
        copy = self._rewritten(op)
        if isinstance(copy, CoreLoop) and results_of(op)[0] in builder.strip_mined:
            builder.strip_mined[copy.results[0]] = builder.strip_mined[results_of(op)[0]]
        builder.effect(copy)
        for original, value in zip(results_of(op)[:1], results_of(copy), strict=False):
            builder.definitions[value] = copy
            known = builder.exact.get(original)
            if known is not None:
                builder.exact[value] = self.size(known) if isinstance(known, Size) else tuple(map(self.size, known))
        return copy

    def inlined(self, op: Invoke) -> Op:
        """Emit the ops of the function that is invoked."""
        core, (args, sizes) = op.function.core, (map(self.value, op.args), map(self.size, op.sizes))
        values = zip([entry.value for entry in core.inputs], args, strict=True)
        inner = Cloner(self.builder, self.span, dict(values), dict(zip(op.function.sizes, sizes, strict=True)))
        inner.ops(core.block.ops)
        self.values.update(zip(op.results, [inner.value(entry.value) for entry in core.outputs], strict=True))
        self.sizes.update(zip(op.defines, [inner.sizes[size] for size, _, _ in op.function.defines], strict=True))
        return op

    def runtime_size(self, op: Op, size: SizeVariable) -> SizeVariable:
        """The variable for a runtime size that an op defines."""
        span, why = self.builder.sizes.spans[size]
        return self.builder.sizes.at_run_time(size.name, self.cap(size), span, why, size.minimum, size.origin)

    def cap(self, size: SizeVariable) -> Size:
        assert size.cap is not None
        return self.size(size.cap)

    def _rewritten(self, op: Op) -> Op:
        """The op on the new operands; its results are numbered after the values of its blocks, as in the original."""
        if isinstance(op, CoreLoop) and op.index is not None:
            fresh = self.builder.sizes.create(op.index.name, op.index.origin, self.cap(op.index))
            self.sizes[op.index] = variable(fresh)
        names = field_names(type(op))
        values = [getattr(op, name) for name in names]
        for at, name in enumerate(names):
            value = values[at]
            if name in OPERANDS:
                values[at] = self._operands(value)
            elif name in _SIZES:
                values[at] = tuple(map(self._sizes, value)) if isinstance(value, tuple) else self.size(value)
            elif name in ("size", "index") and value is not None:
                values[at] = self._variable(value)
            elif name == "defines":
                values[at] = tuple(map(self._variable, value))
            elif isinstance(value, Block):
                values[at] = self.block(value)
        for at, name in enumerate(names):
            if name == "result":
                values[at] = self._result(values[at])
            elif name == "results":
                values[at] = tuple(map(self._result, values[at]))
        return type(op)(*values)

    def _operands(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([None if item is None else self.value(item) for item in value])
        return self.value(value)

    def _sizes(self, entry: Any) -> Any:
        if isinstance(entry, Size):
            return self.size(entry)
        defined, then, otherwise = entry
        return self._variable(defined), self.size(then), self.size(otherwise)

    def _variable(self, size: SizeVariable) -> SizeVariable:
        ((atom, _),) = self.sizes[size].terms[0][0]
        assert isinstance(atom, SizeVariable)
        return atom

    def _result(self, value: ValueId) -> ValueId:
        fresh = self.values[value] = self.builder.fresh(self.type(self.builder.types[value]), self.builder.spans[value])
        return fresh

    def block(self, block: Block) -> Block:
        builder = self.builder
        params = builder.open_block([self.type(builder.types[value]) for value in block.params], self.span)
        self.values.update(zip(block.params, (param.value for param in params), strict=True))
        self.ops(block.ops)
        return replace(builder.close_block(()), results=tuple(map(self.value, block.results)))


# ---------------------------------------------------------------------------------------------------- shared functions

MOST_INLINED = 1_000
"""The most ops of a body that calls inline, so that they fuse with those around the call."""
_OPS_A_SIZE = 16
"""The ops that a run-time size counts as, since sizes may be bounds of sizes."""


def shared(
    builder: Builder, name: str, arguments: Sequence[ValueId], ops: tuple[Op, ...], results: Sequence[ValueId],
    calls: Sequence[CoreCall],
) -> CoreFunction | None:  # fmt: skip
    """The function of a body; None if calls inline it: it is small, or a caller could not know the sizes of its results.

    Values that the body captures are further parameters."""
    inside = {size for op in all_ops(ops) for size in defined_sizes(op)}
    if sum([1 for _ in all_ops(ops)], _OPS_A_SIZE * len(inside)) <= MOST_INLINED:
        return None
    defined, read = defined_and_read(Block(tuple(arguments), ops, tuple(results)))
    parameters = (*arguments, *sorted(read - defined))
    types = {value: builder.types[value] for value in (*parameters, *defined)}
    spans = {value: builder.spans[value] for value in types}
    inside.update(op.index for op in all_ops(ops) if isinstance(op, CoreLoop) and op.index is not None)
    mentioned = [*_sizes_of(builder, types), *[size for op in all_ops(ops) for size in field_sizes(op)]]
    unknown = inside & {atom for size in _sizes_of(builder, results) for atom in size.variables()}
    defines = _lengths(builder, unknown, results)
    shown = {op.mask for op in all_ops(ops) if isinstance(op, Compress | Where) and op.size in unknown}
    free = _variables(mentioned) - inside
    caps = _variables(map(upper_bound, map(variable, unknown)))
    if len(defines) < len(unknown) or not shown.isdisjoint(results) or not caps <= free:
        return None
    core = Core(
        Block((), ops, ()),
        tuple([CoreInput(f"p{at}", value, None, spans[value]) for at, value in enumerate(parameters)]), (),
        tuple([CoreOutput(f"r{at}", value, spans[value]) for at, value in enumerate(results)]), (),
        types, spans, {}, (), (), tuple(calls),
    )  # fmt: skip
    return CoreFunction(name, core, tuple(sorted(free, key=lambda size: size.key)), defines)


def _lengths(
    builder: Builder, sizes: Collection[SizeVariable], results: Sequence[ValueId]
) -> tuple[tuple[SizeVariable, int, int], ...]:  # fmt: skip
    """Each of some sizes that is the length of an axis of a result, with the number of that result and the axis."""
    lengths: dict[SizeVariable, tuple[SizeVariable, int, int]] = {}
    for at, value in enumerate(results):
        for axis, length in enumerate(builder.types[value].shape):
            lengths.update({size: (size, at, axis) for size in sizes if length == variable(size) and size not in lengths})
    return tuple(lengths.values())


def _sizes_of(builder: Builder, values: Iterable[ValueId]) -> Iterator[Size]:
    """The sizes in the types of values."""
    for value in values:
        type = builder.types[value]
        yield from type.shape
        for size in (type.element.index_bound, type.element.symbolic_max):
            if size is not None:
                yield size


def _variables(sizes: Iterable[Size]) -> set[SizeVariable]:
    """The variables of sizes, and of the caps of these."""
    variables: set[SizeVariable] = set()
    pending = {size.key: size for size in sizes}
    while pending:
        new = pending.popitem()[1].variables() - variables
        variables |= new
        pending |= {size.cap.key: size.cap for size in new if size.cap is not None}
    return variables
