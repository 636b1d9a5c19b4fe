"""Writes LLVM text in single assignment: fresh names, basic blocks, counted loops with carried values.

A loop's phis are written before what they carry is known; their lines are filled in when the loop ends.

Neighbours: `scalar_text`, `mathematics`; `store` compiles the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .ir import NAME


@dataclass(slots=True)
class Loop:
    """An open loop: `index` counts, `carried` are the values as the iteration finds them (after the loop: the last ones)."""

    index: str
    carried: tuple[str, ...]
    head: str
    exit: str
    step: str
    _types: tuple[str, ...]
    _lines: tuple[int, ...]
    _entry: tuple[str, ...]


class Writer:
    """Lines of one function body; `block` is the label of the block being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = ""
        self._names = 0
        self.declarations: dict[str, None] = {}

    def fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def let(self, text: str) -> str:
        """A new value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def new_label(self) -> str:
        self._names += 1
        return f"b{self._names}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def call(self, result: str, name: str, *args: tuple[str, str]) -> str:
        """A call of a declared function or intrinsic; `args` are (type, value)."""
        self.declarations[f"declare {result} @{name}({', '.join(type for type, _ in args)})"] = None
        return self.let(f"call {result} @{name}({', '.join(f'{type} {value}' for type, value in args)})")

    def hole(self) -> int:
        """A line to be filled in later."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, hole: int, text: str) -> None:
        self.lines[hole] = f"  {text}"

    # ------------------------------------------------------------------------------- 64-bit arithmetic

    def word(self, operation: str, left: object, right: object) -> str:
        return self.let(f"{operation} i64 {left}, {right}")

    def test(self, relation: str, left: object, right: object) -> str:
        return self.let(f"icmp {relation} i64 {left}, {right}")

    def smaller(self, left: object, right: object) -> str:
        return self.call("i64", "llvm.umin.i64", ("i64", str(left)), ("i64", str(right)))

    def at(self, pointer: str, offset: object) -> str:
        """An address some bytes on."""
        return self.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    # ------------------------------------------------------------------------------------------ loops

    def begin(self, start: object, stop: object, step: object = 1, carried: Sequence[tuple[str, str]] = ()) -> Loop:
        """`while index < stop` (unsigned), with `carried` values given as (type, first value)."""
        before, head, body, leave = self.block, self.new_label(), self.new_label(), self.new_label()
        self.jump(head)
        self.label(head)
        names = [self.fresh() for _ in range(len(carried) + 1)]
        lines = [self.hole() for _ in names]
        going = self.test("ult", names[0], stop)
        self.branch(going, body, leave)
        self.label(body)
        types = ("i64", *(type for type, _ in carried))
        firsts = (str(start), *(first for _, first in carried))
        entry = tuple(f"[ {first}, %{before} ]" for first in firsts)
        return Loop(names[0], tuple(names[1:]), head, leave, str(step), types, tuple(lines), entry)

    def end(self, loop: Loop, carried: Sequence[str] = ()) -> None:
        following = self.word("add", loop.index, loop.step)
        latch = self.block
        self.jump(loop.head)
        values = (following, *carried)
        names = (loop.index, *loop.carried)
        for name, type, line, entry, value in zip(names, loop._types, loop._lines, loop._entry, values, strict=True):
            self.fill(line, f"{name} = phi {type} {entry}, [ {value}, %{latch} ]")
        self.label(loop.exit)


def function_text(writer: Writer, lines: list[str]) -> str:
    """The module of a finished function body."""
    body, declarations = "\n".join(lines), "\n".join(writer.declarations)
    metadata = "\n!0 = !{i32 1}\n" if "!nontemporal" in body else "\n"
    return (
        f"define i64 @{NAME}(ptr noalias %words) #0 {{\n{body}\n}}\n{declarations}\n"
        f'attributes #0 = {{ nounwind "prefer-vector-width"="512" "no-trapping-math"="true" }}{metadata}'
    )
