"""The builder: the one place that appends core ops, records types and spans, and collects obligations and diagnostics.

Elaboration rules never construct a `Core` themselves; they call `emit` (or a named helper) on a builder.
Blocks nest: `open_block` starts one, `close_block` ends it.  (Signatures below are the contract; T1 implements.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..lang.diagnostics import Diagnostic
from ..lang.source import Span
from .core import Block, Op, Payload, ValueId
from .elements import Element, Kind
from .obligations import Obligation
from .operands import Operand
from .sizes import Size, SizeVariable
from .types import ArrayType


class Builder:
    index_origin: int  # of the file being elaborated; rules consult it when positions become numbers

    # -- values and ops
    def fresh(self, type: ArrayType, span: Span) -> ValueId: ...
    def emit(self, make: Callable[[ValueId], Op], type: ArrayType, span: Span, *, static: Size | tuple[Size, ...] | None = None,
             constant: tuple[Payload, ...] | None = None) -> Operand: ...
    def emit_many(self, make: Callable[[tuple[ValueId, ...]], Op], types: Sequence[ArrayType], span: Span) -> tuple[Operand, ...]: ...
    def literal(self, data: Sequence[Payload], type: ArrayType, span: Span) -> Operand: ...
    def size_value(self, size: Size, span: Span) -> Operand: ...          # scalar i64 singleton
    def size_vector(self, sizes: Sequence[Size], span: Span) -> Operand: ...  # vector i64 singleton
    def poison(self, span: Span) -> Operand: ...

    # -- conversions
    def to_number(self, x: Operand, span: Span) -> Operand: ...           # idx<n> -> i64 adding the index origin; else x
    def to_position(self, x: Operand, span: Span) -> Operand: ...         # number used as an index -> i64 counted from 0 (idx: unchanged)
    def convert(self, x: Operand, kind: Kind, span: Span) -> Operand: ... # widening conversion, no check; constants fold
    def scalar(self, function: str, args: Sequence[Operand], element: Element, span: Span, parameter: int = 0) -> Operand: ...
    #   emits Scalar with prefix agreement (E101 obligations), args already of operand kinds; folds constants

    # -- sizes
    def runtime_size(self, name: str, cap: Size, span: Span) -> SizeVariable: ...
    def require(self, obligation: Obligation) -> bool: ...   # decided false -> reports and returns False; undecided -> recorded
    def equal(self, left: Size, right: Size) -> bool | None: ...          # decided equality of two sizes
    def at_most(self, left: Size, right: Size) -> bool | None: ...

    # -- blocks
    def open_block(self, params: Sequence[ArrayType], span: Span) -> tuple[Operand, ...]: ...
    def close_block(self, results: Sequence[Operand]) -> Block: ...

    # -- diagnostics
    def report(self, diagnostic: Diagnostic) -> None: ...
    def error(self, code: str, message: str, span: Span, **details: object) -> Operand: ...  # report, return poison
