"""The outcome of a run: its printed values and outputs, as text, as JSON, or for comparison with another run.

A value is the back ends' plain `Array` or anything with the array interface; this module imports no array library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...backend.graph.bind_sizes import BoundGraph
from ...backend.graph.phases import Constant, Output, Print as PhasesPrint, ValueId as PhasesValueId
from ...backend.vm.values import Array, array, kind_of_dtype, to_numpy
from ...lang.support.records import dataclass, field, replace
from ...typechecker.core.operations import Core, CorePrint, ValueId
from ...typechecker.diagnostics import show_type
from ...typechecker.elements import Kind
from ..console.standard_streams import DEFAULT_DIGITS
from ..display.values import DisplayedValue


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
    """What a run yields: `printed` values in order, `outputs` by name, and a summary of the `plan` (phases, devices, bytes)."""

    printed: tuple[DisplayedValue, ...]
    outputs: Mapping[str, DisplayedValue]
    plan: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def discarding_unsaved(self) -> Iterator[None]:
        """Around the use of the values: at the end, remove temporary files of outputs that were not saved (renamed)."""
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
        """The outcome with the items of outputs that workers have written, read from their files.  Raises RunFailed."""
        from ...backend.io.external_arrays import read_back

        return replace(self, outputs={name: replace(one, value=read_back(one.value)) for name, one in self.outputs.items()})

    def json(self, diagnostics: list[dict[str, Any]], digits: int = DEFAULT_DIGITS) -> dict[str, Any]:
        """The object of `eval --json` and `run --json`; `digits`: significant digits of the printed text."""
        values = [shown.json() for shown in (*self.printed, *self.outputs.values())]
        printed = [shown.text(digits) for shown in self.printed]
        return {"values": values, "printed": printed, "diagnostics": diagnostics, "plan": dict(self.plan)}


def outcome_of(core: Core, printed: Sequence[Any], outputs: Mapping[str, Any], plan: Mapping[str, Any] | None = None) -> Outcome:
    """The outcome of a run from its values: with the names and types that the program gives them."""
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
    """Printed values in order and outputs by name if every phase is a constant, a print or an output; else None."""
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
