"""The request of a run (inputs, params, outputs, sizes, limits), its check against a program, and the outcome: printed values and
outputs.

Outcomes are shown as text or JSON, or compared with another run's.  A value is the back ends' plain `Array` or anything with the
array interface; this module imports no array library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, TextIO

from ...backend.graph.bind_sizes import BoundGraph
from ...backend.graph.phases import Constant, Output, Print as PhasesPrint, ValueId as PhasesValueId
from ...backend.vm.values import Array, array, kind_of_dtype, to_numpy
from ...lang.support.records import dataclass, field, replace
from ...typechecker.core.operations import Core, CorePrint, ValueId
from ...typechecker.diagnostics import show_type
from ...typechecker.elements import Kind
from ..console.process_exit import UsageError, did_you_mean
from ..console.standard_streams import DEFAULT_DIGITS
from ..display.values import DisplayedValue
from .modules import size_flags, sizes_of


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run: `memory` in bytes, `seconds` of time; None is no limit."""

    memory: int | None = None
    seconds: float | None = None


class Grouping(Enum):
    """The order in which chains of products are computed."""

    CHEAPEST = "the cheapest"
    AS_WRITTEN = "as written"

    @property
    def disabled_passes(self) -> frozenset[str]:
        """The names of graph passes that are left out."""
        return frozenset({"products"}) if self is Grouping.AS_WRITTEN else frozenset()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The request for a run of a program.

    `inputs` and `outputs` are paths (relative to the working folder) or streams by name, `params` are texts by name, `arrays` are
    inputs given as NumPy arrays.  `standard_input` is the stream for `-`.  `sizes` override those of the data, for plans.
    `headers` has, by the name of a matrix to be written, the output that names its columns.  `files` are
    outputs with their paths, where one has several.
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    standard_input: TextIO | None = None
    grouping: Grouping = Grouping.CHEAPEST
    sizes: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()

    @property
    def written(self) -> list[tuple[str, str]]:
        """The outputs with each of their files, in the order of the options."""
        return [*self.files, *(one for one in self.outputs.items() if one not in self.files)]


def require_complete(core: Core, request: RunRequest, *, planned: bool = False) -> None:
    """Raise UsageError unless every name of the request exists in the program and every input has a file.
    `planned`: nothing runs, so that sizes can replace files, and an input of fixed shape needs neither."""
    require_known_names(core, request)
    missing = [entry for entry in core.data if entry.path is None and entry.name not in request.inputs]
    if planned:
        fixed = {entry.name for entry in missing if not any(size.variables() for size in core.types[entry.value].shape)}
        missing = [] if request.sizes else [entry for entry in missing if entry.name not in fixed]
    if missing:
        names, instead = [entry.name for entry in missing], size_options(core) if planned else ""
        needed = [" ".join(f"--in {name}=PATH" for name in names), *([instead] if instead else [])]
        which = "input" if len(names) == 1 else "inputs"
        message = f"no file is named for the {which} {_listed(names)} of this program"
        raise UsageError(message, f"give {', or '.join(needed)}")


def size_options(core: Core) -> str:
    """The options that give the sizes of the inputs' types (`--size n=N`); empty if they have none."""
    params = {param.variable for param in core.params}
    return size_flags(sorted({variable.name for variable in sizes_of(core) if variable not in params}))


def require_known_names(core: Core, request: RunRequest) -> None:
    """Raise UsageError, with the nearest name, unless every name of the request exists in the program."""
    inputs = [entry.name for entry in core.data]
    _require_known("--in", request.inputs, inputs, "input")
    params = [*[entry.name for entry in core.params], *[entry.name for entry in core.settings]]
    _require_known("--set", request.params, params, "param")
    outputs = [entry.name for entry in core.outputs]
    _require_known("--out", request.outputs, outputs, "output")
    for name, header in request.headers.items():
        if header not in outputs:
            message = f"--out {name}:{header}: this program has no output `{header}`{did_you_mean(header, outputs)}"
            raise UsageError(message, _available_names("output", outputs))
    _require_known("--size", request.sizes, sorted({variable.name for variable in sizes_of(core)}), "size")


