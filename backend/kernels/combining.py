"""Partial results of a cut reduction joined as LLVM text: neighbours level by level, a last odd one passed on.

Words: the number of rows of partial results; the items of a row; the address of the rows (which are written over); the address of
the result; a word that is not used.

Neighbours: `store` (compiles it), `backend.run.cpu.launching` (calls it), `backend.run.sums_numpy` (`combine_tree` is the same on
arrays).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .llvm_leaf import QUICK
from .scalar_text import combine
from .vectors import Vectors
from .writer import Writer, function_text

COMBINE_WORDS: Final = 5
ROWS_PLACE, RESULT_PLACE = 2, 3


@dataclass(frozen=True, slots=True)
class Combine:
    """Of one reduction of items of one kind."""

    function: str
    kind: Kind

    def text(self) -> str:
        w = Writer()
        v = Vectors(w, 1)
        bytes = self.kind.bytes
        w.label("start")
        words: list[str] = []
        for place in range(RESULT_PLACE + 1):
            address = w.let(f"getelementptr i64, ptr %words, i64 {place}")
            words.append(w.let(f"load {'i64' if place < ROWS_PLACE else 'ptr'}, ptr {address}, align 8"))
        count, cells, rows, result = words
        pitch = w.word("mul", cells, bytes)
        levels = w.word("sub", 64, w.call("i64", "llvm.ctlz.i64", ("i64", w.word("sub", count, 1)), ("i1", "false")))
        level = w.begin(0, levels, 1, [("i64", count)])
        (left,) = level.carried
        half = w.word("lshr", left, 1)
        pair = w.begin(0, half)
        low = w.at(rows, w.word("mul", pair.index, w.word("mul", pitch, 2)))
        high, joined = w.at(low, pitch), w.at(rows, w.word("mul", pair.index, pitch))
        cell = w.begin(0, pitch, bytes)
        first, second = v.load(self.kind, w.at(low, cell.index)), v.load(self.kind, w.at(high, cell.index))
        v.store(self.kind, combine(v, self.function, self.kind, first, second), w.at(joined, cell.index))
        w.end(cell)
        w.end(pair)
        odd = w.word("mul", pitch, w.word("and", left, 1))
        final, spot = w.at(rows, w.word("mul", w.word("sub", left, 1), pitch)), w.at(rows, w.word("mul", half, pitch))
        cell = w.begin(0, odd, bytes)
        v.store(self.kind, v.load(self.kind, w.at(final, cell.index)), w.at(spot, cell.index))
        w.end(cell)
        w.end(level, [w.word("lshr", w.word("add", left, 1), 1)])
        cell = w.begin(0, pitch, bytes)
        v.store(self.kind, v.load(self.kind, w.at(rows, cell.index)), w.at(result, cell.index))
        w.end(cell)
        w.do("ret i64 0")
        return QUICK + function_text(w, ["entry:", "  br label %start", *w.lines])
