"""What quantities tell a scheduler (types.md 4.4), as data: erased, movable, shared, conditional, in place, single buffer.

Facts about grades hold for all sizes, so they need no data; a scheduler that knows the sizes may find more.  An op may
write over an operand's buffer if this is the last read of that buffer in the block that made it, every read of it by
the op is aligned (the operand itself, over the whole frame), and the result has the same shape and bytes an element.

Neighbours: `demand` (grades), `typechecker.core` (ops); the scheduler reads `Facts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .. import core as c
from ..core import Block, Core, Op, ValueId
from ..sizes import ONE
from .demand import Demands
from .reads import Setting
from .walk import reads_of, results_of


class Sharing(Enum):
    """How a value may reach the devices that read it."""

    ERASED = "only its shape is used: no transfer"
    MOVABLE = "each element is read at most once: it may move"
    SHARED = "elements are read several times: keep or replicate it"


@dataclass(frozen=True, slots=True)
class Replication:
    """An op reads `value` once for every element of the axes it lacks: replicate it where those are sharded."""

    value: ValueId
    by: ValueId
    axes: int


@dataclass(frozen=True, slots=True)
class Facts:
    """`sharing` of every value; `conditional` ones may stay unread; `in_place` maps a result to the operand whose buffer it
    may take; `single_buffer` are loop results whose state needs one buffer, not two."""

    sharing: Mapping[ValueId, Sharing]
    conditional: frozenset[ValueId]
    replicated: tuple[Replication, ...]
    in_place: Mapping[ValueId, ValueId]
    single_buffer: frozenset[ValueId]


def facts_of(core: Core, demands: Demands) -> Facts:
    """The facts of a program."""
    finder = _Finder(core, Setting(core.types, [guard.fact for guard in core.guards]))
    kept = {output.value for output in core.outputs}
    finder.block(core.block, kept, frozenset())
    sharing: dict[ValueId, Sharing] = {}
    conditional: set[ValueId] = set()
    for value, grade in demands.grades.items():
        if grade.is_zero:
            sharing[value] = Sharing.ERASED
            continue
        high = None if grade.high is None else grade.high - ONE
        most = None if high is None else high.bounds()[1]
        sharing[value] = Sharing.MOVABLE if most is not None and most <= 0 else Sharing.SHARED
        if (grade.low.bounds()[0] or 0) <= 0:
            conditional.add(value)
    return Facts(sharing, frozenset(conditional), tuple(finder.replicated), finder.in_place, frozenset(finder.single_buffer))


@dataclass(slots=True)
class _Finder:
    core: Core
    setting: Setting
    bases: dict[ValueId, ValueId] = field(default_factory=dict)
    replicated: list[Replication] = field(default_factory=list)
    in_place: dict[ValueId, ValueId] = field(default_factory=dict)
    single_buffer: set[ValueId] = field(default_factory=set)

    def base(self, value: ValueId) -> ValueId:
        """The value whose buffer this one shows."""
        return self.bases.get(value, value)

    def block(self, block: Block, kept: set[ValueId], owned: frozenset[ValueId]) -> None:
        """`kept` are read after the block ends; `owned` are parameters whose buffers the block may write over."""
        mine = set(owned)
        for op in block.ops:
            self.views(op)
        last: dict[ValueId, int] = {}
        for at, op in enumerate(block.ops):
            for value in reads_of(op):
                last[self.base(value)] = at
        for value in (*block.results, *kept):
            last[self.base(value)] = len(block.ops)
        for at, op in enumerate(block.ops):
            if not isinstance(op, c.Branch | c.Literal):  # a branch may hand on an outer buffer, literals are shared
                mine.update(results_of(op))
            match op:
                case c.Scalar():
                    self.scalar(op, mine, last, at)
                case c.Loop():
                    self.loop(op)
                case c.Lift():
                    self.lift(op)
                case c.Fold() | c.FoldScan():
                    self.block(op.body, set(), frozenset())
                case c.Branch():
                    self.block(op.then, set(), frozenset())
                    self.block(op.otherwise, set(), frozenset())
                case _:
                    pass

    def views(self, op: Op) -> None:
        match op:
            case c.Transpose() | c.Spread() | c.Reverse() | c.Rotate() | c.Slice() | c.Windows():
                self.bases[op.result] = self.base(op.arg)
            case c.Reshape() if self.setting.keeps_elements(op):
                self.bases[op.result] = self.base(op.arg)
            case _:
                pass

    def scalar(self, op: c.Scalar, mine: set[ValueId], last: dict[ValueId, int], at: int) -> None:
        made = self.core.types[op.result]
        for arg in dict.fromkeys(op.args):
            given = self.core.types[arg]
            if len(given.shape) < len(made.shape):
                self.replicated.append(Replication(arg, op.result, len(made.shape) - len(given.shape)))
            aligned = given.shape == made.shape and given.element.kind.bytes == made.element.kind.bytes
            alone = all(other == arg for other in op.args if self.base(other) == self.base(arg))
            dead = arg in mine and self.base(arg) == arg and last.get(arg) == at
            if aligned and alone and dead:
                self.in_place.setdefault(op.result, arg)

    def loop(self, op: c.Loop) -> None:
        params = op.body.params[len(op.cells) :]
        self.block(op.body, set(), frozenset(params) if op.until is None and not op.keep else frozenset())
        if op.until is not None:
            self.block(op.until, set(), frozenset())
        for param, end, result in zip(params, op.body.results, op.results, strict=True):
            value = end
            while value != param and value in self.in_place:
                value = self.in_place[value]
            if value == param and end != param:
                self.single_buffer.add(result)

    def lift(self, op: c.Lift) -> None:
        for arg, length in zip(op.args, op.frames, strict=True):
            if length < len(op.frame):
                self.replicated.append(Replication(arg, op.results[0], len(op.frame) - length))
        self.block(op.body, set(), frozenset())
