"""The scope of a region being lowered: the storage of each value, and the registers and parameters of sizes.

Note [Sizes].  A size that is a number becomes a parameter of the program unless it is small, so that one program serves many
sizes; a number close to an existing parameter is that parameter plus a constant.  A size that is known when the region starts is
a parameter too.  A size that the region itself defines is a register.

Note [Parts].  A complex number is two items, real and imaginary, along an extra last axis of its view; in registers it is two
registers.  So an item is a tuple of one or two registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ...typechecker.core.operations import Indexing
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import AtomKind, NonlinearAtom, Size, SizeVariable, number
from ...typechecker.sizes.size import upper_bound
from ..graph.bind_sizes import NO_KNOWN_VALUES, KnownValues
from ..graph.phases import Affine, Constant, LibraryPhase, Projection, Reshaped, Structured, ValueId
from ..loopir.ir import ONE, ZERO, Index, LoopBuilder, LoopKind, ViewRole, at, plus, times
from .body import parts_of

# ---------------------------------------------------------------------------------------------------- values

SMALL: Final = 17
"""Numbers below this in magnitude are constants of the program, not parameters."""


class NotLowerable(Exception):
    """Raised where the region cannot become a loop program; the text is the reason, for `rho plan`."""


Registers: TypeAlias = tuple[str, ...]
"""The registers of an item: one, or two for the parts of a complex number."""


@dataclass(frozen=True, slots=True)
class ValueLocation:
    """A value in memory: a view, of which some indices are `fixed`; the value's axes are the others in order, followed by an axis
    of two for the parts of a complex number."""

    view: str
    fixed: tuple[Index | None, ...] = ()
    parts: int = 1

    def at(self, point: Sequence[Index]) -> list[tuple[Index, ...]]:
        """The indices of each part of the item at a point."""
        coordinates = iter(point)
        indices = tuple([next(coordinates) if index is None else index for index in self.fixed] + list(coordinates))
        return [indices] if self.parts == 1 else [(*indices, ZERO), (*indices, ONE)]

    def cell(self, axis: int, index: Index) -> ValueLocation:
        """The subarray at an index of one axis of the value."""
        free = [axis for axis, fixed in enumerate(self.fixed) if fixed is None]
        padded = list(self.fixed)
        while len(free) <= axis:
            free.append(len(padded))
            padded.append(None)
        padded[free[axis]] = index
        return ValueLocation(self.view, tuple(padded), self.parts)

    def cells(self, point: Sequence[Index]) -> ValueLocation:
        """The cell at a point of the value's leading axes."""
        cell = self
        for index in point:
            cell = cell.cell(0, index)
        return cell


Storage: TypeAlias = ValueLocation | Registers
"""A location in memory, or the registers of a value of rank 0."""
DeferredItem: TypeAlias = Callable[[tuple[Index, ...], str | None], Registers]
"""Computes the item at a point of a deferred value; where the mask is false, the kind's 0."""


@dataclass(frozen=True, slots=True)
class ScopeInput:
    """The memory of a value from outside the region."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class ConstantData:
    """The data of a constant of the region."""

    phase: Constant


@dataclass(frozen=True, slots=True)
class ScratchView:
    """Scratch memory of this shape, undefined before and after."""

    shape: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class StateView:
    """Component `index` of a loop's state: one buffer or, if `doubled`, two, of which the view `CurrentBuffer` names one."""

    index: int
    doubled: bool


@dataclass(frozen=True, slots=True)
class InitialState:
    """Component `index` of a loop's state before the range: the initial state, or after the first range that of `StateView`."""

    index: int


@dataclass(frozen=True, slots=True)
class CurrentBuffer:
    """One i64, initially 0: the index of the buffer that holds the state."""


@dataclass(frozen=True, slots=True)
class ExitFlag:
    """One bool, initially false: has the loop exited early?"""


@dataclass(frozen=True, slots=True)
class ScopeOutput:
    """Result `index` of the region."""

    index: int


Source: TypeAlias = ScopeInput | ConstantData | ScratchView | StateView | InitialState | CurrentBuffer | ExitFlag | ScopeOutput


