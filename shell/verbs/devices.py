"""`rho devices`: what this machine has.  Memory and cores are what the operating system grants; no back end is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import machine
from ..arguments import Arguments, UsageError
from ..console import Console
from ..exits import Exit
from ..results import print_json, to_json, wants_json, write_whole


def run(arguments: Arguments, console: Console) -> Exit:
    device = processor()
    if (target := arguments.value("-o")) is not None:
        try:
            write_whole(Path(target), to_json({"version": 1, "devices": [device]}) + "\n")
        except OSError as error:
            raise UsageError(f"`{target}` cannot be written: {error.strerror}") from error
    elif wants_json(arguments):
        print_json(console, {"version": 1, "devices": [device]})
    else:
        console.print(f"cpu0  {device['model']}  {device['cores']} cores  {_readable(device['memory_bytes'])}")
    return Exit.OK


def processor() -> dict[str, Any]:
    """The one CPU device: cores this process may use, memory in bytes (the control group's limit if it is lower)."""
    return {"name": "cpu0", "kind": "cpu", "model": machine.model(), "cores": machine.cores(), "memory_bytes": machine.memory()}


def _readable(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"
