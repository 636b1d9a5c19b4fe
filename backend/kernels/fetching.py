"""Bodies of kernels that read items at computed places: gathers, rotations by amounts that are data, cyclic reshapes.

Operand 0 is what is read, which does not move on the axis that is indexed; operand 1 has the indices or the amounts.  The scalars
are the items of that axis and the bytes between them.  Complex numbers are two floats: operand 2 is the imaginary parts.

Neighbours: `ir` (`FETCH`, `PROVED`), `backend.run.cpu.gathering` and `backend.run.cuda.fetching` (bind these).
"""

from __future__ import annotations

from functools import cache

from ...typechecker.elements import Kind
from ...typechecker.sizes import number
from .build import Body, bits_of
from .complexes import PART
from .ir import FETCH, PROVED, Apply, Argument, Coordinate, Literal, Load, Node, Result


class _Writer:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.kinds: list[Kind] = []

    def add(self, node: Node, kind: Kind) -> int:
        self.nodes.append(node)
        self.kinds.append(kind)
        return len(self.nodes) - 1

    def whole(self, function: str, *args: int) -> int:
        return self.add(Apply(function, args, Kind.I64, Kind.I64), Kind.I64)

    def index(self, kind: Kind) -> int:
        """An item of operand 1 as an i64."""
        made = self.add(Load(1), kind)
        return made if kind is Kind.I64 else self.add(Apply("convert", (made,), kind, Kind.I64), Kind.I64)

    def scalars(self) -> tuple[int, int]:
        return self.add(Argument(0), Kind.I64), self.add(Argument(1), Kind.I64)

    def items(self, function: str, kind: Kind, at: tuple[int, int, int]) -> list[int]:
        """The item there; of complex ones both parts."""
        part = PART.get(kind, kind)
        sources = (0, 2) if kind.is_complex else (0,)
        return [self.add(Apply(function, at, Kind.I64, part, source), part) for source in sources]

    def body(self, kind: Kind, items: list[int], coordinates: frozenset[int] = frozenset()) -> Body:
        result = Result(items[0], kind, None, items[1] if len(items) > 1 else -1)
        return Body(tuple(self.nodes), tuple(self.kinds), (number(0), number(0)), (result,), coordinates, 0)


def operand_kinds(kind: Kind, index: Kind) -> list[Kind]:
    part = PART.get(kind, kind)
    return [part, index, part] if kind.is_complex else [part, index]


@cache
def gathering(kind: Kind, index: Kind, fill: int | None, *, proved: bool) -> Body:
    """Items by index; with a `fill` the index ¯1 stands for it.  `proved`: nothing is checked."""
    w = _Writer()
    place = w.index(index)
    count, stride = w.scalars()
    function = PROVED if proved else FETCH
    if fill is None:
        return w.body(kind, w.items(function, kind, (place, count, stride)))
    nothing, first = (w.add(Literal(Kind.I64, value), Kind.I64) for value in (-1, 0))
    absent = w.add(Apply("eq", (place, nothing), Kind.I64, Kind.BOOL), Kind.BOOL)
    items = w.items(function, kind, (w.whole("select", absent, first, place), count, stride))
    part = PART.get(kind, kind)
    instead = w.add(Literal(part, bits_of(part, fill)), part)
    return w.body(kind, [w.add(Apply("select", (absent, instead, item), part, part), part) for item in items])


@cache
def rotating(kind: Kind, amount: Kind, axis: int) -> Body:
    """Each item from so many places further along an axis, around its end."""
    w = _Writer()
    by = w.index(amount)
    count, stride = w.scalars()
    here = w.add(Coordinate(axis), Kind.I64)
    there = w.whole("add", here, w.whole("residue", count, by))
    around = w.add(Apply("ge", (there, count), Kind.I64, Kind.BOOL), Kind.BOOL)
    place = w.whole("select", around, w.whole("sub", there, count), there)
    return w.body(kind, w.items(PROVED, kind, (place, count, stride)), frozenset({axis}))


@cache
def cycling(kind: Kind) -> Body:
    """Items one after the other, again from the first when they end.  Operand 1 is not read."""
    w = _Writer()
    count, stride = w.scalars()
    place = w.whole("residue", count, w.add(Coordinate(0), Kind.I64))
    return w.body(kind, w.items(PROVED, kind, (place, count, stride)), frozenset({0}))
