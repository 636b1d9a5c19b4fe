"""`rho search`: words, other systems' names, types; the tables behind it are true."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.primitives.record import GlyphRole
from rho.lang.primitives.table import PRIMITIVES
from rho.lang.syntax.source import Source
from rho.shell.display import documentation
from rho.shell.pipeline import Session
from rho.shell.searching import catalogue, catalogue as words, type_match
from rho.shell.searching.catalogue import FUNCTIONS, IDIOMS, LIBRARY, OPERATORS, Idiom
from rho.shell.searching.type_match import InvalidType, match, parse_type

from .conftest import Rho

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def first(query: str, count: int = 3) -> list[str]:
    return [found.entry.name for found in words.search_words(query.split(), catalogue.shipped_entries())][:count]


def fitting(query: str, count: int = 4) -> list[str]:
    return [fit.entry.name for fit in type_match.search_types(parse_type(query), catalogue.shipped_entries())][:count]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("sort", "sort.up"), ("average", "stats.mean"), ("np.mean", "stats.mean"), ("matrix product", "x+.×y"), ("matmul",
        "linalg.multiply"),
        ("cumulative sum", "+\\x"), ("cumsum", "+\\x"), ("running sums", "+\\x"), ("prefix sum", "+\\x"), ("unique", "∪"),
        ("distinct", "∪"),
        ("argsort", "⍋"), ("np.argsort", "sort.order"), ("np.where", "¿"), ("einsum", "x+.×y"), ("vmap", "⍤"), ("jax.vmap", "⍤"),
        ("scan", "\\"), ("reduce", "/"), ("fold", "/"), ("histogram", "⌸"), ("bincount", "⌸"), ("reduce_by_index", "⌸"),
        ("group by", "⌸"),
        ("argmax", "sort.largest"), ("standard deviation", "stats.deviation"), ("filter", "/"), ("transpose", "⍉x"), ("softmax",
        "(*x)÷+/*x"),
        ("fori_loop", "f⍣n ⊢ x"), ("⍋", "⍋"), ("+/", "+/x"), ("least squares", "linalg.fit"), ("sorting", "sort.up"), ("isin",
        "set.member"),
        ("clamp", "a⌈b⌊x"), ("flatten", ",x"), ("searchsorted", "x⍸y"), ("identity matrix", "(⍳n)∘.=⍳n"), ("pad", "↑"),
    ],
)  # fmt: skip
def test_words_find(query: str, wanted: str) -> None:
    assert wanted in first(query, 7)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("f64[n] → f64", "linalg.norm"), ("f64[k] -> f64", "stats.median"), ("f64[n k] → f64[k m] → f64[n m]", "linalg.multiply"),
        ("f64[a b] → f64[b c] → f64[a c]", "x+.×y"), ("T[n m] → T[m n]", "⍉"), ("f64[n] → perm<n>", "sort.order"),
        ("bool[n] → T[n] → T[k≤n]", "mask⌿x"), ("f64[n] → f64[m] → f64[n+m]", "x,y"), ("f64[n] → f64[m] → f64[m+n]", "x,y"),
        ("f64[n m] → f64[m]", "stats.mean"), ("f64[n m] → f64[n]", "f⍤1 ⊢ x"), ("_ → bool[n]", "≠"), ("char[n] → char[k≤n]",
        "text.trim"),
        ("f64[n n] → (f64[n] ⋄ f64[n n])", "⎕eigh"), ("f64[3 4] → f64[4 3]", "⍉"), ("1 f64[n] → f64", "linalg.norm"),
        ("f64[n n] → f64", "linalg.determinant"), ("c128[n] → c128[n]", "⎕fft"), ("f64[..s] → f64[..s]", "⎕erf"),
    ],
)  # fmt: skip
def test_types_find(query: str, wanted: str) -> None:
    assert wanted in fitting(query, 9)


@pytest.mark.parametrize(
    ("asked", "given", "fits"),
    [
        ("f64[n] → f64[m]", "T[k] → T[k]", True), ("f64[n] → f64[n]", "T[n] → T[n m]", False), ("char[n] → char",
        "T[n] → T where T num", False),
        ("f64[n] → char[n]", "T[n] → T[n]", False), ("f64[2] → f64", "f64[3] → f64", False), ("f64[n] → f64", "i64[n] → i64",
        False),
        ("i64[n] → f64", "f64[n] → f64", True), ("f64[n m k] → f64[n m]", "f64[n] → f64", True), ("f64[n] → f64",
        "f64[n] → f64[n] → f64", False),
        ("i64[n] → i64[n]", "T[n] → perm<n>", True), ("f64[n] → f64[n-1]", "T[m] → T[m-1]", True), ("f64[n] → f64[n-2]",
        "T[m] → T[m-1]", False),
        ("T[..s] → T[..s]", "f64[n] → f64[n]", True), ("f64[a b] → f64[b]", "f64[n ..s] → f64[..s]", True), ("_ → _",
        "(f64 ⋄ f64) → i64", True),
        ("f64[a b] → f64[a]", "f64[n ..s] → f64[..s]", False),
    ],
)  # fmt: skip
def test_fits(asked: str, given: str, fits: bool) -> None:
    assert (match(parse_type(asked), parse_type(given)) is not None) is fits


def test_the_same_up_to_names_costs_nothing_and_more_general_a_little() -> None:
    asked = parse_type("f64[n] → f64")
    costs = [match(asked, parse_type(text)) for text in ("f64[m] → f64", "f64[m ..s] → f64[..s]", "T[n] → T", "f64[4] → f64")]
    found = [one.cost for one in costs if one is not None]
    assert found[0] == 0 and found == sorted(found) and len(set(found)) == 4


def test_exchanged_and_lifted_say_so() -> None:
    turned = match(parse_type("i64[n] → char[m] → f64"), parse_type("char[a] → i64[b] → f64"))
    lifted = match(parse_type("f64[n m] → f64[n]"), parse_type("f64[k] → f64"))
    assert turned is not None and "exchanged" in turned.how
    assert lifted is not None and "frame [n]" in lifted.how


@pytest.mark.parametrize("text", ["f64[n+m] → idx<n>[n]", "f64[n+m] → perm<n>", "f64[n] → f64[n+1]"])
def test_no_size_stands_for_one_that_it_is_part_of(text: str) -> None:
    assert [match(parse_type(text), given) for entry in catalogue.shipped_entries() for given in map(parse_type, entry.types)]
    assert match(parse_type("f64[n] → f64[n]"), parse_type("T[n] → T[n-1]")) is None


@pytest.mark.parametrize("text", ["f64[n → f64", "float[n] → f64", "f64[n] →", "a → b → c → d", "f64[n] → f64]", "f64[n!] → f64"])
def test_what_is_no_type(text: str, rho: Rho) -> None:
    with pytest.raises(InvalidType):
        parse_type(text)
    ran = rho("search", text)
    assert ran.code == 2 and ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize("row", IDIOMS, ids=lambda row: row.code)
def test_idioms_are_true(row: Idiom, rho: Rho) -> None:
    ran = rho("eval", row.example[0])
    assert (ran.code, ran.out.rstrip("\n")) == (0, row.example[1])
    checked = Session().check(Source("<idiom>", f"f : {row.type}\nf ← {row.function}\n"))
    assert checked.accepted, checked.diagnostics
    parse_type(row.type)


def test_the_tables_name_what_exists() -> None:
    functions = {row.glyph for row in PRIMITIVES if row.role is GlyphRole.FUNCTION}
    operators = {row.glyph for row in PRIMITIVES if row.role in (GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR)}
    assert set(FUNCTIONS) <= functions
    assert set(OPERATORS) == operators
    assert set(LIBRARY) <= {entry.name for entry in documentation.entries()}


def test_every_signature_can_be_read() -> None:
    entries = catalogue.shipped_entries()
    for entry in entries:
        for type_ in entry.types:
            parse_type(type_)
    typed = {entry.name for entry in entries if entry.types}
    assert {row.glyph for row in PRIMITIVES if row.role is GlyphRole.FUNCTION} - typed == {"⊂"}
    untyped = {entry.name for entry in documentation.entries()} - typed
    assert "text.small" in untyped  # letters, no function
    for module, _, name in (one.partition(".") for one in untyped - {"text.small", "text.search", "text.spans"}):  # of literals
        body = documentation.module_path(module).read_text(encoding="utf-8").partition(f"\n{name} ← {{")[2].partition("\n}")[0]
        assert "⍺⍺" in body, f"{module}.{name} has no signature and is no operator"


def test_a_file_of_ones_own(rho: Rho) -> None:
    ran = rho("search", "_ → idx<m>[n]", str(EXAMPLES / "kmeans.rho"), "--json")
    hits = ran.json()["hits"]
    assert hits[0]["from"] == "yours" and hits[0]["name"].startswith("nearest")
    assert "distances" in rho("search", "distances", str(EXAMPLES / "kmeans.rho")).out


def test_nothing_found_says_what_would_be(rho: Rho) -> None:
    ran = rho("search", "char[n m] → c128[m m]")
    assert ran.code == 1 and "_ → c128[m m]" in ran.err and not ran.out
    ran = rho("search", "cumsm")
    assert ran.code == 1 and "did you mean `cumsum`" in ran.err
    assert "an arrow" in rho("search", "f64[n]").err
    assert rho("search", "qqqqqq", "--json").json() == {"hits": []}
