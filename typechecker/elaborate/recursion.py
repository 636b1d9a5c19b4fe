"""E600: a function that mentions the name it is being bound to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from ...lang import tokens, tree
from ...lang.codes import Code
from ...lang.diagnostics import Label
from ...lang.source import Span
from .context import Context

_BINDING = (tree.BindFunction, tree.BindOperator)


def refuse_recursion(ctx: Context, name: str, value: tree.Function | tree.Operator, target: Span) -> bool:
    """Report a dfn inside `value` that mentions `name`; True if there was one."""
    written = ctx.builder.text(value.span)
    if written and name not in ctx.memory.statements.words(written):
        return False
    mention = _mention(name, value)
    if mention is None:
        return False
    ctx.error(
        Code.E600,
        f"`{name}` calls itself ({name} → {name}); every program must end, so there is no recursion",
        mention,
        label="the call",
        labels=(Label(target, f"`{name}` is defined here"),),
        notes=("use a loop with a bound `f⍣n`, a reduction `f/` or a scan `f\\`",),
    )
    return True


def _mention(name: str, value: object) -> Span | None:
    """The first mention of a name inside a dfn of this tree, not counting what a local binding shadows."""
    stack: list[tuple[object, bool]] = [(value, False)]
    while stack:
        node, inside = stack.pop()
        match node:
            case tree.FunctionName() | tree.OperatorName():
                if inside and node.name == name:
                    return node.span
            case tree.Dfn():
                stack.extend([(statement, True) for statement in reversed(_before_shadow(name, node.body))])
            case tree.OperatorDfn():
                parsed = node.parsed
                if isinstance(parsed, tokens.Token) and tokens.mentions(parsed.items, name):
                    return node.span
            case _:
                stack.extend([(child, inside) for child in _children(node)])
    return None


def _before_shadow(name: str, body: tuple[tree.Statement, ...]) -> tuple[tree.Statement, ...]:
    """The statements up to the one that gives the name a local meaning."""
    for i, statement in enumerate(body):
        if isinstance(statement, _BINDING) and statement.target.name == name:
            return body[: i + 1]
        if (
            isinstance(statement, tree.BindArray)
            and isinstance(statement.target, tree.NameTarget)
            and statement.target.name == name
        ):
            return body[: i + 1]
    return body


def _children(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node) and not isinstance(node, (Span, type)):
        for field in fields(node):
            child = getattr(node, field.name)
            if isinstance(child, tuple) or is_dataclass(child):
                yield child
