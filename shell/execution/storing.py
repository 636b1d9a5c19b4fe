"""Inputs and outputs that lie in a store: which, and runs that read them where they are used and write them where they are made.

A file is in a store if some phase reads it, its format can be read in boxes, nothing is declared of its items that is checked on
all of them, and the profile's stores serve its path; of a cluster, if every worker sees the very same file.  All others are
read here.

Neighbours: `scheduling` (plans with them), `session` and `embedding.programs` (run), `backend.run.files.stored`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics import RhoError
from ..cli.streams import stream_of

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.graph.bind import BoundGraph
    from ...backend.run.files.stored import StoredInput, StoredOutput
    from ...backend.run.machine import Observer, Results
    from ...typechecker.core_blocks import Core
    from ..stages import Loaded
    from .loading import InputFile
    from .permissions import Permissions


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


def writable(core: Core, bound: BoundGraph, paths: Mapping[str, str], permissions: Permissions) -> dict[str, StoredOutput]:
    """The outputs that can be written where they are made, by `output NAME`: numbers to a file of their own that has known places
    for them, as many as are known, of a value that a phase makes and no other output is of."""
    from ...backend.graph.phases import Constant, Input, Output
    from ...backend.run.files.stored import stored_output
    from ...backend.schedule.facts.sharding import shape_of
    from ...backend.schedule.facts.stores import written_as

    given = {phase.result for phase in bound.graph.phases if isinstance(phase, Input | Constant)}
    outputs = {phase.name: phase for phase in bound.graph.phases if isinstance(phase, Output)}
    found: dict[str, StoredOutput] = {}
    for entry in core.outputs:
        phase, path = outputs.get(entry.name), paths.get(entry.name, "")
        if phase is None or not path or stream_of(path) is not None or not permissions.may_write(path):
            continue
        shape, kind = shape_of(phase.arg, bound.graph.types), bound.graph.types[phase.arg].element.kind
        alone = [*paths.values()].count(path) == 1 and sum(one.arg == phase.arg for one in outputs.values()) == 1
        made = stored_output(path, kind, shape, entry.name, entry.reading, entry.span) if shape and 0 not in shape else None
        if made is not None and alone and phase.arg not in given:
            found[written_as(entry.name)] = made
    return found


def lying(profile: Profile, stored: Mapping[str, StoredInput | StoredOutput]) -> dict[str, str]:
    """By name, the stores of a profile that inputs and outputs lie in."""
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
    """A program that runs elsewhere, on `values` beside what files hold; what it writes itself lies beside its targets then."""
    from ...backend.run.files.stored import StoredInput, StoredOutput
    from ...backend.run.machine import Shown
    from ...backend.schedule.facts.stores import written_as

    there, plan = loaded.elsewhere, loaded.plan
    assert there is not None
    inputs = {name: one for name, one in loaded.stored.items() if isinstance(one, StoredInput)}
    written = {name: one.anew() for name, one in loaded.stored.items() if isinstance(one, StoredOutput)}
    try:
        for one in written.values():
            one.begin()
        given = {**values, **written}
        results = with_files(
            loaded.core, loaded.files, loaded.bound.sizes, inputs, lambda read: there(plan, {**given, **read}, observe)
        )
        for one in written.values():
            one.end()
    except BaseException:
        for one in written.values():
            one.sink.discard()
        raise
    outputs = dict(results.outputs)
    for name in outputs:
        if written_as(name) in written:
            sink = written[written_as(name)].sink
            outputs[name] = Shown(sink.kind, sink)
    return results._replace(outputs=outputs)