@dataclass(frozen=True, slots=True)
class Check:
    """A run-time check of the region.

    `function`: what failed (`index`, `size NAME`, or a scalar function of `ir.Apply`).  `indexing`: how the program writes the
    index.  `other_axes`: the axes whose indices the failure reports after the index and the size."""

    span: Span
    function: str
    compute: Kind = Kind.I64
    kind: Kind = Kind.I64
    parameter: int = 0
    indexing: Indexing | None = None
    other_axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Routine:
    """The target of a call: runs a phase, reading its operands and writing its results and the sizes that it `defines`; or,
    without a phase, checks the guards that wait for a size in `defines`, or just polls for interrupts.

    `sizes`: the run-time sizes that the call passes.  `transposed`: operands that alias others with their axes in another order,
    as outside regions: (value, other, order).  `numbers`: operands that are sizes instead of values of the graph."""

    phase: Structured | LibraryPhase | None
    operands: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    sizes: tuple[SizeVariable, ...]
    defines: tuple[SizeVariable, ...] = ()
    transposed: tuple[tuple[ValueId, ValueId, tuple[int, ...]], ...] = ()
    numbers: Mapping[ValueId, Size] = field(default_factory=dict)


@dataclass(slots=True)
class LoweringScope:
    """The state of lowering one region.

    `b` builds the program; `values` has the storage of each value so far; `sources`, `parameters`, `checks` and `routines` become
    those of the `Region`."""

    b: LoopBuilder
    types: Mapping[ValueId, ArrayType]
    known: KnownValues = NO_KNOWN_VALUES
    values: dict[ValueId, Storage] = field(default_factory=dict)
    transposed: dict[ValueId, tuple[ValueId, tuple[int, ...]]] = field(default_factory=dict)
    """Transpositions, by result: the operand and the order of its axes."""
    deferred: dict[ValueId, DeferredItem] = field(default_factory=dict)
    """Deferred values, whose items each reader computes where it needs them."""
    sources: dict[str, Source] = field(default_factory=dict)
    parameters: dict[str, Size] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    routines: list[Routine] = field(default_factory=list)
    sizes: dict[SizeVariable, str] = field(default_factory=dict)
    """Registers of the run-time sizes that the region defines."""
    destinations: dict[ValueId, ValueLocation] = field(default_factory=dict)
    """The required location of values that are not lowered yet."""
    aliases: set[ValueId] = field(default_factory=set)
    """Results that may alias their operands, which nothing overwrites as long as the results are read."""
    facts: list[Index] = field(default_factory=list)
    """Facts about parameters: each of these expressions is nonnegative."""
    waits_for: frozenset[SizeVariable] = frozenset()
    """The sizes for which a guard of the program waits."""

    # -------------------------------------------------------------------------------------------- sizes

    def index_of(self, size: Size) -> Index:
        """The size as an index expression."""
        constant = size.constant
        if constant is not None and abs(constant) < SMALL:
            return Index((), constant)
        if constant is not None:
            for name, other in self.parameters.items():
                if other.constant is not None and abs(constant - other.constant) < SMALL:
                    return plus(at(name), Index((), constant - other.constant))
        variables = size.variables() if constant is None else frozenset()
        if not any(v in self.sizes for v in variables):
            return at(self.parameter(size))
        total = Index((), 0)
        for monomial, coefficient in size.terms:
            if not monomial:
                total = plus(total, self.index_of(number(coefficient)))
                continue
            factors = [self.atom(atom) for atom, power in monomial for _ in range(power)]
            product = factors[0]
            for factor in factors[1:]:
                names = (self.b.number(product), self.b.number(factor))
                product = at(self.b.apply("mul", names, Kind.I64, Kind.I64))
            total = plus(total, times(product, coefficient))
        return total

    def atom(self, atom: SizeVariable | NonlinearAtom) -> Index:
        if isinstance(atom, SizeVariable):
            return at(self.sizes[atom]) if atom in self.sizes else at(self.parameter(Size({((atom, 1),): 1})))
        args = [self.b.number(self.index_of(arg)) for arg in atom.args]
        if atom.kind is AtomKind.QUOTIENT:
            return at(self.quotient(*args))
        function = {AtomKind.MAXIMUM: "max", AtomKind.MINIMUM: "min", AtomKind.REMAINDER: "residue"}[atom.kind]
        if function == "residue":
            args.reverse()
        result = args[0]
        for other in args[1:]:
            result = self.b.apply(function, (result, other), Kind.I64, Kind.I64)
        return at(result)

    def quotient(self, dividend: str, divisor: str) -> str:
        """The floor of a quotient of numbers below 2⁵², computed in binary64; 0 where the divisor is 0."""
        b, one, zero = self.b, self.b.constant(Kind.I64, 1), self.b.constant(Kind.I64, 0)
        is_none = b.apply("eq", (divisor, zero), Kind.I64, Kind.BOOL)
        safe = b.apply("select", (is_none, one, divisor), Kind.I64, Kind.I64)
        ratio = b.apply("div", [b.apply("convert", (n,), Kind.I64, Kind.F64) for n in (dividend, safe)], Kind.F64, Kind.F64)
        check = self.check(Check(Span("", 0, 0), "floor", Kind.F64))
        floor = b.apply("floor", (ratio,), Kind.F64, Kind.I64, check=check)
        return b.apply("select", (is_none, zero, floor), Kind.I64, Kind.I64)

    def parameter(self, size: Size) -> str:
        for name, other in self.parameters.items():
            if other == size:
                return name
        name = self.b.fresh("n")
        self.parameters[name] = size
        return name

    def upper_bound(self, size: Size) -> int:
        """The upper bound of a size; raises `NotLowerable` if it has none."""
        value = upper_bound(size).constant
        if value is None:
            raise NotLowerable("a size has no known bound")
        return value

    def shape(self, value: ValueId) -> tuple[Size, ...]:
        return self.types[value].shape

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def parts(self, value: ValueId) -> tuple[Kind, ...]:
        return parts_of(self.kind(value))

    @contextmanager
    def points(self, shape: Sequence[Size], last: LoopKind = LoopKind.VECTOR) -> Iterator[list[Index]]:
        """A nest with one loop per axis; the innermost is of kind `last`."""
        kinds = [LoopKind.SERIAL] * (len(shape) - 1) + [last]
        with ExitStack() as loops:
            yield [at(loops.enter_context(self.b.range(kind, self.index_of(size))).index)
                   for kind, size in zip(kinds, shape, strict=False)]  # fmt: skip

    # ------------------------------------------------------------------------------------------- values

    def storage_of(self, value: ValueId) -> Storage:
        """The storage of a value; a value from outside gets a view."""
        known = self.values.get(value)
        if known is None:
            given = self.external_view(self.kind(value), self.shape(value), ScopeInput(value))
            known = self.values[value] = given if self.shape(value) else self.read_invariant(given)
        return known

    def external_view(
        self, kind: Kind, shape: tuple[Size, ...], source: Source, role: ViewRole = ViewRole.INPUT
    ) -> ValueLocation:
        """A view of memory that the caller provides."""
        return self._view("x", kind, [self.extent_of(size) for size in shape], role, source)

    def _view(self, prefix: str, kind: Kind, shape: Sequence[Index], role: ViewRole, source: Source) -> ValueLocation:
        parts = parts_of(kind)
        extents = (*shape, *([Index((), 2)] if len(parts) > 1 else []))
        view = self.b.view(prefix, parts[0], extents, role, private=role is ViewRole.SCRATCH)
        self.sources[view.name] = source
        return ValueLocation(view.name, parts=len(parts))

    def extent_of(self, size: Size) -> Index:
        """The extent of a view along a size: run-time sizes of the region count at their upper bounds."""
        if any(v in self.sizes for v in size.variables()):
            size = number(self.upper_bound(size))
        return self.index_of(size)

    def read_invariant(self, memory: ValueLocation) -> Registers:
        """Loads the single item of a view that no iteration writes, once before all loops."""
        statements, self.b.statements = self.b.statements, self.b.preamble
        try:
            return self.read(memory, ())
        finally:
            self.b.statements = statements

    def read(self, where: Storage, point: Sequence[Index], mask: str | None = None) -> Registers:
        """An item at a point; an item in memory is read as 0 where `mask` is false."""
        if not isinstance(where, ValueLocation):
            return where
        return tuple(self.b.load(where.view, indices, mask) for indices in where.at(point))

    def write(self, memory: ValueLocation, point: Sequence[Index], item: Registers) -> None:
        for indices, register in zip(memory.at(point), item, strict=True):
            self.b.store(memory.view, indices, register)

    def items(self, value: ValueId, indices: tuple[Index, ...], mask: str | None = None) -> Registers:
        """An item of a value; where `mask` is false, the kind's fill."""
        kind = self.kind(value)
        item = self.deferred[value](indices, mask) if value in self.deferred else self.read(self.storage_of(value), indices, mask)
        if mask is not None and (not self.shape(value) or kind is Kind.CHAR):
            fill = tuple(self.b.constant(part, ord(" ") if kind is Kind.CHAR else 0) for part in parts_of(kind))
            return self.select(mask, item, fill, kind)
        return item

    def select(self, condition: str, then: Registers, otherwise: Registers, kind: Kind) -> Registers:
        pairs = zip(parts_of(kind), then, otherwise, strict=True)
        return tuple(self.b.apply("select", (condition, x, y), part, part) for part, x, y in pairs)

    def load(self, value: ValueId, indices: tuple[Index, ...], mask: str | None = None) -> str:
        """An item of a value that is not complex."""
        (register,) = self.items(value, indices, mask)
        return register

    def integer(self, value: ValueId, indices: tuple[Index, ...] = ()) -> str:
        """An item as an i64 register."""
        register, kind = self.load(value, indices), self.kind(value)
        return register if kind is Kind.I64 else self.b.apply("convert", (register,), kind, Kind.I64)

    def destination_of(self, value: ValueId) -> ValueLocation:
        """The location for a value that is about to be computed: its required destination, or else scratch."""
        wanted = self.destinations.pop(value, None)
        return wanted if wanted is not None else self.scratch(self.kind(value), self.shape(value))

    def scratch(self, kind: Kind, shape: tuple[Size, ...]) -> ValueLocation:
        caps = tuple(number(self.upper_bound(size)) for size in shape)
        stored = (*caps, number(2)) if kind.is_complex else caps
        return self._view("s", kind, [self.index_of(size) for size in caps], ViewRole.SCRATCH, ScratchView(stored))

    def define_scalar(self, value: ValueId, item: Registers) -> None:
        """Define a value of rank 0 by its registers."""
        wanted = self.destinations.pop(value, None)
        if wanted is not None:
            self.write(wanted, (), item)
        self.values[value] = item

    def cell(self, param: ValueId, where: Storage, point: Sequence[Index]) -> None:
        """Binds a body's parameter to a cell of the value, at a point of the value's leading axes."""
        cell = where.cells(point) if isinstance(where, ValueLocation) else where
        self.values[param] = cell if self.shape(param) else self.read(cell, ())

    def check(self, check: Check) -> int:
        """Adds a check; returns its number."""
        self.checks.append(check)
        return len(self.checks) - 1


