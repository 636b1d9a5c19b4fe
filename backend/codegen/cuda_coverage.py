"""Which phases the CUDA back end has kernels for; the others run on the host between two transfers.

Nothing here needs a card or CuPy, so that planning for cards works anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import ArrayType, Kind
from ..graph.phases import (
    ARGUMENT_REDUCTIONS,
    ApplyNode,
    LibraryPhase,
    Phase,
    PhaseResult,
    ReadNode,
    Structured,
    ValueId,
    kind_of,
)
from ..graph.projections import frame_of
from ..lower.body import KINDS, legalize
from ..scalar.function_table import REDUCTIONS

Types: TypeAlias = Mapping[ValueId, ArrayType]
Condition: TypeAlias = Callable[[LibraryPhase, Types], bool]


def missing(phase: Phase, types: Types) -> str | None:
    """Returns what in a phase has no kernel, in words; None if the phase has one.  Nested phases are not looked at."""
    match phase:
        case Structured():
            return None if _is_renaming(phase) or _has_body(phase) else _missing_function(phase)
        case LibraryPhase():
            row = LIBRARY.get(phase.op)
            if row is not None and row.condition(phase, types):
                return None
            kinds = [types[value].element.kind.value for value in phase.args]
            return ".".join((phase.op, *kinds[-1:]))
        case _:
            return None


def _has_body(phase: Structured) -> bool:
    body = legalize(phase, complexes=True)
    return body is not None and not body.is_right_fold


def _is_renaming(phase: Structured) -> bool:
    return all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results)


def _missing_function(phase: Structured) -> str:
    """Returns the first application in a phase's body that has no CUDA code, or nothing."""
    for result in phase.results:
        kind = kind_of(phase.body[result.node])
        if result.reduction is not None and not _is_reduced(result.reduction, kind):
            return f"reduce.{result.reduction}.{kind.value}"
    for node in phase.body:
        kind = kind_of(node)
        if not isinstance(node, ApplyNode):
            continue
        reads = [kind_of(phase.body[arg]) for arg in node.args]
        alone = _alone(phase, node)
        if legalize(alone, complexes=True) is None:
            return f"{node.function}.{reads[-1].value}"
    return "body"


def _is_reduced(function: str, kind: Kind) -> bool:
    if kind.is_complex:
        return function == "add"
    return (function in REDUCTIONS or function in ARGUMENT_REDUCTIONS) and kind is not Kind.CHAR


def _alone(phase: Structured, node: ApplyNode) -> Structured:
    """Returns the phase cut down to one node as its only result."""
    position = next(i for i, other in enumerate(phase.body) if other is node)
    return replace(phase, body=phase.body[: position + 1], results=(PhaseResult(phase.results[0].value, position, None),))


# ------------------------------------------------------------------------------------------ library


def _always(phase: LibraryPhase, types: Types) -> bool:
    return True


def _plain(phase: LibraryPhase, types: Types) -> bool:
    return not frame_of(phase)


def _gather(phase: LibraryPhase, types: Types) -> bool:
    if phase.attributes.get("sorts") is None:
        return True
    return not _kind(phase, types).is_complex and len(types[phase.args[0]].shape) == frame_of(phase) + 1


def _kind(phase: LibraryPhase, types: Types, operand: int = 0) -> Kind:
    return types[phase.args[operand]].element.kind


def _scan(phase: LibraryPhase, types: Types) -> bool:
    """Scans by every function that kernels reduce with."""
    kind = _kind(phase, types)
    return kind in KINDS and kind is not Kind.CHAR and phase.attributes.get("function") in REDUCTIONS


def _contract(phase: LibraryPhase, types: Types) -> bool:
    return not frame_of(phase) and _kind(phase, types) not in (Kind.BOOL, Kind.CHAR)


def _grade(phase: LibraryPhase, types: Types) -> bool:
    """Grades of rows below a frame, or of the major cells of one array."""
    rank, frame = len(types[phase.args[0]].shape), frame_of(phase)
    return not _kind(phase, types).is_complex and (rank == frame + 1 or (not frame and rank > 1))


