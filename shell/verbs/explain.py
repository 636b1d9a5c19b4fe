"""`rho explain CODE | GLYPH`: the page of an error code, a glyph or a name."""

from __future__ import annotations

import re

from ...lang.explain import did_you_mean, explain
from ...lang.primitives import meant
from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import print_json, wants_json


def run(arguments: Arguments, console: Console) -> Exit:
    word = " ".join(arguments.positional)
    text = explain(word)
    if text is None:
        message = f"`{word}` is neither a code nor a glyph of the language{meant(did_you_mean(word))}"
        if re.fullmatch(r"[A-Za-z]{1,3}\d+", word):
            raise UsageError(message, "docs/errors.md lists all codes")
        raise UsageError(message, "for example: rho explain E101, rho explain ⌸")
    if wants_json(arguments):
        print_json(console, {"word": word, "text": text})
    else:
        console.print(text.rstrip("\n"))
    return Exit.OK
