"""Prints loop programs in the C of GPUs: CUDA C++ or OpenCL C, by a `Dialect`.

Note [Grids].  A program is statements that compute numbers, followed by nests; each nest becomes a function, which recomputes the
numbers that it needs.  Perfectly nested PARALLEL loops form one space, whose points are assigned to thread blocks.  A nest is
*flat* if it has no shared memory and its VECTOR loops are perfectly nested in the PARALLEL ones: then these are axes of the space
too, and its points are assigned to threads.  There are as many blocks as the points need, so that no loop surrounds a kernel,
which compilers for processors vectorise badly; where only the GPU knows the sizes, a fixed number of blocks runs a grid-stride
loop.

Note [Thread indices].  Dividing a point by the lengths of the axes takes longer than most bodies.  So a block divides its first
point once for all its threads.  The point of a thread is less than 256 further along: if the axis has at least 256 points, that
carries at most 1 into the next axis; otherwise a 32-bit division computes the carry.

Note [Blocks].  All threads of a block run the body of the PARALLEL loops.  They share the iterations of VECTOR loops; perfectly
nested VECTOR loops form one space, with neighbouring threads along the innermost axis.  Every thread executes all other
statements, to the same effect, and the first thread stores.  So all threads take the same loops and branches around barriers.
There is a barrier after each access to a view that the nest both reads and writes.  A private view is shared memory of the block.

Note [Failures].  A failed check is recorded.  Threads return if all threads of the block fail together, or if there are no
barriers; otherwise a failed thread continues to the barriers, and reads and writes no memory from then on (`live`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from itertools import count
from math import prod
from typing import Final

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..loopir.ir import (
    ZERO,
    Apply,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    View,
    ViewRole,
    defined,
    defined_within,
    loaded_views,
    minus,
    stored_views,
    uses,
    walk,
)
from ..loopir.verifier import may_fail
from ..transform import redundancy
from .gpu_scalars import STORED, TYPES, Functions, apply, checked, join, literal
from .gpu_targets import THREADS, Dialect
from .llvm_registers import fails

# --------------------------------------------------------------------------- functions and their arguments
#
# The text of a loop program, and the launches of its functions.
#
# Each nest of the program is a function, and they run one after the other.  All functions take the same 64-bit words: the
# parameters; for each of the caller's views its memory, the offset there, and its strides in bytes (without a last stride of one
# item); the memory and the offset of each scratch view that is not private (row-major); and, if the program may fail, those of an
# `int` that a failed check sets to 1.

_SOME: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class GridAxis:
    """The iterations of a loop of the grid."""

    lower: Index
    upper: Index
    step: int

    @property
    def forms(self) -> tuple[Index, Index]:
        return self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Grid:
    """A nest: the name of its function, and its parallel axes, outermost first, whose points go to threads (`is_flat`) or
    blocks, in strides (`is_strided`) if sizes are known on the GPU only; see Note [Grids]."""

    name: str
    axes: tuple[GridAxis, ...]
    is_flat: bool
    is_strided: bool

    def blocks(self, parameters: Mapping[str, int]) -> int:
        if self.is_strided:
            return _SOME
        lengths = [-(-(value(a.upper, parameters) - value(a.lower, parameters)) // a.step) for a in self.axes]
        count = prod(max(0, length) for length in lengths)
        return -(-count // THREADS) if self.is_flat else count


@dataclass(frozen=True, slots=True)
class GpuText:
    """The text of a module; `scratch`: the views for which the caller allocates memory."""

    source: str
    parameters: tuple[str, ...]
    grids: tuple[Grid, ...]
    scratch: tuple[View, ...]
    is_checked: bool


def value(index: Index, parameters: Mapping[str, int]) -> int:
    return sum(coefficient * parameters[name] for name, coefficient in index.terms) + index.constant


# ---------------------------------------------------------------------------------------------------- printer

_NUMBERS: Final = (ConstantStatement, IndexStatement, Apply, Load, Fail)
"""Statements without side effects, which may be repeated and so may stand between the loops of a space."""


@cache
def gpu_text(program: LoopProgram, dialect: Dialect) -> GpuText:
    """The module of a program."""
    program = redundancy.eliminate_dead_code(program)
    views, functions, kernels, grids = {view.name: view for view in program.views}, Functions(dialect), list[str](), list[Grid]()
    private_views = [view for view in program.views if view.role is ViewRole.SCRATCH and view.private]
    scratch = tuple(view for view in program.views if view.role is ViewRole.SCRATCH and not view.private)
    is_checked = fails(walk(program.body))
    takes, addresses = [f"const i64 {_name(name)}" for name in program.parameters], dict[str, str]()

    def address(name: str, type: str) -> None:
        takes.extend((f"{dialect.memory}{type} *{name}_base", f"const i64 {name}_at"))
        addresses[name] = f"{dialect.memory}{type} *{name} = {name}_base + {name}_at;"

    for view in program.views:
        if view.role is not ViewRole.SCRATCH:
            address(view.name, "const char" if view.role is ViewRole.INPUT else "char")
            takes += [f"const i64 {view.name}_{axis}" for axis in range(len(view.shape) - (view.unit and bool(view.shape)))]
    for view in scratch:
        address(view.name, "char")
    if is_checked:
        address("failed", "char")
    pure = [statement for statement in program.body if isinstance(statement, _NUMBERS)]
    if not all(views[s.view].role is ViewRole.INPUT for s in pure if isinstance(s, Load)):
        raise AssertionError("nests load numbers again")
    for statement in program.body:
        if isinstance(statement, _NUMBERS):
            continue
        assert isinstance(statement, For), "a program for cards is nests, after what numbers they need"
        printer = _GridNest(views, functions, needed(pure, statement), frozenset(program.parameters))
        grids.append(printer.nest(f"nest{len(grids)}", statement))
        head = [f"{dialect.shared}{STORED[v.kind]} {v.name}[{prod(value(length, {}) for length in v.shape)}];"
                for v in private_views if v.name in printer.touched]  # fmt: skip
        head += [text for name, text in addresses.items()
                 if name in printer.touched or (name == "failed" and printer.uses_failed)]  # fmt: skip
        head += ["bool live = true;"] * printer.uses_live
        lines = "\n".join(f"  {line}" for line in (*head, *printer.lines))
        kernels.append(f"{dialect.kernel} {grids[-1].name}({', '.join(takes)}) {{\n{lines}\n}}\n")
    source = dialect.prelude + "\n".join((*functions.texts.values(), *kernels))
    return GpuText(source, program.parameters, tuple(grids), scratch, is_checked)


def needed(pure: Sequence[Statement], nest: For) -> list[Statement]:
    """The numbers that a nest needs, followed by the nest."""
    wanted, statements = _used((nest,)), list[Statement]()
    for statement in reversed(pure):
        if not wanted.isdisjoint(defined(statement)) or fails((statement,)):
            statements.append(statement)
            wanted.update(uses(statement))
    return [*reversed(statements), nest]


def _used(body: tuple[Statement, ...]) -> set[str]:
    return {name for statement in walk(body) for name in uses(statement)}


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text


def _name(register: str) -> str:
    """A C++ name of a register that is no keyword."""
    return f"{register.replace('.', '_')}_"


@dataclass(slots=True)
class _GridNest:
    """Prints one function.  `touched`: the views that it reads or writes."""

    views: dict[str, View]
    functions: Functions
    body: list[Statement]
    parameters: frozenset[str]
    lines: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    crossing: set[str] = field(default_factory=set)
    """The views that the nest both reads and writes."""
    is_block: bool = False
    """Does the whole block execute the next statement for one point?"""
    may_stay: bool = False
    """Can failed threads be waiting for barriers?"""
    uses_live: bool = False
    uses_failed: bool = False
    depth: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    # --------------------------------------------------------------------------------------------- text

    def put(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    def let(self, kind: Kind, register: str, value: str) -> None:
        if register in self.used:
            self.put(f"const {TYPES[kind]} {_name(register)} = {value};")

    def index(self, index: Index) -> str:
        terms = [_name(name) if c == 1 else f"{_name(name)} * {c}" for name, c in index.terms]
        if not terms:
            return f"(i64){index.constant}"
        return " + ".join([*terms, *([str(index.constant)] if index.constant else [])])

    def bound(self, indices: tuple[Index, ...], relation: str) -> str:
        """The minimum (`<`) or maximum (`>`) of several expressions, as an expression."""
        return reduce(lambda x, y: f"({x} {relation} {y} ? {x} : {y})", map(self.index, indices))

    @property
    def dialect(self) -> Dialect:
        return self.functions.dialect

    @property
    def fail(self) -> str:
        """The statement for a failed check.  See Note [Failures]."""
        self.uses_failed = True
        leave = "live = false;" if self.live() else "return;"
        return f"{{ *({self.dialect.memory}int *)failed = 1; {leave} }}"

    def live(self) -> list[str]:
        """The condition that the thread has not failed; empty where it cannot have failed."""
        if not self.may_stay or self.is_block:
            return []
        self.uses_live = True
        return ["live"]

    def fresh(self) -> str:
        return f"at{next(self.numbers)}"

    # -------------------------------------------------------------------------------------------- spaces

    def nest(self, name: str, loop: For) -> Grid:
        """Prints the function of a nest.  See Note [Grids]."""
        every = tuple(self.body)
        self.used = _used(every)
        loaded, stored = ({v for s in walk(every) for v in views(s)} for views in (loaded_views, stored_views))
        self.crossing, self.touched = loaded & stored, loaded | stored
        for statement in self.body[:-1]:
            self.statement(statement)
        space = _space(loop, (LoopKind.PARALLEL, LoopKind.VECTOR))
        has_own = any(self.views[v].role is ViewRole.SCRATCH and self.views[v].private for v in self.touched)
        is_flat = not has_own and not any(isinstance(s, For) and s.kind is LoopKind.VECTOR for s in walk(space.body))
        if not is_flat:
            space, self.is_block, self.may_stay = _space(loop, (LoopKind.PARALLEL,)), True, fails(every)
        names = {name for axis in space.axes for form in axis.forms for name, _ in form.terms}
        grid = Grid(name, space.axes, is_flat, not names <= self.parameters)
        group, groups = (f"(i64){text} * {THREADS}" if is_flat else text for text in (self.dialect.group, self.dialect.groups))
        self.spread(space, group, groups if grid.is_strided else None, self.dialect.item if is_flat else "0")
        return grid

    def spread(self, space: _ThreadSpace, start: str, stride: str | None, item: str = "0") -> None:
        """The points of a space with a stride, or one, each with `item` more; see Note [Thread indices]."""
        total = " * ".join(map(self.length, space.axes))
        if stride is None:
            self.points(space, start, total, item, "return")
            return
        base = self.fresh()
        with self.braces(f"for (i64 {base} = {start}; {base} < {total}; {base} += {stride})"):
            self.points(space, base, total, item, "continue")

    def points(self, space: _ThreadSpace, base: str, total: str, item: str, leave: str) -> None:
        offset, places = item, list[str]()
        if item != "0":
            self.put(f"if ({base} + {item} >= {total}) {leave};")
        for length in map(self.length, reversed(space.axes[1:])):
            quotient, inside, more = self.fresh(), self.fresh(), self.fresh()
            self.put(f"const i64 {quotient} = {base} / {length};")
            self.put(f"const i64 {inside} = {base} - {quotient} * {length} + {offset};")
            short = f"(i64)((u32){inside} / (u32){length})"
            self.put(f"const i64 {more} = {length} < {THREADS} ? {short} : {inside} >= {length};")
            places.insert(0, f"{inside} - {more} * {length}")
            base, offset = quotient, more
        places.insert(0, f"{base} + {offset}")
        for loop, axis, here, before in zip(space.loops, space.axes, places, space.before, strict=True):
            if loop.carried:
                raise AssertionError("threads of a card join nothing by themselves")
            for statement in before:
                self.statement(statement)
            if axis.step != 1:
                here = f"({here}) * {axis.step}"
            self.let(Kind.I64, loop.index, here if axis.lower == ZERO else f"{here} + {self.index(axis.lower)}")
            for upper in loop.upper:
                if upper != axis.upper:
                    self.put(f"if ({_name(loop.index)} >= {self.index(upper)}) {leave};")
        for statement in space.body:
            self.statement(statement)

    def length(self, axis: GridAxis) -> str:
        """The number of iterations, as an expression."""
        count = self.index(minus(axis.upper, axis.lower))
        return f"(({count} + {axis.step - 1}) / {axis.step})" if axis.step != 1 else _factor(count)

    # ---------------------------------------------------------------------------------------- statements

    def statement(self, statement: Statement) -> None:
        match statement:
            case ConstantStatement(name, kind, bits):
                self.let(kind, name, literal(kind, bits))
            case IndexStatement(name, index):
                self.let(Kind.I64, name, self.index(index))
            case Apply():
                self.apply(statement)
            case Load():
                self.load(statement)
            case Store():
                self.store(statement)
            case Fail(_, condition):
                self.put(f"if ({_name(condition)}) {self.fail}")
            case If():
                self.branch(statement)
            case For():
                self.loop(statement)
            case _:
                raise AssertionError("cards call no routines")

    def apply(self, node: Apply) -> None:
        args = [_name(arg) for arg in node.args]
        if not may_fail(node):
            self.let(node.kind, node.name, apply(self.functions, node, args))
            return
        for line in checked(node, _name(node.name), args[0], self.fail):
            self.put(line)

    def item(self, view: View, indices: Sequence[Index]) -> str:
        """The address expression of an item."""
        if view.role is ViewRole.SCRATCH:
            offset = ""
            for length, index in zip(view.shape, indices, strict=True):
                here = self.index(index)
                offset = f"{_factor(offset)} * {_factor(self.index(length))} + {here}" if offset else here
            base = view.name if view.private else f"(({self.dialect.memory}{STORED[view.kind]} *){view.name})"
            return f"{base}[{offset or '0'}]"
        terms = [view.name]
        for axis, index in enumerate(indices):
            if index != ZERO:
                is_last = view.unit and axis == len(indices) - 1
                terms.append(f"{_factor(self.index(index))} * {view.kind.bytes if is_last else f'{view.name}_{axis}'}")
        const = "const " if view.role is ViewRole.INPUT else ""
        return f"*({self.dialect.memory}{const}{STORED[view.kind]} *)({' + '.join(terms)})"

    def masked(self, node: Load | Store) -> list[str]:
        return [] if node.mask is None else [_name(node.mask)]

    def load(self, node: Load) -> None:
        view = self.views[node.view]
        item = self.item(view, node.indices)
        if view.kind is Kind.BOOL:
            item = f"{item} != 0"
        conditions = self.live() + self.masked(node)
        if conditions:
            item = f"{' && '.join(conditions)} ? {item} : {literal(view.kind, 0)}"
        self.let(view.kind, node.name, item)
        self.wait(node)

    def store(self, node: Store) -> None:
        conditions = [f"{self.dialect.item} == 0"] * self.is_block + self.live() + self.masked(node)
        test = f"if ({' && '.join(conditions)}) " if conditions else ""
        view, value = self.views[node.view], _name(node.value)
        item = self.item(view, node.indices)
        text = f"{item} = {value};"
        if node.join is not None:
            text = join(self.dialect, node.join, view.kind, item, value, is_shared=view.private)
        self.put(test + text)
        self.wait(node)

    def wait(self, *statements: Statement) -> None:
        """Statements executed by all threads of a block, between barriers that order them after other threads' accesses."""
        if self.is_block and any(view in self.crossing for s in statements for view in (*loaded_views(s), *stored_views(s))):
            self.put(self.dialect.barrier)

    def branch(self, node: If) -> None:
        for result in node.results:
            self.put(f"{TYPES[result.kind]} {_name(result.name)};")
        arms = (node.then, [r.then for r in node.results]), (node.otherwise, [r.otherwise for r in node.results])
        for head, (body, values) in zip((f"if ({_name(node.condition)})", "else"), arms, strict=True):
            if body or values:
                with self.braces(head if head != "else" or node.then or values else f"if (!{_name(node.condition)})"):
                    for statement in body:
                        self.statement(statement)
                    for result, value in zip(node.results, values, strict=True):
                        self.put(f"{_name(result.name)} = {_name(value)};")

    def loop(self, node: For) -> None:
        if node.kind is LoopKind.VECTOR and self.is_block:
            self.is_block = False
            self.spread(_space(node, (LoopKind.VECTOR,)), self.dialect.item, str(THREADS))
            self.is_block = True
            self.wait(*walk(node.body))
            return
        index = _name(node.index)
        for c in node.carried:
            self.put(f"{TYPES[c.kind]} {_name(c.inside)} = {_name(c.initial)};")
        lower, upper = self.bound(node.lower, ">"), self.bound(node.upper, "<")
        with self.braces(f"for (i64 {index} = {lower}; {index} < {upper}; {index} += {node.step})"):
            for statement in node.body:
                self.statement(statement)
            following = [_name(c.yielded) for c in node.carried]
            if len(following) > 1:  # all of them change at once
                for slot, c in enumerate(node.carried):
                    following[slot] = self.fresh()
                    self.put(f"const {TYPES[c.kind]} {following[slot]} = {_name(c.yielded)};")
            for name, c in zip(following, node.carried, strict=True):
                self.put(f"{_name(c.inside)} = {name};")
            if node.until is not None:
                self.put(f"if ({_name(node.until)}) break;")
        for c in node.carried:
            self.let(c.kind, c.result, _name(c.inside))


