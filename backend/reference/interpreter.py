"""The reference interpreter: the core, executed op by op on plain Python values.  It is the oracle of every back end.

Every value is verified against its declared type when it is computed: kind, shape under the bound sizes, integer range,
`idx` bound.  A mismatch is an `InternalError` (a bug in the elaborator); a failed run-time check is `RunFailed` with
the span of the op.

Nested blocks write into the same table of values, because ids are unique in the whole program and each block's ops run
again from its own parameters.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from ...lang.diagnostics.model import Code, RunFailed
from ...lang.syntax.source import Span
from ...typechecker.core import operations as c
from ...typechecker.core.operations import Block, Core, Payload, ValueId, blocks_of
from ...typechecker.elements import Kind, surely_unwrapped
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ..io import cells as cells_of
from ..vm import values
from ..vm.check_failures import CheckFailed
from ..vm.input_sizes import bind_sizes, broken_guard
from ..vm.values import Array, Results, array, scalar
from . import arrays, linear, reductions, scalars
from .arrays import InternalError, assemble, cells, integers, offset, positions, stack

# ---------------------------------------------------------------------------------------------------- operations
#
# The pure ops of the core, a table of functions; `Evaluator` has control flow (lift, loop, fold, branch).
#
# `ArrayView` is an op's interface to the running program: its operands, the declared types, the bound sizes.

class ArrayView(Protocol):
    def value(self, which: ValueId) -> Array: ...
    def kind(self, which: ValueId) -> Kind: ...
    def shape(self, which: ValueId) -> tuple[int, ...]: ...
    def size(self, size: Size) -> int: ...


def compute(op: c.Op, view: ArrayView) -> tuple[Array, ...]:
    """The results of a pure op, in the order of its result ids."""
    if type(op) not in _MEANINGS:
        raise InternalError(f"{type(op).__name__} is not a pure op")
    results = _MEANINGS[type(op)](op, view)
    return results if isinstance(results, tuple) else (results,)


def _size_vector(op: c.SizeVector, view: ArrayView) -> Array:
    numbers = [view.size(size) for size in op.sizes]
    return array(Kind.I64, () if op.scalar else (len(numbers),), numbers)


def _library(op: c.Library, view: ArrayView) -> Array | tuple[Array, ...]:
    args, shapes = [view.value(arg) for arg in op.args], [view.shape(result) for result in op.results]
    if op.name == "random":
        return uniform(args[0], shapes[0])
    if op.name in _ARRAY_FUNCTIONS:
        return _ARRAY_FUNCTIONS[op.name](*args, **dict(op.attributes))
    return linear.library(op.name, args, [view.kind(result) for result in op.results], shapes)


def _format(op: c.Format, view: ArrayView) -> Array:
    arg = view.value(op.arg)
    if op.digits is None:
        characters, shape = values.format_items(arg.kind, arg.data, arg.shape)
    else:
        characters, shape = values.fixed_items(arg.kind, arg.data, arg.shape, op.digits)
    return Array(Kind.CHAR, shape, tuple(characters))


def _gather(op: c.Gather, view: ArrayView) -> Array:
    fixed = {axis: integers(view.value(v))[0] for axis, v in zip(op.axes, op.other_indices, strict=True)}
    arg, indices = view.value(op.arg), view.value(op.indices)
    return arrays.gather(arg, indices, op.axis, op.checked, op.fills, op.shift, op.indexing, fixed)


def apply_scalar(op: c.Scalar, view: ArrayView) -> Array:
    """Applies a function element by element over the principal frame; shorter operands replicate along the trailing axes they
    lack."""
    args = [view.value(a) for a in op.args]
    kind = args[1 if op.function == "select" else 0].kind
    for i, arg in enumerate(args):
        if arg.kind is not (Kind.BOOL if op.function == "select" and i == 0 else kind):
            raise InternalError(f"operand {i} of {op.function} is {arg.kind.value}, not {kind.value}")
    shape, result_kind = view.shape(op.result), view.kind(op.result)
    for arg in args:
        if arg.shape != shape[: arg.rank]:
            raise InternalError(f"{op.function}: {arg.shape} is not a prefix of {shape}")
    apply = scalars.meaning(op.function, kind, len(args), result_kind, op.parameter)
    rows = zip(*(replicated(arg, shape) for arg in args), strict=True)
    return Array(result_kind, shape, tuple(apply(*items) for items in rows))


def replicated(value: Array, shape: tuple[int, ...]) -> Sequence[Payload]:
    """The items over the full frame: each is repeated along the trailing axes that the value lacks."""
    times = math.prod(shape[value.rank :])
    return value.data if times == 1 else [item for item in value.data for _ in range(times)]


def uniform(key: Array, shape: Sequence[int]) -> Array:
    """Uniform f64 numbers from a key, an i64 or a pair."""
    words = [*integers(key), 0]
    return array(Kind.F64, shape, [scalars.uniform(words[0], words[1], i) for i in range(math.prod(shape))])


def _match(left: Array, right: Array) -> Array:
    return scalar(Kind.BOOL, arrays.match(left, right))


def _reader(kind: Kind, read: Callable[[str], Payload]) -> Callable[[Array], Array]:
    """A function of rows of text that reads each as an item of `kind`."""

    def function(rows: Array) -> Array:
        width, count = rows.shape[-1], math.prod(rows.shape[:-1])
        texts = ["".join(map(str, rows.data[i * width : (i + 1) * width])) for i in range(count)]
        return Array(kind, rows.shape[:-1], tuple(map(read, texts)))

    return function


_ARRAY_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "first_occurrence": arrays.first_occurrence, "grade": arrays.grade, "grade_by": arrays.grade_by,
    "index_of": arrays.index_of, "member_of": arrays.member_of, "find": arrays.find,
    "number": _reader(Kind.F64, cells_of.number_in), "date": _reader(Kind.I64, cells_of.date_in),
    "time": _reader(Kind.I64, cells_of.time_in),
    "interval_index": arrays.interval_index, "match": _match, "decode": reductions.decode, "encode": reductions.encode,
}  # fmt: skip
"""Library functions that depend only on the values of their operands."""


_MEANINGS: Mapping[type, Callable[[Any, ArrayView], Array | tuple[Array, ...]]] = {
    c.Literal: lambda op, view: array(view.kind(op.result), view.shape(op.result), op.data),
    c.SizeVector: _size_vector,
    c.Scalar: apply_scalar,
    c.Library: _library,
    c.Format: _format,
    c.Iota: lambda op, view: arrays.iota(view.shape(op.result)[0]),
    c.IotaGrid: lambda op, view: arrays.iota_grid(view.shape(op.result)),
    c.Reshape: lambda op, view: arrays.reshape(view.value(op.arg), view.shape(op.result)),
    c.Transpose: lambda op, view: arrays.transpose(view.value(op.arg), op.axes),
    c.Broadcast: lambda op, view: arrays.spread(view.value(op.arg), op.axes, view.shape(op.result)),
    c.Reverse: lambda op, view: arrays.reverse(view.value(op.arg), op.axis),
    c.Rotate: lambda op, view: arrays.rotate(view.value(op.arg), view.value(op.amount), op.axis),
    c.Slice: lambda op, view: arrays.slice_box(view.value(op.arg), [*map(view.size, op.starts)], view.shape(op.result)),
    c.Join: lambda op, view: arrays.join([*map(view.value, op.args)], op.axis),
    c.Stack: lambda op, view: arrays.stack([*map(view.value, op.args)], op.axis),
    c.SlidingWindows: lambda op, view: arrays.windows(view.value(op.arg), op.count, view.shape(op.result)),
    c.Gather: _gather,
    c.Update: lambda op, view: arrays.update(
        view.value(op.arg), [None if i is None else view.value(i) for i in op.indices], view.value(op.value), op.checked,
        op.indexing,
    ),
    c.MaskedUpdate: lambda op, view: arrays.mask_update(view.value(op.arg), view.value(op.mask), view.value(op.value)),
    c.Compress: lambda op, view: arrays.compress(view.value(op.mask), view.value(op.arg), op.axis),
    c.Expand: lambda op, view: arrays.expand(view.value(op.mask), view.value(op.arg), op.axis),
    c.Where: lambda op, view: arrays.where(view.value(op.mask)),
    c.Reduce: lambda op, view: reductions.reduce(op.function, view.value(op.arg), op.axis),
    c.Scan: lambda op, view: reductions.scan(op.function, view.value(op.arg), op.axis),
    c.Contract: lambda op, view: reductions.contract(view.value(op.left), view.value(op.right)),
    c.KeyReduce: lambda op, view: reductions.key_reduce(
        op.function, view.value(op.indices), view.value(op.arg), view.shape(op.result)[0], op.checked, op.indexing
    ),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- interpret

_FRAMES_A_BLOCK: Final = 8


def interpret(core: Core, inputs: Mapping[str, Array], params: Mapping[str, int]) -> Results:
    """Run a checked program on in-memory inputs.

    Raises `Refused` for sizes that disagree or a guard that fails (`vm.input_sizes`), and `RunFailed` for a run-time check."""
    return execute_program(Evaluator, core, inputs, params)[1]


def execute_program(
    make: Callable[[Core, dict[SizeVariable, int]], Evaluator], core: Core, inputs: Mapping[str, Array], params: Mapping[str, int]
) -> tuple[Evaluator, Results]:  # fmt: skip
    """Binds the sizes, makes an evaluator, and runs the program on it; returns the evaluator and the results."""
    sizes = bind_sizes(core, {name: value.shape for name, value in inputs.items()}, params)
    machine = make(core, sizes)
    for entry in core.inputs:
        machine.start(entry.value, inputs[entry.name])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + _FRAMES_A_BLOCK * nesting(core.block)))
    try:
        machine.run(core.block)
    finally:
        sys.setrecursionlimit(limit)
    results = Results(tuple(machine.printed), {entry.name: machine.value(entry.value) for entry in core.outputs})
    return machine, results


def nesting(block: Block) -> int:
    """The greatest depth of blocks within blocks."""
    deepest, pending = 0, [(block, 1)]
    while pending:
        current, depth = pending.pop()
        deepest = max(deepest, depth)
        for op in current.ops:
            pending += [(inner, depth + 1) for inner in blocks_of(op)]
    return deepest


class Evaluator:
    """The state of one run: bound sizes, values by id, printed values."""

    def __init__(self, core: Core, sizes: dict[SizeVariable, int]) -> None:
        self.core = core
        self.sizes = sizes
        self.values: dict[ValueId, Array] = {}
        self.printed: list[Array] = []

    # ------------------------------------------------------------ what an op sees

    def value(self, which: ValueId) -> Array:
        if which not in self.values:
            raise InternalError(f"value {which} is read before it is made")
        return self.values[which]

    def kind(self, which: ValueId) -> Kind:
        return self.core.types[which].element.kind

    def shape(self, which: ValueId) -> tuple[int, ...]:
        return tuple(self.size(size) for size in self.core.types[which].shape)

    def size(self, size: Size) -> int:
        try:
            return size.evaluate(self.sizes)
        except KeyError as missing:
            raise InternalError(f"size {size} mentions {missing.args[0]}, which is not bound") from None

    # ------------------------------------------------------------------- storing

    def start(self, which: ValueId, value: Array) -> None:
        """Stores the value of an input."""
        self.store(which, value)

    def store(self, which: ValueId, value: Array) -> None:
        """Stores a value after verifying it against its type."""
        self.verify(which, value)
        self.values[which] = value

    def verify(self, which: ValueId, value: Array) -> None:
        declared = self.core.types[which]
        element, shape = declared.element, self.shape(which)
        if value.kind is not element.kind or value.shape != shape:
            raise InternalError(
                f"value {which} is {value.kind.value}{list(value.shape)}, its type says {element.kind.value}{list(shape)}"
            )
        if element.low is None and element.high is None and element.index_bound is None and element.symbolic_max is None:
            return
        bounds = [int(item) for item in value.data if not isinstance(item, str | float | complex)]
        low, high = (min(bounds), max(bounds)) if bounds else (0, -1)
        below = None if element.index_bound is None else self.size(element.index_bound) - 1
        most = self.size(element.symbolic_max) if element.symbolic_max is not None and surely_unwrapped(element) else None
        if bounds and (
            (element.low is not None and low < element.low)
            or (element.high is not None and high > element.high)
            or (most is not None and high > most)
            or (below is not None and not 0 <= low <= high <= below)
        ):
            raise InternalError(f"value {which} has items {low}..{high}, outside its type {element}")
        if declared.permutation and sorted(bounds) != list(range(len(bounds))):
            raise InternalError(f"value {which} is not a permutation")

    def define(self, variable: SizeVariable, value: int) -> None:
        """Binds a run-time size and checks the guards that wait for it."""
        cap = None if variable.cap is None else self.size(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        for guard in self.core.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])

    # ----------------------------------------------------------------- executing

    def run(self, block: Block) -> None:
        for op in block.ops:
            self.execute(op)

    def call(self, block: Block, args: Sequence[Array]) -> tuple[Array, ...]:
        """Binds the parameters, runs the block, and returns its results."""
        for parameter, arg in zip(block.params, args, strict=True):
            self.store(parameter, arg)
        self.run(block)
        return tuple(self.value(result) for result in block.results)

    def execute(self, op: c.Op) -> None:
        try:
            self._execute(op)
        except CheckFailed as failure:
            raise failure.at(self.span(op)) from None

    def span(self, op: c.Op) -> Span:
        match op:
            case c.CorePrint():
                return self.core.spans[op.arg]
            case c.BindSize():
                return self.core.spans[op.value]
        return self.core.spans[results_of(op)[0]]

    def _execute(self, op: c.Op) -> None:
        match op:
            case c.CorePrint():
                self.printed.append(self.value(op.arg))
                return
            case c.BindSize():
                self.define(op.size, int(self.value(op.value).item))  # type: ignore[arg-type]
                return
        control = _CONTROL.get(type(op))
        results = compute(op, self) if control is None else getattr(self, control)(op)
        if isinstance(op, c.Compress | c.Where | c.Format):
            axis = op.axis if isinstance(op, c.Compress) else -1 if isinstance(op, c.Format) else 0
            self.define(op.size, results[0].shape[axis])
        for size, (_, at, axis) in zip(op.defines, op.function.defines, strict=True) if isinstance(op, c.Invoke) else ():
            self.define(size, results[at].shape[axis])
        for which, value in zip(results_of(op), results, strict=True):
            self.store(which, value)

    # -------------------------------------------------------------- control flow

    def _lift(self, op: c.MapCells) -> tuple[Array, ...]:
        frame = tuple(self.size(size) for size in op.frame)
        args = [self.value(a) for a in op.args]
        for arg, rank in zip(args, op.frames, strict=True):
            if arg.shape[:rank] != frame[:rank]:
                raise InternalError(f"frame {arg.shape[:rank]} is not a prefix of the principal frame {frame}")
        split = [cells(arg, rank) for arg, rank in zip(args, op.frames, strict=True)]
        collected: list[list[Array]] = [[] for _ in op.results]
        for p in positions(frame):
            arguments = [parts[offset(p[:rank], frame[:rank])] for parts, rank in zip(split, op.frames, strict=True)]
            for slot, result in zip(collected, self.call(op.body, arguments), strict=True):
                slot.append(result)
        return tuple(self._collect(which, frame, parts) for which, parts in zip(op.results, collected, strict=True))

    def _collect(self, which: ValueId, frame: tuple[int, ...], parts: Sequence[Array]) -> Array:
        """Cells assembled over a frame; for an empty frame the declared type gives the cell's shape."""
        cell_shape = parts[0].shape if parts else self.shape(which)[len(frame) :]
        if any(part.shape != cell_shape for part in parts):
            raise InternalError("the cells of a lift have different shapes")
        return assemble(self.kind(which), frame, cell_shape, parts)

    def _fold(self, op: c.CoreFold) -> tuple[Array, ...]:
        columns = [cells(self.value(a), 1) for a in op.args]
        length = len(columns[0])
        if length == 0:
            raise CheckFailed(Code.E204, "a reduction with a function needs at least one item")
        accumulated = tuple(column[-1] for column in columns)
        for i in reversed(range(length - 1)):
            accumulated = self.call(op.body, [*(column[i] for column in columns), *accumulated])
        return accumulated

    def _fold_scan(self, op: c.FoldScan) -> tuple[Array, ...]:
        columns = [cells(self.value(a), 1) for a in op.args]
        states: list[tuple[Array, ...]] = []
        for i in range(len(columns[0])):
            items = tuple(column[i] for column in columns)
            states.append(self.call(op.body, [*states[-1], *items]) if states else items)
        frame = (len(states),)
        return tuple(self._collect(which, frame, [state[j] for state in states]) for j, which in enumerate(op.results))

    def _loop(self, op: c.CoreLoop) -> tuple[Array, ...]:
        state = tuple(self.value(v) for v in op.initial)
        states = [state]
        columns = [cells(self.value(v), 1) for v in op.cells]
        known = frozenset(self.sizes)
        for i in range(self.size(op.trip)):
            self.enter_iteration(op, i, known)
            new = self.call(op.body, [*(column[i] for column in columns), *state])
            stop = op.until is not None and bool(self.call(op.until, [*new, *state])[0].item)
            state = new
            states.append(state)
            if stop:
                break
        self.keep_only_sizes(known)
        return tuple(stack([s[j] for s in states], 0) for j in range(len(state))) if op.keep else state

    def enter_iteration(self, op: c.CoreLoop, iteration: int, known: frozenset[SizeVariable]) -> None:
        """Binds the index of an iteration, and unbinds the run-time sizes of the iteration before."""
        self.keep_only_sizes(known)
        if op.index is not None:
            self.define(op.index, iteration)

    def keep_only_sizes(self, known: frozenset[SizeVariable]) -> None:
        for size in self.sizes.keys() - known:
            del self.sizes[size]

    def _branch(self, op: c.CoreBranch) -> tuple[Array, ...]:
        taken = bool(self.value(op.condition).item)
        results = self.call(op.then if taken else op.otherwise, ())
        for variable, then, otherwise in op.sizes:
            self.define(variable, self.size(then if taken else otherwise))
        return results

    def _invoke(self, op: c.Invoke) -> tuple[Array, ...]:
        """Runs the function with the sizes and arguments of the call."""
        core = op.function.core
        inner = type(self)(core, dict(zip(op.function.sizes, map(self.size, op.sizes), strict=True)))
        for entry, arg in zip(core.inputs, op.args, strict=True):
            inner.start(entry.value, self.value(arg))
        inner.run(core.block)
        return tuple(inner.value(entry.value) for entry in core.outputs)


_CONTROL: Mapping[type, str] = {
    c.MapCells: "_lift", c.CoreFold: "_fold", c.FoldScan: "_fold_scan", c.CoreLoop: "_loop",
    c.CoreBranch: "_branch", c.Invoke: "_invoke",
}  # fmt: skip
"""The methods of control flow."""


def results_of(op: c.Op) -> tuple[ValueId, ...]:
    """The ids an op defines."""
    match op:
        case c.CorePrint() | c.BindSize():
            return ()
        case c.Library() | c.CoreFold() | c.FoldScan() | c.MapCells() | c.CoreLoop() | c.CoreBranch() | c.Invoke():
            return op.results
        case _:
            return (op.result,)
