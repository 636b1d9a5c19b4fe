"""Products of matrices as LLVM text: a block of words becomes calls of BLAS.

Words of a piece (`WORDS`), then a word that is not used.  A piece is the same part of each of `count` products, whose operands
and results lie `…_next` bytes apart.  A matrix times itself transposed is done in another way (`cpu.products`): a block that says
`mirrored` is refused (code 1) where its operands turn out to be one array.

Neighbours: `store` (compiles it), `backend.run.cpu.products` (writes the words), `backend.run.cpu.blas` (finds the functions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .llvm_leaf import QUICK

WORDS: Final = (
    "left_form", "right_form", "rows", "columns", "shared", "left_pitch", "right_pitch", "pitch", "mirrored",
    "count", "left_next", "right_next", "next", "left_whole", "right_whole", "left", "right", "result",
)  # fmt: skip
"""Forms are BLAS's numbers; pitches are in items; the last are addresses."""
ROWS_FIRST, PLAIN, TRANSPOSED = 101, 111, 112
LETTERS: Final = {Kind.F32: "s", Kind.F64: "d", Kind.C64: "c", Kind.C128: "z"}
_ITEMS: Final = {Kind.F32: "float", Kind.F64: "double", Kind.C64: "float", Kind.C128: "double"}
_ADDRESSES: Final = frozenset({"left", "right", "result", "left_whole", "right_whole"})
_PAIRS: Final = """@one = private constant [2 x $item$] [$item$ 1.0, $item$ 0.0]
@zero = private constant [2 x $item$] zeroinitializer
"""
_BODY: Final = """  %left.32 = trunc i64 %left_form to i32
  %right.32 = trunc i64 %right_form to i32
  %is.one = icmp eq ptr %left_whole, %right_whole
  %is.mirrored = icmp ne i64 %mirrored, 0
  %is.other = and i1 %is.one, %is.mirrored
  br i1 %is.other, label %refuse, label %turn
refuse:
  ret i64 1
turn:
  %left.at = phi ptr [ %left, %start ], [ %left.then, %turn ]
  %right.at = phi ptr [ %right, %start ], [ %right.then, %turn ]
  %result.at = phi ptr [ %result, %start ], [ %result.then, %turn ]
  %due = phi i64 [ %count, %start ], [ %due.then, %turn ]
  call void @$symbol$(i32 $order$, i32 %left.32, i32 %right.32, i64 %rows, i64 %columns, i64 %shared, $one$, ptr %left.at, i64 %left_pitch, ptr %right.at, i64 %right_pitch, $zero$, ptr %result.at, i64 %pitch)
  %left.then = getelementptr i8, ptr %left.at, i64 %left_next
  %right.then = getelementptr i8, ptr %right.at, i64 %right_next
  %result.then = getelementptr i8, ptr %result.at, i64 %next
  %due.then = sub i64 %due, 1
  %is.left = icmp sgt i64 %due.then, 0
  br i1 %is.left, label %turn, label %end
end:
  ret i64 0
}
declare void @$symbol$(i32, i32, i32, i64, i64, i64, $type$, ptr, i64, ptr, i64, $type$, ptr, i64)
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Product:
    """Of one kind of items."""

    kind: Kind

    @property
    def symbol(self) -> str:
        return f"{LETTERS[self.kind]}gemm"

    def text(self) -> str:
        lines = ["define i64 @kernel(ptr %words) {", "start:"]
        for place, name in enumerate(WORDS):
            type = "ptr" if name in _ADDRESSES else "i64"
            lines += [
                f"  %{name}.word = getelementptr i64, ptr %words, i64 {place}",
                f"  %{name} = load {type}, ptr %{name}.word, align 8",
            ]
        item, text, constants = _ITEMS[self.kind], _BODY, ""
        fields = {"symbol": f"rho_{self.symbol}", "order": str(ROWS_FIRST)}
        if self.kind.is_complex:  # by address
            constants = _PAIRS.replace("$item$", item)
            fields |= {"type": "ptr", "one": "ptr @one", "zero": "ptr @zero"}
        else:
            fields |= {"type": item, "one": f"{item} 1.0", "zero": f"{item} 0.0"}
        for name, value in fields.items():
            text = text.replace(f"${name}$", value)
        return QUICK + constants + "\n".join(lines) + "\n" + text
