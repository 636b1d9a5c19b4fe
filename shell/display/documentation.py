"""The documentation of the standard library (`rho doc`), as text and JSON, and the generated pages of library and Python API.

`lang.diagnostics.help_pages` has the pages of primitives and codes; `shell.searching` finds both.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...lang.primitives.record import Primitive, PrimitiveUse
from ...lang.support.files import read_text
from ...lang.support.records import dataclass
from ...lang.syntax.source import MAXIMUM_CHARACTERS

# ---------------------------------------------------------------------------------------------------- library
#
# The documented names of the standard library.  The comment lines right above a definition are its documentation; `⍝ >>>` lines
# in them are examples.  Nothing is parsed or run, so that `rho doc` and `rho search` are fast.

STDLIB = Path(__file__).resolve().parents[2] / "stdlib"

_DEFINITION = re.compile(r"^([^\W\d]\w*)\s*(?:←|:)")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One documented name: `stats.mean`, its documentation, its examples (expression, value) and its source line."""

    name: str
    doc: str
    examples: tuple[tuple[str, str], ...]
    source: str


def modules() -> list[str]:
    """The names of the standard library's modules, sorted."""
    return sorted(entry.name.removesuffix(".rho") for entry in os.scandir(STDLIB) if entry.name.endswith(".rho"))


def module_path(name: str) -> Path:
    return STDLIB / f"{name}.rho"


def entries() -> Iterator[LibraryEntry]:
    """Every documented name of the library."""
    for module in modules():
        yield from entries_of(module, read_text(module_path(module), 4 * MAXIMUM_CHARACTERS))


def entries_of(module: str, text: str) -> Iterator[LibraryEntry]:
    """The documented names of a module with this text, as `module.name`; of a name defined twice, the first."""
    comments: list[str] = []
    seen: set[str] = set()
    for line in text.splitlines():
        if line.startswith("⍝"):
            comments.append(line[1:].strip())
            continue
        match = _DEFINITION.match(line)
        if match and match[1] not in seen:
            seen.add(match[1])
            doc, examples = split_examples(comments)
            yield LibraryEntry(f"{module}.{match[1]}", doc, examples, line)
        if match is None or ":" not in match[0]:
            comments = []


