"""Keyed reductions as loop programs for cards: cells of `width` items joined, item by item, into the bin that their key names.

SCATTER joins cells as they come, threads at once, for functions of whole numbers and truth values that are exact in any order.
FEW does so in the memory of a block of threads first, of items rather than cells: all threads would meet at a few bins.  GROUPED
has one thread an item of a bin run through its items in their order (a stable sort of the keys says where they are), which gives
floats the bits of every other tier.

A key that names no bin ends SCATTER and FEW, unless keys are proved to name bins (`checked`).

Words: as `Form` names the sizes; the keys (FEW, SCATTER), or where each bin starts and which cells it has, one after the other
(GROUPED); the items and the bytes from cell to cell; the bins, which hold what changes nothing, and the bytes from bin to bin.

Neighbours: `written` (the same on processors), `cuda` (prints these), `backend.run.cuda.keyed` (runs them).
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import neutral
from ..kernels.build import bits_of
from .builder import Builder, at
from .ir import ONE, ZERO, Index, LoopKind, Program, Role, View, plus

MOST_BINS: Final = 1 << 10
"""That a block of threads has in its memory."""
_CHUNK: Final = 1 << 12
"""Items of a block of threads, many to a bin."""


class Form(Enum):
    SCATTER = ("count", "width", "bins")
    FEW = ("count", "bins")
    GROUPED = ("bins", "width", "count")


@cache
def card_keyed(function: str, kind: Kind, form: Form, *, checked: bool) -> Program:
    keyed, count, bins, cell = _Keyed(function, kind, checked), at("count"), at("bins"), (at("width"),) * (form is not Form.FEW)
    starts, order = (plus(bins, ONE),), (count,)
    keys: tuple[View, ...] = View("starts", Kind.I64, starts, Role.INPUT), View("order", Kind.I64, order, Role.INPUT)
    if form is not Form.GROUPED:
        keys = (View("keys", Kind.I64, (count,), Role.INPUT),)
    views = *keys, View("items", kind, (count, *cell), Role.INPUT), View("tables", kind, (bins, *cell), Role.OUTPUT)
    {Form.SCATTER: keyed.scatter, Form.FEW: keyed.few, Form.GROUPED: keyed.grouped}[form]()
    return Program("keyed", form.value, (*views, *keyed.b.views.values()), (*keyed.b.preamble, *keyed.b.statements))


class _Keyed:
    def __init__(self, function: str, kind: Kind, checked: bool) -> None:
        self.b, self.function, self.kind, self.checked = Builder(), function, kind, checked

    def key(self, item: str) -> Index:
        key = self.b.load("keys", (at(item),))
        if self.checked:
            self.b.fail(0, self.b.apply("outside", (key, "bins"), Kind.I64, Kind.BOOL))
        return at(key)

    def scatter(self) -> None:
        b = self.b
        with b.range(LoopKind.VECTOR, at("count")) as cell:
            key = self.key(cell.index)
            with b.range(LoopKind.VECTOR, at("width")) as column:
                item = b.load("items", (at(cell.index), at(column.index)))
                b.store("tables", (key, at(column.index)), item, join=self.function)

    def few(self) -> None:
        b, most = self.b, Index((), MOST_BINS)
        own = b.view("own", self.kind, (most,), Role.SCRATCH, private=True).name
        nothing = b.constant(self.kind, bits_of(self.kind, neutral(self.function, self.kind)))
        with b.loop(LoopKind.PARALLEL, (ZERO,), (at("count"),), step=_CHUNK) as chunk:
            with b.loop(LoopKind.VECTOR, (ZERO,), (most, at("bins"))) as entry:
                b.store(own, (at(entry.index),), nothing)
            ends = plus(at(chunk.index), Index((), _CHUNK)), at("count")
            with b.loop(LoopKind.VECTOR, (at(chunk.index),), ends) as item:
                b.store(own, (self.key(item.index),), b.load("items", (at(item.index),)), join=self.function)
            with b.loop(LoopKind.VECTOR, (ZERO,), (most, at("bins"))) as entry:
                total = b.load(own, (at(entry.index),))
                is_more = b.apply("ne", (total, nothing), self.kind, Kind.BOOL)
                b.store("tables", (at(entry.index),), total, is_more, self.function)

    def grouped(self) -> None:
        b = self.b
        with b.range(LoopKind.VECTOR, at("bins")) as entry, b.range(LoopKind.VECTOR, at("width")) as column:
            here = at(column.index)
            first, last = (b.load("starts", (place,)) for place in (at(entry.index), plus(at(entry.index), ONE)))

            def item(place: Index) -> str:
                return b.load("items", (at(b.load("order", (place,))), here))

            with b.block() as some:
                head = [(self.kind, item(at(first)), None)]
                with b.loop(LoopKind.SERIAL, (plus(at(first), ONE),), (at(last),), head) as loop:
                    joined = loop.inside[0], item(at(loop.index))
                    loop.yields = (b.apply(self.function, joined, self.kind, self.kind),)
                b.store("tables", (at(entry.index), here), loop.results[0])
            b.choose(b.compare("lt", at(first), at(last)), some, ())
