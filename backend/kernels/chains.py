"""Kernels one after the other as one call: what runs many short kernels gives up the interpreter for all of them together.

Words: how many; then for each the address of its code and the address of its argument block.  The result is that of the first
that does not return 0, and those after it do not run.

Neighbours: `store` (compiles it), `backend.run.cpu.bands` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass

from .writer import Writer, function_text


@dataclass(frozen=True, slots=True)
class Chain:
    """There is one."""

    def text(self) -> str:
        w = Writer()
        w.label("start")
        count = w.let("load i64, ptr %words, align 8")
        loop = w.begin(0, count)
        link = w.at("%words", w.word("add", w.word("mul", loop.index, 16), 8))
        code = w.let(f"load ptr, ptr {link}, align 8")
        block = w.let(f"load ptr, ptr {w.at(link, 8)}, align 8")
        found = w.let(f"call i64 {code}(ptr {block})")
        going, failed = w.new_label(), w.new_label()
        w.branch(w.test("eq", found, 0), going, failed)
        w.label(failed)
        w.do(f"ret i64 {found}")
        w.label(going)
        w.end(loop)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])
