"""Shared by the tests of the language room: parsing a text and writing its tree without spans."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from rho.lang.syntax.parser import Parsed, parse
from rho.lang.syntax.source import Source
from rho.lang.tree import expressions, program
from rho.lang.tree.expressions import NameClass


def written(node: object) -> str:
    """A tree as one line: application as in the source with every bracket shown, spans left out."""
    match node:
        case None:
            return "·"
        case tuple():
            return "[" + ", ".join(map(written, node)) + "]"
        case expressions.Number(values=values):
            return " ".join(repr(value) for value in values)
        case expressions.Name(name=name) | expressions.FunctionName(name=name) | expressions.OperatorName(name=name):
            return f"{type(node).__name__[0].lower()}:{name}"
        case expressions.GlyphFunction(glyph=glyph, axis=None):
            return glyph
        case expressions.Monadic():
            return f"({written(node.function)} {written(node.right)})"
        case expressions.Dyadic():
            return f"({written(node.left)} {written(node.function)} {written(node.right)})"
        case expressions.Derived(axis=None):
            return f"<{node.operator} {' '.join(map(written, node.operands))}>"
        case expressions.Dfn():
            return "{" + " ⋄ ".join(map(written, node.body)) + ("|⍺}" if node.uses_alpha else "}")
        case expressions.Evaluate():
            return written(node.value)
        case expressions.NameTarget() | program.StatedName():
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