@dataclass(frozen=True, slots=True)
class _ThreadSpace:
    """Perfectly nested loops, with only number statements `before` each of them.  `body`: the body of the innermost loop."""

    loops: tuple[For, ...]
    axes: tuple[GridAxis, ...]
    before: tuple[tuple[Statement, ...], ...]
    body: tuple[Statement, ...]


def _space(loop: For, kinds: Sequence[LoopKind]) -> _ThreadSpace:
    """The space of a loop and the loops perfectly nested in it, as far as their lengths do not depend on each other."""
    loops, axes, before, varying = [loop], [_axis(loop)], [tuple[Statement, ...]()], set[str]()
    while loop.body:
        *numbers, inner = loop.body
        varying |= {loop.index, *(name for s in numbers for name in defined_within(s))}
        if not isinstance(inner, For) or inner.kind not in kinds or not all(isinstance(s, _NUMBERS) for s in numbers):
            break
        if any(name in varying for form in _axis(inner).forms for name, _ in form.terms):
            break
        loops, axes, before, loop = [*loops, inner], [*axes, _axis(inner)], [*before, tuple(numbers)], inner
    return _ThreadSpace(tuple(loops), tuple(axes), tuple(before), loop.body)


def _axis(loop: For) -> GridAxis:
    """The axis of a loop; of several upper bounds it takes a constant one, so that no division is needed."""
    (lower,) = loop.lower
    return GridAxis(lower, min(loop.upper, key=lambda upper: bool(upper.terms)), loop.step)
