"""Bindings of library phases: native code where there is some for such operands, else one call of a function of NumPy's.

Neighbours: `run.sites` (asks), `run.cpu.bindings` (what a binding is), `operations` (how each is bound).
"""

from __future__ import annotations

from typing import Final

from ...typechecker.elements import Kind
from ..graph.cells import is_unread
from ..graph.phases import LibraryPhase
from ..run.cpu.bindings import Binding, Later, Unbound
from ..run.cpu.kinds import DTYPES
from .operations import OPERATIONS

MOST_BYTES: Final = 1 << 21
"""Of routines' operands: with larger ones entering Python is nothing."""


def bind_library(binding: Binding, phase: LibraryPhase) -> None:
    """What a library phase does.  Unbound: there is no native way."""
    native = OPERATIONS[phase.op].native
    if len(phase.results) != 1 or (phase.defines and native is None):
        raise Unbound
    if 0 in [array.size for array in binding.values.values()]:
        raise Unbound
    if is_unread(phase):  # whatever is there
        binding.result(phase.results[0], binding.types.shape(phase.results[0]), DTYPES[binding.types.kind(phase.results[0])])
        return
    try:
        (native or _routine)(binding, phase)
    except Later:
        raise
    except Unbound:
        if native is None or phase.defines:
            raise
        _routine(binding, phase)


def _routine(binding: Binding, phase: LibraryPhase) -> None:
    """A function of NumPy's."""
    types = binding.types
    if Kind.CHAR in map(types.kind, (*phase.args, *phase.results)) or list(binding.values) != list(phase.args):
        raise Unbound
    if sum([array.nbytes for array in binding.values.values()]) > MOST_BYTES:
        raise Unbound
    binding.routine = OPERATIONS[phase.op].routine(phase, types)
    if binding.routine is None:
        raise Unbound
    (value,) = phase.results
    binding.result(value, types.shape(value), DTYPES[types.kind(value)])
