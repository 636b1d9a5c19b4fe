"""`∧/` and `∨/` along rows end with the first block that decides them.

Neighbours: `sums` (the blocks), `running` (scans of truth values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...typechecker.elements import Kind
from ...typechecker.scalars import may_fail
from .ir import Apply

if TYPE_CHECKING:
    from .emission import Emission
    from .vectors import Vectors

def leave_decided(e: Emission, value: str, v: Vectors) -> str:
    """Where a block's value decides, it is the result, and what follows is not looked at; the label after all blocks.  "": no
    block decides."""
    w, (first, *others) = e.w, e.kernel.results
    if others or first.kind is not Kind.BOOL or first.reduction not in ("and", "or"):
        return ""
    if any(isinstance(node, Apply) and may_fail(node.function, node.kind) for node in e.kernel.body):
        return ""
    decided, going, ready = (w.new_label() for _ in range(3))
    held = w.let(f"extractelement {v.type(Kind.BOOL)} {value}, i64 0")
    w.branch(held, *((decided, going) if first.reduction == "or" else (going, decided)))
    w.label(decided)
    v.store(Kind.BOOL, value, e.outputs[0])
    w.jump(ready)
    w.label(going)
    return ready
