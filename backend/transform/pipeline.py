"""The pipeline of transformations of loop programs: each is a function from program to equivalent program.

Each is total (it returns unchanged a program to which it does not apply) and idempotent (except `simplify` on code after a check
that always fails, which takes two runs).  All preserve the bits of outputs, the failure record of a run, and the views that are
not scratch, in their order.

Note [Order].  Simplification makes indices affine, on which the proofs of all others rest.  Hoisting and common subexpressions
leave fewer statements for forwarding and fusion to analyse; common subexpressions are then eliminated again, and scratch that is
only stored is removed.  Independent loops become vectors before serial ones are interchanged into them, and before loops of one
kind are fused.  Splitting comes last, when loops have their final form.  The cleanup after a transformation runs only if that
changed the program.
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

_CLEANUP: Final = (redundancy.hoist_invariants, redundancy.eliminate_common_subexpressions, redundancy.eliminate_dead_code)

PIPELINE: Final[Pipeline] = (
    (simplify.simplify, ()),
    (redundancy.hoist_invariants, ()),
    (redundancy.eliminate_common_subexpressions, ()),
    (redundancy.eliminate_dead_code, ()),
    (storage.forward_stores, (simplify.simplify, *_CLEANUP)),
    (loop_shapes.vectorise_loops, ()),
    (interchange.interchange_loops, (redundancy.hoist_invariants,)),
    (loop_fusion.fuse_loops, _CLEANUP),
    (storage.fold_storage, _CLEANUP),
    (simplify.narrow_integers, (simplify.simplify, *_CLEANUP)),
    (loop_shapes.unroll_loops, (simplify.simplify, *_CLEANUP)),
    (index_set_splitting.split_index_sets, (simplify.simplify, loop_shapes.unroll_loops, simplify.simplify, *_CLEANUP)),
)
"""The transformations in order, each with its cleanup."""
_NOT_ON_GPUS: Final = (
    loop_fusion.fuse_loops, storage.fold_storage, loop_shapes.unroll_loops, index_set_splitting.split_index_sets,
)  # fmt: skip
GPU_PIPELINE: Final = tuple(one for one in PIPELINE if one[0] not in _NOT_ON_GPUS)
"""On GPUs iterations cannot wait for one another, as those of fused loops must, and a branch costs less than a launch."""
POINTWISE_GPU_PIPELINE: Final = (*GPU_PIPELINE, (loop_fusion.fuse_loops, _CLEANUP))
"""Points that do not depend on one another never wait for each other, so their loops may be fused."""


@lru_cache(64)
def runs_in_tiles(program: LoopProgram) -> bool:
    """Can the optimised program run in time tiles of rows (`time_tiling`)?"""
    return time_tiling.tile_in_time(optimise(program)) is not None


def optimise(program: LoopProgram, pipeline: Pipeline = PIPELINE) -> LoopProgram:
    """The program after all transformations.

    The garbage collector is off meanwhile, since it took a third of the time: there are many small objects and no cycles."""
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
        """The program after a transformation, which is idempotent and so not applied twice to the same object."""
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
