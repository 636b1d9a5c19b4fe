"""`rho type EXPR` or `rho type FILE`: the type of the last value; of every name how often its elements are read.

With `--cost` also what evaluating it takes.
"""

from __future__ import annotations

from ...lang.source import Source
from .. import messages, quantities
from ..arguments import Arguments
from ..console import Console
from ..exits import Exit
from ..results import print_json, wants_json
from ..session import Session
from ..sources import EVAL, Undecodable, read_source


def run(arguments: Arguments, console: Console) -> Exit:
    session = Session()
    try:
        source = _source(arguments, console)
    except Undecodable as error:
        messages.show(console, error.diagnostics, {error.source.name: error.source})
        return Exit.REJECTED
    checked = session.check(source)
    messages.show(console, checked.diagnostics, checked.sources)
    if not checked.accepted:
        if wants_json(arguments):
            from ...lang.render import diagnostic_json

            print_json(console, {"type": None, "diagnostics": [diagnostic_json(d, checked.sources) for d in checked.diagnostics]})
        return Exit.REJECTED
    assert checked.core is not None
    cost = None
    if arguments.has("--cost"):
        from ..costs import cost_of_program

        cost = cost_of_program(checked.core)
    if wants_json(arguments):
        names, functions = quantities.names_json(checked), quantities.functions_json(checked)
        shown = {"type": checked.last, "names": names, "functions": functions, "diagnostics": []}
        print_json(console, {**shown, **({"cost": cost.json()} if cost else {})})
        return Exit.OK
    found = quantities.lines(checked)
    if checked.last is not None or not found:
        console.print(checked.last or "nothing")
    for line in found:
        console.print(line)
    for line in cost.lines() if cost else ():
        console.print(line)
    return Exit.OK


def _source(arguments: Arguments, console: Console) -> Source:
    """The file, the standard input, or the words of the command line."""
    words = arguments.positional
    if len(words) == 1 and words[0].endswith(".rho"):
        return read_source(words[0])
    return Source(EVAL, console.read_input() if list(words) == ["-"] else " ".join(words))
