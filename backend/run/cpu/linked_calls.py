"""Library phases in linked calls that are done by Python: NumPy's functions on arrays, called from the native call.

Each is a function of the operands' arrays alone, made once: what it asks of the program (kinds, shapes, attributes) is known
then.  Short forms of what is called most have only NumPy's calls; the others go through `library`.  Results are fresh arrays in
the order of their items.

Neighbours: `linked_library` (asks), `library` (implementations), `linking`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, SizeVariable
from ...graph import traverse
from ...graph.phases import LibraryPhase, Structured, ValueId
from ...graph.registry import frame_of, framed_of, wanted_of
from ..device import Types
from ..native.words import Operation
from ..pool import Lease
from .drafting import Refused, Verdict
from .kinds import DTYPES, NumArray
from .linked_sizes import ExampleTypes
from .linked_values import Values
from .sorting import LEAST

Function: TypeAlias = Callable[..., NumArray]
MOST_BYTES: Final = 1 << 21
"""Phases of larger operands take so long that a call is nothing."""
WORK: Final = 8_000.0
"""Nanoseconds of entering Python, and of a short function there."""


def link_call(linker: Values, phase: LibraryPhase) -> None:
    """A phase by a call of Python's."""
    if len(phase.results) != 1:
        raise Refused(Verdict.NEVER)
    asked, (value,) = _asked_sizes(linker, phase), phase.results
    operands = [linker.examples[one] if linker.roots[one] is None else None for one in phase.args]
    number = _call(linker, phase.args, asked, value, _function(phase, linker.types, operands, asked, linker.threads))
    if phase.defines:
        axis = (
            phase.attributes["axis"] if phase.op == "compress" else linker.examples[value].ndim - 1 if phase.op == "format" else 0
        )
        found = linker.found.get(phase.defines[0])
        base = linker.new(None) if found is None else found
        linker.steps.append((Operation.LENGTH, base, number, axis))
        linker.define(phase.defines[0], base)


def call_structured(linker: Values, phase: Structured, run: Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]) -> None:
    """A structured phase without a kernel, on NumPy."""
    sources = list(dict.fromkeys(read.value for read in phase.reads))
    if len(phase.results) != 1 or any(size.variables() & set(linker.found) for size in traverse.sizes(phase)):
        raise Refused(Verdict.NEVER)
    (result,) = phase.results
    types, ready = linker.types, {value: linker.examples[value] for value in sources if linker.roots[value] is None}
    given = [value for value in sources if value not in ready]
    dtypes = [DTYPES[types.kind(value)] for value in given]

    def function(*arrays: Any) -> NumArray:
        values = dict(ready)
        for value, array, dtype in zip(given, arrays, dtypes, strict=True):
            values[value] = array if type(array) is np.ndarray else np.asarray(array, dtype)
        with np.errstate(all="ignore"):
            made = np.asarray(run(values, None)[0])
        base: Any = made.base
        fresh = made.flags.c_contiguous and made.flags.writeable and (base is None or type(base) is Lease)
        return made if fresh and not any(made is value for value in values.values()) else made.copy(order="C")

    _call(linker, sources, [], result.value, function)


def _call(linker: Values, operands: Sequence[ValueId], asked: Sequence[SizeVariable], value: ValueId, function: Function) -> int:
    """The number of what a function gives, called with these values but for those that never change, and with these sizes."""
    types = linker.types
    if any(types.kind(one) is Kind.CHAR for one in (*operands, value)):
        raise Refused(Verdict.NEVER)
    if sum(linker.examples[one].nbytes for one in operands) > MOST_BYTES:
        raise Refused(Verdict.NEVER)
    linker.work(WORK)
    given: list[int] = []
    passing: list[int] = []
    for operand in operands:
        root = linker.roots[operand]
        if root is None:
            continue
        if root in linker.lent:
            raise Refused(Verdict.NEVER)
        if linker.examples[operand] is not linker.bases[root]:
            root = linker.show(linker.examples[operand], root)
            passing.append(root)
        given.append(root)
    for variable in asked:
        number = linker.new(None)
        linker.steps.append((Operation.NUMBER, number, linker.found[variable]))
        given.append(number)
        passing.append(number)
    number = linker.new(np.empty(types.shape(value), DTYPES[types.kind(value)]))
    linker.steps.append((Operation.CALL, number, function, tuple(given)))
    for passed in passing:
        linker.drop(passed)
    linker.settle(value, number)
    return number


