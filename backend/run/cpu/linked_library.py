"""Library phases in linked calls: items by indices, and products of matrices.

Neighbours: `linking` (asks), `gathering` and `products` (what is launched).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from ...graph.phases import LibraryPhase
from ...graph.registry import frame_of
from ...kernels.products import LETTERS
from .blas import alone
from .drafting import Refused, Verdict
from .gathering import gather_run
from .kinds import DTYPES
from .launching import words_of
from .linked_calls import link_call
from .linked_equality import link_first_occurrence, link_index_of, link_member_of
from .linked_lines import link_compress, link_scan, link_where
from .products import bound_product, relocated

if TYPE_CHECKING:
    from .linker import Linker


def link_library(linker: Linker, phase: LibraryPhase) -> None:
    """A phase by kernels where it can be, else by a call of Python's."""
    if phase.attributes.get("unread"):
        (value,) = phase.results  # nobody looks at it
        linker.examples[value], linker.roots[value] = np.broadcast_to(_NOTHING, linker.types.shape(value)), None
        return
    link = LINKS.get(phase.op)
    if link is None or not link(linker, phase):
        link_call(linker, phase)


def link_gather(linker: Linker, phase: LibraryPhase) -> bool:
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


def link_product(linker: Linker, phase: LibraryPhase) -> bool:
    """A product of a matrix of floats and a matrix or a vector."""
    kind, (left, right), (value,) = linker.types.kind(phase.results[0]), phase.args, phase.results
    first, second = linker.examples[left], linker.examples[right]
    if frame_of(phase) or kind not in LETTERS or not {first.ndim, second.ndim} <= {1, 2} or first.ndim + second.ndim < 3:
        return False
    if not first.size or not second.size:
        return False
    matrices = first.reshape(-1, first.shape[-1]), second.reshape(len(second), -1)
    if not all(np.may_share_memory(whole, one) for whole, one in zip(matrices, (first, second), strict=True)):
        raise Refused(Verdict.LAYOUT)
    bound = bound_product(kind, *matrices, linker.threads)
    if bound is None or not bound.address:
        return False
    linker.work(bound.duration)
    operands = [linker.base(first, left, None), linker.base(second, right, None)]
    result = linker.make((*first.shape[:-1], *second.shape[1:]), DTYPES[kind])
    token = linker.hold(alone) if bound.large else None
    linker.launch(words_of(bound.address, relocated(bound, [*operands, (result, 0)]), bound.helpers, bound.duration), [result])
    if token is not None:
        linker.drop(token)
    linker.settle(value, result)
    return True


_NOTHING = np.int64(0)
LINKS: Final[dict[str, Callable[[Linker, LibraryPhase], bool]]] = {
    "gather": link_gather, "contract": link_product, "scan": link_scan, "compress": link_compress, "where": link_where,
    "index_of": link_index_of, "member_of": link_member_of, "first_occurrence": link_first_occurrence,
}  # fmt: skip
"""Phases that kernels do; False where they do not."""
