"""Loop programs as LLVM text: `printer` says what is written, in `registers` and `places`, `addresses`, `memory` and `lanes`."""

from __future__ import annotations

from .. import dumping
from ..ir import Program
from .printer import Printer
from .words import calls_at, calls_of, is_own, strides_of, words_of

__all__ = ["calls_at", "calls_of", "is_own", "llvm_text", "strides_of", "words_of"]


def llvm_text(program: Program, vector_bytes: int) -> str:
    """The module of a program."""
    text = Printer(program, vector_bytes).module()
    dumping.code(program, text)
    return text