def split_examples(comments: list[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Prose, and `>>> expression` lines with the value lines that follow them."""
    prose: list[str] = []
    examples: list[tuple[str, list[str]]] = []
    for line in comments:
        if line.startswith(">>>"):
            examples.append((line[3:].strip(), []))
        elif examples and line:
            examples[-1][1].append(line)
        elif line:
            prose.append(line)
    return " ".join(prose), tuple((expression, "\n".join(value)) for expression, value in examples)


# ---------------------------------------------------------------------------------------------------- pages of `rho doc`

def entries_named(word: str) -> list[LibraryEntry]:
    """The entries of a name; of a module's name, all entries in it."""
    return [entry for entry in entries() if word in (entry.name, *entry.name.split("."))]


def entry_text(entry: LibraryEntry) -> str:
    """The page of one library name."""
    lines = [entry.name, *([f"   {entry.doc}"] if entry.doc else []), "", f"   {entry.source}"]
    for expression, value in entry.examples:
        lines += ["", f"       {expression}", *(f"   {row}" for row in value.splitlines())]
    return "\n".join(lines)


def code(*lines: str) -> str:
    """A block of program text in Markdown."""
    return "\n".join(["```rho", *lines, "```"])


def entry_markdown(entry: LibraryEntry, *before: str) -> list[str]:
    """The documentation of a definition and its examples, after other lines, as paragraphs of Markdown."""
    examples = [line for expression, value in entry.examples for line in (f"      {expression}", *value.splitlines())]
    return [*([entry.doc] if entry.doc else []), *([code(*before, *examples)] if examples else [])]


def primitive_json(row: Primitive) -> dict[str, Any]:
    """A primitive as the object of `rho doc --json`."""
    return {
        "glyph": row.glyph,
        "names": list(row.names),
        "key": row.key,
        "role": row.role.value,
        "doc": row.doc,
        "later": row.later,
        "monadic": _use_json(row.monadic),
        "dyadic": _use_json(row.dyadic),
        "examples": _examples_json(row.examples),
    }


def _use_json(use: PrimitiveUse | None) -> dict[str, Any] | None:
    if use is None:
        return None
    return {
        "name": use.name, "doc": use.doc, "type": use.type, "identity": use.identity, "laws": list(use.laws),
        "traits": sorted(trait.name.lower() for trait in use.traits), "examples": _examples_json(use.examples),
    }  # fmt: skip


def _examples_json(examples: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"expression": expression, "value": value} for expression, value in examples]


def entry_json(entry: LibraryEntry) -> dict[str, Any]:
    return {"name": entry.name, "doc": entry.doc, "examples": _examples_json(entry.examples), "source": entry.source}


# ---------------------------------------------------------------------------------------------------- generated pages
#
# `python -m rho.shell.display.documentation`, run in the repository's root, writes `docs/stdlib.md` from the library's comments
# and `docs/python.md` from docstrings; a test compares them.  `lang.primitives.generate_docs` writes the other generated pages.

_GENERATED = "<!-- Generated by `python -m rho.shell.display.documentation` from {}; do not edit. -->"
_MOST_CHARACTERS = 1 << 20
_PUBLIC = (
    "compile", "load", "eval", "check", "grad", "value_and_grad", "plain",
    "Function", "Program", "Plan", "Cluster", "ResidentArray", "Result", "Bounds", "Session", "Checked",
    "RhoError", "Rejected", "Refused", "RunFailed",
)  # fmt: skip

_INTERNAL = {
    *[("Session", name) for name in ("checker", "load", "run", "interpret", "folder_of", "memory_limit", "require_memory")],
    ("Checked", "require"),
}
"""Public methods that only Rho's commands use, and that the page omits."""


def stdlib_page() -> str:
    """`docs/stdlib.md`."""
    lines = [
        "# The standard library", "", _GENERATED.format("the comments in `stdlib/`"), "",
        "`use stats` makes a module's names available as `stats.mean`; `rho doc stats.mean` prints one of these, and",
        "`rho search` finds them by words or by type. The library is written in Rho: its signatures are checked for every size.",
        "Types such as `idx<n>`, `int<0..n>` and `[k≤n]` are explained in [types.md](types.md).",
        "",
    ]  # fmt: skip
    for module in modules():
        text = read_text(module_path(module), _MOST_CHARACTERS)
        first = next((line[1:].strip() for line in text.splitlines() if line.startswith("⍝")), "")
        lines += [f"## {module}", "", first, ""]
        for entry in entries_of(module, text):
            for block in (f"### {entry.name}", f"`{entry.source.strip()}`", *entry_markdown(entry, f"      use {module}")):
                lines += [block, ""]
    return "\n".join(lines).rstrip() + "\n"


def python_page() -> str:
    """`docs/python.md`."""
    import rho

    lines = [
        "# Python API", "", _GENERATED.format("docstrings"), "",
        "`import rho` costs nothing: everything is imported when it is first used. [embedding.md](embedding.md) is the guide.",
        "",
    ]  # fmt: skip
    for name in _PUBLIC:
        exported = getattr(rho, name)
        lines += [f"## rho.{name}", ""]
        if inspect.isclass(exported):
            lines += [_text(exported), ""]
            for member, value in vars(exported).items():
                if (name, member) in _INTERNAL or member.startswith("_") or not inspect.getdoc(value):
                    continue
                if inspect.isfunction(value) or isinstance(value, property):
                    parameters = "" if isinstance(value, property) else _parameters(value)
                    lines += [f"- `.{member}{parameters}`: {' '.join(_text(value).split())}"]
            lines += [""] * (lines[-1] != "")
        else:
            lines += [f"`rho.{name}{_parameters(exported)}`", "", _text(exported), ""]
    return "\n".join(lines).rstrip() + "\n"


def _text(documented: object) -> str:
    return inspect.getdoc(documented) or ""


def _parameters(function: object) -> str:
    """A function's parameters without `self` and annotations: `(x, *, digits=10)`."""
    assert callable(function)
    signature = inspect.signature(function)
    parameters = [one.replace(annotation=one.empty) for name, one in signature.parameters.items() if name != "self"]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def write_pages(folder: Path) -> None:
    """Write both pages into a folder."""
    (folder / "stdlib.md").write_text(stdlib_page(), encoding="utf-8")
    (folder / "python.md").write_text(python_page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path("docs"))
