"""Inputs that lie in a store: which, and runs that read them where they are used.

A file is in a store if some phase reads it, its format can be read in boxes, nothing is declared of its items that is checked on
all of them, and the profile's stores serve its path; of a cluster, if every worker sees the very same file.  All others are
read here.

Neighbours: `scheduling` (plans with them), `session` and `embedding.programs` (run), `backend.run.files.stored`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics import RhoError

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind import BoundGraph
    from ...backend.run.files.stored import StoredInput
    from ...backend.run.machine import Observer, Results
    from ...typechecker.core import Core
    from ..stages import Loaded
    from .loading import InputFile


def storable(core: Core, bound: BoundGraph, files: Mapping[str, InputFile]) -> dict[str, StoredInput]:
    """Those that can be read in boxes.  RhoError: as reading them."""
    from ...backend.graph import traverse
    from ...backend.graph.phases import Input
    from ...backend.run.files.stored import stored_input

    phases = bound.graph.phases
    used = {value for phase in phases for value in traverse.uses(phase)}
    read = {phase.name for phase in phases if isinstance(phase, Input) and phase.result in used}
    found: dict[str, StoredInput] = {}
    for name, file in files.items():
        if name not in read:
            continue
        element = core.types[file.entry.value].element
        limits = element.low, element.high, element.most, element.below
        made = stored_input(file.path, file.wanted, file.stored) if limits == (None,) * len(limits) else None
        if made is not None:
            found[name] = made
    return found


def lying(profile: Profile, stored: Mapping[str, StoredInput]) -> dict[str, str]:
    """By name, the stores of a profile that inputs lie in."""
    found = {name: profile.store_of(one.file) for name, one in stored.items()}
    return {name: store for name, store in found.items() if store is not None}


def with_files(
    core: Core, files: Mapping[str, InputFile], sizes: Mapping[Any, int], stored: Mapping[str, StoredInput],
    run: Callable[[Mapping[str, Any]], Results],
) -> Results:  # fmt: skip
    """What a run leaves whose inputs come from files, some of which it reads by itself.

    Where anything fails, what failed is what would have failed first if all had been read before."""
    from .loading import read_inputs

    try:
        return run({**read_inputs(core, files, sizes, stored), **stored})
    except RhoError:
        for name, file in files.items() if stored else ():
            read_inputs(core, {name: file}, sizes)
        raise


def run_there(loaded: Loaded, values: Mapping[str, Any], observe: Observer | None) -> Results:
    """A program that runs elsewhere, on `values` beside what files hold."""
    there, plan = loaded.elsewhere, loaded.plan
    assert there is not None
    return with_files(
        loaded.core, loaded.files, loaded.bound.sizes, loaded.stored, lambda read: there(plan, {**values, **read}, observe)
    )