# ---------------------------------------------------------------------------------------------------- projections
#
# Projections as index expressions of loop programs.
#
# An index is affine in the point of the space and in run-time sizes; after a reshape it is affine if the axes of the source align
# with those of the target, and otherwise computed by division of the row-major position.

def indices_of(scope: LoweringScope, projection: Projection, point: Sequence[Index], sizes: Sequence[Size]
               ) -> tuple[tuple[Index, ...], str | None]:  # fmt: skip
    """The operand's indices that a projection reads at a point of a space of these sizes, and the register that says whether they
    are in range (None: they always are)."""
    current = tuple(point)
    ranges = [(0, max(0, scope.upper_bound(size) - 1)) for size in sizes]
    mask: str | None = None
    for stage in projection.stages:
        match stage:
            case Affine():
                following: list[Index] = []
                reach: list[tuple[int, int]] = []
                for affine, extent in zip(stage.indices, stage.shape, strict=True):
                    total = scope.index_of(affine.constant)
                    least = most = affine.constant.constant
                    for term in affine.terms:
                        total = plus(total, times(current[term.axis], term.coefficient))
                        ends = [end * term.coefficient for end in ranges[term.axis]]
                        if least is not None and most is not None:
                            least, most = least + min(ends), most + max(ends)
                    following.append(total)
                    bound = extent.constant
                    if stage.fills:
                        if least is None or least < 0:
                            mask = scope.b.both(mask, scope.b.compare("le", ZERO, total))
                        if most is None or bound is None or most >= bound:
                            mask = scope.b.both(mask, scope.b.compare("lt", total, scope.index_of(extent)))
                    top = scope.upper_bound(extent) - 1
                    reach.append((max(0, least or 0), top if most is None else min(most, top)))
                current, ranges = tuple(following), reach
            case Reshaped():
                current, ranges = _reshaped(scope, stage, current, ranges)
    return current, mask


