"""Builds a run request from options: checked names, numbers and paths.  Everything wrong here is a usage error with a
suggestion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, TextIO

from ...lang.support.bounded_parsing import is_url, trouble_of
from ...lang.support.records import dataclass
from ...typechecker.core.blocks import Core
from ..cli.arguments import Arguments, UsageError, near, seconds
from ..cli.standard_streams import Console, check_streams, stream_of
from .modules import options_of, sizes_of
from .params import Permissions, natural


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


def request_of(arguments: Arguments, console: Console) -> RunRequest:
    """The request of `run`, `eval`, `plan` and `estimate`."""
    params = arguments.pairs("--set", "PARAM=VALUE")
    inputs, given = arguments.pairs("--in", "NAME=PATH"), arguments.pairs("--out", "NAME=PATH")
    outputs = _each(given)
    check_streams(inputs, given, terminal=console.out.isatty(), program="-" in arguments.positional[:1])
    limits = Limits(_bytes(arguments.value("--max-memory")), seconds("--max-time", arguments.value("--max-time")))
    grouping = Grouping.AS_WRITTEN if arguments.has("--exact") else Grouping.CHEAPEST
    sizes = {name: natural("--size", name, text) for name, text in arguments.pairs("--size", "NAME=N").items()}
    return RunRequest(inputs, params, outputs, limits, console.input, grouping, sizes)


def _each(given: Mapping[str, str]) -> dict[str, str]:
    """`day,mean=report.csv` names one file for several outputs."""
    paths: dict[str, str] = {}
    for names, path in given.items():
        for name in map(str.strip, names.split(",")):
            if name in paths:
                raise UsageError(f"--out names `{name}` twice (`{paths[name]}` and `{path}`)", "give each name once")
            paths[name] = path
    return paths


def permissions_of(arguments: Arguments, request: RunRequest, script: str, folder: str) -> Permissions:
    """The script's folder, the files named on the command line, and what is allowed beside them."""
    named = [script, *(data_file(path) for path in request.inputs.values() if stream_of(path) is None)]
    writable = arguments.values("--allow-write")
    for option in ("--allow-read", "--allow-write"):
        for given in arguments.values(option):
            if option == "--allow-read" and is_url(given):
                if (trouble := trouble_of(given)) is not None:
                    raise UsageError(f"{option} {given} {trouble}")
            elif not os.path.isdir(given):
                raise UsageError(f"{option} {given}: there is no such folder")
    return Permissions.of([folder or ".", *arguments.values("--allow-read")], named, writable or None)


def data_file(path: str) -> str:
    """The file of `path` or `archive.npz:member`."""
    from ...backend.io.reading import split_member

    return split_member(path)[0]


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


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    from ...lang.bind.directives import bytes_of

    if (count := bytes_of("".join(text.split()))) is None:
        raise UsageError(f"--max-memory {text}: write a number of bytes such as 500MB or 2GiB")
    return count
