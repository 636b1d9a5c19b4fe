"""Helpers every verb shares: is JSON wanted, writing JSON, writing a file whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ...lang.replacing import replace_file
from .arguments import Arguments, NotWritten
from .console import Console


def wants_json(arguments: Arguments) -> bool:
    return arguments.has("--json") or arguments.value("--format") == "json"


def to_json(value: Any) -> str:
    """One line of JSON, glyphs as they are; never NaN or Infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def print_json(console: Console, value: Any) -> None:
    console.print(to_json(value))


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file whole or not at all (`lang.replacing`).  OSError: the old one is as it was."""
    data = content.encode() if isinstance(content, str) else content
    replace_file(path, lambda file: file.write(data))


def rewrite(file: str | Path, text: str, what: str = "") -> None:
    """Replace a text file; `what` is for the message.  NotWritten."""
    try:
        write_whole(Path(file), text)
    except OSError as error:
        raise NotWritten(f"{what or f'`{file}`'} cannot be written: {error.strerror}") from error


def require_place(path: str, what: str) -> None:
    """NotWritten where a file cannot be written, before anything runs; `what` is for the message."""
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))) or os.path.isdir(path):
        raise NotWritten(f"{what} cannot be written", "its folder has to be there")


def give(arguments: Arguments, console: Console, text: str) -> None:
    """A result: to the file of `-o`, else to standard output.  NotWritten."""
    target = arguments.value("-o")
    if target is None:
        console.print(text.rstrip("\n"))
    else:
        rewrite(target, text.rstrip("\n") + "\n")
