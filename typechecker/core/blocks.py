"""The typed core: blocks, the ops that contain blocks, and whole programs.

A `Block` is a list of ops over value ids, so a nested block refers to an outer value by its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...lang.support.records import dataclass, field_names
from ...lang.syntax.source import Source, Span
from ...lang.tree import program
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ..elements import ArrayType
from ..proof.obligations import Obligation, SizeFact
from ..sizes.polynomials import Size, SizeVariable
from . import arrays
from .arrays import (
    BindSize,
    Broadcast,
    Compress,
    Contract,
    CorePrint,
    Expand,
    Format,
    Gather,
    Iota,
    IotaGrid,
    Join,
    KeyReduce,
    Library,
    Literal,
    MaskedUpdate,
    Payload,
    Reduce,
    Reshape,
    Reverse,
    Rotate,
    Scalar,
    Scan,
    SizeVector,
    Slice,
    SlidingWindows,
    Stack,
    Transpose,
    Update,
    ValueId,
    Where,
)

# ---------------------------------------------------------------------------------------------------- ops with blocks

@dataclass(frozen=True, slots=True)
class CoreFold:
    """Reduce the leading axis with a block of two parameters (⍺ item, ⍵ accumulator), right to left; length ≥ 1.

    Operands are several in step (a tuple reduces as one); `body.params` is all ⍺ then all ⍵."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class FoldScan:
    """Scan the leading axis with a block, left to right: acc ← acc body item; `body.params` is accumulators, then items."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class MapCells:
    """Apply `body` to cells: argument i splits into its leading `frames[i]` axes and a cell; `frame` is the principal
    frame's shape, every other frame a prefix of it.  Results have shape frame ⧺ the body result's shape."""

    results: tuple[ValueId, ...]
    args: tuple[ValueId, ...]
    frames: tuple[int, ...]
    frame: tuple[Size, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class CoreLoop:
    """Iterate `body` on the state `trip` times (a trip count known only at run time is a size that `BindSize` defined).

    The body's parameters are the major cells of `cells` for the iteration, first to last, and then the state.  `index` is a size
    variable: the number of the iteration, from 0.  `needs_iteration`: facts about the body were proved from the existence of an
    iteration, so nothing may be hoisted out of the loop unless `trip` is at least 1.

    `until` is a block from (new state…, old state…) to a scalar bool, tested after each iteration; the loop stops once it holds
    (never with `keep`).  `keep`: each result has one more leading axis of trip+1 states, the initial one first.
    """

    results: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    trip: Size
    body: Block
    until: Block | None
    keep: bool
    cells: tuple[ValueId, ...] = ()
    index: SizeVariable | None = None
    needs_iteration: bool = False


@dataclass(frozen=True, slots=True)
class CoreBranch:
    """The scalar bool `condition` selects one of two blocks without parameters.  A size that differs between the arms is defined
    here: `sizes` has each such run-time variable with its sizes (then, otherwise).  `needs_condition`: facts about an arm were
    proved from the condition, so no arm may be computed before it is known."""

    results: tuple[ValueId, ...]
    condition: ValueId
    then: Block
    otherwise: Block
    sizes: tuple[tuple[SizeVariable, Size, Size], ...] = ()
    needs_condition: bool = False


Op: TypeAlias = (
    Literal | SizeVector | Scalar | Iota | IotaGrid | Reshape | Transpose | Broadcast | Reverse | Rotate | Slice | Join
    | Stack | SlidingWindows | Gather | Update | MaskedUpdate | Reduce | Scan | CoreFold | FoldScan | Contract | Compress | Expand
    | Where | BindSize | KeyReduce | Library | Format | MapCells | CoreLoop | CoreBranch | CorePrint
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """`params` are bound by the enclosing op; `results` may be any visible values."""

    params: tuple[ValueId, ...]
    ops: tuple[Op, ...]
    results: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class CoreInput:
    """`input name : type ← path`: the size variables in its type are bound from the file's header.

    `default`: the items of a param, used unless others are set."""

    name: str
    value: ValueId
    path: str | None
    span: Span
    default: tuple[Payload, ...] | None = None
    reading: ColumnFormat = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class CoreParam:
    """`param name ← default` of a natural number, which may stand in types as a size."""

    name: str
    variable: SizeVariable
    default: int
    span: Span


@dataclass(frozen=True, slots=True)
class CoreGuard:
    """A fact that loading must check (E701), and the obligation it came from.

    `index`: it is checked in each iteration of the loop with this index instead.  `runs`: it is required only where this size is
    at least 1."""

    fact: SizeFact
    obligation: Obligation
    index: SizeVariable | None = None
    runs: Size | None = None

    @property
    def holds_always(self) -> bool:
        """Does the fact hold whenever the program runs?"""
        return self.index is None and self.runs is None

    def variables(self) -> frozenset[SizeVariable]:
        """The size variables that must be bound before it can be checked."""
        variables = self.fact.left.variables() | self.fact.right.variables()
        if self.runs is not None:
            variables |= self.runs.variables()
        return variables if self.index is None else variables | {self.index}

    def holds(self, sizes: Mapping[SizeVariable, int]) -> bool:
        """Is it true, or not required, for these sizes?"""
        return (self.runs is not None and self.runs.evaluate(sizes) < 1) or self.fact.holds(sizes)


@dataclass(frozen=True, slots=True)
class CoreOutput:
    name: str
    value: ValueId
    span: Span
    reading: ColumnFormat = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class CoreCall:
    """An inlined call of a function whose signature states quantities, which are the reads of its arguments.

    The ops of its body define the values from `first` up to, not including, `last`.  `reads` has every argument whose quantity is
    stated, with its lower and upper bound (None is ω).
    """

    span: Span
    first: ValueId
    last: ValueId
    results: tuple[ValueId, ...]
    reads: tuple[tuple[ValueId, Size, Size | None], ...]


class Recomputed(NamedTuple):
    """A loop of `trip` iterations whose gradient keeps few states and computes the others again."""

    span: Span
    trip: Size


@dataclass(frozen=True, slots=True)
class Core:
    """A checked program.

    `types`, `spans` and `names` describe values; every op's results are in `types` and `spans`, `names` has the values bound at
    top level.  `solver_assumptions` are facts that the solver proved: loading evaluates them like guards, so that memory safety
    does not depend on the solver.
    """

    block: Block
    inputs: tuple[CoreInput, ...]
    params: tuple[CoreParam, ...]
    outputs: tuple[CoreOutput, ...]
    guards: tuple[CoreGuard, ...]
    types: Mapping[ValueId, ArrayType]
    spans: Mapping[ValueId, Span]
    names: Mapping[ValueId, str]
    schedules: tuple[program.ScheduleBlock, ...]
    sources: tuple[Source, ...]
    calls: tuple[CoreCall, ...] = ()
    solver_assumptions: tuple[CoreGuard, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()

    @property
    def data(self) -> tuple[CoreInput, ...]:
        """The inputs that have files."""
        return tuple([entry for entry in self.inputs if entry.default is None])

    @property
    def settings(self) -> tuple[CoreInput, ...]:
        """The params that are not sizes."""
        return tuple([entry for entry in self.inputs if entry.default is not None])

    def facts(self) -> list[SizeFact]:
        """The facts that hold whenever the program runs, because loading checks them."""
        return [guard.fact for guard in self.guards if guard.holds_always]


# ---------------------------------------------------------------------------------------------------- traversal
#
# The results, operands and blocks of an op, and the outer values that its blocks read.

OPERANDS = frozenset({
    "arg", "args", "left", "right", "mask", "indices", "value", "amount", "initial",
    "cells", "other_indices",
    "condition",
})  # fmt: skip


_FIELDS: dict[type[object], tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _fields(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the operands and of the results of an op's class."""
    known = _FIELDS.get(type(op))
    if known is None:
        names = field_names(type(op))
        known = tuple([n for n in names if n in OPERANDS]), tuple([n for n in names if n in ("result", "results")])
        _FIELDS[type(op)] = known
    return known


