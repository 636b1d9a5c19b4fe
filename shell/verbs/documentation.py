"""`rho doc`, `rho explain`, `rho search` and `rho info`: pages of glyphs, names, codes and the installation."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version

from ... import __version__
from ...lang.diagnostics.help_pages import explain, primitive_text, suggested_word
from ...lang.primitives import table
from ..cli.arguments import Arguments
from ..cli.outputs import wants_json
from ..console.process_exit import Exit, UsageError, nearest
from ..console.standard_streams import Console, print_json
from ..display import documentation
from ..display.costs import gpu_tier, kernel_tier
from ..searching.catalogue import CatalogueEntry
from ..searching.results import search

# ---------------------------------------------------------------------------------------------------- doc

def doc_command(arguments: Arguments, console: Console) -> Exit:
    word = " ".join(arguments.positional)
    rows = table.find(word)
    entries = [] if rows else documentation.entries_named(word)
    if not rows and not entries:
        guess = table.suggest(word) or nearest(word, [entry.name for entry in documentation.entries()])
        hint = f"rho search {word} looks in the descriptions"
        raise UsageError(f"no primitive or library function is called `{word}`{table.did_you_mean(guess)}", hint)
    if wants_json(arguments):
        primitives, library = map(documentation.primitive_json, rows), map(documentation.entry_json, entries)
        print_json(console, {"primitives": [*primitives], "library": [*library]})
    else:
        console.print("\n".join([*map(primitive_text, rows), "\n\n".join(map(documentation.entry_text, entries))]).rstrip("\n"))
    return Exit.OK


# ---------------------------------------------------------------------------------------------------- explain
#
# `rho explain CODE | GLYPH`: the page of an error code, a glyph or a name.

def explain_command(arguments: Arguments, console: Console) -> Exit:
    word = " ".join(arguments.positional)
    text = explain(word)
    if text is None:
        message = f"`{word}` is neither a code nor a glyph of the language{table.did_you_mean(suggested_word(word))}"
        if re.fullmatch(r"[A-Za-z]{1,3}\d+", word):
            raise UsageError(message, "docs/errors.md lists all codes")
        raise UsageError(message, "for example: rho explain E101, rho explain ⌸")
    if wants_json(arguments):
        print_json(console, {"word": word, "text": text})
    else:
        console.print(text.rstrip("\n"))
    return Exit.OK


# ---------------------------------------------------------------------------------------------------- search
#
# `rho search WORDS|TYPE [FILE.rho…]`: functions by words or by type, also those defined in files.

def search_command(arguments: Arguments, console: Console) -> Exit:
    files = [word for word in arguments.positional if word.endswith(".rho")]
    words = [word for word in arguments.positional if word not in files]
    if not words:
        raise UsageError("rho search: needs words or a type", "for example: rho search 'f64[n] → f64'")
    answer = search(words, [entry for file in files for entry in _file_entries(file, console)])
    if wants_json(arguments):
        print_json(console, {"hits": [hit.json() for hit in answer.hits]})
    else:
        for line in answer.lines():
            console.print(line)
        for note in answer.notes:
            console.note(note)
    return Exit.OK if answer.hits else Exit.FAILED


def _file_entries(file: str, console: Console) -> tuple[CatalogueEntry, ...]:
    """The catalogue entries of a file's definitions, as far as it could be checked."""
    from ...lang.diagnostics.model import Rejected
    from ..console import standard_streams
    from ..console.standard_streams import read_source
    from ..pipeline import Session
    from ..searching.catalogue import entries_of_file

    try:
        checked = Session().check(read_source(file))
    except Rejected as error:
        standard_streams.show_diagnostics(console, error.diagnostics, error.sources)
        return ()
    if not checked.accepted:
        console.note(f"{file} is rejected: `rho check {file}` says why; searching what could be checked")
    return entries_of_file(checked)


# ---------------------------------------------------------------------------------------------------- info
#
# `rho info`: versions for a bug report.

PACKAGES = (
    "numpy", "parsimonious", "z3-solver", "highspy", "llvmlite", "prompt_toolkit", "pygls", "ipykernel", "matplotlib",
    "cupy-cuda12x", "cupy-cuda13x",
)  # fmt: skip


def info_command(arguments: Arguments, console: Console) -> Exit:
    facts = {
        "rho": __version__, "python": platform.python_version(), "platform": platform.platform(),
        "encoding": sys.getfilesystemencoding(), "kernels": kernel_tier(), "gpu": gpu_tier(),
    }  # fmt: skip
    packages = {name: _version(name) for name in PACKAGES}
    if wants_json(arguments):
        print_json(console, {**facts, "packages": packages})
        return Exit.OK
    for name, value in [*facts.items(), *packages.items()]:
        console.print(f"{name:<16}{value or 'not installed'}")
    return Exit.OK


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
