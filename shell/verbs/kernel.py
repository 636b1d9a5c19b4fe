"""`rho kernel install`: tell Jupyter about Rho."""

from __future__ import annotations

import re
from importlib.util import find_spec

from ..cli.arguments import Arguments, UsageError, near
from ..cli.console import Console
from ..cli.exits import Exit


def run(arguments: Arguments, console: Console) -> Exit:
    action = arguments.positional[0]
    if action != "install":
        hint = "rho kernel install tells Jupyter about Rho"
        raise UsageError(f"rho kernel: there is no `{action}`{near(action, ['install'])}", hint)
    if arguments.has("--user") and arguments.has("--prefix"):
        raise UsageError("rho kernel install: --user and --prefix are two places", "give one of them")
    if find_spec("ipykernel") is None or find_spec("jupyter_client") is None:
        raise UsageError("rho kernel needs ipykernel", "pip install 'rho-lang[jupyter]'")
    from ..jupyter.kernelspec import NAME, Place, install

    name = arguments.value("--name") or NAME
    if re.fullmatch(r"[A-Za-z0-9._-]+", name) is None:
        raise UsageError(f"--name {name}: a kernel's name has letters, digits, dots, hyphens and underscores")
    place = Place(arguments.has("--user"), arguments.value("--prefix"))
    try:
        folder = install(name.lower(), place)
    except OSError as error:
        where = "" if error.filename is None else f" `{error.filename}`"
        hint = "--user and --prefix DIR choose another place"
        raise UsageError(f"the kernel cannot be installed:{where} {error.strerror}", hint) from error
    console.print(f"installed in {folder}; open a notebook with `jupyter lab`, or `jupyter console --kernel {name.lower()}`")
    return Exit.OK