def _require_known(option: str, given: Mapping[str, object], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            message = f"{option} {name}={given[name]}: this program has no {what} `{name}`{did_you_mean(name, known)}"
            raise UsageError(message, _available_names(what, known))


def _available_names(what: str, known: Sequence[str]) -> str:
    if not known:
        return f"it has no {what} at all"
    return f"its {what} is {_listed(known)}" if len(known) == 1 else f"its {what}s are {_listed(known)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def as_numpy(value: Any) -> Any:
    """A value of any back end as a NumPy array."""
    return to_numpy(value) if isinstance(value, Array) else value


def kind_of(value: Any) -> Kind:
    """The element kind of a value of any back end."""
    if isinstance(value, Array):
        return value.kind
    kind = kind_of_dtype(value.dtype)
    if kind is None:
        raise TypeError(f"no element type stores {value.dtype}")
    return kind


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: `printed` values in order, `outputs` by name, and a summary of the `plan` (phases, devices, bytes)."""

    printed: tuple[DisplayedValue, ...]
    outputs: Mapping[str, DisplayedValue]
    plan: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def discarding_unsaved(self) -> Iterator[None]:
        """A block that uses the values; at its end, temporary files of outputs that were not saved (renamed) are removed."""
        try:
            yield
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove temporary files of outputs that were not saved (renamed)."""
        for shown in self.outputs.values():
            if hasattr(shown.value, "discard"):
                shown.value.discard()

    def read_back(self) -> Outcome:
        """The outcome, where outputs that workers wrote have the items read from their files.  Raises RunFailed."""
        from ...backend.io.external_arrays import read_back

        return replace(self, outputs={name: replace(one, value=read_back(one.value)) for name, one in self.outputs.items()})

    def json(self, diagnostics: list[dict[str, Any]], digits: int = DEFAULT_DIGITS) -> dict[str, Any]:
        """The object of `eval --json` and `run --json`; `digits`: significant digits of the printed text."""
        values = [shown.json() for shown in (*self.printed, *self.outputs.values())]
        printed = [shown.text(digits) for shown in self.printed]
        return {"values": values, "printed": printed, "diagnostics": diagnostics, "plan": dict(self.plan)}


def outcome_of(core: Core, printed: Sequence[Any], outputs: Mapping[str, Any], plan: Mapping[str, Any] | None = None) -> Outcome:
    """The outcome of a run, from its values and the names and types in the program."""
    entries = {entry.name: entry for entry in core.outputs}
    named = {
        name: replace(_displayed(core, entries[name].value, name, value), reading=entries[name].reading)
        for name, value in outputs.items()
    }  # fmt: skip
    prints = [op.arg for op in core.block.ops if isinstance(op, CorePrint)]
    known: list[ValueId | None] = [*prints] if len(prints) == len(printed) else [None] * len(printed)
    shown = [_displayed(core, which, core.names.get(which, "") if which is not None else "", value)
             for which, value in zip(known, printed, strict=True)]  # fmt: skip
    return Outcome(tuple(shown), named, plan or {})


def _displayed(core: Core, which: ValueId | None, name: str, value: Any) -> DisplayedValue:
    kind = kind_of(value)
    if which is not None:
        return DisplayedValue(name, show_type(core.types[which]), value, kind, unit=core.types[which].element.unit)
    shape = " ".join(str(int(size)) for size in value.shape)
    return DisplayedValue(name, f"{kind.value}[{shape}]" if shape else kind.value, value, kind)


def empty_outcome() -> Outcome:
    """The outcome of a program that did not run."""
    return Outcome((), {})


# ---------------------------------------------------------------------------------------------------- constant programs
#
# The results of a program that passes have folded to constants are in its graph, so nothing is executed: `rho eval '1+1'`
# imports no array library.

def constant_results(bound: BoundGraph) -> tuple[list[Array], dict[str, Array]] | None:
    """Printed values in order and outputs by name, if every phase is a constant, a print or an output; else None."""
    graph = bound.graph
    if not all(isinstance(phase, Constant | PhasesPrint | Output) for phase in graph.phases):
        return None
    known: dict[PhasesValueId, Array] = {}
    printed: list[Array] = []
    outputs: dict[str, Array] = {}
    for phase in graph.phases:
        match phase:
            case Constant():
                type = graph.types[phase.result]
                known[phase.result] = array(type.element.kind, [size.evaluate({}) for size in type.shape], phase.data)
            case PhasesPrint():
                printed.append(known[phase.arg])
            case Output():
                outputs[phase.name] = known[phase.arg]
            case _:
                return None
    return printed, outputs
