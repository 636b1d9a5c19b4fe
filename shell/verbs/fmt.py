"""`rho fmt PATH…`: canonical layout, names to glyphs (`--ascii`: glyphs to names).  Files are replaced whole or not at all."""

from __future__ import annotations

from ...lang.diagnostics import RhoError
from ...lang.formatter import format_source
from ...lang.source import Source
from ..cli import messages
from ..cli.arguments import Arguments
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.fixing import difference
from ..cli.lost_output import reporting
from ..cli.results import rewrite
from ..cli.sources import STANDARD_INPUT, find_files, read_source


def run(arguments: Arguments, console: Console) -> Exit:
    ascii_names, looked_at = arguments.has("--ascii"), arguments.has("--check") or arguments.has("--diff")
    changed: list[str] = []
    worst = Exit.OK
    files = find_files(arguments.positional, (".rho",))
    for file in files:
        try:
            source = Source(STANDARD_INPUT, console.read_input()) if file == "-" else read_source(file)
            formatted = format_source(source, ascii=ascii_names)
        except RhoError as error:
            messages.show(console, error.diagnostics, error.sources or {source.name: source})
            worst = Exit.REJECTED
            continue
        if file == "-" and not looked_at:
            console.out.write(formatted)
        elif formatted != source.text or source.has_returns:
            changed.append(file)
            if arguments.has("--diff"):
                with reporting(Exit.FAILED):
                    console.out.write(difference(source, formatted))
            elif not looked_at:
                rewrite(file, formatted)
    if looked_at:
        for file in changed if arguments.has("--check") else ():
            console.note(f"{file} is not in canonical layout")
        return worst or (Exit.FAILED if changed else Exit.OK)
    if not changed and not worst and files and "-" not in files:
        console.note(f"already formatted: {files[0] if len(files) == 1 else f'{len(files)} files'}")
    return worst

