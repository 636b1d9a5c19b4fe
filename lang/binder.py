"""Binding: from flat tokens to the tree of `lang.tree`, by the statically known class of every name.

The parser binds statements; `bind_operator` binds the body of a user operator once the classes of its operands
are known.  The parts: `sequences` (one sequence, right to left), `applications` (operators, strands, trains,
arguments), `statements` and `dfns` (bodies), `names`, `targets`, `literals`.  What a name stands for is known before
(`resolution`).
"""

from __future__ import annotations

from .dfns import bind_operator

__all__ = ["bind_operator"]
