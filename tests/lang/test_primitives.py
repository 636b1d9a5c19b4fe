"""The table of primitives: consistent, complete, cheap; its examples and laws run."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import rho
from rho.lang.primitives import generate_docs
from rho.lang.primitives.operators import ALIASES, RESERVED_WORDS, UNSUPPORTED_CHARACTERS
from rho.lang.primitives.record import GlyphRole, Primitive, Trait  # fmt: skip
from rho.lang.primitives.table import (
    ELEMENT_NAMES,
    PRIMITIVES,
    by_glyph,
    by_key,
    by_name,
    find,
    identity_of,
    nearest,
    rows,
    suggest,
)

DOCS = Path(__file__).parents[2] / "docs"

GLYPHS_OF_THE_LANGUAGE = "+-×÷*⍟√⌊⌈|!○~∧∨⍲⍱<≤=≥>≠≡≢⍴,⍪⌽⊖⍉↑↓⊃⌷⍳⍸∊⍷⍋⍒∪∩/⌿\\⍀⊥⊤⌹¿?↕⊣⊢⍕⊂¨⍤˘⍨∘⍥⍛.⍣@⌸⌺∂⍫⍬∞⍺⍵¯←→⋄⍝⎕∆{}()[];:'\"_"
WORDS = "bool u8 i32 i64 f32 f64 c64 c128 char use input param output schedule where"
LIBRARY = (
    "erf erfc lgamma digamma expm1 log1p atan2 band bor bxor bnot shl shr shru fft ifft rfft irfft cholesky qr svd eigh det "
    "slogdet number date time days duration regex text A D nan nat IO"
)


def functions_and_operators() -> Iterator[Primitive]:
    return (row for row in PRIMITIVES if row.role not in (GlyphRole.SYNTAX, GlyphRole.CONSTANT))


def test_every_word_of_the_language_has_a_row() -> None:
    wanted = [*GLYPHS_OF_THE_LANGUAGE, "∘.", "⍣\\", "⍺⍺", "⍵⍵", *("⎕" + name for name in LIBRARY.split())]
    wanted += WORDS.split()
    assert [word for word in wanted if not rows(word)] == []
    assert {row.glyph for row in PRIMITIVES} == set(wanted)


def test_names_and_keys_are_unique_and_typeable() -> None:
    names = Counter(name for row in PRIMITIVES for name in row.names)
    keys = Counter(row.key for row in PRIMITIVES if row.key)
    assert [name for name, count in names.items() if count > 1 or not (name.isascii() and name.isalpha())] == []
    assert [key for key, count in keys.items() if count > 1 or len(key) != 1 or not key.isascii()] == []


def test_every_glyph_off_the_keyboard_has_a_key_and_a_name() -> None:
    plain = [row for row in PRIMITIVES if not row.glyph.isascii() and not (row.glyph.startswith("⎕") and row.glyph != "⎕")]
    keyed = {row.glyph for row in plain if row.key}
    assert {row.glyph for row in plain} - keyed == {"⍀", "⌿"} - keyed
    assert [row.glyph for row in plain if not row.names] == []


def test_a_key_is_no_name_so_that_the_longest_name_wins_unambiguously() -> None:
    assert [row.key for row in PRIMITIVES if row.key and by_name(row.key)] == []


@pytest.mark.parametrize(
    ("key", "glyph"),
    list(zip("irawEeuyopnb[-=124680qtdslzxcvm/", "⍳⍴⍺⍵⍷∊↓↑○*⊤⊥←×÷¨¯≤≥≠∧?~⌊⌈⎕⊂⊃∩∪|⌿", strict=True)),
)  # fmt: skip
def test_usual_keys(key: str, glyph: str) -> None:
    row = by_key(key)
    assert row is not None and row.glyph == glyph


def test_look_ups() -> None:
    iota = by_name("iota")
    assert iota is not None and iota.glyph == "⍳" and iota.ascii == "`iota" and iota in find("`i") and iota in find("⍳")
    assert by_glyph("−") is by_glyph("-") and by_glyph("⍙") is None
    assert [row.role for row in rows("/")] == [GlyphRole.MONADIC_OPERATOR, GlyphRole.FUNCTION]
    assert by_glyph("/", GlyphRole.FUNCTION) is by_name("compress")
    assert {row.glyph for row in find("where")} == {"where", "⍸"}
    assert find("erf")[0].glyph == "⎕erf" and find("zork") == ()
    assert all(by_glyph(glyph) for glyph in ALIASES.values())
    assert not any(rows(glyph) for glyph in UNSUPPORTED_CHARACTERS)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("`reshpae", "⍴"),
        ("iotta", "⍳"),
        ("⎕choleski", "⎕cholesky"),
        ("f46", "f64"),
        ("⎕fff", "⎕fft"),
        ("zzzzzz", None),
        ("", None),
    ],
)
def test_suggestions(typed: str, meant: str | None) -> None:
    assert suggest(typed) == meant


def test_nearest_counts_a_swap_as_one_edit_and_never_replaces_a_whole_word() -> None:
    assert nearest("totla", ["tools", "total"]) == "total"
    assert nearest("a", ["b"]) is None
    assert nearest("summ", ["sum", "mean"]) == "sum"


def test_identities_are_those_of_the_language() -> None:
    wanted = dict.fromkeys("+-∨<>≠|", 0) | dict.fromkeys("×÷*∧=≤≥!", 1)
    wanted |= {"⎕band": -1, "⎕bor": 0, "⎕bxor": 0}
    scalar = {row.glyph for row in functions_and_operators() if row.dyadic and Trait.SCALAR in row.dyadic.traits}
    assert {glyph: identity_of(glyph) for glyph in scalar if identity_of(glyph) is not None} == wanted
    assert identity_of("⌈") is None and identity_of("⍴") is None


def test_every_valence_has_a_doc_a_rank_for_each_argument_and_an_example() -> None:
    for row in functions_and_operators():
        assert row.monadic or row.dyadic, row.glyph
        for use, arguments in ((row.monadic, 1), (row.dyadic, 2)):
            if use is not None:
                assert use.doc and use.name and use.examples and len(use.ranks) == arguments, (row.glyph, use)
    for row in PRIMITIVES:
        assert row.doc or row.monadic or row.dyadic, row.glyph
    words = {row.glyph for row in PRIMITIVES if row.role is GlyphRole.SYNTAX and row.glyph.isalpha() and row.glyph.isascii()}
    assert words == RESERVED_WORDS
    assert {"f16", "bf16", "f64"} <= ELEMENT_NAMES


def test_importing_the_table_is_cheap_and_pulls_in_nothing_heavy() -> None:
    script = (
        "import sys, dataclasses, enum, typing; before = set(sys.modules); import rho.lang.primitives.table;"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('rho')))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_reference_page_is_fresh() -> None:
    text = (DOCS / "primitives.md").read_text(encoding="utf-8")
    assert text == generate_docs.primitives_page(), "run python -m rho.lang.primitives.generate_docs"


@pytest.mark.parametrize(
    "values",
    [
        "x←3 ¯1 4 1 ⋄ y←2 7 1 8 ⋄ z←¯5 0 9 2 ⋄ b←1 0 1 1=1 ⋄ c←0 0 1 1=1 ⋄ m←2 3⍴3 1 4 1 5 9",
        "x←,7 ⋄ y←,0 ⋄ z←,¯2 ⋄ b←0=,1 ⋄ c←1=,1 ⋄ m←1 1⍴5",
        "x←0 0 5 5 0 ⋄ y←1 1 1 1 2 ⋄ z←9 8 7 6 5 ⋄ b←0 0 0 0 0=1 ⋄ c←1 1 1 1 1=1 ⋄ m←4 1⍴2 2 1 3",
    ],
)
def test_laws(values: str) -> None:
    laws = [law for row in PRIMITIVES if not row.later for use in (row.monadic, row.dyadic) if use for law in use.laws]
    assert [law for law in laws if rho.eval(f"{values} ⋄ {law}").tolist() not in (True, 1)] == []
