"""Accepted definitions with one size, axis, element or quantity of their signature broken: refused, and where it was broken.

The definitions are those whose signatures can be pasted back (`test_round_trip`); a mutant claims one thing too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from share import SHARE

from rho.lang.syntax.source import Source
from rho.typechecker.check import check

from .test_round_trip import inferred, load

_ARRAY = re.compile(r"(?P<element>\w+)\[(?P<shape>[^\]≤<>]*)\]$")
Mutant = tuple[str, int, int, str]
"""The program, where its mutation is, and what it is."""


def _result(line: str) -> Iterator[tuple[int, int, str, str]]:
    """(start, end, new text, what) for each mutation of a signature's result."""
    type_ = line.split(" where ")[0]
    at = type_.rfind("→ ") + 2
    found = _ARRAY.match(type_, at)
    if found is None:
        return
    sizes = found["shape"].split()
    for axis, size in enumerate(sizes):
        longer = [*sizes[:axis], f"({size})+1", *sizes[axis + 1 :]]
        yield at, len(type_), f"{found['element']}[{' '.join(longer)}]", "one more cell"
    yield at, len(type_), f"{found['element']}[{' '.join([*sizes, '1'])}]", "one more axis"
    other = "char" if found["element"] != "char" else "f64"
    yield at, len(type_), f"{other}[{found['shape']}]", "another element"


def _quantities(line: str) -> Iterator[tuple[int, int, str, str]]:
    """Every parameter is written with its quantity, but `(k)`, which only gives a size."""
    at = line.index(" : ") + 3
    for parameter in line[at:].split(" where ")[0].split(" → ")[:-1]:
        quantity = parameter.split(" ", 1)[0]
        high = quantity.split("..")[-1]
        if high != "ω" and " " in parameter:
            more = str(int(high) + 1) if high.isdigit() else f"({high})+1"
            yield at, at + len(quantity), more, "one more read"
        at += len(parameter) + 3


@cache
def mutants() -> list[Mutant]:
    found = []
    for head, definition, _, line in inferred():
        for start, end, new, what in (*_result(line), *_quantities(line)):
            text = f"{head}{line[:start]}{new}{line[end:]}\n{definition}"
            found.append((text, len(head) + start, len(head) + start + len(new), what))
    return found


@pytest.mark.long
def test_there_are_many() -> None:
    assert len(mutants()) >= (400 if SHARE >= 1 else 1)
    assert SHARE < 1 or {what for *_, what in mutants()} == {"one more cell", "one more axis", "another element", "one more read"}


@pytest.mark.parametrize("part", range(10))
def test_a_broken_signature_is_refused_where_it_is_broken(part: int) -> None:
    for text, start, end, what in mutants()[part::10]:
        errors = [d for d in check(Source("<test>", text), load_module=load).diagnostics if d.is_error]
        assert errors, f"{what}: {text[start:end]} in\n{text}"
        spans = [span for d in errors for span in (d.span, *[label.span for label in d.labels])]
        assert any(span.start < end and start < span.end for span in spans), f"{what}: {errors[0]}"
