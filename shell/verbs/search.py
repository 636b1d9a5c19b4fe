"""`rho search WORDS|TYPE [FILE.rho…]`: functions by what they do or by their type, also those of one's own files."""

from __future__ import annotations

from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import print_json, wants_json
from ..searching.answers import search
from ..searching.catalogue import Entry


def run(arguments: Arguments, console: Console) -> Exit:
    files = [word for word in arguments.positional if word.endswith(".rho")]
    words = [word for word in arguments.positional if word not in files]
    if not words:
        raise UsageError("rho search: needs words or a type", "for example: rho search 'f64[n] → f64'")
    answer = search(words, [entry for file in files for entry in _own(file, console)])
    if wants_json(arguments):
        print_json(console, {"hits": [hit.json() for hit in answer.hits]})
    else:
        for line in answer.lines():
            console.print(line)
        for note in answer.notes:
            console.note(note)
    return Exit.OK if answer.hits else Exit.FAILED


def _own(file: str, console: Console) -> tuple[Entry, ...]:
    """The definitions of a file, as far as checking got."""
    from ...lang.diagnostics import Rejected
    from ..cli import messages
    from ..cli.sources import read_source
    from ..searching.catalogue import yours
    from ..session import Session

    try:
        checked = Session().check(read_source(file))
    except Rejected as error:
        messages.show(console, error.diagnostics, error.sources)
        return ()
    if not checked.accepted:
        console.note(f"{file} is rejected: `rho check {file}` says why; searching what could be checked")
    return yours(checked)
