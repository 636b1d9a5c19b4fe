"""`rho doc NAME`: the page of a glyph, its name, or a library function."""

from __future__ import annotations

from ...lang import primitives
from ...lang.explain import primitive_text
from ..cli.arguments import Arguments, UsageError, nearest
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import print_json, wants_json
from ..display import documentation, library


def run(arguments: Arguments, console: Console) -> Exit:
    word = " ".join(arguments.positional)
    rows = primitives.find(word)
    if rows:
        if wants_json(arguments):
            print_json(console, {"primitives": [documentation.primitive_json(row) for row in rows], "library": []})
        else:
            console.print("\n".join(primitive_text(row) for row in rows).rstrip("\n"))
        return Exit.OK
    entries = documentation.named(word)
    if entries:
        if wants_json(arguments):
            print_json(console, {"primitives": [], "library": [documentation.entry_json(entry) for entry in entries]})
        else:
            console.print("\n\n".join(documentation.entry_text(entry) for entry in entries))
        return Exit.OK
    guess = primitives.suggest(word) or nearest(word, [entry.name for entry in library.entries()])
    hint = f"rho search {word} looks in the descriptions"
    raise UsageError(f"no primitive or library function is called `{word}`{primitives.meant(guess)}", hint)
