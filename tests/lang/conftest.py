"""Shared by the tests of the language room: parsing a text and writing its tree without spans."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from rho.lang import program_tree, tree
from rho.lang.definitions import NameClass
from rho.lang.parser import Parsed, parse
from rho.lang.source import Source


def written(node: object) -> str:
    """A tree as one line: application as in the source with every bracket shown, spans left out."""
    match node:
        case None:
            return "·"
        case tuple():
            return "[" + ", ".join(map(written, node)) + "]"
        case tree.Number(values=values):
            return " ".join(repr(value) for value in values)
        case tree.Name(name=name) | tree.FunctionName(name=name) | tree.OperatorName(name=name):
            return f"{type(node).__name__[0].lower()}:{name}"
        case tree.Primitive(glyph=glyph, axis=None):
            return glyph
        case tree.Monadic():
            return f"({written(node.function)} {written(node.right)})"
        case tree.Dyadic():
            return f"({written(node.left)} {written(node.function)} {written(node.right)})"
        case tree.Derived(axis=None):
            return f"<{node.operator} {' '.join(map(written, node.operands))}>"
        case tree.Dfn():
            return "{" + " ⋄ ".join(map(written, node.body)) + ("|⍺}" if node.uses_alpha else "}")
        case tree.Evaluate():
            return written(node.value)
        case tree.NameTarget() | program_tree.StatedName():
            return node.name
        case _ if dataclasses.is_dataclass(node):
            skipped = ("span", "parsed", "scope", "definition", "captures")
            fields = [getattr(node, field.name) for field in dataclasses.fields(node) if field.name not in skipped]
            return f"{type(node).__name__}({', '.join(map(written, fields))})"
        case _:
            return repr(node)


@pytest.fixture(scope="session")
def show() -> Callable[..., str]:
    """The statements of a text that has no errors, one a line."""

    def run(text: str, names: dict[str, NameClass] | None = None) -> str:
        parsed = parse(Source("test", text), names=names)
        assert not parsed.diagnostics, parsed.diagnostics
        return "\n".join(map(written, parsed.program.statements))

    return run


@pytest.fixture(scope="session")
def parsed() -> Callable[..., Parsed]:
    def run(text: str, **options: object) -> Parsed:
        return parse(Source("test", text), **options)  # type: ignore[arg-type]

    return run
