"""Transformations of loop programs: each module is one, a function `run` from program to program with the same meaning.

Each is total (a program to which it does not apply comes back as it is) and idempotent (`simplify` but for code behind a check
that always fails, which a second folding finds).  Invariants of all: outputs keep their bits, a run leaves the same record, views
that are not scratch stay, in their order.

Note [Order].  Folding makes indices affine, on which the proofs of all others rest.  Hoisting and sharing leave little enough for
forwarding and fusion to judge; what these bring together is shared, and scratch that is only stored goes.  Loops that turn out
to be independent are vectors before serial ones go inside them, and before loops of one kind are fused.  Splitting comes once
loops are what they will be.  What clears up after a transformation is done only if it has changed something.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from ..jit import compiler
from ..loopir.ir import LoopProgram
from . import index_set_splitting, interchange, loop_fusion, loop_shapes, redundancy, simplify, storage, time_tiling

Transformation: TypeAlias = Callable[[LoopProgram], LoopProgram]
Pipeline: TypeAlias = tuple[tuple[Transformation, tuple[Transformation, ...]], ...]

_TIDY: Final = (redundancy.hoist_invariants, redundancy.eliminate_common_subexpressions, redundancy.eliminate_dead_code)

PIPELINE: Final[Pipeline] = (
    (simplify.simplify, ()),
    (redundancy.hoist_invariants, ()),
    (redundancy.eliminate_common_subexpressions, ()),
    (redundancy.eliminate_dead_code, ()),
    (storage.forward_stores, (simplify.simplify, *_TIDY)),
    (loop_shapes.vectorise_loops, ()),
    (interchange.interchange_loops, (redundancy.hoist_invariants,)),
    (loop_fusion.fuse_loops, _TIDY),
    (storage.fold_storage, _TIDY),
    (simplify.narrow_integers, (simplify.simplify, *_TIDY)),
    (loop_shapes.unroll_loops, (simplify.simplify, *_TIDY)),
    (index_set_splitting.split_index_sets, (simplify.simplify, loop_shapes.unroll_loops, simplify.simplify, *_TIDY)),
)
"""Transformations in their order, each with what clears up after it."""
ON_CARDS: Final = tuple(one for one in PIPELINE if one[0] not in (loop_fusion.fuse_loops, storage.fold_storage,
    loop_shapes.unroll_loops, index_set_splitting.split_index_sets))
"""On cards iterations do not wait for each other, as in loops that are fused, and choices take less than launches."""
POINTWISE_ON_CARDS: Final = (*ON_CARDS, (loop_fusion.fuse_loops, _TIDY))
"""Points that see only themselves wait for nobody, whatever is fused."""


@lru_cache(64)
def runs_in_tiles(program: LoopProgram) -> bool:
    """Can the iterations of a program be done for some rows at a time (`tiling`), once it is optimised?"""
    return time_tiling.tiled(optimise(program)) is not None


def optimise(program: LoopProgram, pipeline: Pipeline = PIPELINE) -> LoopProgram:
    """The program after all transformations.

    They make many small objects without cycles, so garbage is not looked for meanwhile: that took a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _optimised(program, pipeline)
    finally:
        if was_enabled:
            gc.enable()


def _optimised(program: LoopProgram, pipeline: Pipeline) -> LoopProgram:
    done: dict[Transformation, LoopProgram] = {}

    def after(transformation: Transformation, program: LoopProgram) -> LoopProgram:
        """The program after a transformation; one that it has just left, or made, it would leave."""
        if done.get(transformation) is not program:
            program = done[transformation] = transformation(program)
        return program

    for transformation, tidy in pipeline:
        changed = after(transformation, program)
        if changed is not program:
            for following in tidy:
                changed = after(following, changed)
            compiler.stage(program, changed, transformation.__name__)
            program = changed
    return program
