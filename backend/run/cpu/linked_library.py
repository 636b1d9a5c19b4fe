"""Library phases in linked calls: items by indices, and products of matrices.

Neighbours: `linking` (asks), `gathering` and `products` (what is launched).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import LibraryPhase, ValueId
from ...graph.registry import frame_of, framed_of, is_unread
from ...graph.sums_of_products import is_summed, sum_of_products
from ...kernels.products import LETTERS
from .blas import alone, blas
from .gathering import gather_run
from .kinds import DTYPES, NumArray
from .launching import words_of
from .linked_calls import link_call
from .linked_equality import link_first_occurrence, link_index_of, link_member_of
from .linked_lines import link_compress, link_scan, link_where
from .linked_values import Values
from .products import batch_of, bound_product, may_be_mirrored, needs_rows, relocated


def link_library(linker: Values, phase: LibraryPhase) -> None:
    """A phase by kernels where it can be, else by a call of Python's."""
    if is_unread(phase):
        (value,) = phase.results  # nobody looks at it
        linker.examples[value], linker.roots[value] = np.broadcast_to(_NOTHING, linker.types.shape(value)), None
        return
    link = LINKS.get(phase.op)
    if link is None or not link(linker, phase):
        link_call(linker, phase)


def link_gather(linker: Values, phase: LibraryPhase) -> bool:
    """Items by indices."""
    table, indices = phase.args
    kinds = [linker.types.kind(table), linker.types.kind(indices)]
    run = gather_run(phase, kinds, linker.examples[table], linker.examples[indices], linker.threads, least=0)
    if run is None:
        return False
    arrays = [np.asarray(view(linker.examples[value])) for value, view in run.views]
    operands = [linker.base(array, value, None) for array, (value, _) in zip(arrays, run.views, strict=True)]
    linker.run(run, arrays, operands, phase.results)
    return True


def link_product(linker: Values, phase: LibraryPhase) -> bool:
    """A product of matrices of floats or complex numbers, or of vectors; or as many products as a frame has points."""
    kind, args, (value,), depth = linker.types.kind(phase.results[0]), phase.args, phase.results, frame_of(phase)
    arrays, sizes = [linker.examples[arg] for arg in args], [linker.types.types[arg].shape for arg in args]
    if kind not in LETTERS or not all(0 < len(shape) - depth < 3 for shape in sizes) or not all(array.size for array in arrays):
        return False
    if depth and not all(framed_of(phase)):
        return False
    rows, columns = prod(arrays[0].shape[depth:-1]), prod(arrays[1].shape[depth + 1 :])
    is_found = any(size.variables() & set(linker.found) for shape in sizes for size in shape)
    if 1 in (rows, columns) or (not (depth or is_found) and is_summed(rows, arrays[0].shape[-1], columns)):
        linker.structured(sum_of_products(kind, sizes[0], sizes[1], depth, (args[0], args[1], value)), None)
        return True
    batches = [batch for array in arrays if (batch := batch_of(array, depth)) is not None]
    if is_found or len(batches) < 2 or blas() is None:
        return False
    return _link_matrices(linker, kind, args, batches, value)


def _link_matrices(linker: Values, kind: Kind, args: Sequence[ValueId], batches: list[NumArray], value: ValueId) -> bool:
    operands = [linker.base(batch, arg, None) for batch, arg in zip(batches, args, strict=True)]
    if batches[0].shape[-1] == 1:
        return False
    into_rows = needs_rows(kind, *batches)
    if may_be_mirrored(*batches) and (operands[0] == operands[1] or (any(into_rows) and linker.may_be_one(operands))):
        return False  # `products` has a way of its own with a matrix and itself transposed
    copies: list[int] = []
    for place, is_copied in enumerate(into_rows):
        if is_copied:
            number = linker.in_rows(batches[place], operands[place])
            if number is None:
                return False
            copies.append(number)
            example = linker.bases[number]
            assert example is not None
            batches[place], operands[place] = example, (number, 0)
    bound = bound_product(kind, batches[0], batches[1], linker.threads)
    if bound is None or not bound.address:
        return False
    linker.work(bound.duration)
    result = linker.make(linker.types.shape(value), DTYPES[kind])
    if bound.large:
        copies.append(linker.hold(alone))
    linker.launch(words_of(bound.address, relocated(bound, [*operands, (result, 0)]), bound.helpers, bound.duration), [result])
    for number in copies:
        linker.drop(number)
    linker.settle(value, result)
    return True


_NOTHING = np.int64(0)
LINKS: Final[dict[str, Callable[[Values, LibraryPhase], bool]]] = {
    "gather": link_gather, "contract": link_product, "scan": link_scan, "compress": link_compress, "where": link_where,
    "index_of": link_index_of, "member_of": link_member_of, "first_occurrence": link_first_occurrence,
}  # fmt: skip
"""Phases that kernels do; False where they do not."""
