"""How many items of a mask hold, as LLVM text.

Words: how many items; the mask; where the number is written (i64).

Neighbours: `store` (compiles it), `backend.run.cpu.bindings` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .writer import Writer, function_text

_LANES: Final = 64


@dataclass(frozen=True, slots=True)
class Counting:
    """There is one."""

    def text(self) -> str:
        w = Writer()
        w.label("start")
        count, mask, result = (
            w.let(f"load {type}, ptr {w.let(f'getelementptr i64, ptr %words, i64 {place}')}, align 8")
            for place, type in enumerate(("i64", "ptr", "ptr"))
        )
        whole = w.word("and", count, -_LANES)
        loop = w.begin(0, whole, _LANES, [("i64", "0")])
        items = w.let(f"load <{_LANES} x i8>, ptr {w.at(mask, loop.index)}, align 1")
        held = w.let(f"icmp ne <{_LANES} x i8> {items}, zeroinitializer")
        bits = w.let(f"bitcast <{_LANES} x i1> {held} to i{_LANES}")
        w.end(loop, [w.word("add", loop.carried[0], w.call("i64", "llvm.ctpop.i64", ("i64", bits)))])
        rest = w.begin(whole, count, 1, [("i64", loop.carried[0])])
        item = w.let(f"load i8, ptr {w.at(mask, rest.index)}, align 1")
        held = w.let(f"icmp ne i8 {item}, 0")
        w.end(rest, [w.word("add", rest.carried[0], w.let(f"zext i1 {held} to i64"))])
        w.do(f"store i64 {rest.carried[0]}, ptr {result}, align 8")
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])
