"""Emits the ops of a block once more, with fresh values and runtime sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...lang.support.records import field_names, replace
from ...lang.syntax.source import Span
from ..elements import ArrayType
from ..sizes.polynomials import Size, SizeVariable, variable
from .builder import Builder
from .operations import OPERANDS, Block, CoreLoop, Invoke, Op, ValueId, defined_sizes, results_of

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
