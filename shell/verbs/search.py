"""`rho search WORDS`: primitives and library functions by what they do."""

from __future__ import annotations

from .. import documentation
from ..arguments import Arguments
from ..console import Console
from ..exits import Exit
from ..results import print_json, wants_json


def run(arguments: Arguments, console: Console) -> Exit:
    words = " ".join(arguments.positional).split()
    hits = documentation.search(words)[:20]
    if wants_json(arguments):
        print_json(console, {"hits": [{"name": hit.name, "summary": hit.summary} for hit in hits]})
        return Exit.OK
    for hit in hits:
        console.print(f"{hit.name}\n    {hit.summary}")
    if not hits:
        console.note(f"nothing is described by `{' '.join(words)}`; try fewer words")
    return Exit.OK if hits else Exit.FAILED
