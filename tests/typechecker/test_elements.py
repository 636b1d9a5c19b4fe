"""Promotion, weak literals, ranges and widening: language.md, Numbers."""

from __future__ import annotations

import pytest

from rho.typechecker.elements import (
    Element,
    Kind,
    arithmetic,
    comparison,
    fits,
    integer_range,
    promote,
    promote_kinds,
    ranged,
    show_element,
    widens,
)  # fmt: skip
from rho.typechecker.sizes.polynomials import SizeOrigin, SizeVariable, number, variable

n = variable(SizeVariable("n", 0, SizeOrigin.INPUT))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("bool", "u8", "u8"), ("u8", "i32", "i32"), ("i32", "i64", "i64"), ("i64", "f64", "f64"), ("f64", "c128", "c128"),
        ("f32", "c64", "c64"), ("i32", "f32", "f64"), ("i64", "f32", "f64"), ("u8", "f32", "f32"), ("bool", "f32", "f32"),
        ("f32", "f64", "f64"), ("c64", "f64", "c128"), ("c64", "c128", "c128"), ("c64", "i64", "c128"), ("c64", "u8", "c64"),
        ("f32", "c128", "c128"), ("char", "char", "char"), ("char", "i64", None),
    ],
)  # fmt: skip
def test_strong_kinds(a: str, b: str, wanted: str | None) -> None:
    kind = promote_kinds(Kind(a), Kind(b))
    assert (kind and kind.value) == wanted
    assert promote_kinds(Kind(b), Kind(a)) is kind


def weak(kind: str, low: int | None = None, high: int | None = None) -> Element:
    return Element(Kind(kind), low, high, weak=True)


@pytest.mark.parametrize(
    ("strong", "literal", "join", "sum_", "compare"),
    [
        ("u8", weak("i64", 3, 3), "u8", "u8", "u8"),
        ("u8", weak("i64", 300, 300), "u8", "u8", "i64"),
        ("i32", weak("i64", 3, 3), "i32", "i32", "i32"),
        ("bool", weak("i64", 0, 1), "bool", "i64", "bool"),
        ("bool", weak("i64", 2, 2), "i64", "i64", "i64"),
        ("f32", weak("i64", 2, 2), "f32", "f32", "f32"),
        ("f32", weak("f64"), "f32", "f32", "f32"),
        ("i64", weak("f64"), "f64", "f64", "f64"),
        ("u8", weak("f64"), "f64", "f64", "f64"),
        ("f32", weak("c128"), "c64", "c64", "c64"),
        ("c64", weak("f64"), "c64", "c64", "c64"),
        ("f64", weak("c128"), "c128", "c128", "c128"),
        ("i64", weak("c128"), "c128", "c128", "c128"),
    ],
)
def test_weak_literals(strong: str, literal: Element, join: str, sum_: str, compare: str) -> None:
    other = Element(Kind(strong))
    joined = promote(other, literal)
    assert joined is not None
    assert joined.kind.value == join
    assert not joined.weak
    added, compared = arithmetic(literal, other), comparison(other, literal)
    assert added is not None
    assert added.value == sum_
    assert compared is not None
    assert compared.value == compare


def test_two_literals_stay_weak() -> None:
    joined = promote(weak("i64", 1, 2), weak("f64"))
    assert joined == Element(Kind.F64, weak=True)
    assert promote(weak("i64", 1, 2), weak("i64", 5, 9)) == Element(Kind.I64, 1, 9, weak=True)


def test_positions() -> None:
    assert promote(Element(Kind.I64, index_bound=n), Element(Kind.I64, index_bound=n)) == Element(Kind.I64, index_bound=n)
    mixed = promote(Element(Kind.I64, index_bound=n), Element(Kind.I64))
    assert mixed is not None
    assert mixed.index_bound is None


def test_ranges() -> None:
    assert integer_range(Element(Kind.BOOL)) == (0, 1)
    assert integer_range(Element(Kind.U8, 3)) == (3, 255)
    assert integer_range(Element(Kind.I64)) == (None, None)
    assert integer_range(Element(Kind.I64, index_bound=number(4))) == (0, 3)
    assert integer_range(Element(Kind.I64, 0, symbolic_max=n)) == (0, None)
    assert fits(Element(Kind.I64, 0, 1), Kind.BOOL)
    assert not fits(Element(Kind.I64, 0, 2), Kind.BOOL)
    assert ranged(Kind.U8, 0, 300) == Element(Kind.U8)  # may have wrapped


@pytest.mark.parametrize(
    ("given", "wanted", "allowed"),
    [
        (Element(Kind.BOOL), "i64", True), (Element(Kind.I32), "f64", True), (Element(Kind.I32), "f32", False),
        (Element(Kind.U8), "f32", True), (weak("i64", 3, 3), "f32", True), (weak("f64"), "f32", True),
        (Element(Kind.F64), "f32", False), (Element(Kind.F64), "i64", False), (Element(Kind.I64), "i32", False),
        (weak("i64", 3, 3), "u8", True), (weak("i64", 300, 300), "u8", False), (Element(Kind.F32), "c64", True),
        (Element(Kind.F64), "c128", True), (Element(Kind.C128), "f64", False), (Element(Kind.CHAR), "i64", False),
        (Element(Kind.I64), "char", False),
    ],
)  # fmt: skip
def test_widening_at_calls(given: Element, wanted: str, allowed: bool) -> None:
    assert widens(given, Element(Kind(wanted))) is allowed


def test_display() -> None:
    assert show_element(Element(Kind.I64, index_bound=n)) == "idx<n>"
    assert show_element(Element(Kind.I64, 0, symbolic_max=n)) == "int<0..n>"
    assert show_element(weak("i64", 0, 4)) == "i64"
    assert show_element(Element(Kind.F32)) == "f32"
