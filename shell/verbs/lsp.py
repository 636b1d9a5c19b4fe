"""`rho lsp`: the language server on standard input and output.  Whatever else the process prints goes to standard error."""

from __future__ import annotations

import os
import sys

from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.ending import raise_heard
from ..cli.exits import Exit


def run(arguments: Arguments, console: Console) -> Exit:
    try:
        from ..lsp.features import create
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("rho lsp needs pygls 2", "pip install 'rho-lang[lsp]'") from None
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = create()
    server.start_io(requests, answers)
    raise_heard()
    return Exit.FAILED if server.left_early else Exit.OK