def _asked_sizes(linker: Values, phase: LibraryPhase) -> list[SizeVariable]:
    """The sizes that a run finds before the phase, and that it depends on."""
    sizes = [*traverse.sizes(phase), *linker.types.types[phase.results[0]].shape]
    found = {variable: None for size in sizes if size.constant is None for variable in size.variables()}
    return [variable for variable in found if variable in linker.found]


class _Surroundings:
    """What a library phase asks of a program (`library.frames`)."""

    def __init__(self, types: Types, found: Mapping[SizeVariable, int], threads: int) -> None:
        self._types, self._found, self.threads = types, found, threads

    def kind(self, value: ValueId) -> Kind:
        return self._types.kind(value)

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.size, self._types.types[value].shape))

    def size(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate({**self._types.sizes, **self._found}) if constant is None else constant

    def define(self, variable: SizeVariable, value: int) -> None:
        return None


def _function(
    phase: LibraryPhase, types: ExampleTypes, operands: Sequence[NumArray | None], asked: Sequence[SizeVariable], threads: int
) -> Function:
    """The phase as a function of its operands but for those that are always the same, and of the sizes that it asks for."""
    looked_at = operands[:1] if phase.attributes.get("sorts") is not None else operands
    made = None if asked or phase.op not in SHORT else SHORT[phase.op](phase, types)
    if made is not None and not any(operand is not None for operand in looked_at):
        return made
    if made is not None:
        return _with(made, operands)
    from .library import IMPLEMENTATIONS

    implementation = IMPLEMENTATIONS[phase.op]
    dtypes = [DTYPES[types.kind(value)] for value in phase.args]
    places = [place for place, operand in enumerate(operands) if operand is None]
    ready = list(operands)
    known = _Surroundings(types, {}, threads)

    def run(*given: Any) -> NumArray:
        arrays: list[Any] = list(ready)
        for place, value in zip(places, given, strict=False):
            arrays[place] = value if type(value) is np.ndarray else np.asarray(value, dtypes[place])
        around = known if not asked else _Surroundings(types, dict(zip(asked, given[len(places) :], strict=True)), threads)
        with np.errstate(all="ignore"):
            (found,) = implementation(phase, tuple(arrays), around)
        return found if found.flags.c_contiguous and found.flags.writeable else found.copy()

    return run


def _with(function: Function, operands: Sequence[NumArray | None]) -> Function:
    """A function of the operands that are not there yet."""
    places = [place for place, operand in enumerate(operands) if operand is None]
    ready: list[Any] = list(operands)

    def run(*given: NumArray) -> NumArray:
        arrays = list(ready)
        for place, array in zip(places, given, strict=True):
            arrays[place] = array
        return function(*arrays)

    return run


def _otherwise(phase: LibraryPhase, types: Types, threads: int = 1) -> Function:
    """The phase as it is done where no short form is for it."""
    from .library import IMPLEMENTATIONS

    implementation, around = IMPLEMENTATIONS[phase.op], _Surroundings(types, {}, threads)

    def run(*given: NumArray) -> NumArray:
        with np.errstate(all="ignore"):
            return implementation(phase, given, around)[0].copy()

    return run


# ------------------------------------------------------------------------------------------- short forms


def _in_order(made: NumArray) -> NumArray:
    """Row by row, as linked calls take it: NumPy keeps the order of operands that lie column by column."""
    return made if made.flags.c_contiguous else made.copy()


def _is_plain(phase: LibraryPhase, types: Types, rank: int) -> bool:
    """Vectors of plain numbers, without a frame, too short for kernels?"""
    first = types.types[phase.args[0]]
    if prod(types.shape(phase.args[0])) >= LEAST[phase.op == "grade"]:
        return False
    return not frame_of(phase) and len(first.shape) == rank and not first.element.kind.is_complex


def _grade(phase: LibraryPhase, types: Types) -> Function | None:
    """NumPy's stable order is the language's: NaN behind all, equal zeros and NaNs as they are."""
    flags, shape = phase.attributes, types.types[phase.args[0]].shape
    is_rows = frame_of(phase) == len(shape) - 1 > 0 and not types.kind(phase.args[0]).is_complex
    if not (is_rows or _is_plain(phase, types, 1)) or (wanted_of(phase) and prod(types.shape(phase.args[0])) >= LEAST[True]):
        return None
    descending = flags.get("descending") is True
    if not descending:
        return lambda items: items.argsort(kind="stable")
    if types.kind(phase.args[0]).is_float:
        return lambda items: (-items).argsort(kind="stable")
    return lambda items: (~items).argsort(kind="stable")


def _gather(phase: LibraryPhase, types: Types) -> Function | None:
    from .library.sorting import selects, sorted_items

    order = phase.attributes.get("sorts")
    if order is None and frame_of(phase):
        return _gather_of_rows(phase, types)
    if order is None or not _is_plain(phase, types, 1) or not prod(types.shape(phase.args[0])):
        return None
    if selects(prod(types.shape(phase.args[0])), wanted_of(phase)):
        return None
    descending, is_float = order == "down", types.kind(phase.args[0]).is_float

    def run(items: NumArray, *order: object) -> NumArray:
        made = items.copy()
        made.sort()
        if is_float and not (made.item(0) > 0 or made.item(-1) < 0):  # zeros, or NaN
            return sorted_items(items, descending=descending)
        if is_float and made.item(-1) != made.item(-1):
            return sorted_items(items, descending=descending)
        return made[::-1].copy() if descending else made

    return run


def _gather_of_rows(phase: LibraryPhase, types: Types) -> Function | None:
    """Items of each row of a matrix by indices of its own."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) != 1 or ranks != [2, 2] or framed_of(phase) != (True, True) or phase.attributes.get("fills"):
        return None
    otherwise = _otherwise(phase, types)

    def run(rows: NumArray, places: NumArray) -> NumArray:
        count, length = rows.shape
        if not places.size or int(places.min()) < 0 or int(places.max()) >= length:
            return otherwise(rows, places)
        return _in_order(rows[np.arange(count)[:, np.newaxis], places])

    return run


def _rotate(phase: LibraryPhase, types: Types) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or types.types[phase.args[1]].shape or not prod(types.shape(phase.args[0])):
        return None
    lead: tuple[Any, ...] = (slice(None),) * axis

    def run(items: NumArray, amount: Any) -> NumArray:
        turn = int(amount) % items.shape[axis]
        return _in_order(np.concatenate((items[(*lead, slice(turn, None))], items[(*lead, slice(0, turn))]), axis))

    return run


def _update(phase: LibraryPhase, types: Types) -> Function | None:
    """Items of a vector; an index that is outside is for the implementation to name."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) or phase.attributes["indexed"] != (True,) or len(ranks) != 3 or ranks[0] != 1 or ranks[1] > 1:
        return None
    otherwise, dtype = _otherwise(phase, types), DTYPES[types.kind(phase.args[0])]

    def run(items: NumArray, places: Any, value: Any) -> NumArray:
        at = np.asarray(places)
        if at.size and (int(at.min()) < 0 or int(at.max()) >= len(items)):
            return otherwise(items, at, np.asarray(value, dtype))
        made = items.copy()
        made[at if at.dtype.kind == "i" else at.astype(np.int64)] = value
        return made

    return run


def _join(phase: LibraryPhase, types: Types) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or not all(types.types[value].shape for value in phase.args):
        return None
    return lambda *parts: _in_order(np.concatenate(parts, axis))


def _match(phase: LibraryPhase, types: Types) -> Function | None:
    kinds = [types.kind(value) for value in phase.args]
    shapes = [types.types[value].shape for value in phase.args]
    if frame_of(phase) or shapes[0] != shapes[1] or not shapes[0] or Kind.CHAR in kinds:
        return None
    return lambda left, right: np.asarray((left == right).all())


SHORT: Final[dict[str, Callable[[LibraryPhase, Types], Function | None]]] = {
    "grade": _grade, "gather": _gather, "join": _join, "match": _match, "rotate": _rotate, "update": _update,
}  # fmt: skip
