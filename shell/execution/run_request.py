"""Builds a run request from options: checked names, numbers and paths.  Everything wrong here is a usage error with a
suggestion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, TextIO

from ...lang.support.records import dataclass
from ...typechecker.core.blocks import Core
from ..console.usage_errors import UsageError, near
from .modules import options_of, sizes_of


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory` in bytes, `seconds` of running; None is no limit."""

    memory: int | None = None
    seconds: float | None = None


class Grouping(Enum):
    """In what order products are computed."""

    CHEAPEST = "the cheapest"
    AS_WRITTEN = "as written"

    @property
    def without(self) -> frozenset[str]:
        """The passes that are left out."""
        return frozenset({"products"}) if self is Grouping.AS_WRITTEN else frozenset()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """`inputs` maps names to paths (relative to the working folder) or streams, `params` to what is set, `outputs` to paths or
    streams; `standard_input` is what `-` reads; `sizes` are those that are planned for, whatever the data has; `arrays` are
    inputs that are at hand."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    standard_input: TextIO | None = None
    grouping: Grouping = Grouping.CHEAPEST
    sizes: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)


def check_names(core: Core, request: RunRequest, *, planned: bool = False) -> None:
    """Every name of the request exists in the program, and every input has a file.

    `planned`: nothing runs, so sizes do as well as files, and an input of a fixed shape needs neither."""
    check_given(core, request)
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
    """The options that say how large the data of inputs is, without it; empty if their types name no sizes."""
    params = {param.variable for param in core.params}
    return options_of(sorted({variable.name for variable in sizes_of(core) if variable not in params}))


def check_given(core: Core, request: RunRequest) -> None:
    """Every name of the request exists in the program."""
    inputs = [entry.name for entry in core.data]
    _known("--in", request.inputs, inputs, "input")
    _known("--set", request.params, [*[entry.name for entry in core.params], *[entry.name for entry in core.settings]], "param")
    _known("--out", request.outputs, [entry.name for entry in core.outputs], "output")
    _known("--size", request.sizes, sorted({variable.name for variable in sizes_of(core)}), "size")


def _known(option: str, given: Mapping[str, object], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            message = f"{option} {name}={given[name]}: this program has no {what} `{name}`{near(name, known)}"
            raise UsageError(message, _inventory(what, known))


def _inventory(what: str, known: Sequence[str]) -> str:
    if not known:
        return f"it has no {what} at all"
    return f"its {what} is {_listed(known)}" if len(known) == 1 else f"its {what}s are {_listed(known)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
