"""Complex sums in linked calls: their two parts are results of one kernel, and another puts them together.

Neighbours: `linked_values` (asks), `kernels.complexes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import ValueId
from ...kernels.build import joining_body
from ...kernels.complexes import PART
from .compiled import CompiledRun
from .kinds import NumArray
from .launching import Base
from .views import View

if TYPE_CHECKING:
    from .linked_values import Values


def run_in_parts(
    linker: Values, run: CompiledRun, arrays: Sequence[NumArray], operands: Sequence[Base], made: Sequence[tuple[ValueId, Kind]]
) -> None:
    """Launch a kernel some of whose results are two parts; each value has its kind."""
    parts: list[ValueId] = []
    whole: list[tuple[ValueId, Kind, tuple[ValueId, ValueId]]] = []
    for value, kind in made:
        if len(parts) in run.body.split:
            first = -1000 - 2 * len(linker.bases) - len(parts)
            both = ValueId(first), ValueId(first - 1)
            whole.append((value, kind, both))
            parts += both
        else:
            parts.append(value)
    plain = copy(run)
    plain.body = replace(run.body, split=frozenset())
    linker.run(plain, arrays, operands, parts)
    for value, kind, both in whole:
        shown = [linker.examples[part] for part in both]
        views: list[tuple[ValueId, View]] = [(part, np.asarray) for part in both]
        body, kinds = joining_body(kind), [PART[kind]] * 2
        joining = CompiledRun(body, views, shown[0].shape, kinds, [], run.threads, run.mode, _nothing, 0)
        linker.run(joining, shown, [linker.base(array, part, None) for array, part in zip(shown, both, strict=True)], [value])
        for part in both:
            linker.forget(part)


def _nothing(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
    return ()