def _values(op: Op, names: tuple[str, ...]) -> tuple[ValueId, ...]:
    values: list[ValueId] = []
    for name in names:
        value = getattr(op, name)
        values += [item for item in value if item is not None] if isinstance(value, tuple) else [value]
    return tuple(values)


def operands_of(op: Op) -> tuple[ValueId, ...]:
    """The operands of an op."""
    return _values(op, _fields(op)[0])


def results_of(op: Op) -> tuple[ValueId, ...]:
    """The values an op defines."""
    return _values(op, _fields(op)[1])


def blocks_of(op: Op) -> tuple[Block, ...]:
    match op:
        case MapCells() | CoreFold() | FoldScan():
            return (op.body,)
        case CoreLoop():
            return (op.body,) if op.until is None else (op.body, op.until)
        case CoreBranch():
            return op.then, op.otherwise
        case _:
            return ()


def all_ops(ops: Sequence[Op]) -> Iterator[Op]:
    """Every op, also in nested blocks."""
    pending = list(reversed(ops))
    while pending:
        op = pending.pop()
        yield op
        for block in blocks_of(op):
            pending.extend(reversed(block.ops))


def defined_sizes(op: Op) -> tuple[SizeVariable, ...]:
    """The run-time sizes an op itself defines, without those of its blocks."""
    match op:
        case arrays.Compress() | arrays.Where() | arrays.BindSize() | arrays.Format():
            return (op.size,)
        case CoreBranch():
            return tuple([variable for variable, _, _ in op.sizes])
        case _:
            return ()


def captured(block: Block) -> frozenset[ValueId]:
    """The outer values that a block, or a block in it, reads."""
    defined, read = defined_and_read(block)
    return frozenset(read - defined)


def defined_and_read(block: Block) -> tuple[set[ValueId], set[ValueId]]:
    """The values that a block, with its nested blocks, defines, and those that it reads."""
    defined: set[ValueId] = set()
    read: set[ValueId] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        defined.update(current.params)
        read.update(current.results)
        for op in current.ops:
            defined.update(results_of(op))
            read.update(operands_of(op))
            pending += blocks_of(op)
    return defined, read
