"""Programs as text.

Neighbours: `reading` (back again), `literals`.
"""

from __future__ import annotations

from ..ir import (
    Apply,
    Box,
    Call,
    Constant,
    Fail,
    For,
    If,
    Index,
    Load,
    Number,
    Program,
    Statement,
    Store,
)
from .literals import literal


def show(program: Program) -> str:
    """The program as text."""
    given = f" given {', '.join(map(show_index, program.facts))}" if program.facts else ""
    lines = [f"program {program.name}({', '.join(program.parameters)}){given} {{"]
    for view in program.views:
        layout = ("" if view.unit else " strided") + (" private" if view.private else "") + (" streamed" if view.streamed else "")
        layout += " local" if view.local else ""
        lines.append(f"  {view.role.value} {view.name}: {view.kind.value}[{', '.join(map(show_index, view.shape))}]{layout}")
    for statement in program.body:
        lines += ["  " + line for line in show_statement(statement)]
    return "\n".join([*lines, "}"]) + "\n"


def show_index(form: Index) -> str:
    """An affine form, what is added before what is subtracted."""
    shown = ""
    for name, coefficient in sorted(form.terms, key=lambda term: term[1] < 0):
        size = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
        shown += (" - " if coefficient < 0 else " + ") + size if shown else ("-" if coefficient < 0 else "") + size
    if not shown:
        return str(form.constant)
    return shown + (f" {'-' if form.constant < 0 else '+'} {abs(form.constant)}" if form.constant else "")


def show_statement(statement: Statement) -> list[str]:
    """A statement's lines."""
    match statement:
        case Constant(name, kind, bits):
            return [f"{name}: {kind.value} = {literal(kind, bits)}"]
        case Number(name, form):
            return [f"{name} = index {show_index(form)}"]
        case Apply():
            compute = "" if statement.compute is statement.kind else f":{statement.compute.value}"
            parameter = f"/{statement.parameter}" if statement.parameter else ""
            check = f" check {statement.check}" if statement.check != -1 else ""
            called = f"{statement.function}{compute}{parameter}({', '.join(statement.args)})"
            return [f"{statement.name}: {statement.kind.value} = {called}{check}"]
        case Load():
            return [f"{statement.name} = {_place(statement)}" + _masked(statement.mask)]
        case Store():
            join = f" by {statement.join}" if statement.join is not None else ""
            return [f"{_place(statement)} = {statement.value}{join}" + _masked(statement.mask)]
        case Fail(check, condition, values):
            return [f"fail {check} if {condition}" + (f" ({', '.join(values)})" if values else "")]
        case Call():
            given = f" given ({', '.join(map(show_index, statement.numbers))})" if statement.numbers else ""
            reads, writes = (", ".join(map(_box, boxes)) for boxes in (statement.reads, statement.writes))
            return [f"call {statement.routine} ({reads}) into ({writes}){given}"]
        case For():
            return _loop(statement)
        case If(condition, then, otherwise, results):
            lines = [f"if {condition} {{", *_block(then)]
            lines += ["} else {", *_block(otherwise)] if otherwise else []
            chosen = ", ".join(f"{c.name}: {c.kind.value} = {c.then} | {c.otherwise}" for c in results)
            return [*lines, "}" + (f" chosen ({chosen})" if results else "")]


def _block(body: tuple[Statement, ...]) -> list[str]:
    return ["  " + line for statement in body for line in show_statement(statement)]


def _masked(mask: str | None) -> str:
    return f" if {mask}" if mask is not None else ""


def _place(access: Load | Store) -> str:
    return f"{access.view}[{', '.join(map(show_index, access.indices))}]"


def _box(box: Box) -> str:
    axes = zip(box.start, box.shape, strict=True)
    shown = (show_index(first) + ("" if size is None else f":{show_index(size)}") for first, size in axes)
    return f"{box.view}[{', '.join(shown)}]"


def _bound(word: str, bounds: tuple[Index, ...]) -> str:
    return show_index(bounds[0]) if len(bounds) == 1 else f"{word}({', '.join(map(show_index, bounds))})"


def _loop(loop: For) -> list[str]:
    step = f" step {loop.step}" if loop.step != 1 else ""
    head = f"for {loop.index} in {_bound('max', loop.lower)}..{_bound('min', loop.upper)}{step} {loop.kind.value}"
    if loop.carried:
        values = (f"{c.inside}: {c.kind.value} = {c.initial} -> {c.yielded} => {c.result}"
                  + (f" by {c.reduction}" if c.reduction is not None else "") for c in loop.carried)  # fmt: skip
        head += f" carried ({', '.join(values)})"
    head += f" until {loop.until}" if loop.until is not None else ""
    return [head + " {", *_block(loop.body), "}"]
