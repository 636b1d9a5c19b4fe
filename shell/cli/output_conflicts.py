"""Rejects commands that would overwrite a file they read, or write one file twice.

What an option does with the file that it names stands in its row (`shell.cli.arguments`), so that every verb is held to this:
once before anything is read, for what the command line names, and once a program is loaded, for what the program names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..console.standard_streams import stream_of
from ..console.usage_errors import UsageError
from . import arguments as registry
from .arguments import Arguments, FileUse, Option, Takes

if TYPE_CHECKING:
    from ..pipeline_types import Loaded

def require_apart(arguments: Arguments) -> None:
    """UsageError: two options of a command line write one file, or one writes what another reads."""
    written = list(_files(arguments, FileUse.WRITTEN))
    if not written:
        return
    taken = {_real(path): f"read by {option}" for option, path in _files(arguments, FileUse.READ)}
    taken.update({_real(path): "the program" for path in arguments.positional if path != "-"})
    for option, path in written:
        _refuse(option, path, taken)
        taken[_real(path)] = f"{option} already"


def require_unread(arguments: Arguments, loaded: Loaded, outputs: Mapping[str, str] | None = None) -> None:
    """UsageError: an option writes a file that the program names: an input, a module.  `outputs`: where outputs go, also those
    of which only the folder is named."""
    taken = {_real(name): "the program" for name in loaded.checked.sources if not name.startswith("<")}
    taken.update({_real(file.path): f"read as input `{name}`" for name, file in loaded.files.items() if file.wanted.held is None})
    named = list(_files(arguments, FileUse.WRITTEN))
    for option, path in named:
        _refuse(option, path, taken)
    taken.update({_real(path): f"{option} already" for option, path in named})
    stated = {(name, path) for option, path in named for name in option.removeprefix("--out ").split(",")}
    for name, path in (outputs or {}).items():
        if (name, path) not in stated and stream_of(path) is None:
            _refuse(f"--out-dir for {name}", path, taken)


def _refuse(option: str, path: str, taken: Mapping[str, str]) -> None:
    what = taken.get(_real(path))
    if what is not None:
        hint = "give each output a file of its own" if what.endswith("already") else "save the output in a file of its own"
        joint = "=" if " " in option else " "
        raise UsageError(f"{option}{joint}{path}: that file is {what}", hint)


def _files(arguments: Arguments, use: FileUse) -> Iterator[tuple[str, str]]:
    """(the option with the name it is for, the path) of every file that options name for a use."""
    verb = registry.find(arguments.verb)
    for option in () if verb is None else verb.options:
        if option.file is use:
            for text in arguments.values(option.name):
                yield from _named(option, text)


def _named(option: Option, text: str) -> Iterator[tuple[str, str]]:
    """`NAME=PATH`, `NAME[=PATH]` or a path; standard input and output are not files."""
    name, equals, path = text.partition("=") if option.takes is Takes.VALUES else ("", "=", text)
    if equals and path and stream_of(path) is None:
        yield f"{option.name} {name.strip()}".strip(), path


def _real(path: str) -> str:
    """What a path is in the end, without the member of an archive."""
    from ...backend.io.reading import split_member

    try:
        return os.path.realpath(split_member(path)[0])
    except (OSError, ValueError):
        return path
