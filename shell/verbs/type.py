"""`rho type EXPR` or `rho type FILE`: the type of the last value; of every name how often its elements are read.

`rho type FILE NAME…` is about these names alone: a value's type and reads; a function's signature, which of one that is
not annotated is worked out with what it needs of the sizes as `where`.

With `--cost` also what evaluating it takes, and what each definition takes in the sizes of its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...lang.source import Source
from ..cli import messages
from ..cli.arguments import Arguments, UsageError, nearest
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import print_json, wants_json
from ..cli.sources import EVAL, read_source
from ..display import quantities
from ..session import Session
from ..stages import Checked


def run(arguments: Arguments, console: Console) -> Exit:
    session = Session()
    checked = session.check(_source(arguments, console))
    messages.show(console, checked.diagnostics, checked.sources)
    if not checked.accepted:
        if wants_json(arguments):
            from ...lang.render import diagnostic_json

            print_json(console, {"type": None, "diagnostics": [diagnostic_json(d, checked.sources) for d in checked.diagnostics]})
        return Exit.REJECTED
    wanted = _names(arguments)
    if wanted:
        return _show_names(checked, wanted, console, json=wants_json(arguments))
    return _show_json(checked, arguments, console) if wants_json(arguments) else _show(checked, arguments, console)


def _show_json(checked: Checked, arguments: Arguments, console: Console) -> Exit:
    names, functions = quantities.names_json(checked), quantities.functions_json(checked)
    shown: dict[str, Any] = {"type": checked.last, "names": names, "functions": functions, "diagnostics": []}
    if arguments.has("--cost") and checked.core is not None:
        from ..display.costs import cost_of_program, costs_of_definitions

        shown["cost"] = cost_of_program(checked.core).json()
        shown["costs"] = {
            name: [{"signature": one.signature, **one.cost.json()} for one in definitions]
            for name, definitions in costs_of_definitions(checked).items()
        }
    print_json(console, shown)
    return Exit.OK


def _show(checked: Checked, arguments: Arguments, console: Console) -> Exit:
    found = quantities.lines(checked)
    if checked.last is not None or not found:
        console.print(checked.last or "nothing")
    if not arguments.has("--cost") or checked.core is None:
        for line in found:
            console.print(line)
        return Exit.OK
    from ..display.costs import cost_of_program, costs_of_definitions, definition_lines

    computes = bool(checked.core.block.ops or checked.core.inputs)
    for line in (*quantities.value_lines(checked), *(cost_of_program(checked.core).lines() if computes else ())):
        console.print(line)
    for line in definition_lines(costs_of_definitions(checked)):
        console.print(line)
    return Exit.OK


def _names(arguments: Arguments) -> tuple[str, ...]:
    """The names asked about after a file."""
    first, *rest = arguments.positional
    return tuple(rest) if first.endswith(".rho") else ()


def _show_names(checked: Checked, wanted: Sequence[str], console: Console, *, json: bool) -> Exit:
    assert checked.result is not None
    found = {name: checked.result.described(name) for name in wanted}
    missing = [name for name, lines in found.items() if not lines]
    if missing:
        guess = nearest(missing[0], [*checked.result.types])
        raise UsageError(f"`{checked.source.name}` has no name `{missing[0]}`", f"did you mean `{guess}`?" if guess else "")
    if json:
        print_json(console, {"names": {name: list(lines) for name, lines in found.items()}, "diagnostics": []})
    else:
        for lines in found.values():
            for line in lines:
                console.print(line)
    return Exit.OK


def _source(arguments: Arguments, console: Console) -> Source:
    """The file, the standard input, or the words of the command line."""
    words = arguments.positional
    if words[0].endswith(".rho"):
        return read_source(words[0])
    return Source(EVAL, console.read_input() if list(words) == ["-"] else " ".join(words))
