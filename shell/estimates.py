"""How long things take by the cost model, in words: `~0.3 ms`.  Nothing is run; of data at most the headers are read.

Neighbours: `backend.devices.cost` (the model), `shell.profiles` (whose tables), the live line, lenses, progress.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..lang.diagnostics import RhoError
from ..typechecker.sizes import Size, SizeOrigin, capacity
from .durations import duration
from .params import settings_of
from .permissions import Permissions

if TYPE_CHECKING:
    from ..backend.graph.bind import BoundGraph
    from ..typechecker.core import Core
    from ..typechecker.elaborate.sampling import Instance

ASSUMED: Final = 1000
"""What a size is taken to be where nothing says."""
MOST_ELEMENTS: Final = 10**15
MOST_TEXT: Final = 1 << 20
"""Bytes of a text file that is read for the number of its rows."""
_HEADED: Final = (".npy", ".png")


def predicted_ns(bound: BoundGraph) -> int | None:
    """What one run takes on this machine; None without tables for it."""
    from ..backend.devices.cost import step_ns
    from ..backend.graph.phases import Constant, Input, Output, Print
    from .profiles import this_machine

    profile = this_machine()
    total = 0
    for phase in bound.graph.phases:
        if isinstance(phase, Constant | Input | Output | Print):
            continue
        estimate = step_ns(phase, bound, profile.home, profile.calibration, 1)
        if estimate is None:
            return None
        total += estimate.ns
    return total


def unmeasured() -> str:
    """What is put behind an estimate that no measurement of this machine stands behind: ` (uncalibrated)`."""
    from .profiles import this_machine

    return "" if this_machine().calibration.calibrated is not None else " (uncalibrated)"


def time_of_program(core: Core, folder: str) -> str:
    """`~0.3 ms with n=150` by the headers of its data; empty where they cannot be read or do not fit."""
    try:
        bound = bound_by_headers(core, folder)
        return "" if bound is None else _said(predicted_ns(bound), {one.name: n for one, n in bound.sizes.items()}, "with")
    except RhoError:
        return ""


def bound_by_headers(core: Core, folder: str) -> BoundGraph | None:
    """The program with the sizes of its data; None where they would have to be counted.  Refused: they cannot be read, or do
    not fit."""
    from ..backend import bind_shapes
    from .loading import find_inputs

    if any(_is_long(os.path.join(folder, entry.path or "")) for entry in core.data):
        return None
    files = find_inputs(core, {}, folder, Permissions.of([folder or "."], [])) if core.data else {}
    shapes = {name: file.shape for name, file in files.items()}
    return bind_shapes(core, shapes | {name: array.shape for name, array in settings_of(core, {}).arrays.items()}, {})


def bound_at_assumed_sizes(core: Core) -> BoundGraph:
    """The program with every size `ASSUMED`, params as they are given.  Refused: its facts forbid that."""
    from ..backend.graph import bind, lower, optimise, settle

    params = {one.name: one.default for one in core.params}
    every = {size for type_ in core.types.values() for item in type_.shape for size in item.variables() if size.cap is None}
    sizes = {size: params.get(size.name, ASSUMED) if size.origin is SizeOrigin.PARAM else ASSUMED for size in every}
    return settle(bind(optimise(lower(core)), sizes))


def time_at_assumed_sizes(way: Instance, params: Mapping[str, int]) -> str:
    """`~12 µs at n=1000` for a way to apply a function, `params` as they are given; empty where its facts forbid such sizes."""
    from ..backend.graph import bind, lower, optimise
    from ..backend.graph.bind import in_terms_of

    core = way.program
    every = {size for type_ in core.types.values() for item in type_.shape for size in item.variables() if size.cap is None}
    free = sorted(every - way.equal.keys(), key=lambda size: size.key)
    sizes = {size: params.get(size.name, ASSUMED) if size.origin is SizeOrigin.PARAM else ASSUMED for size in free}
    try:
        bound = bind(in_terms_of(optimise(lower(core)), way.equal), sizes)
        if any(_volume(type_.shape) > MOST_ELEMENTS for type_ in bound.graph.types.values()):
            return ""
        return _said(predicted_ns(bound), {size.name: number for size, number in sizes.items()}, "at")
    except (RhoError, OverflowError, KeyError):  # KeyError: a size that only a use has
        return ""


def _is_long(path: str) -> bool:
    """Is it a text whose rows would have to be counted?"""
    try:
        return not path.endswith(_HEADED) and os.path.getsize(path) > MOST_TEXT
    except (OSError, ValueError):
        return True


def _volume(shape: tuple[Size, ...]) -> int:
    volume = 1
    for size in shape:
        volume *= capacity(size).evaluate({})
    return volume


def _said(ns: int | None, sizes: Mapping[str, int], word: str) -> str:
    if not ns:
        return ""
    shown = [f"{name}={number:,}".replace(",", "") for name, number in list(sizes.items())[:3]]
    more = " …" if len(sizes) > 3 else ""
    return f"~{duration(ns)}" + (f" {word} {' '.join(shown)}{more}" if shown else "")
