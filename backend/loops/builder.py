"""Writes loop programs: fresh names, open blocks, and constants that are defined once.

Neighbours: `ir`; `orders` and `lower` write with this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from ...typechecker.elements import Kind
from .ir import (
    ZERO,
    Apply,
    Carried,
    Chosen,
    Constant,
    Fail,
    For,
    If,
    Index,
    Load,
    LoopKind,
    Number,
    Role,
    Statement,
    Store,
    View,
    index,
)


@dataclass(slots=True)
class OpenLoop:
    """A loop that is being written: `inside` are its carried values; `yields` and `until` are set before it ends."""

    index: str
    inside: tuple[str, ...]
    yields: tuple[str, ...] = ()
    until: str | None = None
    results: tuple[str, ...] = ()


@dataclass(slots=True)
class Builder:
    """`statements` is the block being written."""

    statements: list[Statement] = field(default_factory=list)
    views: dict[str, View] = field(default_factory=dict)
    _names: int = 0
    _constants: dict[tuple[Kind, int], str] = field(default_factory=dict)
    preamble: list[Statement] = field(default_factory=list)
    """What comes before everything else: constants, and values from outside that no iteration changes."""

    def fresh(self, prefix: str = "v") -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def view(self, prefix: str, kind: Kind, shape: tuple[Index, ...], role: Role, *, private: bool = False) -> View:
        made = View(self.fresh(prefix), kind, shape, role, private=private)
        self.views[made.name] = made
        return made

    # --------------------------------------------------------------------------------------- statements

    def constant(self, kind: Kind, bits: int) -> str:
        key = (kind, bits)
        if key not in self._constants:
            self._constants[key] = self.fresh("c")
            self.preamble.append(Constant(self._constants[key], kind, bits))
        return self._constants[key]

    def number(self, value: Index) -> str:
        """An index as a register."""
        if not value.constant and len(value.terms) == 1 and value.terms[0][1] == 1:
            return value.terms[0][0]
        if not value.terms:
            return self.constant(Kind.I64, value.constant)
        name = self.fresh("i")
        self.statements.append(Number(name, value))
        return name

    def apply(self, function: str, args: Sequence[str], compute: Kind, kind: Kind, parameter: int = 0, check: int = -1) -> str:
        name = self.fresh()
        self.statements.append(Apply(name, kind, function, tuple(args), compute, parameter, check))
        return name

    def compare(self, function: str, left: Index, right: Index) -> str:
        return self.apply(function, (self.number(left), self.number(right)), Kind.I64, Kind.BOOL)

    def both(self, left: str | None, right: str | None) -> str | None:
        """The conjunction of masks, of which None is always true."""
        if left is None or right is None:
            return left or right
        return self.apply("and", (left, right), Kind.BOOL, Kind.BOOL)

    def where(self, mask: str | None, args: Sequence[str], kind: Kind) -> Sequence[str]:
        """Zeros, which no check fails on, where a mask is false."""
        if mask is None:
            return args
        zero = self.constant(kind, 0)
        return [self.apply("select", (mask, arg, zero), kind, kind) for arg in args]

    def load(self, view: str, indices: tuple[Index, ...], mask: str | None = None) -> str:
        name = self.fresh()
        self.statements.append(Load(name, view, indices, mask))
        return name

    def store(self, view: str, indices: tuple[Index, ...], value: str, mask: str | None = None, join: str | None = None) -> None:
        self.statements.append(Store(view, indices, value, mask, join))

    def fail(self, check: int, condition: str, values: Sequence[str] = ()) -> None:
        self.statements.append(Fail(check, condition, tuple(values)))

    # ------------------------------------------------------------------------------------------- blocks

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Statements that go into a block of their own."""
        outer = self.statements
        self.statements = []
        try:
            yield self.statements
        finally:
            self.statements = outer

    @contextmanager
    def loop(
        self, kind: LoopKind, lower: Sequence[Index], upper: Sequence[Index],
        carried: Sequence[tuple[Kind, str, str | None]] = (), step: int = 1,
    ) -> Iterator[OpenLoop]:  # fmt: skip
        """`carried`: kind, initial register, reduction."""
        opened = OpenLoop(self.fresh("k"), tuple(self.fresh() for _ in carried))
        with self.block() as body:
            yield opened
        opened.results = tuple(self.fresh() for _ in carried)
        values = tuple(
            Carried(inside, kind, initial, yielded, result, reduction)
            for (kind, initial, reduction), inside, yielded, result in zip(
                carried, opened.inside, opened.yields, opened.results, strict=True
            )
        )
        self.statements.append(For(opened.index, tuple(lower), tuple(upper), kind, tuple(body), values, opened.until, step))

    def range(self, kind: LoopKind, upper: Index, carried: Sequence[tuple[Kind, str, str | None]] = ()
              ) -> AbstractContextManager[OpenLoop]:  # fmt: skip
        return self.loop(kind, (ZERO,), (upper,), carried)

    def choose(self, condition: str, then: Sequence[Statement], otherwise: Sequence[Statement],
               results: Sequence[tuple[Kind, str, str]] = ()) -> tuple[str, ...]:  # fmt: skip
        """A branch; `results`: kind and the registers of both arms."""
        chosen = tuple(Chosen(self.fresh(), kind, a, b) for kind, a, b in results)
        self.statements.append(If(condition, tuple(then), tuple(otherwise), chosen))
        return tuple(c.name for c in chosen)


def at(name: str) -> Index:
    """The index that a register is."""
    return index(name)


def power(b: Builder, base: str, exponent: str, kind: Kind) -> str:
    """An integer to a power that is not negative, by squaring: exact modulo the width, whatever the order."""
    one, wide = b.constant(Kind.I64, 1), Kind.I64
    left = exponent if kind is wide else b.apply("convert", (exponent,), kind, wide)
    carried = [(kind, b.constant(kind, 1), None), (kind, base, None), (wide, left, None)]
    with b.range(LoopKind.SERIAL, Index((), 63), carried) as loop:
        made, square, left = loop.inside
        is_odd = b.apply("ne", (b.apply("band", (left, one), wide, wide), b.constant(wide, 0)), wide, Kind.BOOL)
        more = b.apply("select", (is_odd, b.apply("mul", (made, square), kind, kind), made), kind, kind)
        rest = b.apply("shr", (one, left), wide, wide)
        loop.yields = more, b.apply("mul", (square, square), kind, kind), rest
        loop.until = b.compare("le", at(rest), ZERO)
    return loop.results[0]
