"""Products of matrices, and of a matrix and a vector, as LLVM text: a block of words becomes a call of BLAS.

Words of a piece (`MATRIX_WORDS`, `VECTOR_WORDS`), then a word that is not used.  The calls are those that NumPy's `matmul` makes
for the same operands: rows by rows for matrices, the transposed form for vectors.  A matrix times itself transposed is another
call there (`syrk`): a block that says `mirrored` is refused (code 1) where its operands turn out to be one array.

Neighbours: `store` (compiles it), `backend.run.cpu.products` (writes the words), `backend.run.cpu.blas` (finds the functions).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from .llvm_leaf import QUICK

MATRIX_WORDS: Final = (
    "left_form", "right_form", "rows", "columns", "shared", "left_pitch", "right_pitch", "pitch", "mirrored",
    "left_whole", "right_whole", "left", "right", "result",
)  # fmt: skip
VECTOR_WORDS: Final = ("order", "shared", "rows", "left_pitch", "right_step", "step", "left", "right", "result")
"""Forms and orders are BLAS's numbers; pitches and steps are in items; the last are addresses."""
ROWS_FIRST, COLUMNS_FIRST, PLAIN, TRANSPOSED = 101, 102, 111, 112
LETTERS: Final = {Kind.F32: "s", Kind.F64: "d"}


class Form(Enum):
    MATRIX = "gemm"
    VECTOR = "gemv"


@dataclass(frozen=True, slots=True)
class Product:
    """Of one kind of items."""

    form: Form
    kind: Kind

    @property
    def symbol(self) -> str:
        return f"{LETTERS[self.kind]}{self.form.value}"

    def text(self) -> str:
        words = MATRIX_WORDS if self.form is Form.MATRIX else VECTOR_WORDS
        lines = ["define i64 @kernel(ptr %words) {", "start:"]
        for place, name in enumerate(words):
            type = "ptr" if name in _ADDRESSES else "i64"
            lines += [
                f"  %{name}.at = getelementptr i64, ptr %words, i64 {place}",
                f"  %{name} = load {type}, ptr %{name}.at, align 8",
            ]
        item = "double" if self.kind is Kind.F64 else "float"
        one, zero = f"{item} 1.0", f"{item} 0.0"
        if self.form is Form.MATRIX:
            lines += [
                "  %left.32 = trunc i64 %left_form to i32",
                "  %right.32 = trunc i64 %right_form to i32",
                "  %is.one = icmp eq ptr %left_whole, %right_whole",
                "  %is.mirrored = icmp ne i64 %mirrored, 0",
                "  %is.other = and i1 %is.one, %is.mirrored",
                "  br i1 %is.other, label %refuse, label %go",
                "refuse:",
                "  ret i64 1",
                "go:",
            ]
            given = (
                f"i32 {ROWS_FIRST}, i32 %left.32, i32 %right.32, i64 %rows, i64 %columns, i64 %shared, {one}, ptr %left, "
                f"i64 %left_pitch, ptr %right, i64 %right_pitch, {zero}, ptr %result, i64 %pitch"
            )
            types = f"i32, i32, i32, i64, i64, i64, {item}, ptr, i64, ptr, i64, {item}, ptr, i64"
        else:
            lines += ["  %order.32 = trunc i64 %order to i32"]
            given = (
                f"i32 %order.32, i32 {TRANSPOSED}, i64 %shared, i64 %rows, {one}, ptr %left, i64 %left_pitch, ptr %right, "
                f"i64 %right_step, {zero}, ptr %result, i64 %step"
            )
            types = f"i32, i32, i64, i64, {item}, ptr, i64, ptr, i64, {item}, ptr, i64"
        lines += [f"  call void @rho_{self.symbol}({given})", "  ret i64 0", "}", f"declare void @rho_{self.symbol}({types})"]
        return QUICK + "\n".join(lines) + "\n"


_ADDRESSES: Final = frozenset({"left", "right", "result", "left_whole", "right_whole"})
