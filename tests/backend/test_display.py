"""Displays of values: Dyalog's recorded texts read back and displayed again, and the forms that the corpus lacks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rho.backend.vm.values import Array, array, format_items, number_text, scalar
from rho.shell.display.values import display
from rho.tests.harness.values import text
from rho.typechecker.elements import Kind, limits

BOOL, I64, F64, C128, CHAR = Kind.BOOL, Kind.I64, Kind.F64, Kind.C128, Kind.CHAR
CORPUS = Path(__file__).parents[1] / "corpora" / "data"
ENCLOSED = ("∘.,", ",/1 2 3", ",.+")  # answers with nested arrays, which Rho does not have


def number(token: str) -> complex:
    parts = [float(part) for part in token.replace("¯", "-").split("J")]
    return complex(*parts)


def read_back(lines: list[str]) -> Array | None:
    """The numeric array a text shows: planes by blank lines, rows by lines; None if it is not one."""
    try:
        planes: list[list[list[complex]]] = [[]]
        for line in lines:
            if line:
                planes[-1].append([number(token) for token in line.split()])
            else:
                planes.append([])
    except ValueError:
        return None
    items = [item for plane in planes for row in plane for item in row]
    shape = (len(planes), len(planes[0]), len(planes[0][0]) if planes[0] else 0)
    if math.prod(shape) != len(items) or not items:
        return None
    trimmed = shape if shape[0] > 1 else shape[1:] if shape[1] > 1 else shape[2:]
    if any(item.imag for item in items):
        return array(C128, trimmed, items)
    return array(F64, trimmed, [item.real for item in items])


def recorded() -> list[tuple[str, list[str]]]:
    (path,) = CORPUS.rglob("apl_expressions.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["expr"], row["expected"]) for row in rows if not any(mark in row["expr"] for mark in ENCLOSED)]


def test_recorded_texts_display_as_they_were() -> None:
    checked = 0
    for expression, expected in recorded():
        value = read_back(expected)
        if value is not None:
            assert display(value) == [line.rstrip() for line in expected], expression
            checked += 1
    assert checked > 350


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"), (-1, "¯1"), (True, "1"), (10**10 - 1, "9999999999"), (10**10, "10000000000"),
        (2**63 - 1, "9223372036854775807"), (-(2**63), "¯9223372036854775808"),
        (1700000000123, "1700000000123"), (1700000000123.0, "1.7E12"),
        (1e10, "1E10"), (99999999995.0, "1E11"), (12345678901.0, "1.23456789E10"), (0.1, "0.1"), (1 / 3, "0.3333333333"),
        (1e-6, "0.000001"), (1e-7, "1E¯7"), (1e-10, "1E¯10"), (123.0, "123"), (1e100, "1E100"), (9999999999.9, "1E10"),
        (-0.0, "0"), (math.nan, "NaN"), (math.inf, "∞"), (-math.inf, "¯∞"), (3 + 4j, "3J4"), (3 - 0.5j, "3J¯0.5"), (2 + 0j, "2"),
        (5e-324, "4.940656458E¯324"), (1.5e300j, "0J1.5E300"),
    ],
)  # fmt: skip
def test_numbers(value: complex, shown: str) -> None:
    assert number_text(value) == shown


@pytest.mark.parametrize("digits", [1, 3, 10, 17])
@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.is_integer])
def test_integers_show_all_their_digits(kind: Kind, digits: int) -> None:
    known = limits(kind)
    assert known is not None
    low, high = known
    edges = [low, low + 1, 0, high - 1, high, *(n for k in range(20) for n in (10**k, 10**k - 1) if n <= high)]
    signed = [n for n in edges if low <= n <= high]
    written = [str(n).replace("-", "¯") for n in signed]
    assert display(array(kind, (len(signed),), signed), digits=digits) == [" ".join(written)]
    column = display(array(kind, (len(signed), 1), signed), digits=digits)
    assert column == [text.rjust(max(map(len, written))) for text in written]
    pairs = array(kind, (2, len(signed)), [*signed, *signed[::-1]])
    text, shape = format_items(kind, pairs.data, pairs.shape, digits)
    rows = [text[: shape[1]], text[shape[1] :]]
    assert [row.split() for row in rows] == [written, written[::-1]] and len(text) == 2 * shape[1]


def test_binary32_shows_the_decimal_that_names_it() -> None:
    assert display(array(Kind.F32, (4,), [0.1, 16777216, 3.4e38, -1 / 3])) == ["0.1 16777216 3.4E38 ¯0.33333334"]
    assert display(scalar(Kind.C64, 0.1 + 0.7j)) == ["0.1J0.7"]


def test_six_digits() -> None:
    assert number_text(1 / 3, 6) == "0.333333"
    assert display(scalar(F64, 1234567.0), digits=6) == ["1.23457E6"]


def test_columns_line_up_on_the_point() -> None:
    assert display(array(F64, (2, 2), [-2, 1, 1.5, -0.5])) == ["¯2    1", " 1.5 ¯0.5"]
    assert display(array(F64, (2, 2), [1e20, 1, 0.5, 2])) == ["1E20 1", "5E¯1 2"]
    assert display(array(F64, (2, 1), [math.nan, 10.25])) == ["NaN", " 10.25"]
    assert display(array(C128, (2, 1), [1j, 10])) == [" 0J1", "10"]
    assert display(array(F64, (3,), [1e20, 0.5, 1])) == ["1E20 0.5 1"]


def test_planes_are_blank_lines_apart() -> None:
    assert display(array(I64, (2, 1, 2, 1), range(4))) == ["0", "1", "", "", "2", "3"]
    assert display(array(CHAR, (2, 2, 2), "abcdefgh")) == ["ab", "cd", "", "ef", "gh"]


def test_text_keeps_its_blanks() -> None:
    assert display(text(" a ")) == [" a "]
    assert display(array(CHAR, (2, 2), "a b ")) == ["a ", "b "]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3), (0, 0, 0)])
def test_empty_arrays_take_a_line(shape: tuple[int, ...]) -> None:
    for kind in (I64, CHAR):
        lines = display(array(kind, shape, ()))
        assert lines and not any(lines)


def test_huge_arrays_are_cut_and_only_what_shows_is_read() -> None:
    assert display(array(I64, (2000,), range(2000)), limit=1000) == ["0 1 2 … 1997 1998 1999"]
    cut = display(array(I64, (100, 20), range(2000)), limit=1000)
    assert cut[3] == "⋮" and len(cut) == 7 and cut[0].split() == ["0", "1", "2", "…", "17", "18", "19"]
    words = display(text("a" * 2000), limit=1000)[0]
    assert words == "a" * 30 + "…" + "a" * 30
    deep = display(array(I64, (10, 10, 10), range(1000)), limit=999)
    assert deep.count("⋮") == 7
    assert display(array(I64, (7,), range(7)), limit=3) == ["0 1 2 3 4 5 6"]


def test_folding_indents_by_six() -> None:
    lines = display(array(I64, (40,), range(40)), width=30)
    assert all(len(line) <= 30 for line in lines) and all(line.startswith(" " * 6) for line in lines[1:])
    assert " ".join(lines).split() == [str(i) for i in range(40)]
    block = display(array(I64, (2, 12), range(24)), width=20)
    assert block[2].startswith(" " * 6) and len(block) % 2 == 0
    assert display(text("abcdefghij"), width=8) == ["abcdefgh", "      ij"]
    assert display(array(F64, (2,), [1 / 3, 1 / 3]), width=3) == ["0.3333333333", "      0.3333333333"]


def test_numpy_arrays_display_like_plain_ones() -> None:
    numpy = pytest.importorskip("numpy")
    assert display(numpy.arange(6).reshape(2, 3)) == ["0 1 2", "3 4 5"]
    assert display(numpy.arange(10**6), limit=1000) == ["0 1 2 … 999997 999998 999999"]
    assert display(numpy.array(list("ab"))) == ["ab"]
    assert display(numpy.array([97, 98], dtype="uint32"), kind=CHAR) == ["ab"]
    assert display(numpy.float32(0.5) * numpy.ones(())) == ["0.5"]
    assert display(numpy.array([True, False])) == ["1 0"]
    with pytest.raises(TypeError):
        display(numpy.array([object()]))


def test_format_is_rectangular() -> None:
    assert format_items(I64, (1, 22), (2, 1)) == (" 122", (2, 2))
    assert format_items(I64, (), (0, 3)) == ("", (0, 5))
    assert format_items(CHAR, ("a",), ()) == ("a", (1,))
    assert format_items(F64, (0.5, 2.0), (2,)) == ("0.5 2", (5,))
