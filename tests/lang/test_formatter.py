"""The formatter: goldens, and what must hold for every program."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from share import share

from rho.lang.diagnostics.model import Rejected
from rho.lang.syntax.formatter import format_source
from rho.lang.syntax.parser import parse
from rho.lang.syntax.source import Source, Span

ROOT = Path(__file__).resolve().parents[2]


def formatted(text: str, *, ascii: bool = False) -> str:
    return format_source(Source("test", text), ascii=ascii)


def without_spans(node: object) -> object:
    if isinstance(node, Span):
        return ""
    if isinstance(node, tuple):
        return tuple(map(without_spans, node))
    if dataclasses.is_dataclass(node):
        names = [field.name for field in dataclasses.fields(node) if "span" not in field.name and field.name != "scope"]
        parts = [without_spans(getattr(node, name)) for name in names if name != "parsed"]
        return (type(node).__name__, *parts)
    return repr(node)


def meaning(text: str) -> object:
    found = parse(Source("test", text))
    return (
        [without_spans(statement) for statement in found.program.statements],
        found.program.index_origin,
        [diagnostic.code for diagnostic in found.diagnostics],
    )


GOLDEN = (
    ("x←1+  2", "x ← 1+2\n"),
    ("`iota   5", "⍳5\n"),
    ("f←{⍵>0 : 1⋄ 0}", "f ← {⍵>0 : 1 ⋄ 0}\n"),
    ("f ← {\na ← ⍵\n  {\n⍵\n}a\n}", "f ← {\n  a ← ⍵\n  {\n    ⍵\n  } a\n}\n"),
    ("⎕ ← x ← 3", "⎕←x ← 3\n"),
    ("a←1 ⍝ one\nbcd←2     ⍝ two\n\n\n\n⍝ alone", "a ← 1    ⍝ one\nbcd ← 2  ⍝ two\n\n⍝ alone\n"),
    ("x←3⋄x[ 1 ; ]", "x ← 3 ⋄ x[1;]\n"),
    ("norm⍤1⊢points(-⍤1⍤1 2)centres", "norm⍤1 ⊢ points (-⍤1⍤1 2) centres\n"),
    ("x+←1⋄x [2]+←3", "x+← 1 ⋄ x[2]+← 3\n"),
    ("x[1⋄2]⋄x [1 2]", "x [1 ⋄ 2] ⋄ x[1 2]\n"),
    ("'it''s'  \"a\"", "'it''s' \"a\"\n"),
    ("1 2   ¯3", "1 2 ¯3\n"),
    ("3∘ .5", "3∘.5\n"),
    ("\n\n1\n\n\n2\n\n", "1\n\n2\n"),
    ("input  x:f64[ n  2 ]←'x.npy'  where n≥1", "input x : f64[n 2] ← 'x.npy' where n ≥ 1\n"),
    ("f:f64[n]→f64[n×2]", "f : f64[n] → f64[n×2]\n"),
    ("x:f64[2]←1   2", "x : f64[2] ← 1 2\n"),
    ("schedule{gpu{a⋄b}\nlimit  machines 40}", "schedule { gpu { a ⋄ b }\n  limit machines 40 }\n"),
    ("use  stats", "use stats\n"),
    ("x[1;;y[2;3]]", "x[1;;y[2;3]]\n"),
    ("", ""),
    ("⍝ only", "⍝ only\n"),
)


@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_golden(text: str, expected: str) -> None:
    assert formatted(text) == expected


ASCII = (
    ("x←⍳5", "x `gets `iota5\n"),
    ("⍳n", "`iota n\n"),
    ("¯3.5×÷2", "`negative3.5`times`divide2\n"),
    ("{⍺⍺ ⍵}", "{`leftoperand `omega}\n"),
    ("∘.×⍨⍳3 ⍝ ∘.×", "`outer`times`commute`iota3  `comment ∘.×\n"),
    ("⎕erf 2", "`erf 2\n"),
    ("∆x←'⍳'", "`deltax `gets '⍳'\n"),
    ("f : f64[n×m] → f64", "f : f64[n`times m] `arrow f64\n"),
    ("x : i64[k≤n]", "x : i64[k`atmost n]\n"),
    ("1⋄2", "1 `diamond 2\n"),
)


@pytest.mark.parametrize(("text", "expected"), ASCII)
def test_ascii(text: str, expected: str) -> None:
    assert formatted(text, ascii=True) == expected
    assert formatted(expected) == formatted(text)


@pytest.mark.parametrize("text", ["x ← (1", "1 2x", "`;", "x ← 'a", "3 & 4", "+/x;", "(a;b)", "{⍵;1}", "x[1;(2;3)]"])
def test_a_text_that_cannot_be_read_is_not_touched(text: str) -> None:
    with pytest.raises(Rejected):
        formatted(text)


def corpus() -> list[str]:
    shared = ROOT / "tests" / "corpora"
    texts: list[str] = []
    for path in sorted(shared.rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        texts.extend(str(row.get("expr") or row.get("program") or "") for row in rows)
    for pattern in ("tests/corpora/**/*.apl", "examples/**/*.rho", "stdlib/*.rho"):
        texts.extend(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern)))
    return texts


def holds_for(text: str) -> None:
    once = formatted(text)
    spelt = formatted(text, ascii=True)
    assert formatted(once) == once
    assert formatted(spelt, ascii=True) == spelt
    assert formatted(spelt) == once
    assert meaning(once) == meaning(text)
    assert meaning(spelt) == meaning(text)


def test_every_corpus_program_keeps_its_meaning() -> None:
    texts = corpus()
    assert len(texts) > 600
    for text in share(texts, seed=19):
        holds_for(text)


SPELT = (
    "x y1 ∆z f64 stats.mean 1 ¯2.5 .5 3. 3J¯4 ∞ + - × / \\ ⌿ ⍣ ⍣\\ ∘ ∘. . ⍤1 ⍨ ¨ ⍳ ⍴ ⊢ ⊣ "
    "⎕ ⎕IO ⎕fft ⍬ _ ⍺ ⍵ ⍺⍺ ⍵⍵ ← : ; ⋄ 'a' 'it''s' \"b\""
)
WORDS = st.sampled_from([*SPELT.split(), " ", "\n", "⍝ note\n", "  "])


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.sampled_from(["()", "[]", "{}"])
    return st.tuples(pairs, st.lists(inner | WORDS, max_size=6)).map(lambda pair: pair[0][0] + " ".join(pair[1]) + pair[0][1])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.recursive(WORDS, _nested, max_leaves=8), max_size=12).map(" ".join))
def test_any_sequence_of_tokens_keeps_its_meaning(text: str) -> None:
    try:
        formatted(text)
    except Rejected:
        return
    holds_for(text)
