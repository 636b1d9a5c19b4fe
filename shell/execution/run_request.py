"""The request of a run: inputs, params, outputs, sizes and limits; and the check of its names against a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TextIO

from ...lang.support.records import dataclass, field
from ...typechecker.core.operations import Core
from ..console.process_exit import UsageError, did_you_mean
from .modules import size_flags, sizes_of


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run: `memory` in bytes, `seconds` of time; None is no limit."""

    memory: int | None = None
    seconds: float | None = None


class Grouping(Enum):
    """In what order chains of products are computed."""

    CHEAPEST = "the cheapest"
    AS_WRITTEN = "as written"

    @property
    def disabled_passes(self) -> frozenset[str]:
        """The names of graph passes that are left out."""
        return frozenset({"products"}) if self is Grouping.AS_WRITTEN else frozenset()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked of a program: by name, `inputs` and `outputs` as paths (relative to the working folder) or streams,
    `params` as text, and `arrays`, inputs given as NumPy arrays.

    `standard_input`: what `-` reads.  `sizes`: sizes to plan for, whatever the data has.  `headers`: by the name of a matrix that
    is written, the output that names its columns."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    standard_input: TextIO | None = None
    grouping: Grouping = Grouping.CHEAPEST
    sizes: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def require_complete(core: Core, request: RunRequest, *, planned: bool = False) -> None:
    """Raise UsageError unless every name of the request exists in the program and every input has a file.

    `planned`: nothing runs, so sizes serve as well as files, and an input of fixed shape needs neither."""
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
            raise UsageError(message, _names_there_are("output", outputs))
    _require_known("--size", request.sizes, sorted({variable.name for variable in sizes_of(core)}), "size")


def _require_known(option: str, given: Mapping[str, object], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            message = f"{option} {name}={given[name]}: this program has no {what} `{name}`{did_you_mean(name, known)}"
            raise UsageError(message, _names_there_are(what, known))


def _names_there_are(what: str, known: Sequence[str]) -> str:
    if not known:
        return f"it has no {what} at all"
    return f"its {what} is {_listed(known)}" if len(known) == 1 else f"its {what}s are {_listed(known)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