def _reshaped(scope: LoweringScope, stage: Reshaped, point: tuple[Index, ...], ranges: list[tuple[int, int]]
              ) -> tuple[tuple[Index, ...], list[tuple[int, int]]]:  # fmt: skip
    """The indices after a reshape, with their ranges: affine ones if the axes align, else `_digits`."""
    numbers = [size.constant for size in (*stage.source, *stage.target)]
    if any(n is None for n in numbers):
        raise NotLowerable("a reshape between sizes that a run finds")
    source, target = numbers[: len(stage.source)], numbers[len(stage.source) :]
    flat, low, high, step = ZERO, 0, 0, 1
    parts: list[tuple[Index, int, tuple[int, int]]] = []  # index, its stride in the flat order, its range
    for axis in range(len(source) - 1, -1, -1):
        parts.append((point[axis], step, ranges[axis]))
        step *= source[axis] or 0
    position = ZERO
    for part, weight, _ in parts:
        position = plus(position, times(part, weight))
    following: list[Index] = []
    reach: list[tuple[int, int]] = []
    stride = 1
    for size in target:
        stride *= size or 0
    parts.reverse()
    for size in target:
        stride = stride // size if size else 0
        if size == 1 or not stride:
            following.append(ZERO)
            reach.append((0, 0))
            continue
        flat, low, high = ZERO, 0, 0
        left: list[tuple[Index, int, tuple[int, int]]] = []
        for part, weight, (first, last) in parts:
            if weight % stride == 0:
                flat = plus(flat, times(part, weight // stride))
                low, high = low + first * (weight // stride), high + last * (weight // stride)
            else:
                left.append((part, weight, (first, last)))
        if sum(last * weight for _, weight, (_, last) in left) >= stride:
            return _digits(scope, position, target)
        parts = left
        following.append(flat)
        reach.append((low, high))
    return tuple(following), reach


def _digits(scope: LoweringScope, flat: Index, target: Sequence[int | None]) -> tuple[tuple[Index, ...], list[tuple[int, int]]]:
    """The indices of an item computed from its row-major position, by division in binary64, which is exact below 2⁵²."""
    b, following, stride = scope.b, list[Index](), 1
    sizes = [size or 0 for size in target]
    for size in sizes:
        stride *= size
    if stride >= 1 << 52:
        raise NotLowerable("a reshape of very many items")
    register = b.number(flat)
    for position, size in enumerate(sizes):
        stride = stride // size if size else 0
        digit = register
        if stride > 1:
            divisor = b.number(scope.index_of(number(stride)))
            digit = scope.quotient(register, divisor)
        if position:
            digit = b.apply("residue", (b.number(scope.index_of(number(size))), digit), Kind.I64, Kind.I64)
        following.append(at(digit))
    return tuple(following), [(0, max(0, size - 1)) for size in sizes]
