"""Loop programs after each transformation, for people (`RHO_DUMP`).

Neighbours: `kernels.dumping` (files), `transform` (stages), `llvm` (the text that ends them).
"""

from __future__ import annotations

from typing import Final

from ..kernels.dumping import is_wanted, name_of, write
from .ir import Program
from .text import show

_MOST: Final = 64
_stages: dict[Program, list[str]] = {}


def stage(before: Program, after: Program, name: str) -> None:
    """A transformation has made `after` of `before`."""
    if is_wanted():
        while len(_stages) >= _MOST:
            _stages.pop(next(iter(_stages)))
        _stages[after] = [*_stages.pop(before, [f"# lowered\n{show(before)}\n"]), f"# after {name}\n{show(after)}\n"]


def code(program: Program, text: str) -> None:
    """LLVM text has been made of a program."""
    if is_wanted():
        write(name_of(text), "loops", "\n".join(_stages.pop(program, [f"# as it is\n{show(program)}\n"])))