def _key_reduce(phase: LibraryPhase, types: Types) -> bool:
    """Reductions by key without a frame; a sum of complex numbers is two sums."""
    kind, function = _kind(phase, types, 1), phase.attributes.get("function")
    if len(types[phase.args[1]].shape) < len(types[phase.args[0]].shape):
        return False
    if kind.is_complex:
        return not frame_of(phase) and function == "add"
    return not frame_of(phase) and kind in KINDS and kind is not Kind.CHAR and function in REDUCTIONS


def _items(phase: LibraryPhase, types: Types, table: int) -> bool:
    """Searches with operands of one kind in a table whose major cells are items."""
    return _member(phase, types) and len(types[phase.args[table]].shape) == 1


def _search(phase: LibraryPhase, types: Types) -> bool:
    return _items(phase, types, 0)


def _member(phase: LibraryPhase, types: Types) -> bool:
    kinds = {types[value].element.kind for value in phase.args}
    return not frame_of(phase) and len(kinds) == 1 and not kinds.pop().is_complex


def _equations(phase: LibraryPhase, types: Types) -> bool:
    """One square system, whose rank deficiency is found as on the CPU."""
    shape = types[phase.args[-1]].shape
    return not frame_of(phase) and len(shape) == 2 and shape[0] == shape[1]


class CardTarget(Enum):
    """What executes a library operation on a card."""

    KERNEL = "generated kernels"
    CUPY = "CuPy"


@dataclass(frozen=True, slots=True)
class CardExecution:
    """When a library operation runs on a card, what executes it there, and which part of it still runs on the host.

    Only `gather`, `scan`, `grade` and transforms may have a frame on a card.  A kernel may use CuPy's sort or integer sums.
    """

    condition: Condition
    otherwise: str = ""
    implementation: CardTarget = CardTarget.CUPY


_TWO_KINDS: Final = "two kinds, complex"
_CELLS: Final = "cells, two kinds, complex"
_NOT_SQUARE: Final = "matrices that are not square"
LIBRARY: Final[dict[str, CardExecution]] = {
    "size_vector": CardExecution(_always),
    **{op: CardExecution(_plain) for op in (
        "join", "stack", "mask_update", "compress", "expand", "where", "runtime_size", "random", "update",
    )},
    **{op: CardExecution(_always) for op in ("fft", "ifft", "rfft", "irfft")},
    "rotate": CardExecution(_plain, implementation=CardTarget.KERNEL),
    "reshape_cycle": CardExecution(_plain, implementation=CardTarget.KERNEL),
    "gather": CardExecution(_gather, "sorts of complex numbers", CardTarget.KERNEL),
    "scan": CardExecution(_scan, "complex numbers, functions that are not associative", CardTarget.KERNEL),
    "key_reduce": CardExecution(
        _key_reduce, "frames, functions that are not `+ × ⌊ ⌈ ∧ ∨`, complex but for `+`", CardTarget.KERNEL,
    ),
    "contract": CardExecution(_contract, "frames, truth values"), "grade": CardExecution(_grade,
    "complex numbers, matrices in a frame"),
    "index_of": CardExecution(_search, _CELLS), "interval_index": CardExecution(_search, _CELLS),
    "member_of": CardExecution(_member, _TWO_KINDS),
    "match": CardExecution(_member, "operands of two kinds"), "first_occurrence": CardExecution(_search, "cells, complex"),
    "inverse": CardExecution(_equations, _NOT_SQUARE), "solve": CardExecution(_equations, _NOT_SQUARE),
    "cholesky": CardExecution(_equations, "frames"), "det": CardExecution(_equations, "frames"),
}  # fmt: skip
"""The library operations on cards; all others always run on the host."""


def table() -> list[str]:
    """Returns the table of where each library operation runs, as lines of docs/cards.md."""
    lines = ["| library phase | on a card | on the host |", "|---|---|---|"]
    lines += [f"| `{op}` | {LIBRARY[op].implementation.value} | {LIBRARY[op].otherwise} |" for op in sorted(LIBRARY)]
    return [*lines, "| all others |  | always |"]
