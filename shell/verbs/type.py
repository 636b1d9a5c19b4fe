"""`rho type EXPR`: the type of the last value of an expression, and with `--cost` what evaluating it takes."""

from __future__ import annotations

from ...lang.source import Source
from .. import messages
from ..arguments import Arguments
from ..console import Console
from ..exits import Exit
from ..results import print_json, wants_json
from ..session import Session
from ..sources import EVAL


def run(arguments: Arguments, console: Console) -> Exit:
    text = " ".join(arguments.positional)
    session = Session()
    checked = session.check(Source(EVAL, console.read_input() if text == "-" else text))
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
        print_json(console, {"type": checked.last, "diagnostics": [], **({"cost": cost.json()} if cost else {})})
        return Exit.OK
    console.print(checked.last or "nothing (a definition)")
    for line in cost.lines() if cost else ():
        console.print(line)
    return Exit.OK
