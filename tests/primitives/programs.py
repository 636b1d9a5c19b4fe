"""Programs generated from the table of primitives: every function on every kind and many shapes, empty ones included."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rho.lang.primitives.record import GlyphRole, Trait
from rho.lang.primitives.table import PRIMITIVES

KINDS: dict[str, str] = {
    "bool": "({shape}⍴1 0 1 1 0 0 1)=1",
    "i64": "{shape}⍴3 ¯1 4 1 ¯5 9 2 6 0",
    "f64": "{shape}⍴2.5 ¯0.5 3 0.125 ¯7 1e3 0",
    "c128": "{shape}⍴1J2 ¯3J0.5 2 0J1 0.25J¯4",
    "char": "{shape}⍴'hello, world'",
    "u8": "u8 {shape}⍴3 1 4 1 5 9 2 6 0",
    "i32": "i32 {shape}⍴3 ¯1 4 1 ¯5 9 2 6 0",
    "f32": "f32 {shape}⍴2.5 ¯0.5 3 0.125 ¯7 1e3 0",
}
SHAPES = ("⍬", "(,3)", "(,1)", "(,0)", "2 3", "3 3", "0 3", "2 0", "2 3 2", "2 0 2", "2 1 3 2")
# Shapes of a left argument that agree with the right one: the same, a scalar, and its leading axis.
FRAMES = {"⍬": ("⍬",), "(,3)": ("(,3)", "⍬"), "(,0)": ("(,0)", "⍬"), "2 3": ("2 3", "⍬", "(,2)"), "0 3": ("0 3", "(,0)"),
          "2 0": ("2 0", "⍬"), "2 3 2": ("2 3 2", "2 3", "(,2)"), "2 1 3 2": ("2 1 3 2", "2 1", "⍬")}  # fmt: skip

NUMERIC = ("bool", "i64", "f64", "u8", "i32", "f32", "c128")
REAL = ("bool", "i64", "f64", "u8", "i32", "f32")
INTEGER = ("bool", "i64", "u8", "i32")
EVERY = (*NUMERIC, "char")

# On which kinds a scalar function must work (language.md, Primitives and Numbers); what is not named here may be refused.
MONADIC_KINDS = dict.fromkeys("+-×÷*⍟√|○", NUMERIC) | {"⌊": REAL, "⌈": REAL, "!": REAL, "~": ("bool",)}
DYADIC_KINDS = dict.fromkeys("+-×÷*⍟", NUMERIC) | dict.fromkeys("⌊⌈|!<≤≥>", REAL) | {
    "=": EVERY, "≠": EVERY, "∧": INTEGER, "∨": INTEGER, "⍲": ("bool",), "⍱": ("bool",)}  # fmt: skip
# Functions of structure: any kind.
MONADIC_STRUCTURE = "≢⍴,⍪⌽⊖⍉↑↓⊣⊢"
OPERATORS_ON_SCALARS = ("{f}/", "{f}⌿", "{f}\\", "{f}⍀", "{f}¨", "{f}⍨", "∘.{f}⍨", "2 {f}/")


def value(kind: str, shape: str) -> str:
    return KINDS[kind].format(shape=shape)


def functions(monadic: bool) -> Iterator[str]:
    for row in PRIMITIVES:
        if row.role is GlyphRole.FUNCTION and (row.monadic if monadic else row.dyadic) is not None:
            yield row.glyph


def scalar_functions() -> Iterator[str]:
    for row in PRIMITIVES:
        if row.role is GlyphRole.FUNCTION and row.dyadic is not None and Trait.SCALAR in row.dyadic.traits:
            yield row.glyph


def monadic_programs(glyph: str) -> Iterator[tuple[str, bool]]:
    """(program, must it be accepted?)"""
    for kind, shape in product(KINDS, SHAPES):
        must = kind in MONADIC_KINDS.get(glyph, ()) or glyph in MONADIC_STRUCTURE
        yield f"{glyph} {value(kind, shape)}", must


def dyadic_programs(glyph: str) -> Iterator[tuple[str, bool]]:
    for kind, (shape, lefts) in product(KINDS, FRAMES.items()):
        for left in lefts:
            yield f"({value(kind, left)}) {glyph} {value(kind, shape)}", kind in DYADIC_KINDS.get(glyph, ())
    for kind, shape in product(KINDS, SHAPES):  # small counts, as the structural functions take them
        for count in ("1", "2", "¯1", "0", "1 1", "2 ¯1", "1 0 1", "⍬", "'lo'"):
            yield f"{count} {glyph} {value(kind, shape)}", False


def operator_programs(glyph: str) -> Iterator[tuple[str, bool]]:
    for pattern, kind, shape in product(OPERATORS_ON_SCALARS, KINDS, ("⍬", "(,3)", "(,0)", "2 3", "0 3", "2 0", "2 3 2")):
        yield f"{pattern.format(f=glyph)} {value(kind, shape)}", False
